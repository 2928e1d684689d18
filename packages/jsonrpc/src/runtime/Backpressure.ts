/**
 * How `send` of a transport waits: while the way out is full it suspends, then it sends as `unsafeSend` does. Transports
 * and channels that know when they are full share this one loop; `Outbox.offer` does the same for a plain outbox.
 */
import * as Effect from "effect/Effect"
import type { TransportError } from "../LocalError.js"
import type * as Message from "../Message.js"
import { closed } from "../Transport.js"

export interface Congestible {
  /** What a sender waits for before it looks again; `undefined` while there is room, and once the way out is closed. */
  readonly congestion: Effect.Effect<void> | undefined
  readonly unsafeSend: (message: Message.Message) => boolean
}

/** Sends a message as soon as there is room; fails with `closed` when `unsafeSend` takes nothing more. */
export const send = (out: Congestible, message: Message.Message): Effect.Effect<void, TransportError> =>
  Effect.suspend(() => {
    const { congestion } = out
    // Several senders wake at once: each looks again, and those that find it full wait once more.
    if (congestion !== undefined) return Effect.zipRight(congestion, send(out, message))
    return out.unsafeSend(message) ? Effect.void : Effect.fail(closed)
  })
