/**
 * A pair of transports in one process, without JSON and without a queue. `unsafeSend` calls the receiver of the other side before it
 * returns. If the other side is receiving another message at that moment, the new message is delivered after it.
 *
 * The two transports behave like all other transports. `Transport.memory` makes a pair with queues. A receiver gets the message that it
 * would get over JSON, for example without members whose value is `undefined`. A message that has only JSON values is passed by reference.
 * Therefore both sides must not change a message that they have sent or received.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Outbox from "../kit/Outbox.js"
import { TransportError } from "./LocalError.js"
import type * as Message from "./Message.js"
import * as Diagnostics from "./runtime/Diagnostics.js"
import * as JsonForm from "./runtime/JsonForm.js"
import { closed, type Transport } from "./Transport.js"

/**
 * One side of a pair. This is a class with mutable fields because it handles every message of an in-process server. A fiber and a queue
 * between the sides would take more time than the call, which takes 3 µs. `waiting` contains the messages that were sent before the owner
 * began to read this side, or while `receiving` is `true`. `waiting` ends when the pair is closed.
 */
class DirectTransport implements Transport {
  peer!: DirectTransport
  private readonly waiting = Outbox.make<Message.Incoming>()
  private claimed = false
  private receiving = false
  private receive: ((incoming: Message.Incoming) => void) | undefined
  private onClose: ((exit: Exit.Exit<void>) => void) | undefined

  readonly unsafeSend = (message: Message.Message): boolean => {
    const received = JsonForm.of(message)
    return received !== undefined && this.peer.accept(received)
  }

  get congestion(): Effect.Effect<void> | undefined {
    return this.peer.waiting.congestion
  }

  canSend(): boolean {
    return Outbox.canSend(this)
  }

  readonly send = (message: Message.Message): Effect.Effect<void, TransportError> =>
    Effect.mapError(
      Outbox.send(this, message, closed),
      (error) => JsonForm.of(message) === undefined ? JsonForm.noForm : error
    )

  readonly run = (receive: (incoming: Message.Incoming) => void): Effect.Effect<void, TransportError> =>
    Effect.acquireUseRelease(this.claim, () => this.read(receive), () => Effect.sync(() => this.close(Exit.void)))

  readonly incoming: Stream.Stream<Message.Incoming, TransportError> = Stream.unwrapScoped(
    Effect.suspend(() =>
      Effect.as(
        Effect.acquireRelease(this.claim, () => Effect.sync(() => this.close(Exit.void))),
        this.waiting.stream
      )
    )
  )

  private readonly claim: Effect.Effect<void, TransportError> = Effect.suspend(() => {
    if (this.claimed) {
      return Effect.fail(new TransportError({ reason: "Read", message: "The transport already has a reader" }))
    }
    this.claimed = true
    return Effect.void
  })

  private readonly read = (receive: (incoming: Message.Incoming) => void): Effect.Effect<void> =>
    Effect.async<void>((resume) => {
      this.onClose = resume
      this.receive = receive
      this.receiving = true
      this.deliverWaiting()
      if (this.waiting.isEnded) resume(Effect.void)
    })

  // Delivers one message after another, also when the peer sends a second message at once because of the first message.
  private accept(message: Message.Incoming): boolean {
    if (this.receive === undefined || this.receiving) return this.waiting.unsafeOffer(message)
    if (this.waiting.isEnded) return false
    this.receiving = true
    this.deliver(message)
    this.deliverWaiting()
    return true
  }

  private deliverWaiting(): void {
    while (this.waiting.size > 0) {
      for (const message of this.waiting.unsafeTakeAll()) this.deliver(message)
    }
    this.receiving = false
  }

  // If `receive` throws, the reader ends with the defect, as with any other transport. The sender continues.
  private deliver(message: Message.Incoming): void {
    Diagnostics.attempt(() => this.receive!(message), (defect) => this.close(Exit.failCause(defect)))
  }

  /** Closes both sides of the pair. */
  close(exit: Exit.Exit<void>): void {
    if (this.waiting.isEnded) return
    this.waiting.end(Exit.void)
    this.onClose?.(exit)
    this.peer.close(Exit.void)
  }
}

/**
 * Makes two connected transports. Both transports close when the scope closes, or when one of the two readers ends.
 *
 * @category utils
 */
export const pair: Effect.Effect<readonly [Transport, Transport], never, Scope.Scope> = Effect.acquireRelease(
  Effect.sync(() => {
    const left = new DirectTransport()
    const right = new DirectTransport()
    left.peer = right
    right.peer = left
    return [left, right] as const
  }),
  ([left]) => Effect.sync(() => left.close(Exit.void))
)
