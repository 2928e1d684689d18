/**
 * How a handler asks its client. Three modules make askers. The asker of `legacy/Era` sends a request to the client. The asker of
 * `modern/Era` ends the request, and the client sends the request again with the answer. The asker of `TaskCall` makes the task wait for
 * the answer. A `HandlerContext` has one asker, and gets another asker when a task begins. Everything else that a handler sends leaves on
 * the channel of its message.
 */
import type * as Effect from "effect/Effect"
import type { Outbound, RequestOptions } from "../../jsonrpc/Outbound.js"
import type { Channel } from "../../jsonrpc/Side.js"
import type { Question } from "../Ask.js"
import type { AskError, PassedRound, ServerSessionService } from "../ServerSession.js"

/** A question, with the key that the application gave it; `undefined` where the application gave no key. */
export type Keyed = readonly [key: string | undefined, question: Question<any>]

export interface Asker {
  /** The answers, in the order of the questions. */
  readonly ask: (
    questions: ReadonlyArray<Keyed>,
    options?: RequestOptions
  ) => Effect.Effect<ReadonlyArray<unknown>, AskError>
  readonly askAsTask: ServerSessionService["askAsTask"]
  /** Sends a request of any method to the client. */
  readonly request: Outbound["request"]
  readonly round: PassedRound | undefined
  /** Whether a question has ended the request of the handler. The client then sends the request again with the answers. */
  readonly endsRequest: boolean
}

/** Sends to the sender of one message, on the channel on which the message came. */
export interface RequestChannel extends Outbound {
  readonly channel: Channel
  /** The reason that the client gave when it cancelled the request; `undefined` when it gave none. */
  readonly cancelReason?: string | undefined
}
