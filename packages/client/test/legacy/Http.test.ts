import { assert, describe, it } from "@effect/vitest"
import * as Message from "@effect-mcp/jsonrpc/Message"
import { Effect, Exit, Fiber, Schedule, Scope, TestClock } from "effect"
import * as Played from "../http/Played.js"

describe("Streamable HTTP", () => {
  it.scoped("names neither session nor revision before there are any, and both from then on", () =>
    Effect.gen(function*() {
      const talk = yield* Effect.orDie(Played.connect())
      const opening = yield* talk.call("initialize")
      const first = yield* talk.expect("initialize")
      assert.notProperty(first.headers, "mcp-session-id")
      assert.notProperty(first.headers, "mcp-protocol-version")
      const stream = yield* first.events({ "mcp-session-id": "s-1" })
      // The server may ask before it has answered.
      yield* stream.say({ jsonrpc: "2.0", id: 1, method: "ping" })
      const pong = yield* talk.expect("an answer")
      assert.strictEqual(pong.headers["mcp-session-id"], "s-1")
      yield* pong.accept
      yield* stream.say(Message.success(first.message.id, Played.initialized("2025-06-18")))
      yield* stream.end
      yield* Fiber.join(opening)
      const telling = yield* Effect.fork(talk.conversation.notify("notifications/initialized"))
      const ready = yield* talk.expect("notifications/initialized")
      yield* ready.accept
      yield* Fiber.join(telling)
      const listening = yield* talk.expect("GET")
      for (const { headers } of [ready, listening]) {
        assert.deepInclude(headers, { "mcp-session-id": "s-1", "mcp-protocol-version": "2025-06-18" })
      }
    }))

  it.scoped("needs no session", () =>
    Effect.gen(function*() {
      const talk = yield* Played.talk()
      const calling = yield* talk.call("ping")
      const asked = yield* talk.expect("ping")
      assert.notProperty(asked.headers, "mcp-session-id")
      yield* asked.result()
      yield* Fiber.join(calling)
    }))

  it.scoped("does not take a session id that holds anything but visible ASCII, or no end", () =>
    Effect.gen(function*() {
      for (const id of ["two words", "ä", "x".repeat(2000)]) {
        const talk = yield* Effect.orDie(Played.connect())
        const opening = yield* talk.call("initialize")
        yield* Effect.flatMap(
          talk.expect("initialize"),
          (asked) => asked.result(Played.initialized(), { "mcp-session-id": id })
        )
        assert.deepInclude(yield* Fiber.join(opening), { _tag: "TransportError", reason: "Decode" })
      }
    }))

  it.scoped("names no revision that no header can hold", () =>
    Effect.gen(function*() {
      const talk = yield* Played.talk({ version: "2025-11-25\r\nx: y" })
      yield* talk.call("ping")
      assert.notProperty((yield* talk.expect("ping")).headers, "mcp-protocol-version")
    }))

  it.scoped("lets nothing overtake `initialized`", () =>
    Effect.gen(function*() {
      const talk = yield* Effect.orDie(Played.connect({ standalone: false }))
      assert.isTrue(talk.transport.unsafeSend(Message.notification("notifications/initialized")))
      const calling = yield* talk.call("ping")
      const ready = yield* talk.expect("notifications/initialized")
      yield* talk.quiet
      yield* ready.accept
      yield* Effect.flatMap(talk.expect("ping"), (ping) => ping.result())
      assert.deepStrictEqual(yield* Fiber.join(calling), {})
    }))

  it.scoped("asks on when `initialized` was refused", () =>
    Effect.gen(function*() {
      const talk = yield* Effect.orDie(Played.connect())
      talk.transport.unsafeSend(Message.notification("notifications/initialized"))
      const calling = yield* talk.call("ping")
      yield* Effect.flatMap(talk.expect("notifications/initialized"), (asked) => asked.reply(500))
      yield* Effect.flatMap(talk.expect("ping"), (ping) => ping.result())
      yield* Fiber.join(calling)
      yield* talk.quiet
    }))

  it.scoped("SHOULD end its session when it closes, once", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const talk = yield* Scope.extend(Played.talk({ id: "s-1" }), scope)
      yield* Scope.close(scope, Exit.void)
      assert.lengthOf(talk.deleted, 1)
      assert.deepInclude(talk.deleted[0]!.headers, { "mcp-session-id": "s-1", "mcp-protocol-version": "2025-11-25" })
      assert.isFalse(talk.transport.unsafeSend(Message.notification("late")))
      const late = yield* Effect.flip(talk.transport.send(Message.notification("late")))
      assert.strictEqual(late.message, "The transport is closed")
      yield* talk.quiet
    }))

  it.scoped("ends no session when there is none", () =>
    Effect.gen(function*() {
      const talk = yield* Effect.scoped(Played.talk())
      assert.lengthOf(talk.deleted, 0)
    }))

  it.scoped("closes in bounded time, whatever the server does", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const talk = yield* Scope.extend(Played.talk({ id: "s-1", deletes: false }), scope)
      const calls = yield* Effect.replicateEffect(talk.call("tools/call"), 3)
      const [, answered, streaming] = yield* Effect.replicateEffect(talk.expect("tools/call"), 3)
      yield* answered!.open(200, { "content-type": "application/json" })
      yield* Effect.flatMap(streaming!.events(), (stream) => stream.push("id: 1\ndata: \n\n"))
      const closing = yield* Effect.fork(Scope.close(scope, Exit.void))
      yield* TestClock.adjust("3 seconds")
      yield* Fiber.join(closing)
      for (const one of yield* Fiber.join(Fiber.all(calls))) assert.deepInclude(one, { _tag: "ConnectionClosed" })
      yield* talk.idle
    }))

  it.scoped("ends for everybody when the one who listens goes", () =>
    Effect.gen(function*() {
      const http = yield* Played.connect()
      yield* Effect.forkScoped(http.conversation.close)
      yield* http.conversation.ended
      assert.deepInclude(yield* Effect.flip(http.conversation.request("ping")), { _tag: "ConnectionClosed" })
      yield* http.quiet
    }))
})

