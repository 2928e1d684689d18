/**
 * Checks (laws) that every transport must pass.
 *
 * A law gets the two connected ends of the transport under test. `Law.check` makes the ends in a scope. When this scope closes, both ends
 * must close.
 *
 * @since 0.1.0
 */
import type * as LocalError from "@effect-mcp/core/LocalError"
import * as Message from "@effect-mcp/core/Message"
import * as Transport from "@effect-mcp/core/Transport"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Queue from "effect/Queue"
import * as Law from "./Law.js"

/**
 * Two connected ends.
 *
 * @category models
 */
export type Pair = readonly [Transport.Transport, Transport.Transport]

/** Returns the messages that an end receives one by one, with `undefined` after the last message, and the exit of `incoming`. */
const listen = (transport: Transport.Transport) =>
  Effect.gen(function*() {
    const received = yield* Queue.unbounded<Message.Incoming | undefined>()
    const ended = yield* Deferred.make<Exit.Exit<void, LocalError.TransportError>>()
    const fiber = yield* Effect.forkScoped(Effect.onExit(
      Transport.run(transport, (incoming) => {
        // The transport reports undelivered messages. These reports are not messages of the peer.
        if (!(incoming instanceof Transport.Undelivered)) Queue.unsafeOffer(received, incoming)
      }),
      (exit) => Effect.zipRight(Queue.offer(received, undefined), Deferred.succeed(ended, exit))
    ))
    return { next: Queue.take(received), ended: Deferred.await(ended), fiber }
  })

const numbered = (count: number) => Array.from({ length: count }, (_, i) => Message.notification("n", { i }))

const numberOf = (incoming: Message.Incoming | undefined): unknown =>
  incoming !== undefined && !Message.isMalformed(incoming) && Message.isNotification(incoming)
    ? incoming.params?.i
    : undefined

const delivery = Law.make<Pair>(
  "delivers each message one time and in order, in both directions",
  ([left, right], expect) =>
    Effect.gen(function*() {
      const atLeft = yield* listen(left)
      const atRight = yield* listen(right)
      const messages = numbered(100)
      yield* Effect.all([
        Effect.forEach(messages, left.send, { discard: true }),
        Effect.forEach(messages, right.send, { discard: true })
      ], { concurrency: 2 })
      for (const end of [atLeft, atRight]) {
        for (let i = 0; i < 100; i++) {
          const number = numberOf(yield* end.next)
          yield* expect(number === i, `message ${i} arrived as ${String(number)}`)
        }
      }
    })
)

const order = Law.make<Pair>(
  "keeps the order of `send` and `unsafeSend`",
  ([left, right], expect) =>
    Effect.gen(function*() {
      const atRight = yield* listen(right)
      for (const [i, message] of numbered(50).entries()) {
        if (i % 2 === 0) yield* left.send(message)
        else yield* expect(left.unsafeSend(message), "an open transport did not accept a message")
      }
      for (let i = 0; i < 50; i++) {
        const number = numberOf(yield* atRight.next)
        yield* expect(number === i, `message ${i} arrived as ${String(number)}`)
      }
    })
)

const kinds = Law.make<Pair>(
  "delivers every kind of message unchanged",
  ([left, right], expect) =>
    Effect.gen(function*() {
      const atRight = yield* listen(right)
      const sent: ReadonlyArray<Message.Message> = [
        Message.request(1, "m"),
        Message.request("1", "m", { text: "line\nbreak \u2028 \u{1f600} \\ \"" }),
        Message.request(0, "m", { nested: { list: [1, null, true, { deep: "ü" }] } }),
        Message.notification("m"),
        Message.success("", {}),
        Message.failure(7, { code: -32603, message: "no", data: { why: "not" } }),
        Message.failure(undefined, { code: -32700, message: "what?" })
      ]
      for (const message of sent) {
        yield* left.send(message)
        const received = yield* atRight.next
        yield* expect(
          JSON.stringify(received) === JSON.stringify(message),
          `${JSON.stringify(message)} arrived as ${JSON.stringify(received)}`
        )
      }
    })
)

const stopReading = Law.make<Pair>(
  "ends for both sides when one side stops reading, and then accepts no message",
  ([left, right], expect) =>
    Effect.gen(function*() {
      const atLeft = yield* listen(left)
      const atRight = yield* listen(right)
      // From here on both ends read.
      yield* left.send(Message.notification("n"))
      yield* atRight.next
      yield* right.send(Message.notification("n"))
      yield* atLeft.next
      yield* Fiber.interrupt(atRight.fiber)
      yield* expect(Exit.isSuccess(yield* atLeft.ended), "the other end's incoming failed instead of ending")
      yield* expect(!left.unsafeSend(Message.notification("n")), "a message without a reader was accepted")
      yield* expect(
        Exit.isFailure(yield* Effect.exit(left.send(Message.notification("n")))),
        "`send` succeeded"
      )
    })
)

const closing = Law.make<Pair>(
  "ends for both sides when its scope closes, also for a side that does not read",
  ([left, right], expect, release) =>
    Effect.gen(function*() {
      const atLeft = yield* listen(left)
      // From here on the left end reads.
      yield* right.send(Message.notification("n"))
      yield* atLeft.next
      yield* release
      yield* atLeft.ended
      yield* expect(!left.unsafeSend(Message.notification("n")), "a closed transport accepted a message")
    })
)

/**
 * All laws.
 *
 * @category constants
 */
export const laws: ReadonlyArray<Law.Law<Pair>> = [delivery, order, kinds, stopReading, closing]
