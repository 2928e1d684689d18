import { assert, describe, it } from "@effect/vitest"
import type { Options } from "@effect-mcp/client/RemoteOptions"
import { Effect, Exit, Fiber, Schedule, Scope, TestClock } from "effect"
import * as Played from "../http/Played.js"

/** A conversation that has shaken hands and listens. */
const listening = (options?: Options) =>
  Effect.gen(function*() {
    const talk = yield* Effect.orDie(Played.connect(options))
    yield* Played.shake(talk, { id: "s-1" })
    return { talk, asked: yield* talk.expect("GET") }
  })

const asksAfter = (talk: Played.Talk, millis: number) =>
  Effect.gen(function*() {
    yield* TestClock.adjust(millis - 1)
    yield* talk.quiet
    yield* TestClock.adjust(1)
    return yield* talk.expect("GET")
  })

const works = (talk: Played.Talk) =>
  Effect.gen(function*() {
    const calling = yield* talk.call("ping")
    yield* Effect.flatMap(talk.expect("ping"), (ping) => ping.result())
    assert.deepStrictEqual(yield* Fiber.join(calling), {})
  })

describe("The stream beside requests", () => {
  it.scoped("is opened when `initialized` was accepted, and brings what the server says", () =>
    Effect.gen(function*() {
      const { asked, talk } = yield* listening()
      assert.deepInclude(asked.headers, {
        accept: "text/event-stream",
        "mcp-session-id": "s-1",
        "mcp-protocol-version": "2025-11-25"
      })
      assert.notProperty(asked.headers, "last-event-id")
      const stream = yield* asked.events()
      yield* stream.say({ jsonrpc: "2.0", method: "notifications/tools/list_changed" })
      yield* stream.say({ jsonrpc: "2.0", id: 9, method: "ping" })
      const answer = yield* talk.expect("an answer")
      assert.deepStrictEqual(answer.message, { jsonrpc: "2.0", id: 9, result: {} })
      yield* answer.accept
      assert.deepStrictEqual(talk.heard, ["notifications/tools/list_changed", "ping"])
    }))

  it.scoped("is not opened when that is not wanted", () =>
    Effect.gen(function*() {
      const talk = yield* Played.talk({ id: "s-1", standalone: false })
      yield* TestClock.adjust("1 hour")
      yield* talk.quiet
    }))

  for (const status of [400, 401, 403, 404, 405, 406, 410, 501]) {
    if (status === 501) continue
    it.scoped(`is done without when the server answers with ${status}`, () =>
      Effect.gen(function*() {
        const { asked, talk } = yield* listening()
        yield* asked.reply(status, { "content-type": "text/html" }, "<html>")
        yield* TestClock.adjust("1 hour")
        yield* talk.quiet
        yield* works(talk)
        yield* talk.idle
      }))
  }

  it.scoped("is done without when it is none", () =>
    Effect.gen(function*() {
      const { asked, talk } = yield* listening()
      yield* asked.json({})
      yield* TestClock.adjust("1 hour")
      yield* talk.quiet
      yield* works(talk)
    }))

  it.scoped("is opened again after faults that pass, later each time, and never in a busy loop", () =>
    Effect.gen(function*() {
      const { asked, talk } = yield* listening({ reconnect: Schedule.exponential("1 second") })
      yield* asked.fail("ECONNREFUSED")
      let wait = 1_000
      for (const status of [500, 502, 503, 408, 409, 429]) {
        yield* talk.quiet
        yield* Effect.flatMap(asksAfter(talk, wait), (again) => again.reply(status))
        wait *= 2
      }
      yield* talk.quiet
      const stream = yield* Effect.flatMap(asksAfter(talk, wait), (again) => again.events())
      yield* stream.push("data:\n\n")
      yield* stream.end
      yield* talk.quiet
      yield* asksAfter(talk, 1_000)
    }))

  it.scoped("SHOULD go on where it was cut off, after as long as the server asks for", () =>
    Effect.gen(function*() {
      const { asked, talk } = yield* listening()
      const stream = yield* asked.events()
      yield* stream.say({ jsonrpc: "2.0", method: "one" }, { id: "e-1", retry: 3_000 })
      yield* stream.cut
      yield* talk.quiet
      const again = yield* asksAfter(talk, 3_000)
      assert.strictEqual(again.headers["last-event-id"], "e-1")
      const rest = yield* again.events()
      yield* rest.say({ jsonrpc: "2.0", method: "two" }, { id: "e-2" })
      yield* rest.end
      yield* talk.quiet
      assert.strictEqual((yield* asksAfter(talk, 3_000)).headers["last-event-id"], "e-2")
      assert.deepStrictEqual(talk.heard, ["one", "two"])
    }))

  it.scoped("begins afresh when the server has forgotten what was said on it", () =>
    Effect.gen(function*() {
      const { asked, talk } = yield* listening({ reconnect: Schedule.spaced("1 second") })
      const stream = yield* asked.events()
      yield* stream.push("id: 1\ndata:\n\n")
      yield* stream.end
      yield* talk.quiet
      yield* Effect.flatMap(asksAfter(talk, 1_000), (again) => again.reply(400))
      yield* talk.quiet
      const fresh = yield* asksAfter(talk, 1_000)
      assert.notProperty(fresh.headers, "last-event-id")
      yield* fresh.reply(400)
      yield* TestClock.adjust("1 hour")
      yield* talk.quiet
    }))

  it.scoped("counts as steady when it has lived for long, whatever it brought", () =>
    Effect.gen(function*() {
      const { asked, talk } = yield* listening({ reconnect: Schedule.exponential("1 second") })
      yield* asked.reply(503)
      yield* talk.quiet
      const stream = yield* Effect.flatMap(asksAfter(talk, 1_000), (again) => again.events())
      yield* TestClock.adjust("60 seconds")
      yield* stream.end
      yield* talk.quiet
      yield* asksAfter(talk, 1_000)
    }))

  it.scoped("is done without when the schedule has ended", () =>
    Effect.gen(function*() {
      const { asked, talk } = yield* listening({ reconnect: Schedule.recurs(1) })
      yield* asked.reply(503)
      yield* talk.quiet
      yield* Effect.flatMap(asksAfter(talk, 100), (again) => again.reply(503))
      yield* TestClock.adjust("1 hour")
      yield* talk.quiet
      yield* works(talk)
    }))

  it.scoped("drops an event that is too large, says so, and reads on", () =>
    Effect.gen(function*() {
      const { asked, talk } = yield* listening({ maxEventBytes: 100 })
      const stream = yield* asked.events()
      yield* stream.push(`data: ${"x".repeat(1000)}\n\n`)
      yield* stream.say({ jsonrpc: "2.0", method: "next" })
      yield* talk.quiet
      assert.deepStrictEqual(talk.heard, ["next"])
      assert.deepStrictEqual(talk.diagnostics.map(({ _tag }) => _tag), ["Malformed"])
    }))

  for (const stage of ["asked", "open", "between"] as const) {
    it.scoped(`ends with the connection: ${stage}`, () =>
      Effect.gen(function*() {
        const scope = yield* Scope.make()
        const { asked, talk } = yield* Scope.extend(listening(), scope)
        if (stage === "open") yield* asked.events()
        if (stage === "between") yield* asked.reply(503)
        yield* talk.quiet
        yield* Scope.close(scope, Exit.void)
        yield* TestClock.adjust("1 hour")
        yield* talk.quiet
        yield* talk.idle
      }))
  }
})
