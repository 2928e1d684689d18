/**
 * How a handler asks its client. Three modules make askers: the asker of `legacy/Era` sends a request to the client, the asker of
 * `modern/Era` ends the round of the request, and the asker of `TaskCall` has the task wait for the answer. A `HandlerContext` has one
 * asker, and another asker when a task begins. What else a handler sends leaves on the channel of its message.
 */
import type * as Effect from "effect/Effect"
import type { Outbound, RequestOptions } from "../../jsonrpc/Outbound.js"
import type { Channel } from "../../jsonrpc/Side.js"
import type { Question } from "../Ask.js"
import type { AskError, PassedRound, ServerSessionService } from "../ServerSession.js"

/** A question, with the key that the application gave it. */
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
  /** Whether questions end the request of the handler: the client sends it again with the answers. */
  readonly endsRequest: boolean
}

/** Sends to the sender of one message, on the channel that the message came on. */
export interface RequestChannel extends Outbound {
  readonly channel: Channel
  /** Why the client has cancelled the request. */
  readonly cancelReason?: string | undefined
}
