/**
 * One duplex pipe: what comes in is a stream, what goes out an effect. It knows nothing of methods, ids or MCP.
 *
 * `Conversation` is its only reader. `LineFraming` makes transports out of bytes; the pair of `memory` is two of them
 * back to back; `Direct` is a pair without a queue in between.
 *
 * @since 0.1.0
 */
import * as Chunk from "effect/Chunk"
import * as Data from "effect/Data"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type * as Message from "./Message.js"
import * as Outbox from "./runtime/Outbox.js"

/**
 * The pipe failed, on this side of it: never an answer of the peer.
 *
 * `Read` and `Write` are the pipe's own faults; `Encode` is a message of ours that has no wire form, `Decode` an answer
 * of the peer's that is no response; `Open` is a pipe that never came to be.
 *
 * @since 0.1.0
 * @category errors
 */
export class TransportError extends Data.TaggedError("TransportError")<{
  readonly reason: "Open" | "Read" | "Write" | "Encode" | "Decode"
  readonly message: string
  readonly cause?: unknown
}> {}

/**
 * @since 0.1.0
 * @category models
 */
export interface Transport {
  /** What the peer says, in order, for one reader. It ends when the peer will say no more, and fails with the pipe. */
  readonly incoming: Stream.Stream<Message.Delivery, TransportError>
  /** Says something, in order; suspends while the way out is full, fails with `Write` when it is closed. */
  readonly send: (message: Message.Message) => Effect.Effect<void, TransportError>
  /** Says something now, in order, whatever waits already; `false` when the pipe is closed. Never throws. */
  readonly unsafeSend: (message: Message.Message) => boolean
  /**
   * Hands every incoming message to `receive` until the peer will say no more: another way to read `incoming`, for
   * pipes that need no stream in between. Left out, `incoming` is read.
   */
  readonly run?: (receive: (incoming: Message.Delivery) => void) => Effect.Effect<void, TransportError>
  /** Whether requests can leave on it now; where they cannot, they fail with `NoBackChannel`. Left out: always. */
  readonly canAsk?: (() => boolean) | undefined
}

/**
 * A stream of transports: each element is one new conversation.
 *
 * @since 0.1.0
 * @category models
 */
export interface Listener<out E = never, out R = never> extends Stream.Stream<Transport, E, R> {}

/**
 * The pipe is closed: what `send` fails with when there is nobody left to hear it.
 *
 * @since 0.1.0
 * @category errors
 */
export const closed: TransportError = new TransportError({ reason: "Write", message: "The transport is closed" })

/**
 * Hands every incoming message to `receive`, in order, until the stream ends.
 *
 * @since 0.1.0
 * @category running
 */
export const run = (
  transport: Transport,
  receive: (incoming: Message.Delivery) => void
): Effect.Effect<void, TransportError> =>
  transport.run !== undefined
    ? transport.run(receive)
    : consume(transport.incoming, receive)

const consume = (
  incoming: Stream.Stream<Message.Delivery, TransportError>,
  receive: (incoming: Message.Delivery) => void
): Effect.Effect<void, TransportError> =>
  Stream.runForEachChunk(incoming, (chunk) => Effect.sync(() => Chunk.forEach(chunk, (message) => receive(message))))

/**
 * A transport out of a stream and a way to write, for pipes that can only write one message after another. Messages wait
 * in an outbox until `write` takes them; when `write` fails, `incoming` fails with it, so that nobody waits for answers
 * to what was never sent.
 *
 * Closing the scope writes what still waits, for at most a second, then stops writing and ends `incoming`.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (options: {
  readonly incoming: Stream.Stream<Message.Delivery, TransportError>
  readonly write: (message: Message.Message) => Effect.Effect<void, TransportError>
  readonly capacity?: number | undefined
}): Effect.Effect<Transport, never, Scope.Scope> =>
  Effect.gen(function*() {
    const outbox = Outbox.make<Message.Message>(options.capacity)
    const over = yield* Deferred.make<void, TransportError>()
    yield* Effect.acquireRelease(
      Effect.forkDaemon(Effect.interruptible(Effect.onError(
        Stream.runForEach(outbox.stream, options.write),
        (cause) => {
          outbox.end(Exit.void)
          return Deferred.failCause(over, cause)
        }
      ))),
      (writer) =>
        Effect.suspend(() => {
          outbox.end(Exit.void)
          return Effect.timeoutOption(Effect.interruptible(Fiber.await(writer)), "1 second").pipe(
            Effect.zipRight(Deferred.succeed(over, undefined)),
            Effect.zipRight(Effect.timeoutOption(Effect.interruptible(Fiber.interrupt(writer)), "1 second"))
          )
        })
    )
    return {
      incoming: Stream.interruptWhenDeferred(options.incoming, over),
      // Once for the pipe, not once for each message.
      run: (receive) => Effect.raceFirst(consume(options.incoming, receive), Deferred.await(over)),
      ...sender(outbox)
    }
  })

/**
 * Two transports back to back: what one sends, the other receives. Messages are handed over as they are, without a
 * wire; what waits is kept, `capacity` of them before `send` suspends.
 *
 * Closing the scope ends both.
 *
 * @since 0.1.0
 * @category constructors
 */
export const memory = (
  options?: { readonly capacity?: number | undefined }
): Effect.Effect<readonly [Transport, Transport], never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => [end(options?.capacity), end(options?.capacity)] as const),
      ([left, right]) =>
        Effect.sync(() => {
          left.end(Exit.void)
          right.end(Exit.void)
        })
    ),
    ([left, right]) => [
      { incoming: hearing(left, right), ...sender(right) },
      { incoming: hearing(right, left), ...sender(left) }
    ]
  )

const end = (capacity: number | undefined) => Outbox.make<Message.Delivery, TransportError>(capacity)

// Who stops listening has hung up: the other side hears no more from it either.
const hearing = (
  mine: Outbox.Outbox<Message.Delivery, TransportError>,
  theirs: Outbox.Outbox<Message.Delivery, TransportError>
): Stream.Stream<Message.Delivery, TransportError> =>
  Stream.ensuring(
    mine.stream,
    Effect.sync(() => {
      mine.end(Exit.void)
      theirs.end(Exit.void)
    })
  )

const sender = <A, E>(outbox: Outbox.Outbox<A | Message.Message, E>): Pick<Transport, "send" | "unsafeSend"> => ({
  send: (message) => Effect.flatMap(outbox.offer(message), (taken) => taken ? Effect.void : Effect.fail(closed)),
  unsafeSend: (message) => outbox.unsafeOffer(message)
})
