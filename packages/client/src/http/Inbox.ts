import type { TransportError } from "@effect-mcp/jsonrpc/LocalError"
import type { Delivery, Transport } from "@effect-mcp/jsonrpc/Transport"
import * as Outbox from "@effect-mcp/jsonrpc/unstable/Outbox"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"

type Receive = (incoming: Delivery) => void

/**
 * @since 0.1.0
 * @category models
 */
export class Inbox implements Pick<Transport, "incoming" | "run"> {
  private readonly waiting: Outbox.Outbox<Delivery, TransportError>
  private receive: Receive | undefined

  constructor(
    capacity: number,
    /** Hears that nobody listens any more. */
    private readonly onHangUp: () => void
  ) {
    this.waiting = Outbox.make(capacity)
  }

  /** Whether it has ended: nothing comes in any more. */
  get isEnded(): boolean {
    return this.waiting.isEnded
  }

  /** What to wait for before more is brought in; nothing when there is room. */
  get congestion(): Effect.Effect<void> | undefined {
    return this.waiting.isFull ? this.waiting.awaitSpace : undefined
  }

  get incoming(): Stream.Stream<Delivery, TransportError> {
    return Stream.ensuring(this.waiting.stream, Effect.sync(this.onHangUp))
  }

  readonly run = (receive: Receive): Effect.Effect<void, TransportError> =>
    Effect.suspend(() => {
      // One that ended before it was listened to still has what came before.
      for (const delivery of this.waiting.unsafeTakeAll()) receive(delivery)
      this.receive = receive
      return Effect.ensuring(
        this.ended,
        Effect.sync(() => {
          this.receive = undefined
          this.onHangUp()
        })
      )
    })

  /** Brings something in, unless it has ended. */
  deliver(delivery: Delivery): void {
    if (this.isEnded) return
    if (this.receive === undefined) this.waiting.unsafeOffer(delivery)
    else this.receive(delivery)
  }

  /** Ends it, after what came in before; the first call decides how. */
  end(exit: Exit.Exit<void, TransportError>): void {
    this.waiting.end(exit)
  }

  private get ended(): Effect.Effect<void, TransportError> {
    return Effect.catchAll(
      Effect.forever(this.waiting.takeAll),
      Option.match({ onNone: () => Effect.void, onSome: (error) => Effect.fail(error) })
    )
  }
}
