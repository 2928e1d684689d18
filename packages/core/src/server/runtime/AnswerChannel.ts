/**
 * What the channels that answer requests without a transport have in common: the channel of a POST (`legacy/Post`, `modern/Http`), and the
 * channel of one message of `Dispatcher.serve` (`dispatch/Dispatch`). Such a channel buffers what its reader has not taken, and a sender
 * waits while the buffer is full. When the answer leaves, and in which form, is up to each channel.
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

  // Senders take this function without its object.
  abstract readonly unsafeSend: (message: Message.Message) => boolean

  /** What is sent waits here; `undefined` while nothing was sent. */
  protected abstract get buffer(): Pick<Outbox.Congestible<never>, "congestion" | "isUnread"> | undefined

  /** What a sender waits for while the buffer is full. */
  get congestion(): Effect.Effect<void> | undefined {
    return this.buffer?.congestion
  }

  /** Whether there is no reader now, and the buffer keeps what is sent. */
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
