/**
 * Decides what a client does about the questions of a task, for `TaskExtension`, after it has read a state of the task. A client must
 * answer each question once, however often the application awaits the result. The functions here are pure.
 *
 * - `next`: which questions does the client answer now, which running answers does it interrupt, and has the task ended?
 * - `asked`, `unasked`: which questions need no further answer?
 */
import type { InputRequest } from "../../protocol/modern/InputRequired.js"
import * as Methods from "../../protocol/modern/Methods.js"
import * as Tasks from "../../protocol/Tasks.js"
import { TooManyRounds } from "../ClientError.js"

/** What the client knows about the questions of a task. */
export interface Known {
  /** The keys of the questions that are answered, or are being answered. */
  readonly answered: ReadonlySet<string>
  /** How many states of the task had new questions. */
  readonly rounds: number
}

export const none: Known = { answered: new Set(), rounds: 0 }

export type Question = readonly [key: string, request: InputRequest]

export type Next<A> =
  | { readonly _tag: "End" }
  | { readonly _tag: "Refuse"; readonly error: TooManyRounds }
  /** The client asks its features the questions `ask`, gives up the answers `withdraw`, and waits for the next state. */
  | { readonly _tag: "Continue"; readonly ask: ReadonlyArray<Question>; readonly withdraw: ReadonlyArray<A> }

/**
 * Decides what the client does after a state of the task. `unsent` are groups of questions that the features are answering now; their
 * responses were not sent yet.
 */
export const next = <A extends { readonly keys: ReadonlyArray<string> }>(
  { answered, rounds }: Known,
  unsent: ReadonlyArray<A>,
  { inputRequests = {}, status }: {
    readonly status: Tasks.TaskStatus
    readonly inputRequests?: Readonly<Record<string, InputRequest>> | undefined
  },
  maxRounds: number
): Next<A> => {
  if (Tasks.isTerminal(status)) return { _tag: "End" }
  const ask = Object.entries(inputRequests).filter(([key]) => !answered.has(key))
  if (ask.length > 0 && rounds >= maxRounds) {
    return { _tag: "Refuse", error: new TooManyRounds({ method: Methods.callTool.name, rounds: maxRounds }) }
  }
  // Another client of the task has answered these questions, or the server has withdrawn them.
  const withdraw = unsent.filter(({ keys }) => !keys.some((key) => Object.hasOwn(inputRequests, key)))
  return { _tag: "Continue", ask, withdraw }
}

/** Notes that these questions are being answered. */
export const asked = ({ answered, rounds }: Known, keys: ReadonlyArray<string>): Known => ({
  answered: new Set([...answered, ...keys]),
  rounds: rounds + 1
})

/** Notes that these questions were not answered, and may be asked again. */
export const unasked = ({ answered, rounds }: Known, keys: ReadonlyArray<string>): Known => ({
  answered: new Set([...answered].filter((key) => !keys.includes(key))),
  rounds
})
