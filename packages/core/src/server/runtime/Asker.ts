/**
 * The interface with which a handler asks its client. Three modules implement it. In `legacy/Era`, a question is a request to the client.
 * In `modern/Era`, a question ends the handler's request, and the client sends the request again with the answer. In `TaskCall`, a question
 * waits in the task until the client answers. A `HandlerContext` has one `Asker`, and gets another `Asker` when a task begins. All other
 * messages of a handler use the channel of the handler's message.
 */
import type * as Effect from "effect/Effect"
import type { Outbound, RequestOptions } from "../../jsonrpc/Outbound.js"
import type { Channel } from "../../jsonrpc/Side.js"
import type { Question } from "../Ask.js"
import type { AskError, PassedRound, ServerSessionService } from "../ServerSession.js"

/** A pair of a key and a question. The key is `undefined` when the application has given no key. */
export type Keyed = readonly [key: string | undefined, question: Question<any>]

export interface Asker {
  /** Asks the questions. Gives the answers, in the order of the questions. */
  readonly ask: (
    questions: ReadonlyArray<Keyed>,
    options?: RequestOptions
  ) => Effect.Effect<ReadonlyArray<unknown>, AskError>
  readonly askAsTask: ServerSessionService["askAsTask"]
  /** Sends a request of any method to the client. */
  readonly request: Outbound["request"]
  readonly round: PassedRound | undefined
  /** Whether a question has ended the request of the handler. Then the client sends the request again with the answers. */
  readonly endsRequest: boolean
}

/** Sends messages to the sender of one message, on the channel of that message. */
export interface RequestChannel extends Outbound {
  readonly channel: Channel
  /** The reason that the client gave when it cancelled the request; `undefined` when the client gave no reason. */
  readonly cancelReason?: string | undefined
}
