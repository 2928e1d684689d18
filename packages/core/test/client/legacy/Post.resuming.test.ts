import { assert, describe, it } from "@effect/vitest"
import type { TransportError } from "@effect-mcp/core/LocalError"
import { Effect, Fiber, Schedule, TestClock } from "effect"
import * as ScriptedServer from "../http/ScriptedServer.js"

/** A call whose stream sent one event with an id and is over now. */
const cutOff = (
  { retry, ...options }: Parameters<typeof ScriptedServer.pair>[0] & { readonly retry?: number } = {},
  how: "end" | "cut" = "cut"
) =>
  Effect.gen(function*() {
    const pair = yield* ScriptedServer.pair({ id: "s-1", ...options })
    const calling = yield* pair.call("tools/call")
    const exchange = yield* pair.expect("tools/call")
    const stream = yield* exchange.events()
    yield* stream.push(`${retry === undefined ? "" : `retry: ${retry}\n`}id: a-1\ndata: \n\n`)
    yield* stream[how]
    yield* pair.quiet
    const answer = { jsonrpc: "2.0", id: exchange.message.id, result: { n: 1 } }
    return { answer, calling, pair }
  })

/** The attempt to resume, which comes after exactly this wait. */
const attemptAfter = (pair: ScriptedServer.Pair, millis: number) =>
  Effect.gen(function*() {
    yield* TestClock.adjust(millis - 1)
    yield* pair.quiet
    yield* TestClock.adjust(1)
    return yield* pair.expect("GET")
  })

const lost = (pair: ScriptedServer.Pair, calling: Fiber.Fiber<unknown>, why: string) =>
  Effect.gen(function*() {
    const error = (yield* Fiber.join(calling)) as TransportError
    assert.deepInclude(error, { _tag: "TransportError", reason: "Read" })
    assert.include(error.message, why)
    yield* TestClock.adjust("1 hour")
    yield* pair.quiet
    yield* pair.idle
  })

