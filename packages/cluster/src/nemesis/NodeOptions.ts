/**
 * The constants and types that the programs of a run with faults share. `node.ts` has one argument, which is JSON; `NemesisNode` writes it.
 * `Faults` sends the signals that set the clock of a node. The clients send the token.
 */
import * as Schema from "effect/Schema"

/** A mistake that is built into the node on purpose. A run must find it. */
export const Bug = Schema.Literal("no fencing", "publish and subscribe")

export type Bug = typeof Bug.Type

export const Store = Schema.Struct({ type: Schema.Literal("redis", "postgres"), url: Schema.String })

export type Store = typeof Store.Type

export const NodeOptions = Schema.parseJson(Schema.Struct({
  name: Schema.String,
  /** The port of the loopback interface at which the node serves requests. */
  port: Schema.Int,
  store: Store,
  /** The path of the journal of the node. */
  journal: Schema.String,
  bug: Schema.optional(Bug)
}))

export type NodeOptions = typeof NodeOptions.Type

/** The value of the header `Authorization` that the clients of a run send. */
export const TOKEN = "Bearer known"

/** The signals after which the node sets its clock forward and back, and the number of milliseconds. */
export const FORWARD = "SIGUSR2"
export const BACK = "SIGHUP"
export const JUMP = 60_000
