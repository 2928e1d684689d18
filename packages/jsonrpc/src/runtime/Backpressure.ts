/**
 * The `send` of transports and channels that know when they are full: it suspends while they are, then calls
 * `unsafeSend`. `Outbox.offer` does the same for an outbox.
 */
import * as Effect from "effect/Effect"
import type { TransportError } from "../LocalError.js"
import type * as Message from "../Message.js"
import { closed } from "../Transport.js"
import * as Turns from "./Turns.js"

export interface Congestible {
  /** Waits until there may be space; `undefined` while there is space, and once it is closed. */
  readonly congestion: Effect.Effect<void> | undefined
  readonly unsafeSend: (message: Message.Message) => boolean
  /** Whether nothing reads now, and what is sent is kept for a later reader. */
  readonly isUnread?: boolean | undefined
}

/** Sends a message as soon as there is space; fails with `closed` when `unsafeSend` returns `false`. */
export const send = (out: Congestible, message: Message.Message): Effect.Effect<void, TransportError> =>
  Effect.suspend(() => {
    const { congestion } = out
    // Several senders resume at once: each checks again, and those that find it full wait once more.
    if (congestion !== undefined) return Effect.zipRight(congestion, send(out, message))
    if (!out.unsafeSend(message)) return Effect.fail(closed)
    return Turns.sent(out.isUnread !== true)
  })
