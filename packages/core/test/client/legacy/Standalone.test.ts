import { assert, describe, it } from "@effect/vitest"
import type { Options } from "@effect-mcp/core/Remote"
import { Effect, Exit, Fiber, Logger, LogLevel, Schedule, Scope, TestClock } from "effect"
import * as ScriptedServer from "../http/ScriptedServer.js"

/** An initialized conversation, and its request for the standalone stream. */
const listening = (options?: Options) =>
  Effect.gen(function*() {
    const pair = yield* Effect.orDie(ScriptedServer.connect(options))
    yield* ScriptedServer.initialize(pair, { id: "s-1" })
    return { pair, exchange: yield* pair.expect("GET") }
  })

const attemptAfter = (pair: ScriptedServer.Pair, millis: number) =>
  Effect.gen(function*() {
    yield* TestClock.adjust(millis - 1)
    yield* pair.quiet
    yield* TestClock.adjust(1)
    return yield* pair.expect("GET")
  })

const works = (pair: ScriptedServer.Pair) =>
  Effect.gen(function*() {
    const calling = yield* pair.call("ping")
    yield* Effect.flatMap(pair.expect("ping"), (ping) => ping.result())
    assert.deepStrictEqual(yield* Fiber.join(calling), {})
  })

describe("The standalone stream", () => {
  it.scoped("is opened when `initialized` was accepted, and brings messages of the server", () =>
    Effect.gen(function*() {
      const { exchange, pair } = yield* listening()
      assert.deepInclude(exchange.headers, {
        accept: "text/event-stream",
        "mcp-session-id": "s-1",
        "mcp-protocol-version": "2025-11-25"
      })
      assert.notProperty(exchange.headers, "last-event-id")
      const stream = yield* exchange.events()
      yield* stream.send({ jsonrpc: "2.0", method: "notifications/tools/list_changed" })
      yield* stream.send({ jsonrpc: "2.0", id: 9, method: "ping" })
      const answer = yield* pair.expect("an answer")
      assert.deepStrictEqual(answer.message, { jsonrpc: "2.0", id: 9, result: {} })
      yield* answer.accept
      assert.deepStrictEqual(pair.received, ["notifications/tools/list_changed", "ping"])
    }))

  it.scoped("that was cut off and then refused with 401 is opened again when the requests have other credentials", () =>
    Effect.gen(function*() {
      let token = "old"
      const { exchange, pair } = yield* listening({
        headers: Effect.sync(() => ({ authorization: `Bearer ${token}` })),
        reconnect: Schedule.spaced("1 second")
      })
      const stream = yield* exchange.events()
      yield* TestClock.adjust("10 seconds")
      yield* stream.cut
      const refused = yield* attemptAfter(pair, 1000)
      yield* refused.reply(401, {}, "")
      yield* TestClock.adjust("30 seconds")
      yield* pair.quiet
      token = "new"
      yield* TestClock.adjust("31 seconds")
      const { headers } = yield* pair.expect("GET")
      assert.strictEqual(headers["authorization"], "Bearer new")
    }))

  it.scoped("is not opened when the options do not allow it", () =>
    Effect.gen(function*() {
      const pair = yield* ScriptedServer.pair({ id: "s-1", standalone: false })
      yield* TestClock.adjust("1 hour")
      yield* pair.quiet
    }))

  for (const status of [400, 401, 403, 404, 405, 406, 410, 501]) {
    if (status === 501) continue
    it.scoped(`is given up when the server answers with ${status}`, () =>
      Effect.gen(function*() {
        const { exchange, pair } = yield* listening()
        yield* exchange.reply(status, { "content-type": "text/html" }, "<html>")
        yield* TestClock.adjust("1 hour")
        yield* pair.quiet
        yield* works(pair)
        yield* pair.idle
      }))
  }

  it.scoped("leaves no failure in the log when the server offers none, or ends it", () => {
    const logged: Array<string> = []
    const logger = Logger.make(({ message }) => void logged.push(String(message)))
    return Effect.gen(function*() {
      const { exchange, pair } = yield* listening({ reconnect: Schedule.spaced("1 second") })
      const stream = yield* exchange.events()
      yield* stream.cut
      yield* Effect.flatMap(attemptAfter(pair, 1000), (again) => again.reply(405))
      yield* TestClock.adjust("1 hour")
      yield* works(pair)
      assert.deepStrictEqual(logged.filter((message) => message.includes("unhandled error")), [])
    }).pipe(Effect.provide(Logger.replace(Logger.defaultLogger, logger)), Logger.withMinimumLogLevel(LogLevel.Debug))
  })

  it.scoped("is given up when the response is not a stream of events", () =>
    Effect.gen(function*() {
      const { exchange, pair } = yield* listening()
      yield* exchange.json({})
      yield* TestClock.adjust("1 hour")
      yield* pair.quiet
      yield* works(pair)
    }))

  it.scoped("is opened again after temporary faults, after a longer wait each time", () =>
    Effect.gen(function*() {
      const { exchange, pair } = yield* listening({ reconnect: Schedule.exponential("1 second") })
      yield* exchange.fail("ECONNREFUSED")
      let wait = 1_000
      for (const status of [500, 502, 503, 408, 409, 429]) {
        yield* pair.quiet
        yield* Effect.flatMap(attemptAfter(pair, wait), (again) => again.reply(status))
        wait *= 2
      }
      yield* pair.quiet
      const stream = yield* Effect.flatMap(attemptAfter(pair, wait), (again) => again.events())
      yield* stream.push("data:\n\n")
      yield* stream.end
      yield* pair.quiet
      yield* attemptAfter(pair, 1_000)
    }))

  it.scoped("SHOULD be resumed where it was cut off, after the wait that the server asks for", () =>
    Effect.gen(function*() {
      const { exchange, pair } = yield* listening()
      const stream = yield* exchange.events()
      yield* stream.send({ jsonrpc: "2.0", method: "one" }, { id: "e-1", retry: 3_000 })
      yield* stream.cut
      yield* pair.quiet
      const again = yield* attemptAfter(pair, 3_000)
      assert.strictEqual(again.headers["last-event-id"], "e-1")
      const rest = yield* again.events()
      yield* rest.send({ jsonrpc: "2.0", method: "two" }, { id: "e-2" })
      yield* rest.end
      yield* pair.quiet
      assert.strictEqual((yield* attemptAfter(pair, 3_000)).headers["last-event-id"], "e-2")
      assert.deepStrictEqual(pair.received, ["one", "two"])
    }))

  it.scoped("starts from its beginning when the server has lost its events", () =>
    Effect.gen(function*() {
      const { exchange, pair } = yield* listening({ reconnect: Schedule.spaced("1 second") })
      const stream = yield* exchange.events()
      yield* stream.push("id: 1\ndata:\n\n")
      yield* stream.end
      yield* pair.quiet
      yield* Effect.flatMap(attemptAfter(pair, 1_000), (again) => again.reply(400))
      yield* pair.quiet
      const fresh = yield* attemptAfter(pair, 1_000)
      assert.notProperty(fresh.headers, "last-event-id")
      yield* fresh.reply(400)
      yield* TestClock.adjust("1 hour")
      yield* pair.quiet
    }))

  it.scoped("starts the schedule again when it was open for long, without any event", () =>
    Effect.gen(function*() {
      const { exchange, pair } = yield* listening({ reconnect: Schedule.exponential("1 second") })
      yield* exchange.reply(503)
      yield* pair.quiet
      const stream = yield* Effect.flatMap(attemptAfter(pair, 1_000), (again) => again.events())
      yield* TestClock.adjust("60 seconds")
      yield* stream.end
      yield* pair.quiet
      yield* attemptAfter(pair, 1_000)
    }))

  it.scoped("is given up when the schedule has ended", () =>
    Effect.gen(function*() {
      const { exchange, pair } = yield* listening({ reconnect: Schedule.recurs(1) })
      yield* exchange.reply(503)
      yield* pair.quiet
      yield* Effect.flatMap(attemptAfter(pair, 100), (again) => again.reply(503))
      yield* TestClock.adjust("1 hour")
      yield* pair.quiet
      yield* works(pair)
    }))

  it.scoped("reports an event that is too large, and reads on", () =>
    Effect.gen(function*() {
      const { exchange, pair } = yield* listening({ limits: { maxEventBytes: 100 } })
      const stream = yield* exchange.events()
      yield* stream.push(`data: ${"x".repeat(1000)}\n\n`)
      yield* stream.send({ jsonrpc: "2.0", method: "next" })
      yield* pair.quiet
      assert.deepStrictEqual(pair.received, ["next"])
      assert.deepStrictEqual(pair.diagnostics.map(({ _tag }) => _tag), ["Malformed"])
    }))

  for (const stage of ["exchange", "open", "between"] as const) {
    it.scoped(`ends with the connection: ${stage}`, () =>
      Effect.gen(function*() {
        const scope = yield* Scope.make()
        const { exchange, pair } = yield* Scope.extend(listening(), scope)
        if (stage === "open") yield* exchange.events()
        if (stage === "between") yield* exchange.reply(503)
        yield* pair.quiet
        yield* Scope.close(scope, Exit.void)
        yield* TestClock.adjust("1 hour")
        yield* pair.quiet
        yield* pair.idle
      }))
  }
})
