/**
 * The calls of a session that require scopes, and the questions that these calls ask their client. A user may use one session with several
 * tokens. To cancel such a call, or to answer its question, a token must be allowed to make the call. `HttpSession` keeps these calls.
 * `Http` and `Sse` ask here who may cancel or answer, and `Post` tells which questions a call asks.
 *
 * Both maps have the scopes by the id as a text, because a client may answer "7" to 7. A call is in its map from its POST to its response.
 * A question is in its map as long as its call.
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

  /** Adds calls. Gives the functions that remove the calls, and that add the questions of the calls. */
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
   * The scopes that a message, or the messages of a batch, require because of other calls: the scopes of the questions that the messages
   * answer, and the scopes of the calls that the messages cancel.
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
  /** Says that the call has asked its client a question with this id. */
  readonly asks: (id: Message.RequestId) => void
  readonly end: () => void
}

/**
 * Refuses a message when the token of its request may not make the calls that the message answers or cancels. Gives `true` when it has
 * refused the message.
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
