/**
 * A pair of transports in one process, without a wire and without a queue: what one side sends, the other has received
 * before `unsafeSend` returns, unless it is busy receiving just then; what it is sent meanwhile comes next. The same
 * contract as any other pair of transports, for the price of a function call.
 *
 * Values are handed over as they are: neither side may change what it has sent or received.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type * as Message from "./Message.js"
import * as Outbox from "./runtime/Outbox.js"
import * as Outcome from "./runtime/Outcome.js"
import type { Transport } from "./Transport.js"
import { closed, TransportError } from "./Transport.js"

class End implements Transport {
  peer!: End
  /** What came before anyone listened, and what comes while the listener is busy with what came before it. */
  private readonly waiting = Outbox.make<Message.Incoming>()
  private claimed = false
  private busy = false
  private receive: ((incoming: Message.Incoming) => void) | undefined
  private finish: ((exit: Exit.Exit<void>) => void) | undefined

  readonly unsafeSend = (message: Message.Message): boolean => this.peer.take(message)

  readonly send = (message: Message.Message): Effect.Effect<void, TransportError> =>
    Effect.suspend(() => {
      if (this.peer.waiting.isFull) return Effect.zipRight(this.peer.waiting.room, this.send(message))
      return this.peer.take(message) ? Effect.void : Effect.fail(closed)
    })

  readonly run = (receive: (incoming: Message.Incoming) => void): Effect.Effect<void, TransportError> =>
    Effect.acquireUseRelease(this.claim, () => this.listen(receive), () => Effect.sync(() => this.end(Exit.void)))

  readonly incoming: Stream.Stream<Message.Incoming, TransportError> = Stream.unwrapScoped(
    Effect.suspend(() =>
      Effect.as(
        Effect.acquireRelease(this.claim, () => Effect.sync(() => this.end(Exit.void))),
        this.waiting.stream
      )
    )
  )

  private readonly claim: Effect.Effect<void, TransportError> = Effect.suspend(() => {
    if (this.claimed) {
      return Effect.fail(new TransportError({ reason: "Read", message: "The transport is being read already" }))
    }
    this.claimed = true
    return Effect.void
  })

  private readonly listen = (receive: (incoming: Message.Incoming) => void): Effect.Effect<void> =>
    Effect.async<void>((resume) => {
      this.finish = resume
      this.receive = receive
      this.busy = true
      this.drain()
      if (this.waiting.isEnded) resume(Effect.void)
    })

  // One message after another, even when handling the first makes the peer send the second at once.
  private take(message: Message.Incoming): boolean {
    if (this.receive === undefined || this.busy) return this.waiting.unsafeOffer(message)
    if (this.waiting.isEnded) return false
    this.busy = true
    this.hand(message)
    this.drain()
    return true
  }

  private drain(): void {
    while (this.waiting.size > 0) {
      for (const message of this.waiting.unsafeTakeAll()) this.hand(message)
    }
    this.busy = false
  }

  // A listener that throws ends its own run, as it does on any other transport, and not the sender's.
  private hand(message: Message.Incoming): void {
    Outcome.attempt(() => this.receive!(message), (defect) => this.end(Exit.failCause(defect)))
  }

  /** Either side that hangs up ends both. */
  end(exit: Exit.Exit<void>): void {
    if (this.waiting.isEnded) return
    this.waiting.end(Exit.void)
    this.finish?.(exit)
    this.peer.end(Exit.void)
  }
}

/**
 * Closing the scope ends both.
 *
 * @since 0.1.0
 * @category constructors
 */
export const pair: Effect.Effect<readonly [Transport, Transport], never, Scope.Scope> = Effect.acquireRelease(
  Effect.sync(() => {
    const left = new End()
    const right = new End()
    left.peer = right
    right.peer = left
    return [left, right] as const
  }),
  ([left]) => Effect.sync(() => left.end(Exit.void))
)
