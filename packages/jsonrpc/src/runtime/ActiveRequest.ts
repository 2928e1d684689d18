/**
 * One request of the peer while it is being answered, with the functions that send to its sender on its behalf. `InFlight`
 * has the table of them, starts and ends each.
 *
 * `fiber` is unset until the first steps of the handler have run; `reason` is set before it is interrupted; once `open` is
 * false nothing more is sent on its behalf; once `answered` is true it is no longer in the table.
 */
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import { NoBackChannel } from "../LocalError.js"
import * as Message from "../Message.js"
import type { CallError, RequestOptions } from "../Outbound.js"
import type * as Outcome from "../Outcome.js"
import type { Channel, IncomingRequest } from "../Side.js"
import type { Pending } from "./Pending.js"
import type { Places } from "./Places.js"
import * as Turns from "./Turns.js"

export class ActiveRequest implements IncomingRequest {
  fiber: Fiber.RuntimeFiber<unknown, unknown> | undefined
  reason: "cancelled" | "closing" | undefined
  cancelReason: string | undefined
  answered = false
  cancellable = true
  open = true
  /** How many notifications wait for space on the channel. */
  sending = 0
  onSent: (() => void) | undefined
  /** The answer when the conversation closes. */
  closing: (() => Outcome.Outcome) | undefined

  constructor(
    readonly id: Message.RequestId,
    readonly method: string,
    readonly channel: Channel,
    private readonly pending: Pending,
    /** Where it waits or has a place. */
    readonly places: Places<ActiveRequest>
  ) {}

  request(method: string, params?: Message.Params, options?: RequestOptions): Effect.Effect<Message.Params, CallError> {
    return Effect.suspend(() =>
      this.open && this.channel.canRequest?.() !== false
        ? this.pending.request(this.channel.unsafeSend, method, params, options)
        : Effect.fail(new NoBackChannel({ method }))
    )
  }

  notify(method: string, params?: Message.Params): Effect.Effect<void> {
    return Effect.suspend(() =>
      this.open
        ? Effect.acquireUseRelease(
          Effect.sync(() => this.sending++),
          () => Effect.catchAll(this.channel.send(Message.notification(method, params)), () => Turns.drop),
          () =>
            Effect.sync(() => {
              if (--this.sending === 0) this.onSent?.()
            })
        )
        : Turns.drop
    )
  }
}
