import { assert, describe, it } from "@effect/vitest"
import * as ClientLogger from "@effect-mcp/core/ClientLogger"
import { Cause, Effect, Fiber, Layer, Logger, LogLevel } from "effect"
import { act, call, connect, result, serve } from "./Serving.js"

const serving = (handler: Effect.Effect<unknown>, logger = ClientLogger.layer) =>
  Effect.provide(
    serve(act(handler)).pipe(
      Layer.provide(logger),
      Layer.provide(Logger.minimumLogLevel(LogLevel.All))
    )
  )

describe("What a handler logs with Effect", () => {
  it.scoped("is sent to the client of its request, in order and before the result", () =>
    Effect.gen(function*() {
      const peer = yield* connect()
      const id = yield* call(peer, "act")
      const heard = peer.expectNotification("notifications/message")
      for (const level of ["debug", "debug", "info", "warning", "error", "critical"]) {
        assert.deepStrictEqual(yield* heard, { level, data: `one ${level}` })
      }
      yield* peer.expectResult(id)
      yield* peer.expectSilence
    }).pipe(serving(Effect.all([
      Effect.logTrace("one debug"),
      Effect.logDebug("one debug"),
      Effect.logInfo("one info"),
      Effect.logWarning("one warning"),
      Effect.logError("one error"),
      Effect.logFatal("one critical")
    ]))))

  it.scoped("is sent from the level on that the client asked for", () =>
    Effect.gen(function*() {
      const peer = yield* connect()
      yield* peer.expectResult(yield* peer.request("logging/setLevel", { level: "warning" }))
      const id = yield* call(peer, "act")
      assert.deepStrictEqual(yield* peer.expectNotification("notifications/message"), { level: "error", data: "loud" })
      yield* peer.expectResult(id)
    }).pipe(serving(Effect.zipRight(Effect.logInfo("quiet"), Effect.logError("loud")))))

  it.scoped("is all that is sent: nothing of Effect's runtime", () =>
    Effect.gen(function*() {
      const peer = yield* connect()
      yield* peer.expectResult(yield* call(peer, "act"))
      yield* peer.expectSilence
    }).pipe(serving(Effect.flatMap(Effect.fork(Effect.fail("unobserved")), Fiber.await))))

  it.scoped("is sent with its annotations, and as data where it is a value", () =>
    Effect.gen(function*() {
      const peer = yield* connect()
      const id = yield* call(peer, "act")
      const heard = peer.expectNotification("notifications/message")
      assert.deepStrictEqual(yield* heard, { level: "info", data: { message: "found", user: "ada" } })
      assert.deepStrictEqual(yield* heard, { level: "info", data: ["two", { n: 2 }, "3", "NaN", "Error"] })
      yield* peer.expectResult(id)
    }).pipe(serving(Effect.all([
      Effect.annotateLogs(Effect.logInfo("found"), "user", "ada"),
      Effect.logInfo("two", { n: 2 }, 3n, NaN, new Error("boom"))
    ]))))

  it.scoped("is sent under the name of the logger", () =>
    Effect.gen(function*() {
      const peer = yield* connect()
      const id = yield* call(peer, "act")
      const told = yield* peer.expectNotification("notifications/message")
      assert.deepStrictEqual(told, { level: "info", logger: "db", data: "hello" })
      yield* peer.expectResult(id)
    }).pipe(serving(Effect.logInfo("hello"), Logger.add(ClientLogger.make({ name: "db" })))))

  it.scoped("is sent without its causes", () =>
    Effect.gen(function*() {
      const peer = yield* connect()
      const id = yield* call(peer, "act")
      assert.deepStrictEqual(
        yield* peer.expectNotification("notifications/message"),
        { level: "error", data: "it failed" }
      )
      yield* peer.expectResult(id)
      yield* peer.expectSilence
    }).pipe(serving(Effect.all([
      Effect.logError("it failed", Cause.die(new Error("secret"))),
      Effect.logError(Cause.die(new Error("secret")))
    ]))))

  it.scoped("is sent from fibers that the handler has forked, too", () =>
    Effect.gen(function*() {
      const peer = yield* connect()
      const id = yield* call(peer, "act")
      assert.strictEqual((yield* peer.expectNotification("notifications/message")).data, "from a child")
      yield* peer.expectResult(id)
    }).pipe(serving(Effect.flatMap(Effect.fork(Effect.logInfo("from a child")), (fiber) => Fiber.await(fiber)))))

  it.scoped("is not sent to any client when there is no request", () =>
    Effect.gen(function*() {
      const peer = yield* connect()
      yield* Effect.logInfo("beside")
      yield* result(peer, "act")
      yield* peer.expectSilence
    }).pipe(serving(Effect.void)))
})
