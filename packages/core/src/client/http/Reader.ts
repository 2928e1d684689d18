/**
 * The incoming half of a client's transport over HTTP, which `HttpConnection` makes and `negotiation/HttpTransport` gives to the
 * conversation: many HTTP responses deliver messages, and one reader takes all of them. A conversation reads by `run`, which gets each
 * message at once; `incoming` has the messages as a stream, in which `capacity` messages may wait.
 *
 * A delivery waits until there is a reader, and while that stream is full. While the delivery waits, the client reads no more of the
 * response that the message came from.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Stream from "effect/Stream"
import { TransportError } from "../../jsonrpc/LocalError.js"
import type { Delivery, Transport } from "../../jsonrpc/Transport.js"
import * as Outbox from "../../kit/Outbox.js"

export interface Reader extends Required<Pick<Transport, "incoming" | "run">> {
  /** Delivers a message to the reader, unless reading has ended. */
  readonly deliver: (delivery: Delivery) => Effect.Effect<void>
  /** Ends reading, after all that was delivered. The first call decides how it ends. */
  readonly end: (exit: Exit.Exit<void, TransportError>) => Effect.Effect<boolean>
}

type Take = (delivery: Delivery) => Effect.Effect<void>

/** `onStop` runs when the reader stops. `capacity` messages may wait in the stream. */
export const make = (capacity: number, onStop: Effect.Effect<void>): Effect.Effect<Reader> =>
  Effect.gen(function*() {
    const reader = yield* Deferred.make<Take>()
    const ended = yield* Deferred.make<void, TransportError>()
    // Copies of the two deferreds, which each message can read at no cost.
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

const busy = new TransportError({ reason: "Read", message: "The transport is being read already" })
