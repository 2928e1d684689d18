/**
 * The incoming half of the transport of a client over HTTP. `HttpConnection` makes the reader, and `negotiation/HttpTransport` gives it to
 * the conversation. Many HTTP responses deliver messages, and one `Reader` passes all of them on. A conversation reads with `run`: the
 * `Reader` calls its function directly with each message, and stores no message. Other code reads the stream `incoming`, which stores up to
 * `capacity` messages.
 *
 * A delivery waits until somebody runs `run` or consumes `incoming`. It also waits while `incoming` is full. While a delivery waits, the
 * client reads no more of the response from which the message came.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Stream from "effect/Stream"
import { TransportError } from "../../jsonrpc/LocalError.js"
import type { Delivery, Transport } from "../../jsonrpc/Transport.js"
import * as Outbox from "../../kit/Outbox.js"

export interface Reader extends Required<Pick<Transport, "incoming" | "run">> {
  /** Delivers a message to the function of `run`, or to `incoming`. Drops the message when reading has ended. */
  readonly deliver: (delivery: Delivery) => Effect.Effect<void>
  /** Ends `run` and `incoming`, after everything that was delivered before. They end with the exit of the first call. */
  readonly end: (exit: Exit.Exit<void, TransportError>) => Effect.Effect<boolean>
}

type Take = (delivery: Delivery) => Effect.Effect<void>

/** Makes a reader. `incoming` stores up to `capacity` messages. `onStop` runs when `run` or `incoming` ends. */
export const make = (capacity: number, onStop: Effect.Effect<void>): Effect.Effect<Reader> =>
  Effect.gen(function*() {
    const reader = yield* Deferred.make<Take>()
    const ended = yield* Deferred.make<void, TransportError>()
    // Copies of the two deferreds, which can be read for each message at no cost.
    let isEnded = false
    let take: Take = (delivery) => Effect.flatMap(Deferred.await(reader), (take) => take(delivery))

    const become = (next: Take): Effect.Effect<void, TransportError> =>
      Effect.flatMap(Deferred.succeed(reader, next), (isFirst) => {
        if (isFirst && !isEnded) take = next
        return isFirst ? Effect.void : Effect.fail(busy)
      })

    return {
      deliver: (delivery) => Effect.suspend(() => take(delivery)),
      end: (exit) =>
        Effect.suspend(() => {
          isEnded = true
          take = () => Effect.void
          return Deferred.done(ended, exit)
        }),
      run: (receive) =>
        Effect.zipRight(
          become((delivery) => {
            receive(delivery)
            return Effect.void
          }),
          Effect.ensuring(Deferred.await(ended), onStop)
        ),
      incoming: Stream.unwrapScoped(Effect.gen(function*() {
        const outbox = Outbox.make<Delivery, TransportError>(capacity)
        yield* become((delivery) => Effect.asVoid(outbox.offer(delivery)))
        yield* Effect.forkScoped(Effect.map(Effect.exit(Deferred.await(ended)), (exit) => outbox.end(exit)))
        return Stream.ensuring(outbox.stream, onStop)
      }))
    }
  })

const busy = new TransportError({ reason: "Read", message: "Another reader already reads the transport" })
