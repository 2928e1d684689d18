import { assert, describe, it } from "@effect/vitest"
import * as Readiness from "@effect-mcp/core/Readiness"
import { Deferred, Effect, Fiber, Layer, TestClock } from "effect"
import { serving, status } from "./http/Probing.js"
import { answered, call } from "./http/TestExchange.js"
import * as Cluster from "./nodes/Cluster.js"
import { act, GreetLive, serve } from "./Serving.js"

/** A check whose result a test sets, and how often it ran. */
const checked = () => {
  const state = { result: Effect.void as Effect.Effect<unknown, unknown>, runs: 0 }
  const run = Effect.suspend(() => {
    state.runs++
    return state.result
  })
  return { state, run }
}

describe("readiness", () => {
  it.scoped("needs the checks of all layers below; a process that is not ready lives", () =>
    Effect.gen(function*() {
      const [one, two] = [checked(), checked()]
      const { http } = yield* serving(Layer.merge(Readiness.layer("one", one.run), Readiness.layer("two", two.run)))
      const both = () => Effect.all([status(http, "/livez"), status(http, "/readyz")])
      assert.deepStrictEqual(yield* both(), [200, 200])
      for (const { state } of [one, two]) {
        for (const failing of [Effect.fail("away"), Effect.die("bug")]) {
          state.result = failing
          yield* TestClock.adjust("1 second")
          assert.deepStrictEqual(yield* both(), [200, 503])
        }
        state.result = Effect.void
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual(yield* both(), [200, 200])
      }
    }))

  it.scoped("is checked at most once a second and once at a time, however many probes there are", () =>
    Effect.gen(function*() {
      const { run, state } = checked()
      const { http } = yield* serving(Readiness.layer("store", run))
      const latch = yield* Effect.makeLatch(false)
      state.result = latch.await
      const waiting = Array.from({ length: 100 }, () => http.send("GET", {}, "", "/readyz"))
      yield* latch.open
      for (const exchange of waiting) assert.strictEqual((yield* answered(exchange)).status, 200)
      for (let i = 0; i < 100; i++) assert.strictEqual(http.send("GET", {}, "", "/readyz").status, 200)
      assert.strictEqual(state.runs, 1)
      yield* TestClock.adjust("1 second")
      yield* status(http, "/readyz")
      assert.strictEqual(state.runs, 2)
    }))

  it.scoped("does not wait longer than a second for a check, which does not begin a second time before it has ended", () =>
    Effect.gen(function*() {
      const { run, state } = checked()
      const stored = yield* Deferred.make<void>()
      state.result = Effect.uninterruptible(Deferred.await(stored))
      const { http } = yield* serving(Readiness.layer("store", run))
      for (let i = 0; i < 3; i++) {
        const exchange = http.send("GET", {}, "", "/readyz")
        yield* TestClock.adjust("1 second")
        assert.strictEqual((yield* answered(exchange)).status, 503)
        yield* TestClock.adjust("1 second")
      }
      assert.strictEqual(state.runs, 1)
      yield* Deferred.succeed(stored, undefined)
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* status(http, "/readyz"), 200)
    }))

  it.scoped("ends as soon as the shutdown begins, and the process serves on for the grace", () =>
    Effect.gen(function*() {
      const { close, http } = yield* serving(Layer.empty, { health: { grace: "5 seconds" } }, act(Effect.void))
      const client = yield* http.open()
      const closing = yield* Effect.fork(close)
      yield* TestClock.adjust("4 seconds")
      assert.deepStrictEqual([yield* status(http, "/livez"), yield* status(http, "/readyz")], [200, 503])
      assert.strictEqual((yield* client.ask(call(1, "act"))).status, 200)
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(closing)
      assert.deepStrictEqual([(yield* client.ask(call(2, "act"))).status, yield* status(http, "/readyz")], [503, 503])
    }))

  it.scoped("needs the membership of a node", () =>
    Effect.gen(function*() {
      const { node } = yield* Cluster.make(serve(GreetLive), { health: true })
      const { closeInbox, http } = yield* node
      assert.strictEqual(yield* status(http, "/readyz"), 200)
      yield* closeInbox
      assert.deepStrictEqual([yield* status(http, "/livez"), yield* status(http, "/readyz")], [200, 503])
    }))
})
