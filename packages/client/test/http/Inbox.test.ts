import { assert, describe, it } from "@effect/vitest"
import { TransportError } from "@effect-mcp/jsonrpc/LocalError"
import * as Message from "@effect-mcp/jsonrpc/Message"
import type * as Transport from "@effect-mcp/jsonrpc/Transport"
import { Chunk, Effect, Exit, Fiber, Stream } from "effect"
import { Inbox } from "../../src/http/Inbox.js"

const n = (i: number) => Message.notification("n", { i })
const fault = new TransportError({ reason: "Read", message: "gone" })

const make = () => {
  const hangUps = { count: 0 }
  return { hangUps, inbox: new Inbox(2, () => hangUps.count++) }
}

describe("Inbox", () => {
  it.effect("keeps what comes before somebody listens, and hands over at once what comes then", () =>
    Effect.gen(function*() {
      const { hangUps, inbox } = make()
      inbox.deliver(n(1))
      inbox.deliver(n(2))
      const heard: Array<Transport.Delivery> = []
      const running = yield* Effect.fork(inbox.run((one) => heard.push(one)))
      yield* Effect.yieldNow()
      assert.deepStrictEqual(heard, [n(1), n(2)])
      inbox.deliver(n(3))
      assert.deepStrictEqual(heard, [n(1), n(2), n(3)])
      inbox.end(Exit.void)
      inbox.deliver(n(4))
      yield* Fiber.join(running)
      assert.lengthOf(heard, 3)
      assert.strictEqual(hangUps.count, 1)
    }))

  it.effect("is full when too much waits, and is not when somebody listens", () =>
    Effect.gen(function*() {
      const { inbox } = make()
      assert.isUndefined(inbox.congestion)
      inbox.deliver(n(1))
      inbox.deliver(n(2))
      const waiting = yield* Effect.fork(inbox.congestion!)
      yield* Effect.yieldNow()
      assert.isTrue((yield* Fiber.poll(waiting))._tag === "None")
      yield* Effect.fork(inbox.run(() => {}))
      yield* Fiber.join(waiting)
      for (let i = 0; i < 9; i++) inbox.deliver(n(i))
      assert.isUndefined(inbox.congestion)
    }))

  it.effect("can be read as a stream, to its end or its fault", () =>
    Effect.gen(function*() {
      const well = make()
      well.inbox.deliver(n(1))
      well.inbox.end(Exit.void)
      assert.deepStrictEqual(Chunk.toArray(yield* Stream.runCollect(well.inbox.incoming)), [n(1)])
      assert.strictEqual(well.hangUps.count, 1)
      const ill = make()
      ill.inbox.end(Exit.fail(fault))
      ill.inbox.end(Exit.void)
      assert.strictEqual(yield* Effect.flip(Stream.runDrain(ill.inbox.incoming)), fault)
      assert.strictEqual(yield* Effect.flip(ill.inbox.run(() => {})), fault)
    }))

  it.effect("hears that nobody listens any more", () =>
    Effect.gen(function*() {
      const { hangUps, inbox } = make()
      const running = yield* Effect.fork(inbox.run(() => {}))
      yield* Effect.yieldNow()
      yield* Fiber.interrupt(running)
      assert.strictEqual(hangUps.count, 1)
    }))
})
