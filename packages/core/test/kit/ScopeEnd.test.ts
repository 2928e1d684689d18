import { assert, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Scope } from "effect"
import { describe } from "../../../testing/test/support/WokenAtOnce.js"
import * as ScopeEnd from "../../src/kit/ScopeEnd.js"

/**
 * A fiber that closes a scope again and again. Another fiber has added the finalizer, after it had closed a scope itself. The first fiber
 * is interrupted while the finalizer waits.
 */
const interruptedWhile = (closing: (adding: Effect.Effect<void, never, Scope.Scope>) => Effect.Effect<void>) =>
  Effect.gen(function*() {
    const isClosing = yield* Deferred.make<void>()
    const gate = yield* Deferred.make<void>()
    let closed = 0
    const finalizer = Effect.zipRight(
      Deferred.succeed(isClosing, undefined),
      Effect.zipRight(Deferred.await(gate), Effect.sync(() => closed++))
    )
    const adding = Effect.flatMap(
      Effect.fork(
        Effect.zipRight(Effect.scoped(Effect.addFinalizer(() => Effect.void)), Effect.addFinalizer(() => finalizer))
      ),
      Fiber.join
    )
    const loop = yield* Effect.forkDaemon(Effect.forever(Effect.zipRight(closing(adding), Effect.yieldNow())))
    yield* Deferred.await(isClosing)
    const interrupting = yield* Effect.fork(Fiber.interrupt(loop))
    yield* Effect.yieldNow()
    assert.strictEqual(closed, 0)
    yield* Deferred.succeed(gate, undefined)
    const exit = yield* Fiber.join(interrupting)
    assert.isTrue(Exit.isInterrupted(exit))
    assert.strictEqual(closed, 1)
  })

describe("a fiber that is interrupted while a finalizer waits ends when the finalizer has ended", () => {
  it.effect("in `scoped`", () => interruptedWhile((adding) => ScopeEnd.scoped(adding)))

  it.effect("in `close`", () =>
    interruptedWhile((adding) =>
      Effect.gen(function*() {
        const scope = yield* Scope.make()
        yield* Scope.extend(adding, scope)
        yield* ScopeEnd.close(scope, Exit.void)
      })
    ))
})

describe("ScopeEnd.scoped", () => {
  it.effect("has the exit of the effect, and gives it to the finalizers", () =>
    Effect.gen(function*() {
      const seen: Array<unknown> = []
      const body = Effect.addFinalizer((exit) => Effect.sync(() => seen.push(exit)))
      assert.strictEqual(yield* ScopeEnd.scoped(Effect.as(body, 1)), 1)
      assert.strictEqual(yield* Effect.flip(ScopeEnd.scoped(Effect.zipRight(body, Effect.fail("no")))), "no")
      assert.deepStrictEqual(seen, [Exit.succeed(1), Exit.fail("no")])
    }))

  it.effect("dies with a finalizer", () =>
    Effect.gen(function*() {
      const exit = yield* Effect.exit(ScopeEnd.scoped(Effect.addFinalizer(() => Effect.die("no"))))
      assert.deepStrictEqual(exit, Exit.die("no"))
    }))
})
