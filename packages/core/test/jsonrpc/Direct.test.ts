import { assert, it } from "@effect/vitest"
import * as Direct from "@effect-mcp/core/Direct"
import * as Message from "@effect-mcp/core/Message"
import * as Transport from "@effect-mcp/core/Transport"
import { Chunk, Effect, Exit, Fiber, Scope, Stream } from "effect"
import { untilSuspended } from "../../../testing/test/support/Suspended.js"
import { describe } from "../../../testing/test/support/WokenAtOnce.js"

const word = (text: string) => Message.notification(text)
const words = (incoming: Iterable<Transport.Delivery>) =>
  [...incoming].map((one) => (one as Message.Notification).method)

/** Reads a transport, and records what arrives. */
const listen = (transport: Transport.Transport) =>
  Effect.gen(function*() {
    const received: Array<Transport.Delivery> = []
    const fiber = yield* Effect.fork(Transport.run(transport, (incoming) => received.push(incoming)))
    yield* untilSuspended(fiber)
    return { fiber, received }
  })

describe("Direct", () => {
  it.scoped("has delivered the value itself when unsafeSend returns", () =>
    Effect.gen(function*() {
      const [left, right] = yield* Direct.pair
      const { received } = yield* listen(right)
      const message = word("a")
      assert.isTrue(left.unsafeSend(message))
      assert.strictEqual(received[0], message)
      yield* left.send(word("b"))
      assert.deepStrictEqual(words(received), ["a", "b"])
    }))

  it.scoped("keeps messages for a later reader, in order", () =>
    Effect.gen(function*() {
      const [left, right] = yield* Direct.pair
      left.unsafeSend(word("a"))
      yield* left.send(word("b"))
      const { received } = yield* listen(right)
      left.unsafeSend(word("c"))
      assert.deepStrictEqual(words(received), ["a", "b", "c"])
    }))

  it.scoped("suspends send while 256 messages wait for a reader, and unsafeSend never", () =>
    Effect.gen(function*() {
      const [left, right] = yield* Direct.pair
      for (let i = 0; i < 256; i++) yield* left.send(word(String(i)))
      const sender = yield* Effect.fork(left.send(word("patient")))
      yield* untilSuspended(sender)
      assert.isTrue(left.unsafeSend(word("urgent")))
      const { received } = yield* listen(right)
      yield* Fiber.join(sender)
      assert.deepStrictEqual(words(received).slice(255), ["255", "urgent", "patient"])
    }))

  it.scoped("delivers the messages that waited before those that arrive meanwhile", () =>
    Effect.gen(function*() {
      const [left, right] = yield* Direct.pair
      left.unsafeSend(word("a"))
      left.unsafeSend(word("b"))
      const received: Array<string> = []
      yield* Effect.fork(Transport.run(right, (incoming) => {
        const { method } = incoming as Message.Notification
        if (method === "a") left.unsafeSend(word("while a"))
        received.push(method)
      }))
      while (received.length < 3) yield* Effect.yieldNow()
      assert.deepStrictEqual(received, ["a", "b", "while a"])
    }))

  it.scoped("delivers one message after another, however deep the sides answer each other", () =>
    Effect.gen(function*() {
      const [left, right] = yield* Direct.pair
      const rounds = 100_000
      let inside = 0
      let deepest = 0
      const count = (other: Transport.Transport) => (incoming: Transport.Delivery) => {
        deepest = Math.max(deepest, ++inside)
        const { params } = incoming as Message.Notification
        const left = (params as { readonly left: number }).left
        if (left > 0) other.unsafeSend(Message.notification("count", { left: left - 1 }))
        else last = true
        inside--
      }
      let last = false
      yield* Effect.fork(Transport.run(left, count(left)))
      yield* Effect.fork(Transport.run(right, count(right)))
      yield* Effect.yieldNow()
      left.unsafeSend(Message.notification("count", { left: rounds }))
      while (!last) yield* Effect.yieldNow()
      assert.isAtMost(deepest, 2)
    }))

  it.scoped("can be read once, by run or as a stream", () =>
    Effect.gen(function*() {
      const [left, right] = yield* Direct.pair
      const { fiber } = yield* listen(left)
      const [again, stream] = [Transport.run(left, () => undefined), Stream.runDrain(left.incoming)]
      for (const reading of [again, stream]) {
        const error = yield* Effect.flip(reading)
        assert.deepStrictEqual([error._tag, error.reason], ["TransportError", "Read"])
      }
      // The reader that was refused has not closed the pipe of the first reader.
      assert.isTrue(right.unsafeSend(word("a")))
      assert.strictEqual(fiber.unsafePoll(), null)
    }))

  it.scoped("can be read as a stream", () =>
    Effect.gen(function*() {
      const [left, right] = yield* Direct.pair
      left.unsafeSend(word("a"))
      const reader = yield* Effect.fork(Stream.runCollect(Stream.take(right.incoming, 2)))
      yield* left.send(word("b"))
      assert.deepStrictEqual(words(Chunk.toReadonlyArray(yield* Fiber.join(reader))), ["a", "b"])
      assert.isFalse(left.unsafeSend(word("c")), "a side that stops reading has closed the pipe")
    }))

  it.scoped("fails run and closes when the reader throws, and does not throw in the sender", () =>
    Effect.gen(function*() {
      const [left, right] = yield* Direct.pair
      const boom = new Error("boom")
      const fiber = yield* Effect.fork(Transport.run(right, () => {
        throw boom
      }))
      yield* untilSuspended(fiber)
      left.unsafeSend(word("a"))
      assert.deepStrictEqual(yield* Fiber.await(fiber), Exit.die(boom))
      assert.isFalse(left.unsafeSend(word("b")))
    }))
})

describe("closing a Direct pair", () => {
  for (const name of ["left", "right"] as const) {
    it.scoped(`ends both sides when the ${name} stops reading`, () =>
      Effect.gen(function*() {
        const [left, right] = yield* Direct.pair
        const readers = { left: yield* listen(left), right: yield* listen(right) }
        yield* Fiber.interrupt(readers[name].fiber)
        const other = name === "left" ? readers.right : readers.left
        yield* Fiber.join(other.fiber)
        for (const end of [left, right]) {
          assert.isFalse(end.unsafeSend(word("late")))
          assert.deepStrictEqual((yield* Effect.flip(end.send(word("late")))).reason, "Write")
        }
        assert.deepStrictEqual([readers.left.received, readers.right.received], [[], []])
      }))
  }

  it.effect("happens with the scope, for present and later readers", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const [left, right] = yield* Scope.extend(Direct.pair, scope)
      const { fiber } = yield* listen(left)
      yield* Scope.close(scope, Exit.void)
      yield* Fiber.join(fiber)
      yield* Transport.run(right, () => undefined)
      assert.isFalse(right.unsafeSend(word("late")))
    }))

  it.effect("fails the senders that wait", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const [left] = yield* Scope.extend(Direct.pair, scope)
      for (let i = 0; i < 256; i++) left.unsafeSend(word("a"))
      const sender = yield* Effect.fork(left.send(word("patient")))
      yield* untilSuspended(sender)
      yield* Scope.close(scope, Exit.void)
      assert.strictEqual((yield* Effect.flip(Fiber.join(sender))).reason, "Write")
    }))
})