describe("A request whose stream was cut off", () => {
  for (const how of ["end", "cut"] as const) {
    it.scoped(`SHOULD be resumed with GET and the last event id, and MUST wait as long as the server asks, after an ${how}`, () =>
      Effect.gen(function*() {
        const { answer, calling, pair } = yield* cutOff({ retry: 500 }, how)
        const exchange = yield* attemptAfter(pair, 500)
        assert.deepInclude(exchange.headers, {
          accept: "text/event-stream",
          "last-event-id": "a-1",
          "mcp-session-id": "s-1",
          "mcp-protocol-version": "2025-11-25"
        })
        const rest = yield* exchange.events()
        yield* rest.send({ jsonrpc: "2.0", method: "notifications/message" }, { id: "a-2" })
        yield* rest.send(answer, { id: "a-3" })
        yield* rest.end
        assert.deepStrictEqual(yield* Fiber.join(calling), { n: 1 })
        assert.deepStrictEqual(pair.received, ["notifications/message"])
        yield* pair.idle
      }))
  }

  it.scoped("waits neither too short nor too long, whatever the server asks", () =>
    Effect.gen(function*() {
      for (const [retry, wait] of [[0, 100], [1e12, 60_000], [2_000, 2_000]] as const) {
        const { pair } = yield* cutOff({ retry })
        yield* attemptAfter(pair, wait)
      }
    }))

  it.scoped("keeps its event id through attempts that bring nothing, and takes a newer one", () =>
    Effect.gen(function*() {
      const { answer, calling, pair } = yield* cutOff({ reconnect: Schedule.spaced("1 second") })
      for (let i = 0; i < 4; i++) {
        const exchange = yield* attemptAfter(pair, 1_000)
        assert.strictEqual(exchange.headers["last-event-id"], "a-1")
        const rest = yield* exchange.events()
        yield* rest.cut
        yield* pair.quiet
      }
      const newer = yield* (yield* attemptAfter(pair, 1_000)).events()
      yield* newer.push("id: a-2\ndata: \n\n")
      yield* newer.end
      yield* pair.quiet
      const exchange = yield* attemptAfter(pair, 1_000)
      assert.strictEqual(exchange.headers["last-event-id"], "a-2")
      yield* (yield* exchange.events()).send(answer)
      assert.deepStrictEqual(yield* Fiber.join(calling), { n: 1 })
    }))

  it.scoped("goes on as long as every attempt brings an event", () =>
    Effect.gen(function*() {
      const { answer, calling, pair } = yield* cutOff({ retry: 100 })
      for (let i = 0; i < 50; i++) {
        const rest = yield* (yield* attemptAfter(pair, 100)).events()
        yield* rest.push("retry: 100\n\n")
        yield* rest.end
        yield* pair.quiet
      }
      yield* Effect.flatMap(attemptAfter(pair, 100), (exchange) =>
        Effect.flatMap(exchange.events(), (rest) => rest.send(answer)))
      assert.deepStrictEqual(yield* Fiber.join(calling), { n: 1 })
    }))

  it.scoped("waits longer each time, and fails after so many attempts that bring nothing", () =>
    Effect.gen(function*() {
      const { calling, pair } = yield* cutOff({
        retry: 300,
        reconnect: Schedule.exponential("200 millis"),
        limits: { maxResumes: 4 }
      })
      for (const [wait, fate] of [[300, 503], [400, 429], [800, 0], [1_600, 409]] as const) {
        const exchange = yield* attemptAfter(pair, wait)
        yield* fate === 0 ? exchange.fail("ECONNREFUSED") : exchange.reply(fate)
        yield* pair.quiet
      }
      yield* lost(pair, calling, "4 attempts to resume the stream brought nothing")
    }))

  it.scoped("is not resumed when the options do not allow it", () =>
    Effect.gen(function*() {
      const { calling, pair } = yield* cutOff({ limits: { maxResumes: 0 } })
      yield* lost(pair, calling, "0 attempts")
    }))

  it.scoped("fails when the schedule has ended", () =>
    Effect.gen(function*() {
      const { calling, pair } = yield* cutOff({ reconnect: Schedule.recurs(1) })
      yield* Effect.flatMap(attemptAfter(pair, 100), (exchange) => exchange.reply(503))
      yield* lost(pair, calling, "the stream was not resumed")
    }))

  for (const status of [400, 401, 403, 404, 405, 410]) {
    it.scoped(`fails at once and alone when an attempt is refused with ${status}`, () =>
      Effect.gen(function*() {
        const { calling, pair } = yield* cutOff({ retry: 100 })
        yield* Effect.flatMap(attemptAfter(pair, 100), (exchange) => exchange.reply(status))
        yield* lost(pair, calling, `was answered with ${status}`)
        const pinging = yield* pair.call("ping")
        yield* Effect.flatMap(pair.expect("ping"), (ping) => ping.result())
        assert.deepStrictEqual(yield* Fiber.join(pinging), {})
      }))
  }

  it.scoped("fails when an attempt brings no stream of events", () =>
    Effect.gen(function*() {
      const { calling, pair } = yield* cutOff({ retry: 100 })
      yield* Effect.flatMap(attemptAfter(pair, 100), (exchange) => exchange.json({}))
      yield* lost(pair, calling, "without a stream of events")
    }))

  it.scoped("cannot be resumed when its last id was taken back, or fits into no header", () =>
    Effect.gen(function*() {
      for (const id of ["", "ä", "x".repeat(5000)]) {
        const pair = yield* ScriptedServer.pair()
        const calling = yield* pair.call("tools/call")
        const stream = yield* Effect.flatMap(pair.expect("tools/call"), (exchange) => exchange.events())
        yield* stream.push(`id: 1\ndata: \n\nid: ${id}\ndata: \n\n`)
        yield* stream.end
        yield* lost(pair, calling, "the stream cannot be resumed")
      }
    }))

  for (const stage of ["waiting", "sending", "reading"] as const) {
    it.scoped(`is interrupted with its caller, while ${stage}`, () =>
      Effect.gen(function*() {
        const { calling, pair } = yield* cutOff({ retry: 500 })
        if (stage !== "waiting") {
          const exchange = yield* attemptAfter(pair, 500)
          if (stage === "reading") yield* exchange.events()
          yield* pair.quiet
        }
        yield* Fiber.interrupt(calling)
        yield* Effect.flatMap(pair.expect("notifications/cancelled"), ({ accept }) => accept)
        yield* TestClock.adjust("1 hour")
        yield* pair.quiet
        yield* pair.idle
      }))
  }

  it.scoped("is interrupted when its time is over", () =>
    Effect.gen(function*() {
      const pair = yield* ScriptedServer.pair()
      const calling = yield* pair.call("tools/call", { timeout: "10 seconds" })
      yield* Effect.flatMap(pair.expect("tools/call"), (exchange) => exchange.events())
      yield* TestClock.adjust("10 seconds")
      assert.deepInclude(yield* Fiber.join(calling), { _tag: "RequestTimeout" })
      yield* Effect.flatMap(pair.expect("notifications/cancelled"), ({ accept }) => accept)
      yield* pair.quiet
      yield* pair.idle
    }))
})
