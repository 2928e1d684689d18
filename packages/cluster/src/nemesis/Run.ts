/**
 * The service that all clients of one run share. It has the function that writes entries to the history, the balancer, and the boards
 * (resources) that the calls change. `Nemesis` makes the service; the clients (`LegacyClient`, `ModernClient`, `Uploads`) and `Faults` use
 * it.
 */
import * as Context from "effect/Context"
import type { Balancer } from "./Balancer.js"
import type { Entry } from "./History.js"

export interface RunService {
  readonly write: (entry: Entry) => void
  readonly balancer: Balancer
  /** Whether the run is over. Then clients do not begin calls and do not cut streams any more. */
  readonly isOver: () => boolean
}

export class Run extends Context.Tag("@effect-mcp/cluster/Run")<Run, RunService>() {}

/** How many milliseconds a call may take. A longer call counts as a call that has not ended. */
export const CALL_LIMIT = 25_000

/**
 * The number of boards, which change one after another. There are so many boards that a change is checked before the same board changes
 * again.
 */
const BOARDS = 240

export const boards: ReadonlyArray<string> = Array.from({ length: BOARDS }, (_, n) => `board://${n}`)

let changes = 0

/** Returns the board that changes next. This board has not changed for some time. */
export const nextBoard = (): string => boards[changes++ % BOARDS]!
