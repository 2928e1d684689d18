/**
 * A pair of transports in one process, without a wire and without a queue: what one side sends, the other has received
 * before `unsafeSend` returns. The same contract as any other pair of transports, for the price of a function call.
 *
 * Values are handed over as they are: neither side may change what it has sent or received.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type * as Message from "./Message.js"
import * as Outbox from "./Outbox.js"
import type { Transport } from "./Transport.js"
import { closed, TransportError } from "./Transport.js"

class End implements Transport {
  peer!: End
  /** What came before anyone listened. */
  private early: Array<Message.Incoming> = []
  private receive: ((incoming: Message.Incoming) => void) | undefined
  private wake: (() => void) | undefined
  private over = false

  readonly unsafeSend = (message: Message.Message): boolean => {
    const { peer } = this
    if (this.over || peer.over) return false
    if (peer.receive !== undefined) peer.receive(message)
    else if (peer.early.length < Outbox.CAPACITY) peer.early.push(message)
    else return false
    return true
  }

  readonly send = (message: Message.Message): Effect.Effect<void, TransportError> =>
    Effect.suspend(() => this.unsafeSend(message) ? Effect.void : Effect.fail(closed))

  readonly run = (receive: (incoming: Message.Incoming) => void): Effect.Effect<void, TransportError> =>
    Effect.suspend(() => {
      if (this.receive !== undefined) {
        return Effect.fail(new TransportError({ reason: "Read", message: "The transport is being read already" }))
      }
      this.receive = receive
      return Effect.ensuring(this.hungUp, Effect.sync(() => this.end()))
    })

  readonly incoming: Stream.Stream<Message.Incoming, TransportError> = Stream.unwrapScoped(Effect.gen(this, function*() {
    const outbox = Outbox.make<Message.Incoming, TransportError>()
    yield* Effect.forkScoped(Effect.onExit(
      this.run((incoming) => {
        outbox.unsafeOffer(incoming)
      }),
      (exit) => Effect.sync(() => outbox.end(exit))
    ))
    return outbox.stream
  }))

  private readonly hungUp = Effect.async<void>((resume) => {
    this.wake = () => resume(Effect.void)
    const { early } = this
    this.early = []
    for (const incoming of early) this.receive!(incoming)
    if (this.over) this.wake()
  })

  /** Either side that hangs up ends both. */
  end(): void {
    if (this.over) return
    this.over = true
    this.wake?.()
    this.peer.end()
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
  ([left]) => Effect.sync(() => left.end())
)