describe("What is cancelled over Streamable HTTP", () => {
  it.scoped("SHOULD be told to the server with a POST of its own, and is not read any more", () =>
    Effect.gen(function*() {
      for (const stage of ["asked", "body", "stream"] as const) {
        const talk = yield* Played.talk({ id: "s-1" })
        const calling = yield* talk.call("tools/call")
        const asked = yield* talk.expect("tools/call")
        if (stage === "body") yield* asked.open(200, { "content-type": "application/json" })
        if (stage === "stream") yield* asked.events()
        yield* talk.quiet
        yield* Fiber.interrupt(calling)
        const cancel = yield* talk.expect("notifications/cancelled")
        assert.strictEqual(cancel.message.params.requestId, asked.message.id)
        assert.strictEqual(cancel.headers["mcp-session-id"], "s-1")
        yield* cancel.accept
        yield* talk.idle
        assert.deepStrictEqual(talk.diagnostics, [])
      }
    }))

  it.scoped("is never said at all when it had not left", () =>
    Effect.gen(function*() {
      const talk = yield* Played.talk({ maxInFlight: 1 })
      const first = yield* talk.call("tools/call")
      const asked = yield* talk.expect("tools/call")
      const second = yield* talk.call("prompts/get")
      const third = yield* talk.call("ping")
      yield* talk.quiet
      yield* Fiber.interrupt(second)
      yield* talk.quiet
      yield* asked.result()
      yield* Fiber.join(first)
      yield* Effect.flatMap(talk.expect("ping"), (ping) => ping.result())
      yield* Fiber.join(third)
      yield* talk.idle
    }))
})

