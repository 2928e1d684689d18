import { assert, describe, it } from "@effect/vitest"
import type { TransportError } from "@effect-mcp/jsonrpc/LocalError"
import { Effect, Fiber, Schedule, TestClock } from "effect"
import * as Played from "../http/Played.js"

/** A call whose stream has said something, with an id, and is over now. */
const cutOff = (
  { retry, ...options }: Parameters<typeof Played.talk>[0] & { readonly retry?: number } = {},
  how: "end" | "cut" = "cut"
) =>
  Effect.gen(function*() {
    const talk = yield* Played.talk({ id: "s-1", ...options })
    const calling = yield* talk.call("tools/call")
    const asked = yield* talk.expect("tools/call")
    const stream = yield* asked.events()
    yield* stream.push(`${retry === undefined ? "" : `retry: ${retry}\n`}id: a-1\ndata: \n\n`)
    yield* stream[how]
    yield* talk.quiet
    const answer = { jsonrpc: "2.0", id: asked.message.id, result: { n: 1 } }
    return { answer, calling, talk }
  })

/** Nothing happens for as long as that, and then it is asked for. */
const asksAfter = (talk: Played.Talk, millis: number) =>
  Effect.gen(function*() {
    yield* TestClock.adjust(millis - 1)
    yield* talk.quiet
    yield* TestClock.adjust(1)
    return yield* talk.expect("GET")
  })

const lost = (talk: Played.Talk, calling: Fiber.Fiber<unknown>, why: string) =>
  Effect.gen(function*() {
    const error = (yield* Fiber.join(calling)) as TransportError
    assert.deepInclude(error, { _tag: "TransportError", reason: "Read" })
    assert.include(error.message, why)
    yield* TestClock.adjust("1 hour")
    yield* talk.quiet
    yield* talk.idle
  })

