/**
 * What the programs of a run with faults agree on: the only argument of `node.ts`, which is JSON (`NemesisNode` writes it), the signals
 * that set the clock of the node (`Faults` sends them), and the token of the clients.
 */
import * as Schema from "effect/Schema"

/** A mistake that a run must find: the node is built with it. */
export const Bug = Schema.Literal("no fencing", "publish and subscribe")

export type Bug = typeof Bug.Type

export const Store = Schema.Struct({ type: Schema.Literal("redis", "postgres"), url: Schema.String })

export type Store = typeof Store.Type

export const NodeOptions = Schema.parseJson(Schema.Struct({
  name: Schema.String,
  /** The port that the node serves on the loopback interface. */
  port: Schema.Int,
  store: Store,
  /** The file of its journal. */
  journal: Schema.String,
  bug: Schema.optional(Bug)
}))

export type NodeOptions = typeof NodeOptions.Type

/** What the clients of a run send as `Authorization`. */
export const TOKEN = "Bearer known"

/** The signals on which the node sets its clock forward and back, and by how many milliseconds it does so. */
export const FORWARD = "SIGUSR2"
export const BACK = "SIGHUP"
export const JUMP = 60_000
