import { assert, describe, it } from "@effect/vitest"
import { Effect, Schedule, TestClock } from "effect"
import * as ScriptedServer from "../http/ScriptedServer.js"

/** Whether the client opens the standalone stream again after the server has done this with it. */
const opensAgain = (serve: (exchange: ScriptedServer.Exchange) => Effect.Effect<unknown>) =>
  Effect.gen(function*() {
    const pair = yield* Effect.orDie(ScriptedServer.connect({ reconnect: Schedule.spaced("1 second") }))
    yield* ScriptedServer.initialize(pair, { id: "s-1" })
    yield* Effect.flatMap(pair.expect("GET"), serve)
    yield* pair.quiet
    yield* pair.idle
    yield* TestClock.adjust("1 second")
    yield* Effect.repeatN(Effect.yieldNow(), 50)
    return yield* Effect.map(Effect.option(Effect.timeout(pair.expect("GET"), 0)), ({ _tag }) => _tag === "Some")
  })

describe("A stream of events that a GET opens", () => {
  it.scoped("is opened again when it ends by itself or is cut off", () =>
    Effect.gen(function*() {
      const ends = (exchange: ScriptedServer.Exchange) =>
        Effect.flatMap(exchange.events(), (stream) => Effect.zipRight(stream.push("data:\n\n"), stream.end))
      assert.isTrue(yield* opensAgain(ends))
      assert.isTrue(yield* opensAgain((exchange) => Effect.flatMap(exchange.events(), (stream) => stream.cut)))
    }))

  it.scoped("is opened again when the server may offer it later", () =>
    Effect.gen(function*() {
      for (const status of [408, 409, 425, 429, 500, 502, 503, 504]) {
        assert.isTrue(yield* opensAgain((exchange) => exchange.reply(status)), String(status))
      }
      assert.isTrue(yield* opensAgain((exchange) => exchange.fail("ECONNREFUSED")))
    }))

  it.scoped("is not opened again when the server does not offer it", () =>
    Effect.gen(function*() {
      for (const status of [400, 401, 403, 404, 405, 406, 410]) {
        assert.isFalse(yield* opensAgain((exchange) => exchange.reply(status)), String(status))
      }
      for (const type of ["application/json", "text/html"]) {
        assert.isFalse(yield* opensAgain((exchange) => exchange.reply(200, { "content-type": type }, "{}")), type)
      }
    }))
})
