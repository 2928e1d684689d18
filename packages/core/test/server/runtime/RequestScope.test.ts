import { assert, describe, it } from "@effect/vitest"
import { RequestContext } from "@effect-mcp/core/RequestContext"
import { Context, Deferred, Effect, Exit, Fiber, Layer, Scope } from "effect"
import { RequestScope } from "../../../src/server/runtime/RequestScope.js"
import { act, call, connect, internalError, result, serve, until } from "../Serving.js"

const say = (what: string) => Effect.flatMap(RequestContext, (context) => context.log("info", what))

describe("RequestScope", () => {
  it("has nothing to release when nothing was added", () => {
    assert.isUndefined(new RequestScope().release(Exit.void))
  })

  it.effect("runs finalizers in reverse order, with the exit", () =>
    Effect.gen(function*() {
      const scope = new RequestScope()
      const released: Array<unknown> = []
      yield* Scope.addFinalizerExit(scope, (exit) => Effect.sync(() => released.push(["first", exit])))
      yield* Scope.addFinalizer(scope, Effect.sync(() => released.push("second")))
      yield* scope.release(Exit.succeed(1))!
      assert.deepStrictEqual(released, ["second", ["first", Exit.succeed(1)]])
    }))

  it.effect("closes the scopes that were forked from it", () =>
    Effect.gen(function*() {
      const scope = new RequestScope()
      const child = yield* Scope.fork(scope, scope.strategy)
      let released = 0
      yield* Scope.addFinalizer(child, Effect.sync(() => released++))
      yield* scope.release(Exit.void)!
      assert.strictEqual(released, 1)
    }))

  it.effect("is one scope for all fibers that add to it at once", () =>
    Effect.gen(function*() {
      const scope = new RequestScope()
      let released = 0
      yield* Effect.forEach(
        Array.from({ length: 10 }),
        () => Effect.zipRight(Effect.yieldNow(), Scope.addFinalizer(scope, Effect.sync(() => released++))),
        { concurrency: "unbounded" }
      )
      yield* scope.release(Exit.void)!
      assert.strictEqual(released, 10)
    }))

  it.effect("interrupts the fibers that were forked in it", () =>
    Effect.gen(function*() {
      const scope = new RequestScope()
      const inScope = yield* Effect.forkIn(Effect.never, scope)
      const scoped = yield* Effect.provideService(Effect.forkScoped(Effect.never), Scope.Scope, scope)
      yield* scope.release(Exit.void)!
      for (const fiber of [inScope, scoped]) assert.isTrue(Exit.isInterrupted(yield* Fiber.await(fiber)))
    }))

  it.effect("runs a finalizer at once that is added after it has closed, as any scope", () =>
    Effect.gen(function*() {
      for (const used of [true, false]) {
        const scope = new RequestScope()
        if (used) yield* Scope.addFinalizer(scope, Effect.void)
        yield* scope.release(Exit.void) ?? Effect.void
        let released = 0
        yield* Scope.addFinalizer(scope, Effect.sync(() => released++))
        assert.strictEqual(released, 1)
        const child = yield* Scope.fork(scope, scope.strategy)
        yield* Scope.addFinalizer(child, Effect.sync(() => released++))
        assert.strictEqual(released, 2)
        const fiber = yield* Effect.forkIn(Effect.never, scope)
        assert.isTrue(Exit.isInterrupted(yield* Fiber.await(fiber)))
      }
    }))
})

describe("A handler's scope", () => {
  it.scoped("closes when the handler has ended, before the response leaves", () =>
    Effect.gen(function*() {
      const peer = yield* connect()
      for (const name of ["succeeds", "fails"]) {
        const id = yield* call(peer, name)
        for (const data of ["acquired", "used", "released"]) {
          assert.strictEqual((yield* peer.expectNotification("notifications/message")).data, data)
        }
        assert.strictEqual((yield* peer.expectResult(id)).isError, name === "fails" ? true : undefined)
      }
    }).pipe(Effect.provide(serve(Layer.merge(
      act(Effect.zipRight(acquired, say("used")), "succeeds"),
      act(Effect.zipRight(acquired, Effect.zipRight(say("used"), Effect.dieMessage("boom"))), "fails")
    )))))

  it.scoped("closes when the request is cancelled", () =>
    Effect.gen(function*() {
      const released = yield* Deferred.make<void>()
      const handler = Effect.acquireRelease(Effect.void, () => Deferred.succeed(released, undefined)).pipe(
        Effect.zipRight(Effect.never)
      )
      yield* Effect.gen(function*() {
        const peer = yield* connect()
        const id = yield* call(peer, "act")
        yield* peer.notify("notifications/cancelled", { requestId: id })
        yield* Deferred.await(released)
        yield* peer.expectSilence
      }).pipe(Effect.provide(serve(act(handler))))
    }))

  it.scoped("fails the request when a finalizer fails, and the other finalizers run", () =>
    Effect.gen(function*() {
      const peer = yield* connect()
      assert.deepStrictEqual<unknown>(yield* result(peer, "act"), internalError)
      yield* result(peer, "fine")
    }).pipe(Effect.provide(serve(Layer.merge(
      act(Effect.acquireRelease(Effect.void, () => Effect.dieMessage("boom"))),
      act(Effect.void, "fine")
    )))))

  it.scoped("interrupts fibers that the handler has forked in it", () =>
    Effect.gen(function*() {
      let running = 0
      const background = Effect.acquireUseRelease(
        Effect.sync(() => running++),
        () => Effect.never,
        () => Effect.sync(() => running--)
      )
      yield* Effect.gen(function*() {
        const peer = yield* connect()
        yield* result(peer, "act")
        assert.strictEqual(running, 0)
      }).pipe(Effect.provide(serve(act(Effect.gen(function*() {
        yield* Effect.forkScoped(background)
        yield* Effect.flatMap(Effect.scope, (scope) => Effect.forkIn(background, scope))
        yield* until(() => running === 2)
      })))))
    }))

  it.scoped("builds layers anew for each request, and releases them", () =>
    Effect.gen(function*() {
      class Db extends Context.Tag("Db")<Db, number>() {}
      const log: Array<string> = []
      let made = 0
      const DbLive = Layer.scoped(
        Db,
        Effect.acquireRelease(
          Effect.sync(() => ++made),
          (n) => Effect.sync(() => log.push(`released ${n}`))
        )
      )
      const use = (how: string) => Effect.flatMap(Db, (n) => Effect.sync(() => log.push(`${how} ${n}`)))
      yield* Effect.gen(function*() {
        const peer = yield* connect()
        yield* result(peer, "act")
        yield* result(peer, "act")
      }).pipe(Effect.provide(serve(act(Effect.gen(function*() {
        yield* Effect.provide(use("built"), yield* Layer.build(DbLive))
        yield* Effect.provide(use("provided"), DbLive)
      })))))
      assert.deepStrictEqual(log, [
        "built 1",
        "provided 2",
        "released 2",
        "released 1",
        "built 3",
        "provided 4",
        "released 4",
        "released 3"
      ])
    }))
})

const acquired = Effect.acquireRelease(say("acquired"), () => say("released"))
