import { assert, describe, it } from "@effect/vitest"
import * as Direct from "@effect-mcp/jsonrpc/Direct"
import * as Message from "@effect-mcp/jsonrpc/Message"
import * as Transport from "@effect-mcp/jsonrpc/Transport"
import { Chunk, Effect, Exit, Fiber, Scope, Stream } from "effect"

const word = (text: string) => Message.notification(text)
const words = (incoming: Iterable<Transport.Delivery>) =>
  [...incoming].map((one) => (one as Message.Notification).method)

/** Listens, and writes down what comes. */
const listen = (transport: Transport.Transport) =>
  Effect.gen(function*() {
    const heard: Array<Transport.Delivery> = []
    const fiber = yield* Effect.fork(Transport.run(transport, (incoming) => heard.push(incoming)))
    while ((yield* Fiber.status(fiber))._tag !== "Suspended") yield* Effect.yieldNow()
    return { fiber, heard }
  })

describe("Direct", () => {
  it.scoped("has delivered when unsafeSend returns, the value itself", () =>
    Effect.gen(function*() {
      const [left, right] = yield* Direct.pair
      const { heard } = yield* listen(right)
      const message = word("a")
      assert.isTrue(left.unsafeSend(message))
      assert.strictEqual(heard[0], message)
      yield* left.send(word("b"))
      assert.deepStrictEqual(words(heard), ["a", "b"])
    }))

  it.scoped("keeps for whoever listens later, in order", () =>
    Effect.gen(function*() {
      const [left, right] = yield* Direct.pair
      left.unsafeSend(word("a"))
      yield* left.send(word("b"))
      const { heard } = yield* listen(right)
      left.unsafeSend(word("c"))
      assert.deepStrictEqual(words(heard), ["a", "b", "c"])
    }))

  it.scoped("makes a sender wait when 256 messages wait for a listener, but not one that cannot", () =>
    Effect.gen(function*() {
      const [left, right] = yield* Direct.pair
      for (let i = 0; i < 256; i++) yield* left.send(word(String(i)))
      const sender = yield* Effect.fork(left.send(word("patient")))
      while ((yield* Fiber.status(sender))._tag !== "Suspended") yield* Effect.yieldNow()
      assert.isTrue(left.unsafeSend(word("urgent")))
      const { heard } = yield* listen(right)
      yield* Fiber.join(sender)
      assert.deepStrictEqual(words(heard).slice(255), ["255", "urgent", "patient"])
    }))

  it.scoped("delivers what was kept before what the listener is sent while it looks at it", () =>
    Effect.gen(function*() {
      const [left, right] = yield* Direct.pair
      left.unsafeSend(word("a"))
      left.unsafeSend(word("b"))
      const heard: Array<string> = []
      yield* Effect.fork(Transport.run(right, (incoming) => {
        const { method } = incoming as Message.Notification
        if (method === "a") left.unsafeSend(word("while a"))
        heard.push(method)
      }))
      while (heard.length < 3) yield* Effect.yieldNow()
      assert.deepStrictEqual(heard, ["a", "b", "while a"])
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

  it.scoped("can be read once, as a stream or not", () =>
    Effect.gen(function*() {
      const [left, right] = yield* Direct.pair
      const { fiber } = yield* listen(left)
      const [again, stream] = [Transport.run(left, () => undefined), Stream.runDrain(left.incoming)]
      for (const reading of [again, stream]) {
        const error = yield* Effect.flip(reading)
        assert.deepStrictEqual([error._tag, error.reason], ["TransportError", "Read"])
      }
      // Who was refused has not hung up on behalf of who reads.
      assert.isTrue(right.unsafeSend(word("a")))
      assert.strictEqual(fiber.unsafePoll(), null)
    }))

  it.scoped("is a stream of what comes in, for who wants one", () =>
    Effect.gen(function*() {
      const [left, right] = yield* Direct.pair
      left.unsafeSend(word("a"))
      const reader = yield* Effect.fork(Stream.runCollect(Stream.take(right.incoming, 2)))
      yield* left.send(word("b"))
      assert.deepStrictEqual(words(Chunk.toReadonlyArray(yield* Fiber.join(reader))), ["a", "b"])
      assert.isFalse(left.unsafeSend(word("c")), "who stops reading has hung up")
    }))

  it.scoped("fails the run of a listener that throws, hangs up, and does not throw at the sender", () =>
    Effect.gen(function*() {
      const [left, right] = yield* Direct.pair
      const boom = new Error("boom")
      const fiber = yield* Effect.fork(Transport.run(right, () => {
        throw boom
      }))
      while ((yield* Fiber.status(fiber))._tag !== "Suspended") yield* Effect.yieldNow()
      left.unsafeSend(word("a"))
      assert.deepStrictEqual(yield* Fiber.await(fiber), Exit.die(boom))
      assert.isFalse(left.unsafeSend(word("b")))
    }))
})

describe("hanging up a Direct pair", () => {
  for (const name of ["left", "right"] as const) {
    it.scoped(`ends both, when the ${name} stops listening`, () =>
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
        assert.deepStrictEqual([readers.left.heard, readers.right.heard], [[], []])
      }))
  }

  it.effect("happens when the scope closes, to who listens and to who will", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const [left, right] = yield* Scope.extend(Direct.pair, scope)
      const { fiber } = yield* listen(left)
      yield* Scope.close(scope, Exit.void)
      yield* Fiber.join(fiber)
      yield* Transport.run(right, () => undefined)
      assert.isFalse(right.unsafeSend(word("late")))
    }))

  it.effect("turns away who waits for a listener", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const [left] = yield* Scope.extend(Direct.pair, scope)
      for (let i = 0; i < 256; i++) left.unsafeSend(word("a"))
      const sender = yield* Effect.fork(left.send(word("patient")))
      while ((yield* Fiber.status(sender))._tag !== "Suspended") yield* Effect.yieldNow()
      yield* Scope.close(scope, Exit.void)
      assert.strictEqual((yield* Effect.flip(Fiber.join(sender))).reason, "Write")
    }))
})
