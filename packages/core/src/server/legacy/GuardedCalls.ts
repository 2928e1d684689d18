/**
 * Stores the running calls of a session that require authorization scopes, and the questions that these calls ask the client. A user may
 * use one session with several tokens. A client may cancel such a call, or answer its question, only with a token that is allowed to make
 * the call. `HttpSession` has one object of this class. `Http` and `Sse` check cancellations and answers with `refuses`, and `Post` adds
 * the questions.
 *
 * The two maps contain scopes by the id of a call, or by the id of a question. The maps contain each id as a text, because a client may
 * answer a request with the number 7 as its id by a response with the text "7". A call stays in its map until the server sends the response
 * to the call. A question stays in its map until the server sends the response to the call that asked the question.
 */
import * as Message from "../../jsonrpc/Message.js"
import * as Batch from "../../jsonrpc/runtime/Batch.js"
import { CANCELLED } from "../../jsonrpc/runtime/Calls.js"
import type { Admitted } from "../http/HttpExchange.js"
import * as Refusal from "../http/Refusal.js"
import * as Permission from "../runtime/Permission.js"

type Id = Message.RequestId | null | undefined

export class GuardedCalls {
  private readonly calls = new Map<string, ReadonlyArray<string>>()
  private readonly questions = new Map<string, ReadonlyArray<string>>()

  get isEmpty(): boolean {
    return this.calls.size === 0
  }

  /** Adds calls. Gives functions that remove the calls and that add questions of the calls. */
  begin(ids: ReadonlyArray<Message.RequestId>, scopes: ReadonlyArray<string>): GuardedCall {
    const asked: Array<string> = []
    for (const id of ids) this.calls.set(String(id), scopes)
    return {
      asks: (id) => {
        asked.push(String(id))
        this.questions.set(String(id), scopes)
      },
      end: () => {
        for (const id of ids) this.calls.delete(String(id))
        for (const id of asked) this.questions.delete(id)
      }
    }
  }

  /**
   * Gives the scopes that a message, or the messages of a batch, require because of other calls: the scopes of the calls whose questions
   * the messages answer, and the scopes of the calls that the messages cancel.
   */
  requiredBy(incoming: Message.Incoming): ReadonlyArray<string> {
    if (this.isEmpty) return NONE
    const all = Message.isMalformed(incoming) && incoming.batch !== undefined
      ? Batch.messages(incoming.batch) ?? []
      : [incoming]
    return [...new Set(all.flatMap((one) => this.of(one)))]
  }

  private of(incoming: Message.Incoming): ReadonlyArray<string> {
    const question = (id: Id) => this.questions.get(String(id)) ?? NONE
    if (Message.isMalformed(incoming)) return question(incoming.id)
    if (Message.isResponse(incoming)) return question(incoming.id)
    return !Message.isRequest(incoming) && incoming.method === CANCELLED
      ? this.calls.get(String(incoming.params?.["requestId"])) ?? NONE
      : NONE
  }
}

export interface GuardedCall {
  /** Records that the call has asked its client a question with this id. */
  readonly asks: (id: Message.RequestId) => void
  readonly end: () => void
}

/**
 * Refuses a message that answers or cancels a call, when the token of the message's request is not allowed to make this call. Gives `true`
 * when this function has refused the message.
 */
export const refuses = (
  guarded: GuardedCalls | undefined,
  exchange: Admitted,
  incoming: Message.Incoming
): boolean => {
  const scopes = guarded?.requiredBy(incoming) ?? []
  const refused = scopes.length === 0 ? undefined : Permission.refusal(exchange.user, scopes)
  if (refused !== undefined) Refusal.send(exchange, Refusal.of(refused, "legacy"))
  return refused !== undefined
}

const NONE: ReadonlyArray<string> = []
