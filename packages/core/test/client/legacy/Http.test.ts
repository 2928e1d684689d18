import { assert, describe, it } from "@effect/vitest"
import * as Message from "@effect-mcp/core/Message"
import { Effect, Exit, Fiber, Schedule, Scope, TestClock } from "effect"
import * as ScriptedServer from "../http/ScriptedServer.js"

describe("Streamable HTTP", () => {
  it.scoped("names neither session nor revision before there are any, and both from then on", () =>
    Effect.gen(function*() {
      const pair = yield* Effect.orDie(ScriptedServer.connect())
      const opening = yield* pair.call("initialize")
      const first = yield* pair.expect("initialize")
      assert.notProperty(first.headers, "mcp-session-id")
      assert.notProperty(first.headers, "mcp-protocol-version")
      const stream = yield* first.events({ "mcp-session-id": "s-1" })
      // The server may send a request before its answer.
      yield* stream.send({ jsonrpc: "2.0", id: 1, method: "ping" })
      const pong = yield* pair.expect("an answer")
      assert.strictEqual(pong.headers["mcp-session-id"], "s-1")
      yield* pong.accept
      yield* stream.send(Message.success(first.message.id, ScriptedServer.initializeResult("2025-06-18")))
      yield* stream.end
      yield* Fiber.join(opening)
      const notifying = yield* Effect.fork(pair.conversation.notify("notifications/initialized"))
      const ready = yield* pair.expect("notifications/initialized")
      yield* ready.accept
      yield* Fiber.join(notifying)
      const listening = yield* pair.expect("GET")
      for (const { headers } of [ready, listening]) {
        assert.deepInclude(headers, { "mcp-session-id": "s-1", "mcp-protocol-version": "2025-06-18" })
      }
    }))

  it.scoped("needs no session", () =>
    Effect.gen(function*() {
      const pair = yield* ScriptedServer.pair()
      const calling = yield* pair.call("ping")
      const exchange = yield* pair.expect("ping")
      assert.notProperty(exchange.headers, "mcp-session-id")
      yield* exchange.result()
      yield* Fiber.join(calling)
    }))

  it.scoped("refuses a session id that no header can hold, or that is too long", () =>
    Effect.gen(function*() {
      for (const id of ["two\tparts", "ä", "x".repeat(9000)]) {
        const pair = yield* Effect.orDie(ScriptedServer.connect())
        const opening = yield* pair.call("initialize")
        yield* Effect.flatMap(
          pair.expect("initialize"),
          (exchange) => exchange.result(ScriptedServer.initializeResult(), { "mcp-session-id": id })
        )
        assert.deepInclude(yield* Fiber.join(opening), { _tag: "TransportError", reason: "Decode" })
      }
    }))

  it.scoped("sends no request before `initialized` is accepted", () =>
    Effect.gen(function*() {
      const pair = yield* Effect.orDie(ScriptedServer.connect({ standalone: false }))
      assert.isTrue(pair.transport.unsafeSend(Message.notification("notifications/initialized")))
      const calling = yield* pair.call("tools/list")
      const ready = yield* pair.expect("notifications/initialized")
      yield* pair.quiet
      yield* ready.accept
      yield* Effect.flatMap(pair.expect("tools/list"), (list) => list.result())
      assert.deepStrictEqual(yield* Fiber.join(calling), {})
    }))

  it.scoped("sends requests when `initialized` was refused", () =>
    Effect.gen(function*() {
      const pair = yield* Effect.orDie(ScriptedServer.connect())
      pair.transport.unsafeSend(Message.notification("notifications/initialized"))
      const calling = yield* pair.call("ping")
      yield* Effect.flatMap(pair.expect("notifications/initialized"), (exchange) => exchange.reply(500))
      yield* Effect.flatMap(pair.expect("ping"), (ping) => ping.result())
      yield* Fiber.join(calling)
      yield* pair.quiet
    }))

  it.scoped("SHOULD end its session when it closes, once", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const pair = yield* Scope.extend(ScriptedServer.pair({ id: "s-1" }), scope)
      yield* Scope.close(scope, Exit.void)
      assert.lengthOf(pair.deleted, 1)
      assert.deepInclude(pair.deleted[0]!.headers, { "mcp-session-id": "s-1", "mcp-protocol-version": "2025-11-25" })
      assert.isFalse(pair.transport.unsafeSend(Message.notification("late")))
      const late = yield* Effect.flip(pair.transport.send(Message.notification("late")))
      assert.strictEqual(late.message, "The transport is closed")
      yield* pair.quiet
    }))

  it.scoped("does not end its session with `terminateOnClose: false`", () =>
    Effect.gen(function*() {
      const pair = yield* Effect.scoped(ScriptedServer.pair({ id: "s-1", terminateOnClose: false }))
      assert.lengthOf(pair.deleted, 0)
    }))

  it.scoped("ends no session when there is none", () =>
    Effect.gen(function*() {
      const pair = yield* Effect.scoped(ScriptedServer.pair())
      assert.lengthOf(pair.deleted, 0)
    }))

  it.scoped("closes in bounded time, whatever the server does", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const pair = yield* Scope.extend(ScriptedServer.pair({ id: "s-1", deletes: false }), scope)
      const calls = yield* Effect.replicateEffect(pair.call("tools/call"), 3)
      const [, answered, streaming] = yield* Effect.replicateEffect(pair.expect("tools/call"), 3)
      yield* answered!.open(200, { "content-type": "application/json" })
      yield* Effect.flatMap(streaming!.events(), (stream) => stream.push("id: 1\ndata: \n\n"))
      const closing = yield* Effect.fork(Scope.close(scope, Exit.void))
      yield* TestClock.adjust("3 seconds")
      yield* Fiber.join(closing)
      for (const one of yield* Effect.forEach(calls, Fiber.join)) assert.deepInclude(one, { _tag: "ConnectionClosed" })
      yield* pair.idle
    }))

  it.scoped("ends for all callers when its reader stops", () =>
    Effect.gen(function*() {
      const http = yield* ScriptedServer.connect()
      yield* Effect.forkScoped(http.conversation.close)
      yield* http.conversation.ended
      assert.deepInclude(yield* Effect.flip(http.conversation.request("ping")), { _tag: "ConnectionClosed" })
      yield* http.quiet
    }))
})

