import { assert, describe, it } from "@effect/vitest"
import * as Message from "@effect-mcp/core/Message"
import { Effect, Exit, Fiber, TestClock } from "effect"
import * as ScriptedServer from "./ScriptedServer.js"

const cancel = (requestId: Message.RequestId) => Message.notification("notifications/cancelled", { requestId })

const request = (id: number, method: string) => Message.request(id, method)

describe("Requests over HTTP", () => {
  it.scoped("are in flight a few at a time, the others in order", () =>
    Effect.gen(function*() {
      const { expect, idle, quiet, received, transport } = yield* ScriptedServer.raw({ limits: { maxExchanges: 2 } })
      for (const id of [0, 1, 2, 3]) transport.unsafeSend(request(id, `r${id}`))
      const [first, second] = [yield* expect("r0"), yield* expect("r1")]
      yield* quiet
      yield* second.result()
      const third = yield* expect("r2")
      yield* quiet
      yield* first.result()
      yield* third.result()
      yield* Effect.flatMap(expect("r3"), (exchange) => exchange.result())
      yield* idle
      assert.deepStrictEqual(received.map((one) => (one as Message.Success).id), [1, 0, 2, 3])
    }))

  it.scoped("let the next one start when they are answered, when they fail, and when they die", () =>
    Effect.gen(function*() {
      const { expect, idle, received, transport } = yield* ScriptedServer.raw({ limits: { maxExchanges: 1 } })
      for (const id of [0, 1, 2, 3]) transport.unsafeSend(request(id, `r${id}`))
      yield* Effect.flatMap(expect("r0"), (exchange) => exchange.result())
      yield* Effect.flatMap(expect("r1"), (exchange) => exchange.reply(500))
      yield* Effect.flatMap(expect("r2"), (exchange) => exchange.die)
      yield* Effect.flatMap(expect("r3"), (exchange) => exchange.result())
      yield* idle
      assert.deepStrictEqual(
        received.map((one) => "_tag" in one ? one._tag : "answer"),
        ["answer", "Undelivered", "Undelivered", "answer"]
      )
    }))

  it.scoped("let the next one start when they are cancelled, and never start when they are cancelled while they wait", () =>
    Effect.gen(function*() {
      const { expect, idle, next, quiet, received, transport } = yield* ScriptedServer.raw({
        limits: { maxExchanges: 1 }
      })
      const calls = [{}, {}, {}]
      calls.forEach((call, id) => transport.unsafeSend(request(id, `r${id}`), undefined, call))
      yield* expect("r0")
      transport.unsafeSend(cancel(1), undefined, calls[1])
      yield* quiet
      transport.unsafeSend(cancel(0), undefined, calls[0])
      transport.unsafeSend(cancel(0), undefined, calls[0])
      for (let i = 0; i < 3; i++) {
        yield* Effect.flatMap(next, (exchange) => exchange.message.id === 2 ? exchange.result() : exchange.accept)
      }
      yield* quiet
      yield* idle
      assert.deepStrictEqual(received.map((one) => (one as Message.Success).id), [2])
    }))

  it.scoped("end when their own first steps cancel them", () =>
    Effect.gen(function*() {
      let onHeaders = () => {}
      const headers = Effect.suspend(() => {
        onHeaders()
        return Effect.as(Effect.yieldNow(), {})
      })
      const { expect, idle, quiet, received, transport } = yield* ScriptedServer.raw({ headers })
      onHeaders = () => {
        onHeaders = () => {}
        transport.unsafeSend(cancel(0), undefined, call)
      }
      const call = {}
      transport.unsafeSend(request(0, "r0"), undefined, call)
      yield* Effect.flatMap(expect("notifications/cancelled"), ({ accept }) => accept)
      yield* quiet
      yield* idle
      assert.deepStrictEqual(received, [])
    }))

  it.scoped("wait while a new session is begun, also after `initialized` of the application was accepted meanwhile", () =>
    Effect.gen(function*() {
      const pair = yield* ScriptedServer.pair({ id: "s-1" })
      const first = yield* pair.call("ping")
      yield* Effect.flatMap(pair.expect("ping"), (exchange) => exchange.reply(404))
      const opening = yield* pair.expect("initialize")
      pair.transport.unsafeSend(Message.notification("notifications/initialized"))
      const own = yield* pair.expect("notifications/initialized")
      const second = yield* pair.call("tools/list")
      yield* own.accept
      yield* pair.quiet
      yield* opening.result(ScriptedServer.initializeResult(), { "mcp-session-id": "s-2" })
      yield* Effect.flatMap(pair.expect("notifications/initialized"), ({ accept }) => accept)
      for (let i = 0; i < 2; i++) yield* Effect.flatMap(pair.next, (exchange) => exchange.result())
      yield* Effect.all([Fiber.join(first), Fiber.join(second)])
    }))

  it.scoped("suspend `send` while many wait, and never `unsafeSend`", () =>
    Effect.gen(function*() {
      const { expect, quiet, transport } = yield* ScriptedServer.raw({ limits: { maxExchanges: 1, capacity: 1 } })
      yield* transport.send(request(0, "r0"))
      const [one, three] = [{}, {}]
      assert.isTrue(transport.unsafeSend(request(1, "r1"), undefined, one))
      const sending = yield* Effect.fork(transport.send(request(2, "r2")))
      yield* Effect.flatMap(expect("r0"), (exchange) => Effect.zipRight(quiet, Effect.succeed(exchange)))
      assert.strictEqual((yield* Fiber.poll(sending))._tag, "None")
      assert.isTrue(transport.unsafeSend(request(3, "r3"), undefined, three))
      transport.unsafeSend(cancel(1), undefined, one)
      transport.unsafeSend(cancel(3), undefined, three)
      yield* quiet
      yield* Fiber.join(sending)
    }))
})

describe("Notifications over HTTP", () => {
  it.scoped("have a deadline each, which counts the wait for their turn", () =>
    Effect.gen(function*() {
      const { expect, idle, quiet, transport } = yield* ScriptedServer.raw({
        limits: { maxExchanges: 1 },
        acceptTimeout: "1 second"
      })
      const send = (method: string) => Effect.fork(Effect.exit(transport.send(Message.notification(method))))
      const first = yield* send("first")
      yield* expect("first")
      yield* TestClock.adjust(500)
      const second = yield* send("second")
      yield* TestClock.adjust(500)
      assert.isTrue(Exit.isFailure(yield* Fiber.join(first)))
      yield* expect("second")
      const third = yield* send("third")
      yield* quiet
      yield* TestClock.adjust(499)
      assert.strictEqual((yield* Fiber.poll(second))._tag, "None")
      yield* TestClock.adjust(1)
      assert.isTrue(Exit.isFailure(yield* Fiber.join(second)))
      yield* Effect.flatMap(expect("third"), ({ accept }) => accept)
      assert.deepStrictEqual(yield* Fiber.join(third), Exit.void)
      yield* idle
    }))
})
