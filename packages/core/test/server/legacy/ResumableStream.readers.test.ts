import { assert, describe, it } from "@effect/vitest"
import * as EventStore from "@effect-mcp/core/EventStore"
import { ServerSession } from "@effect-mcp/core/ServerSession"
import { Effect, Layer } from "effect"
import { answered, assertRefused, call, type EndpointClient } from "../http/TestExchange.js"
import { act, until } from "../Serving.js"
import { after, received, resuming } from "./Resuming.js"

/** A tool that sends an event on the standalone stream. */
const announcing = () => {
  let sent = 0
  return act(Effect.flatMap(
    ServerSession,
    ({ standalone }) => standalone.notify("notifications/message", { level: "info", data: ++sent })
  ))
}

const settled = Effect.repeatN(Effect.yieldNow(), 100)

/** Runs a test with a client whose events have been read up to the second of three, over a store whose reads wait for a latch. */
const reading = (
  test: (at: {
    readonly client: EndpointClient
    readonly reads: { count: number; readonly latch: Effect.Latch }
    /** The id of the first event. */
    readonly first: string
    readonly send: Effect.Effect<unknown>
  }) => Effect.Effect<void>
) =>
  Effect.gen(function*() {
    const memory = yield* EventStore.memory()
    const reads = { count: 0, latch: yield* Effect.makeLatch(true) }
    const store: EventStore.EventStoreService = {
      open: (key, requests) => memory.open(key, requests),
      unfinished: (key) => memory.unfinished(key),
      append: (key, event) => memory.append(key, event),
      after: (key, position) =>
        Effect.suspend(() => {
          reads.count++
          return Effect.zipRight(reads.latch.await, memory.after(key, position))
        }),
      finish: (key) => memory.finish(key),
      forget: (session) => memory.forget(session)
    }
    yield* resuming(
      announcing(),
      (http) =>
        Effect.gen(function*() {
          const client = yield* http.open()
          const send = client.ask(call(1, "act"))
          const exchange = client.get()
          yield* Effect.zipRight(send, send)
          yield* until(() => exchange.messages.length === 2)
          const [first] = exchange.events.flatMap(({ data, id }) => data === "" ? [] : [id!])
          exchange.hangUp()
          yield* send
          yield* reads.latch.close
          reads.count = 0
          yield* test({ client, reads, first: first!, send })
        }),
      {},
      Layer.succeed(EventStore.EventStore, store)
    )
  })

describe("a reader that comes while the store is slow", () => {
  for (const kind of ["resumes", "attaches"] as const) {
    it.scoped(`leaves the stream to the reader before it when it ${kind} and disconnects`, () =>
      reading(({ client, first, reads, send }) =>
        Effect.gen(function*() {
          const get = () => client.get(kind === "resumes" ? after(first) : {})
          const [one, two] = [get(), get()]
          yield* settled
          two.hangUp()
          yield* reads.latch.open
          yield* send
          const expected = kind === "resumes" ? [2, 3, 4] : [3, 4]
          yield* until(() => received(one).length === expected.length)
          assert.deepStrictEqual([received(one), one.ended, two.status], [expected, false, undefined])
        })
      ))

    it.scoped(`takes the stream from the reader before it when it ${kind}`, () =>
      reading(({ client, first, reads, send }) =>
        Effect.gen(function*() {
          const get = () => client.get(kind === "resumes" ? after(first) : {})
          const [one, two] = [get(), get()]
          yield* settled
          yield* reads.latch.open
          yield* until(() => two.status === 200)
          yield* send
          yield* until(() => received(two).at(-1) === 4)
          assert.deepStrictEqual([received(two), one.ended], [kind === "resumes" ? [2, 3, 4] : [4], true])
        })
      ))

    it.scoped(`is refused when it ${kind} and the session ends meanwhile`, () =>
      reading(({ client, first, reads }) =>
        Effect.gen(function*() {
          const exchange = client.get(kind === "resumes" ? after(first) : {})
          client.delete()
          yield* reads.latch.open
          const refused = yield* answered(exchange)
          if (kind === "resumes") assertRefused(refused, 503, -32000, /try again/)
          else assertRefused(refused, 404, -32001, /session/i)
          assert.strictEqual(client.get(after(first)).status, 404)
        })
      ))
  }

  it.scoped("does not make the endpoint read the store once it has disconnected", () =>
    reading(({ client, first, reads }) =>
      Effect.gen(function*() {
        const readers = Array.from({ length: 10 }, () => client.get(after(first)))
        yield* settled
        for (const reader of readers) reader.hangUp()
        const last = client.get(after(first))
        yield* reads.latch.open
        yield* until(() => received(last).length === 2)
        assert.deepStrictEqual([received(last), reads.count], [[2, 3], 2])
      })
    ))
})
