import { assert, describe, it } from "@effect/vitest"
import type { Options } from "@effect-mcp/core/Remote"
import { Effect, Fiber, Schedule, TestClock } from "effect"
import * as ScriptedServer from "../http/ScriptedServer.js"

/** A call whose stream has sent these events and is cut off now. */
const cutAfter = (events: string, options?: Options) =>
  Effect.gen(function*() {
    const pair = yield* ScriptedServer.pair({ id: "s-1", limits: { maxResumes: 100 }, ...options })
    const calling = yield* pair.call("tools/call")
    const stream = yield* Effect.flatMap(pair.expect("tools/call"), (exchange) => exchange.events())
    yield* stream.push(events)
    yield* stream.cut
    yield* pair.quiet
    return { calling, pair }
  })

/** The attempt to resume, which comes after exactly this wait. */
const attemptAfter = (pair: ScriptedServer.Pair, millis: number) =>
  Effect.gen(function*() {
    yield* TestClock.adjust(millis - 1)
    yield* pair.quiet
    yield* TestClock.adjust(1)
    return yield* pair.expect("GET")
  })

/** Refuses an attempt, or cuts it off after these events. */
const fail = (pair: ScriptedServer.Pair, exchange: ScriptedServer.Exchange, events?: string) =>
  Effect.gen(function*() {
    if (events === undefined) yield* exchange.reply(503)
    else yield* Effect.flatMap(exchange.events(), (stream) => Effect.zipRight(stream.push(events), stream.cut))
    yield* pair.quiet
  })

describe("A stream is resumed", () => {
  it.scoped("after the last event id and the last retry, within bounds", () =>
    Effect.gen(function*() {
      const { pair } = yield* cutAfter("id: 1\nretry: 500\ndata:\n\ndata:\n\n")
      const steps = [
        [500, "1", "id: 2\nretry: 0\ndata:\n\n"],
        [100, "2", "retry: 1000000000000000\n\n"],
        [60_000, "2", "data:\n\n"]
      ] as const
      for (const [wait, id, events] of steps) {
        const exchange = yield* attemptAfter(pair, wait)
        assert.strictEqual(exchange.headers["last-event-id"], id)
        yield* fail(pair, exchange, events)
      }
    }))

  it.scoped("not at all after an empty id, or one that no header can hold", () =>
    Effect.gen(function*() {
      for (const id of ["", "ä", "a\tb", "x".repeat(4097)]) {
        const { calling } = yield* cutAfter(`id: 1\ndata:\n\nid: ${id}\ndata:\n\n`)
        assert.include((yield* Fiber.join(calling as Fiber.Fiber<any>)).message, "the stream cannot be resumed", id)
      }
      const { pair } = yield* cutAfter(`id: 1\ndata:\n\nid: ${"x".repeat(4096)}\ndata:\n\n`, {
        reconnect: Schedule.spaced("1 second")
      })
      assert.lengthOf((yield* attemptAfter(pair, 1_000)).headers["last-event-id"]!, 4096)
    }))

  it.scoped("as the schedule says, which starts again after an event", () =>
    Effect.gen(function*() {
      const { pair } = yield* cutAfter("id: 1\ndata:\n\n", { reconnect: Schedule.exponential("200 millis") })
      for (const [wait, events] of [[200], [400], [800, "data:\n\n"], [200], [400]] as const) {
        yield* fail(pair, yield* attemptAfter(pair, wait), events)
      }
    }))

  it.scoped("MUST wait as long as the server asks for, and longer when that does not help", () =>
    Effect.gen(function*() {
      const { pair } = yield* cutAfter("id: 1\nretry: 300\ndata:\n\n", {
        reconnect: Schedule.exponential("200 millis")
      })
      const steps = [[300], [400], [800, "retry: 1000\n\n"], [1_000], [1_000], [1_000], [1_600]] as const
      for (const [wait, events] of steps) yield* fail(pair, yield* attemptAfter(pair, wait), events)
    }))

  it.scoped("after 100 milliseconds at least, until the schedule ends", () =>
    Effect.gen(function*() {
      const { calling, pair } = yield* cutAfter("id: 1\ndata:\n\n", { reconnect: Schedule.recurs(2) })
      yield* fail(pair, yield* attemptAfter(pair, 100))
      yield* fail(pair, yield* attemptAfter(pair, 100))
      assert.include((yield* Fiber.join(calling as Fiber.Fiber<any>)).message, "the stream was not resumed")
    }))
})

describe("The standalone stream is resumed", () => {
  it.scoped("after the last event id when an event was too large", () =>
    Effect.gen(function*() {
      const pair = yield* Effect.orDie(ScriptedServer.connect({ limits: { maxEventBytes: 100 } }))
      yield* ScriptedServer.initialize(pair, { id: "s-1" })
      const stream = yield* Effect.flatMap(pair.expect("GET"), (exchange) => exchange.events())
      yield* stream.push(`id: 2\nretry: 500\ndata:\n\nid: 3\ndata: ${"x".repeat(200)}\n\n`)
      yield* stream.cut
      yield* pair.quiet
      assert.strictEqual((yield* attemptAfter(pair, 500)).headers["last-event-id"], "2")
    }))
})
