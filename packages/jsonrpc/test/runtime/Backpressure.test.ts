import { assert, describe, it } from "@effect/vitest"
import * as Message from "@effect-mcp/jsonrpc/Message"
import { Effect, Exit, Fiber } from "effect"
import * as Backpressure from "../../src/runtime/Backpressure.js"
import * as Outbox from "../../src/runtime/Outbox.js"

const message = Message.notification("n")

/** A channel that accepts `capacity` messages before senders wait. */
const bounded = (capacity: number) => {
  const outbox = Outbox.make<Message.Message>(capacity)
  const out: Backpressure.Congestible = {
    get congestion() {
      return outbox.isFull ? outbox.awaitSpace : undefined
    },
    unsafeSend: (message) => outbox.unsafeOffer(message)
  }
  return { outbox, out }
}

describe("send", () => {
  it.effect("suspends while the channel is full, each time it checks", () =>
    Effect.gen(function*() {
      const { out, outbox } = bounded(1)
      yield* Backpressure.send(out, message)
      const senders = yield* Effect.forEach([1, 2], () => Effect.fork(Backpressure.send(out, message)))
      for (const left of [2, 1, 0]) {
        yield* Effect.forEach(Array.from({ length: 20 }), () => Effect.yieldNow())
        const waiting = yield* Effect.forEach(senders, (sender) => sender.poll)
        assert.strictEqual(waiting.filter(({ _tag }) => _tag === "None").length, left)
        assert.lengthOf(outbox.unsafeTakeAll(), 1)
      }
    }))

  it.effect("fails when the channel is closed, also for a sender that waits", () =>
    Effect.gen(function*() {
      const { out, outbox } = bounded(1)
      yield* Backpressure.send(out, message)
      const sender = yield* Effect.fork(Backpressure.send(out, message))
      yield* Effect.yieldNow()
      outbox.end(Exit.void)
      const exit = yield* Fiber.await(sender)
      assert.isTrue(Exit.isFailure(exit))
    }))
})