describe("A request whose stream was cut off", () => {
  for (const how of ["end", "cut"] as const) {
    it.scoped(`SHOULD be read on with GET and the last event id, and MUST wait as long as it is told, after an ${how}`, () =>
      Effect.gen(function*() {
        const { answer, calling, talk } = yield* cutOff({ retry: 500 }, how)
        const asked = yield* asksAfter(talk, 500)
        assert.deepInclude(asked.headers, {
          accept: "text/event-stream",
          "last-event-id": "a-1",
          "mcp-session-id": "s-1",
          "mcp-protocol-version": "2025-11-25"
        })
        const rest = yield* asked.events()
        yield* rest.say({ jsonrpc: "2.0", method: "notifications/message" }, { id: "a-2" })
        yield* rest.say(answer, { id: "a-3" })
        yield* rest.end
        assert.deepStrictEqual(yield* Fiber.join(calling), { n: 1 })
        assert.deepStrictEqual(talk.heard, ["notifications/message"])
        yield* talk.idle
      }))
  }

  it.scoped("waits neither too short nor too long, whatever it is told", () =>
    Effect.gen(function*() {
      for (const [retry, wait] of [[0, 100], [1e12, 60_000], [2_000, 2_000]] as const) {
        const { talk } = yield* cutOff({ retry })
        yield* asksAfter(talk, wait)
      }
    }))

  it.scoped("keeps what it comes back with through cuts that bring nothing, and takes what is newer", () =>
    Effect.gen(function*() {
      const { answer, calling, talk } = yield* cutOff({ reconnect: Schedule.spaced("1 second") })
      for (let i = 0; i < 4; i++) {
        const asked = yield* asksAfter(talk, 1_000)
        assert.strictEqual(asked.headers["last-event-id"], "a-1")
        const rest = yield* asked.events()
        yield* rest.cut
        yield* talk.quiet
      }
      const newer = yield* (yield* asksAfter(talk, 1_000)).events()
      yield* newer.push("id: a-2\ndata: \n\n")
      yield* newer.end
      yield* talk.quiet
      const asked = yield* asksAfter(talk, 1_000)
      assert.strictEqual(asked.headers["last-event-id"], "a-2")
      yield* (yield* asked.events()).say(answer)
      assert.deepStrictEqual(yield* Fiber.join(calling), { n: 1 })
    }))

  it.scoped("goes on for as long as every stream brings something", () =>
    Effect.gen(function*() {
      const { answer, calling, talk } = yield* cutOff({ retry: 100 })
      for (let i = 0; i < 50; i++) {
        const rest = yield* (yield* asksAfter(talk, 100)).events()
        yield* rest.push("retry: 100\n\n")
        yield* rest.end
        yield* talk.quiet
      }
      yield* Effect.flatMap(asksAfter(talk, 100), (asked) => Effect.flatMap(asked.events(), (rest) => rest.say(answer)))
      assert.deepStrictEqual(yield* Fiber.join(calling), { n: 1 })
    }))

  it.scoped("waits longer each time, and is given up after so many tries that bring nothing", () =>
    Effect.gen(function*() {
      const { calling, talk } = yield* cutOff({
        retry: 300,
        reconnect: Schedule.exponential("200 millis"),
        maxResumes: 4
      })
      for (const [wait, fate] of [[300, 503], [400, 429], [800, 0], [1_600, 409]] as const) {
        const asked = yield* asksAfter(talk, wait)
        yield* fate === 0 ? asked.fail("ECONNREFUSED") : asked.reply(fate)
        yield* talk.quiet
      }
      yield* lost(talk, calling, "4 attempts to resume the stream brought nothing")
    }))

  it.scoped("is not read on when that is not wanted", () =>
    Effect.gen(function*() {
      const { calling, talk } = yield* cutOff({ maxResumes: 0 })
      yield* lost(talk, calling, "0 attempts")
    }))

  it.scoped("is given up when the schedule has ended", () =>
    Effect.gen(function*() {
      const { calling, talk } = yield* cutOff({ reconnect: Schedule.recurs(1) })
      yield* Effect.flatMap(asksAfter(talk, 100), (asked) => asked.reply(503))
      yield* lost(talk, calling, "the stream was not resumed")
    }))

  for (const status of [400, 401, 403, 404, 405, 410]) {
    it.scoped(`is given up at once when it is refused with ${status}, and nothing else is`, () =>
      Effect.gen(function*() {
        const { calling, talk } = yield* cutOff({ retry: 100 })
        yield* Effect.flatMap(asksAfter(talk, 100), (asked) => asked.reply(status))
        yield* lost(talk, calling, `was answered with ${status}`)
        const pinging = yield* talk.call("ping")
        yield* Effect.flatMap(talk.expect("ping"), (ping) => ping.result())
        assert.deepStrictEqual(yield* Fiber.join(pinging), {})
      }))
  }

  it.scoped("is given up when there is no stream of events", () =>
    Effect.gen(function*() {
      const { calling, talk } = yield* cutOff({ retry: 100 })
      yield* Effect.flatMap(asksAfter(talk, 100), (asked) => asked.json({}))
      yield* lost(talk, calling, "no stream of events")
    }))

  it.scoped("cannot be read on when its last id was taken back, or fits into no header", () =>
    Effect.gen(function*() {
      for (const id of ["", "ä", "x".repeat(5000)]) {
        const talk = yield* Played.talk()
        const calling = yield* talk.call("tools/call")
        const stream = yield* Effect.flatMap(talk.expect("tools/call"), (asked) => asked.events())
        yield* stream.push(`id: 1\ndata: \n\nid: ${id}\ndata: \n\n`)
        yield* stream.end
        yield* lost(talk, calling, "the stream cannot be resumed")
      }
    }))

  for (const stage of ["waiting", "asking", "reading"] as const) {
    it.scoped(`is let go of when who asked goes, while ${stage}`, () =>
      Effect.gen(function*() {
        const { calling, talk } = yield* cutOff({ retry: 500 })
        if (stage !== "waiting") {
          const asked = yield* asksAfter(talk, 500)
          if (stage === "reading") yield* asked.events()
          yield* talk.quiet
        }
        yield* Fiber.interrupt(calling)
        yield* Effect.flatMap(talk.expect("notifications/cancelled"), ({ accept }) => accept)
        yield* TestClock.adjust("1 hour")
        yield* talk.quiet
        yield* talk.idle
      }))
  }

  it.scoped("is let go of when its time is over", () =>
    Effect.gen(function*() {
      const talk = yield* Played.talk()
      const calling = yield* talk.call("tools/call", { timeout: "10 seconds" })
      yield* Effect.flatMap(talk.expect("tools/call"), (asked) => asked.events())
      yield* TestClock.adjust("10 seconds")
      assert.deepInclude(yield* Fiber.join(calling), { _tag: "RequestTimeout" })
      yield* Effect.flatMap(talk.expect("notifications/cancelled"), ({ accept }) => accept)
      yield* talk.quiet
      yield* talk.idle
    }))
})