describe("A request that is cancelled over Streamable HTTP", () => {
  it.scoped("SHOULD be cancelled with a POST of its own, and its response is not read any more", () =>
    Effect.gen(function*() {
      for (const stage of ["exchange", "body", "stream"] as const) {
        const pair = yield* ScriptedServer.pair({ id: "s-1" })
        const calling = yield* pair.call("tools/call")
        const exchange = yield* pair.expect("tools/call")
        if (stage === "body") yield* exchange.open(200, { "content-type": "application/json" })
        if (stage === "stream") yield* exchange.events()
        yield* pair.quiet
        yield* Fiber.interrupt(calling)
        const cancel = yield* pair.expect("notifications/cancelled")
        assert.strictEqual(cancel.message.params.requestId, exchange.message.id)
        assert.strictEqual(cancel.headers["mcp-session-id"], "s-1")
        yield* cancel.accept
        yield* pair.idle
        assert.deepStrictEqual(pair.diagnostics, [])
      }
    }))
})

describe("Many messages over Streamable HTTP", () => {
  it.scoped("do not wait for one another", () =>
    Effect.gen(function*() {
      const pair = yield* ScriptedServer.pair()
      const calls = yield* Effect.replicateEffect(pair.call("tools/call"), 64)
      const exchange = yield* Effect.replicateEffect(pair.expect("tools/call"), 64)
      for (const [n, one] of [...exchange].reverse().entries()) {
        yield* one.result({ n })
        assert.deepStrictEqual(yield* Fiber.join(calls[63 - n]!), { n })
      }
    }))

  it.scoped("wait when too many requests are in flight, and nothing else does", () =>
    Effect.gen(function*() {
      const pair = yield* ScriptedServer.pair({ limits: { maxExchanges: 2 } })
      const calls = yield* Effect.replicateEffect(pair.call("tools/call"), 5)
      const [first, second] = yield* Effect.replicateEffect(pair.expect("tools/call"), 2)
      yield* pair.quiet
      const stream = yield* first!.events()
      yield* stream.send({ jsonrpc: "2.0", id: "q", method: "roots/list" })
      const answering = yield* pair.expect("an answer")
      yield* answering.accept
      const notifying = yield* Effect.fork(pair.conversation.notify("notifications/roots/list_changed"))
      yield* Effect.flatMap(pair.expect("notifications/roots/list_changed"), ({ accept }) => accept)
      yield* Fiber.join(notifying)
      yield* stream.send(Message.success(first!.message.id, {}))
      yield* stream.end
      yield* second!.result()
      for (let i = 0; i < 3; i++) yield* Effect.flatMap(pair.expect("tools/call"), (exchange) => exchange.result())
      assert.lengthOf(yield* Effect.forEach(calls, Fiber.join), 5)
    }))

  it.scoped("are sent in order when their sender waits for each", () =>
    Effect.gen(function*() {
      const pair = yield* ScriptedServer.pair()
      yield* Effect.forkScoped(Effect.forEach([1, 2, 3], (n) => pair.conversation.notify("n", { n })))
      for (const n of [1, 2, 3]) {
        const exchange = yield* pair.expect("n")
        yield* pair.quiet
        assert.strictEqual(exchange.message.params.n, n)
        yield* exchange.accept
      }
    }))

  it.scoped("suspend their sender while many wait, and are sent in order", () =>
    Effect.gen(function*() {
      const pair = yield* ScriptedServer.pair({ limits: { capacity: 2, maxExchanges: 1 } })
      const notifying = yield* Effect.forEach([1, 2, 3, 4, 5], (n) =>
        Effect.forkScoped(pair.conversation.notify("n", { n })))
      const first = yield* pair.expect("n")
      yield* pair.quiet
      // Three were taken; of the two senders that wait, one is interrupted.
      yield* Effect.forEach(notifying.slice(0, 4), Fiber.interrupt)
      yield* first.accept
      for (const n of [2, 3, 5]) {
        const exchange = yield* pair.expect("n")
        assert.strictEqual(exchange.message.params.n, n)
        yield* exchange.accept
      }
      yield* Fiber.join(notifying[4]!)
      yield* pair.quiet
    }))

  it.scoped("fail when the server does not accept them in time", () =>
    Effect.gen(function*() {
      const pair = yield* ScriptedServer.pair({ acceptTimeout: "10 seconds" })
      const notifying = yield* Effect.fork(Effect.flip(pair.transport.send(Message.notification("n"))))
      yield* pair.expect("n")
      yield* TestClock.adjust("10 seconds")
      const error = yield* Fiber.join(notifying)
      assert.deepInclude(error, { reason: "Write", message: "The server did not accept the message within 10000 ms" })
      yield* pair.idle
    }))

  it.scoped("are not read on from a server that accepts no responses", () =>
    Effect.gen(function*() {
      const pair = yield* ScriptedServer.pair({
        limits: { capacity: 3, maxExchanges: 1 },
        reconnect: Schedule.recurs(0)
      })
      const calling = yield* pair.call("tools/call")
      const exchange = yield* pair.expect("tools/call")
      const stream = yield* exchange.events()
      for (let id = 0; id < 20; id++) yield* stream.send({ jsonrpc: "2.0", id, method: "roots/list" })
      const answer = yield* pair.expect("an answer")
      yield* pair.quiet
      assert.lengthOf(pair.received, 4)
      yield* answer.accept
      for (let i = 0; i < 19; i++) yield* Effect.flatMap(pair.expect("an answer"), ({ accept }) => accept)
      yield* stream.send(Message.success(exchange.message.id, {}))
      yield* Fiber.join(calling)
      assert.lengthOf(pair.received, 20)
    }))
})
