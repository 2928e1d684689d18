import { assert, describe, it } from "@effect/vitest"
import type { TransportError } from "@effect-mcp/core/LocalError"
import { Effect, Fiber, TestClock } from "effect"
import * as ScriptedServer from "../http/ScriptedServer.js"

const gone = (exchange: ScriptedServer.Exchange) =>
  exchange.json({ jsonrpc: "2.0", id: null, error: { code: -32001, message: "Session not found" } }, {}, 404)

const begin = (pair: ScriptedServer.Pair, id: string) =>
  Effect.gen(function*() {
    const opening = yield* pair.expect("initialize")
    yield* opening.result(ScriptedServer.initializeResult(), { "mcp-session-id": id })
    const ready = yield* pair.expect("notifications/initialized")
    yield* ready.accept
    return { opening, ready }
  })

describe("A session that the server has lost", () => {
  it.scoped("MUST be replaced, without its id, and only the request that was refused for it is sent again", () =>
    Effect.gen(function*() {
      let renewed = 0
      const pair = yield* ScriptedServer.pair({ id: "s-1", onRenewed: Effect.sync(() => renewed++) })
      const calling = yield* pair.call("tools/call")
      yield* Effect.flatMap(pair.expect("tools/call"), gone)
      const { opening, ready } = yield* begin(pair, "s-2")
      assert.notProperty(opening.headers, "mcp-session-id")
      assert.notProperty(opening.headers, "mcp-protocol-version")
      assert.isString(opening.message.id)
      assert.strictEqual(ready.headers["mcp-session-id"], "s-2")
      const again = yield* pair.expect("tools/call")
      assert.strictEqual(again.headers["mcp-session-id"], "s-2")
      assert.strictEqual(again.headers["mcp-protocol-version"], "2025-11-25")
      yield* again.result({ n: 1 })
      assert.deepStrictEqual(yield* Fiber.join(calling), { n: 1 })
      assert.strictEqual(renewed, 1)
      assert.deepStrictEqual([pair.received, pair.diagnostics], [[], []])
      yield* pair.idle
    }))

  const texts: ReadonlyArray<readonly [number, unknown, boolean]> = [
    [400, { code: -32000, message: "Bad Request: No valid session ID provided" }, true],
    [400, { code: -32000, message: "Bad Request: Server not initialized" }, true],
    [400, { code: -32600, message: "Bad Request: Missing session ID" }, true],
    [404, { code: -32600, message: "Not Found: Invalid or expired session ID" }, true],
    [404, { code: -32000, message: "Not Found" }, true],
    [404, { code: -32600, message: "Session has been terminated" }, true],
    [400, { code: -32602, message: "Invalid params: \"session\" must be a string" }, false],
    [400, { code: -32000, message: "Bad Request: Unsupported protocol version" }, false],
    [404, { code: -32601, message: "Method not found" }, false],
    [500, { code: -32000, message: "Session not found" }, false]
  ]
  for (const [status, error, isLost] of texts) {
    const { message } = error as { readonly message: string }
    it.scoped(`is ${isLost ? "replaced, once," : "not replaced"} when a request is refused with ${status} "${message}"`, () =>
      Effect.gen(function*() {
        const pair = yield* ScriptedServer.pair({ id: "s-1" })
        const calling = yield* pair.call("tools/call")
        const refuse = (exchange: ScriptedServer.Exchange) =>
          exchange.json({ jsonrpc: "2.0", id: exchange.message.id, error }, {}, status)
        yield* Effect.flatMap(pair.expect("tools/call"), refuse)
        if (isLost) {
          yield* begin(pair, "s-2")
          const again = yield* pair.expect("tools/call")
          assert.strictEqual(again.headers["mcp-session-id"], "s-2")
          yield* refuse(again)
        }
        assert.include(String(((yield* Fiber.join(calling)) as { readonly message: unknown }).message), message)
        yield* pair.quiet
      }))
  }

  it.scoped("is replaced beside a notification that is refused with 400 for it", () =>
    Effect.gen(function*() {
      const pair = yield* ScriptedServer.pair({ id: "s-1" })
      yield* Effect.forkScoped(pair.conversation.notify("notifications/roots/list_changed"))
      yield* Effect.flatMap(
        pair.expect("notifications/roots/list_changed"),
        (exchange) => exchange.reply(400, {}, "No valid session ID provided")
      )
      yield* begin(pair, "s-2")
      yield* pair.quiet
    }))

  it.scoped("is replaced once, however many requests find it lost", () =>
    Effect.gen(function*() {
      const pair = yield* ScriptedServer.pair({ id: "s-1" })
      const calls = yield* Effect.replicateEffect(pair.call("tools/call"), 10)
      const exchange = yield* Effect.replicateEffect(pair.expect("tools/call"), 10)
      yield* Effect.forEach(exchange.slice(0, 5), gone)
      const opening = yield* pair.expect("initialize")
      yield* Effect.forEach(exchange.slice(5, 8), gone)
      yield* pair.quiet
      yield* opening.result(ScriptedServer.initializeResult(), { "mcp-session-id": "s-2" })
      yield* Effect.flatMap(pair.expect("notifications/initialized"), ({ accept }) => accept)
      const again = yield* Effect.replicateEffect(pair.expect("tools/call"), 8)
      yield* Effect.forEach(exchange.slice(8), gone)
      const last = yield* Effect.replicateEffect(pair.expect("tools/call"), 2)
      for (const one of [...again, ...last]) {
        assert.strictEqual(one.headers["mcp-session-id"], "s-2")
        yield* one.result()
      }
      assert.lengthOf(yield* Effect.forEach(calls, Fiber.join), 10)
      yield* pair.idle
    }))

  it.scoped("fails the requests whose streams were open, and no others", () =>
    Effect.gen(function*() {
      const pair = yield* ScriptedServer.pair({ id: "s-1" })
      const streaming = yield* pair.call("tools/call")
      const stream = yield* Effect.flatMap(pair.expect("tools/call"), (exchange) => exchange.events())
      yield* stream.push("id: 1\ndata: \n\n")
      const waiting = yield* pair.call("prompts/get")
      const slow = yield* pair.expect("prompts/get")
      const refused = yield* pair.call("ping")
      yield* Effect.flatMap(pair.expect("ping"), gone)
      assert.deepInclude(yield* Fiber.join(streaming), { _tag: "SessionExpired", method: "tools/call" })
      yield* begin(pair, "s-2")
      yield* Effect.flatMap(pair.expect("ping"), (ping) => ping.result())
      yield* Fiber.join(refused)
      yield* slow.result({ n: 1 })
      assert.deepStrictEqual(yield* Fiber.join(waiting), { n: 1 })
      yield* pair.idle
    }))

  it.scoped("holds new requests back until there is another", () =>
    Effect.gen(function*() {
      const pair = yield* ScriptedServer.pair({ id: "s-1" })
      const first = yield* pair.call("ping")
      yield* Effect.flatMap(pair.expect("ping"), gone)
      const opening = yield* pair.expect("initialize")
      const second = yield* pair.call("tools/call")
      yield* pair.quiet
      yield* opening.result(ScriptedServer.initializeResult(), { "mcp-session-id": "s-2" })
      const ready = yield* pair.expect("notifications/initialized")
      yield* pair.quiet
      yield* ready.accept
      for (let i = 0; i < 2; i++) yield* Effect.flatMap(pair.next, (exchange) => exchange.result())
      yield* Effect.all([Fiber.join(first), Fiber.join(second)])
    }))

  it.scoped("is replaced also when every request that found it lost is cancelled meanwhile", () =>
    Effect.gen(function*() {
      const pair = yield* ScriptedServer.pair({ id: "s-1" })
      const calling = yield* pair.call("tools/call")
      yield* Effect.flatMap(pair.expect("tools/call"), gone)
      const opening = yield* pair.expect("initialize")
      yield* Fiber.interrupt(calling)
      yield* Effect.flatMap(pair.expect("notifications/cancelled"), ({ accept }) => accept)
      yield* opening.result(ScriptedServer.initializeResult(), { "mcp-session-id": "s-2" })
      yield* Effect.flatMap(pair.expect("notifications/initialized"), ({ accept }) => accept)
      const next = yield* pair.call("tools/list")
      const listing = yield* pair.expect("tools/list")
      assert.strictEqual(listing.headers["mcp-session-id"], "s-2")
      yield* listing.result({ tools: [] })
      assert.deepStrictEqual(yield* Fiber.join(next), { tools: [] })
    }))

  it.scoped("is replaced for a notification, too, which is not sent again", () =>
    Effect.gen(function*() {
      const pair = yield* ScriptedServer.pair({ id: "s-1" })
      const notifying = yield* Effect.fork(pair.conversation.notify("notifications/roots/list_changed"))
      yield* Effect.flatMap(pair.expect("notifications/roots/list_changed"), gone)
      yield* Fiber.join(notifying)
      yield* begin(pair, "s-2")
      yield* pair.quiet
    }))

  it.scoped("passes its standalone stream on to the next one", () =>
    Effect.gen(function*() {
      const pair = yield* Effect.orDie(ScriptedServer.connect())
      yield* ScriptedServer.initialize(pair, { id: "s-1" })
      const stream = yield* Effect.flatMap(pair.expect("GET"), (exchange) => exchange.events())
      yield* stream.push("id: 7\ndata: \n\n")
      const calling = yield* pair.call("ping")
      yield* Effect.flatMap(pair.expect("ping"), gone)
      yield* begin(pair, "s-2")
      const [listening, ping] = [yield* pair.next, yield* pair.next].sort((a) => a.message === undefined ? -1 : 1)
      assert.strictEqual(listening!.headers["mcp-session-id"], "s-2")
      assert.notProperty(listening!.headers, "last-event-id")
      yield* ping!.result()
      yield* Fiber.join(calling)
      assert.isTrue(stream.isOver())
    }))

  it.scoped("is not replaced twice for the same request", () =>
    Effect.gen(function*() {
      const pair = yield* ScriptedServer.pair({ id: "s-1" })
      const calling = yield* pair.call("ping")
      yield* Effect.flatMap(pair.expect("ping"), gone)
      yield* begin(pair, "s-2")
      yield* Effect.flatMap(pair.expect("ping"), gone)
      const error = (yield* Fiber.join(calling)) as TransportError
      assert.deepInclude(error, { _tag: "TransportError", reason: "Write" })
      assert.include(error.message, "was answered with 404: Session not found")
      yield* pair.quiet
    }))

  it.scoped("may be reported lost under the id of the request", () =>
    Effect.gen(function*() {
      const pair = yield* ScriptedServer.pair({ id: "s-1" })
      const calling = yield* pair.call("ping")
      const exchange = yield* pair.expect("ping")
      const error = { code: -32001, message: "Session not found" }
      yield* exchange.json({ jsonrpc: "2.0", id: exchange.message.id, error }, {}, 404)
      yield* begin(pair, "s-2")
      yield* Effect.flatMap(pair.expect("ping"), (ping) => ping.result())
      assert.deepStrictEqual(yield* Fiber.join(calling), {})
    }))

  const ends: ReadonlyArray<readonly [string, (opening: ScriptedServer.Exchange) => Effect.Effect<void>, RegExp]> = [
    [
      "speaks another revision now",
      (one) => one.result(ScriptedServer.initializeResult("2025-06-18")),
      /now supports 2025-06-18/
    ],
    [
      "answers with an error",
      (one) => one.json({ jsonrpc: "2.0", id: one.message.id, error: { code: -32603, message: "broken" } }),
      /broken/
    ],
    ["refuses", (one) => one.reply(403), /was answered with 403/],
    ["answers nonsense", (one) => one.json({}), /"method" is missing/]
  ]
  for (const [what, answer, message] of ends) {
    it.scoped(`ends the connection when the server ${what}`, () =>
      Effect.gen(function*() {
        const pair = yield* ScriptedServer.pair({ id: "s-1" })
        const calling = yield* pair.call("ping")
        yield* Effect.flatMap(pair.expect("ping"), gone)
        yield* Effect.flatMap(pair.expect("initialize"), answer)
        const error = yield* Effect.flip(pair.conversation.ended)
        assert.match(error.message, /^The session has expired, and a new session could not begin: /)
        assert.match(error.message, message)
        assert.deepInclude(yield* Fiber.join(calling), { _tag: "ConnectionClosed", cause: error })
        yield* pair.idle
      }))
  }

  const passes: ReadonlyArray<readonly [string, (opening: ScriptedServer.Exchange) => Effect.Effect<void>]> = [
    ["is not there", (one) => one.fail("ECONNREFUSED")],
    ["has too much to do", (one) => one.reply(503)]
  ]
  for (const [what, answer] of passes) {
    it.scoped(`fails only the refused requests when the server ${what}, and is replaced for the next one`, () =>
      Effect.gen(function*() {
        const pair = yield* ScriptedServer.pair({ id: "s-1" })
        const calling = yield* pair.call("ping")
        yield* Effect.flatMap(pair.expect("ping"), gone)
        yield* Effect.flatMap(pair.expect("initialize"), answer)
        assert.deepInclude(yield* Fiber.join(calling), { _tag: "TransportError", reason: "Write" })
        const next = yield* pair.call("ping")
        yield* Effect.flatMap(pair.expect("ping"), gone)
        yield* begin(pair, "s-2")
        yield* Effect.flatMap(pair.expect("ping"), (ping) => ping.result())
        assert.deepStrictEqual(yield* Fiber.join(next), {})
      }))
  }

  it.scoped("stays lost when the next one was not completely begun", () =>
    Effect.gen(function*() {
      const pair = yield* ScriptedServer.pair({ id: "s-1" })
      const calling = yield* pair.call("ping")
      yield* Effect.flatMap(pair.expect("ping"), gone)
      yield* Effect.flatMap(pair.expect("initialize"), (opening) =>
        opening.result(ScriptedServer.initializeResult(), { "mcp-session-id": "s-2" }))
      yield* Effect.flatMap(pair.expect("notifications/initialized"), (ready) =>
        ready.reply(503))
      assert.deepInclude(yield* Fiber.join(calling), { _tag: "TransportError", reason: "Write" })
      const next = yield* pair.call("ping")
      const exchange = yield* pair.expect("ping")
      assert.strictEqual(exchange.headers["mcp-session-id"], "s-1")
      yield* gone(exchange)
      yield* begin(pair, "s-3")
      yield* Effect.flatMap(pair.expect("ping"), (ping) => ping.result())
      yield* Fiber.join(next)
    }))

  it.scoped("is ended when the connection closes, also while it is being replaced", () =>
    Effect.gen(function*() {
      const pair = yield* Effect.scoped(Effect.gen(function*() {
        const pair = yield* ScriptedServer.pair({ id: "s-1", onRenewed: Effect.never })
        const calling = yield* pair.call("ping")
        yield* Effect.flatMap(pair.expect("ping"), gone)
        yield* begin(pair, "s-2")
        yield* Effect.flatMap(pair.expect("ping"), (ping) => ping.result())
        yield* Fiber.join(calling)
        yield* pair.call("ping")
        yield* Effect.flatMap(pair.expect("ping"), gone)
        yield* pair.expect("initialize")
        return pair
      }))
      yield* TestClock.adjust("1 hour")
      yield* pair.quiet
      yield* pair.idle
    }))
})
