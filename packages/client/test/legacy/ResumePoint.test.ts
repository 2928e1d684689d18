import { assert, describe, it } from "@effect/vitest"
import type { Options } from "@effect-mcp/client/RemoteOptions"
import { Effect, Fiber, Schedule, TestClock } from "effect"
import * as Played from "../http/Played.js"

/** A call whose stream has sent these events and is cut off now. */
const cutAfter = (events: string, options?: Options) =>
  Effect.gen(function*() {
    const talk = yield* Played.talk({ id: "s-1", maxResumes: 100, ...options })
    const calling = yield* talk.call("tools/call")
    const stream = yield* Effect.flatMap(talk.expect("tools/call"), (asked) => asked.events())
    yield* stream.push(events)
    yield* stream.cut
    yield* talk.quiet
    return { calling, talk }
  })

/** The attempt to resume, which comes after exactly this wait. */
const attemptAfter = (talk: Played.Talk, millis: number) =>
  Effect.gen(function*() {
    yield* TestClock.adjust(millis - 1)
    yield* talk.quiet
    yield* TestClock.adjust(1)
    return yield* talk.expect("GET")
  })

/** Refuses an attempt, or cuts it off after these events. */
const fail = (talk: Played.Talk, asked: Played.Asked, events?: string) =>
  Effect.gen(function*() {
    if (events === undefined) yield* asked.reply(503)
    else yield* Effect.flatMap(asked.events(), (stream) => Effect.zipRight(stream.push(events), stream.cut))
    yield* talk.quiet
  })

describe("A stream is resumed", () => {
  it.scoped("after the last event id and the last retry, within bounds", () =>
    Effect.gen(function*() {
      const { talk } = yield* cutAfter("id: 1\nretry: 500\ndata:\n\ndata:\n\n")
      const steps = [
        [500, "1", "id: 2\nretry: 0\ndata:\n\n"],
        [100, "2", "retry: 1000000000000000\n\n"],
        [60_000, "2", "data:\n\n"]
      ] as const
      for (const [wait, id, events] of steps) {
        const asked = yield* attemptAfter(talk, wait)
        assert.strictEqual(asked.headers["last-event-id"], id)
        yield* fail(talk, asked, events)
      }
    }))

  it.scoped("not at all after an empty id, or one that no header can hold", () =>
    Effect.gen(function*() {
      for (const id of ["", "ä", "a\tb", "x".repeat(4097)]) {
        const { calling } = yield* cutAfter(`id: 1\ndata:\n\nid: ${id}\ndata:\n\n`)
        assert.include((yield* Fiber.join(calling) as Fiber.Fiber<any>).message, "the stream cannot be resumed", id)
      }
      const { talk } = yield* cutAfter(`id: 1\ndata:\n\nid: ${"x".repeat(4096)}\ndata:\n\n`, {
        reconnect: Schedule.spaced("1 second")
      })
      assert.lengthOf((yield* attemptAfter(talk, 1_000)).headers["last-event-id"]!, 4096)
    }))

  it.scoped("as the schedule says, which starts again after an event", () =>
    Effect.gen(function*() {
      const { talk } = yield* cutAfter("id: 1\ndata:\n\n", { reconnect: Schedule.exponential("200 millis") })
      for (const [wait, events] of [[200], [400], [800, "data:\n\n"], [200], [400]] as const) {
        yield* fail(talk, yield* attemptAfter(talk, wait), events)
      }
    }))

  it.scoped("MUST wait as long as the server asks for, and longer when that does not help", () =>
    Effect.gen(function*() {
      const { talk } = yield* cutAfter("id: 1\nretry: 300\ndata:\n\n", {
        reconnect: Schedule.exponential("200 millis")
      })
      const steps = [[300], [400], [800, "retry: 1000\n\n"], [1_000], [1_000], [1_000], [1_600]] as const
      for (const [wait, events] of steps) yield* fail(talk, yield* attemptAfter(talk, wait), events)
    }))

  it.scoped("after 100 milliseconds at least, until the schedule ends", () =>
    Effect.gen(function*() {
      const { calling, talk } = yield* cutAfter("id: 1\ndata:\n\n", { reconnect: Schedule.recurs(2) })
      yield* fail(talk, yield* attemptAfter(talk, 100))
      yield* fail(talk, yield* attemptAfter(talk, 100))
      assert.include((yield* Fiber.join(calling) as Fiber.Fiber<any>).message, "the stream was not resumed")
    }))
})

describe("The standalone stream is resumed", () => {
  it.scoped("after the last event id when an event was too large", () =>
    Effect.gen(function*() {
      const talk = yield* Effect.orDie(Played.connect({ maxEventBytes: 100 }))
      yield* Played.shake(talk, { id: "s-1" })
      const stream = yield* Effect.flatMap(talk.expect("GET"), (asked) => asked.events())
      yield* stream.push(`id: 2\nretry: 500\ndata:\n\nid: 3\ndata: ${"x".repeat(200)}\n\n`)
      yield* stream.cut
      yield* talk.quiet
      assert.strictEqual((yield* attemptAfter(talk, 500)).headers["last-event-id"], "2")
    }))
})
