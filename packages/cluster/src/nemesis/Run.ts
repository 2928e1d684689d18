/**
 * What all clients of one run share: the function that writes down what they see, the balancer, and the boards that their calls change.
 * `Nemesis` makes it; the clients (`LegacyClient`, `ModernClient`, `Uploads`) and `Faults` use it.
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

/** A call that takes more milliseconds counts as a call that has not ended. */
export const CALL_LIMIT = 25_000

/** The number of boards, which change one after another: so many that a change is checked before its board changes again. */
const BOARDS = 240

export const boards: ReadonlyArray<string> = Array.from({ length: BOARDS }, (_, n) => `board://${n}`)

let changes = 0

/** Returns the board that changes next: not one that has changed a short time ago. */
export const nextBoard = (): string => boards[changes++ % BOARDS]!