describe("Many messages over Streamable HTTP", () => {
  it.scoped("do not wait for one another", () =>
    Effect.gen(function*() {
      const talk = yield* Played.talk()
      const calls = yield* Effect.replicateEffect(talk.call("tools/call"), 64)
      const asked = yield* Effect.replicateEffect(talk.expect("tools/call"), 64)
      for (const [n, one] of [...asked].reverse().entries()) {
        yield* one.result({ n })
        assert.deepStrictEqual(yield* Fiber.join(calls[63 - n]!), { n })
      }
    }))

  it.scoped("wait when too many requests are in flight, and nothing else does", () =>
    Effect.gen(function*() {
      const talk = yield* Played.talk({ maxInFlight: 2 })
      const calls = yield* Effect.replicateEffect(talk.call("tools/call"), 5)
      const [first, second] = yield* Effect.replicateEffect(talk.expect("tools/call"), 2)
      yield* talk.quiet
      const stream = yield* first!.events()
      yield* stream.say({ jsonrpc: "2.0", id: "q", method: "roots/list" })
      const answering = yield* talk.expect("an answer")
      yield* answering.accept
      const telling = yield* Effect.fork(talk.conversation.notify("notifications/roots/list_changed"))
      yield* Effect.flatMap(talk.expect("notifications/roots/list_changed"), ({ accept }) => accept)
      yield* Fiber.join(telling)
      yield* stream.say(Message.success(first!.message.id, {}))
      yield* stream.end
      yield* second!.result()
      for (let i = 0; i < 3; i++) yield* Effect.flatMap(talk.expect("tools/call"), (asked) => asked.result())
      assert.lengthOf(yield* Fiber.join(Fiber.all(calls)), 5)
    }))

  it.scoped("leave in the order in which they are said, when who says them waits", () =>
    Effect.gen(function*() {
      const talk = yield* Played.talk()
      yield* Effect.forkScoped(Effect.forEach([1, 2, 3], (n) => talk.conversation.notify("n", { n })))
      for (const n of [1, 2, 3]) {
        const asked = yield* talk.expect("n")
        yield* talk.quiet
        assert.strictEqual(asked.message.params.n, n)
        yield* asked.accept
      }
    }))

  it.scoped("suspend who says them while too many wait, and are sent once they do not", () =>
    Effect.gen(function*() {
      const talk = yield* Played.talk({ capacity: 2, maxInFlight: 1 })
      const telling = yield* Effect.forEach([1, 2, 3, 4, 5], (n) =>
        Effect.forkScoped(talk.conversation.notify("n", { n })))
      const first = yield* talk.expect("n")
      yield* talk.quiet
      // Three were handed over; of the two that wait for room, one goes.
      yield* Effect.forEach(telling.slice(0, 4), Fiber.interrupt)
      yield* first.accept
      for (const n of [2, 3, 5]) {
        const asked = yield* talk.expect("n")
        assert.strictEqual(asked.message.params.n, n)
        yield* asked.accept
      }
      yield* Fiber.join(telling[4]!)
      yield* talk.quiet
    }))

  it.scoped("are given up when the server does not take them in time", () =>
    Effect.gen(function*() {
      const talk = yield* Played.talk({ acceptTimeout: "10 seconds" })
      const telling = yield* Effect.fork(Effect.flip(talk.transport.send(Message.notification("n"))))
      yield* talk.expect("n")
      yield* TestClock.adjust("10 seconds")
      const error = yield* Fiber.join(telling)
      assert.deepInclude(error, { reason: "Write", message: "The server did not accept the message within 10000 ms" })
      yield* talk.idle
    }))

  it.scoped("are asked no more of a server that takes no answers", () =>
    Effect.gen(function*() {
      const talk = yield* Played.talk({ capacity: 3, maxInFlight: 1, reconnect: Schedule.stop })
      const calling = yield* talk.call("tools/call")
      const asked = yield* talk.expect("tools/call")
      const stream = yield* asked.events()
      for (let id = 0; id < 20; id++) yield* stream.say({ jsonrpc: "2.0", id, method: "roots/list" })
      const answer = yield* talk.expect("an answer")
      yield* talk.quiet
      assert.lengthOf(talk.heard, 4)
      yield* answer.accept
      for (let i = 0; i < 19; i++) yield* Effect.flatMap(talk.expect("an answer"), ({ accept }) => accept)
      yield* stream.say(Message.success(asked.message.id, {}))
      yield* Fiber.join(calling)
      assert.lengthOf(talk.heard, 20)
    }))
})
