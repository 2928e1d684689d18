/**
 * The common part of two kinds of channels: the channel of a POST (`legacy/Post`, `modern/Http`), and the channel of one message of
 * `Dispatcher.serve` (`dispatch/Dispatch`). Such a channel buffers the messages that its reader has not read, and a sender waits while the
 * buffer is full. Each channel decides when and in which form to send the answer.
 */
import type * as Effect from "effect/Effect"
import type { TransportError } from "../../jsonrpc/LocalError.js"
import type * as Message from "../../jsonrpc/Message.js"
import type { Channel } from "../../jsonrpc/Side.js"
import { closed } from "../../jsonrpc/Transport.js"
import * as Outbox from "../../kit/Outbox.js"
import type { RequestOrigin } from "./RequestOrigin.js"

export abstract class AnswerChannel implements Channel {
  abstract readonly origin: RequestOrigin

  // Senders call this function without its object.
  abstract readonly unsafeSend: (message: Message.Message) => boolean

  /** The buffer of sent messages; `undefined` before the first message. */
  protected abstract get buffer(): Pick<Outbox.Congestible<never>, "congestion" | "isUnread"> | undefined

  /** A sender must wait for this effect while the buffer is full; `undefined` while there is space. */
  get congestion(): Effect.Effect<void> | undefined {
    return this.buffer?.congestion
  }

  /** Whether there is no reader now. The buffer then stores the messages. */
  get isUnread(): boolean {
    return this.buffer?.isUnread === true
  }

  canSend(): boolean {
    return Outbox.canSend(this)
  }

  send(message: Message.Message): Effect.Effect<void, TransportError> {
    return Outbox.send(this, message, closed)
  }
}
