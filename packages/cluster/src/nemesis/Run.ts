/**
 * What all clients of one run share: where they write down what they see, the way to the nodes, and the boards that their calls
 * change.
 */
import * as Context from "effect/Context"
import type { Balancer } from "./Balancer.js"
import type { Entry } from "./History.js"

export interface RunService {
  readonly write: (entry: Entry) => void
  readonly balancer: Balancer
  /** Whether clients begin no more calls, and cut no more streams. */
  readonly isOver: () => boolean
}

export class Run extends Context.Tag("@effect-mcp/cluster/Run")<Run, RunService>() {}

/** A call that takes longer has not ended. In milliseconds. */
export const CALL_LIMIT = 25_000

/** The boards that change, one after another: so many that a change is checked before its board changes again. */
const BOARDS = 240

export const boards: ReadonlyArray<string> = Array.from({ length: BOARDS }, (_, n) => `board://${n}`)

let changes = 0

/** The board that changes next: not one that has changed a short time ago. */
export const nextBoard = (): string => boards[changes++ % BOARDS]!
