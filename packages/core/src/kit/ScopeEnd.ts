/**
 * Closes scopes for fibers that go on afterwards, such as the fiber that connects again (`client/group/Reconnect`). In Effect 3.22 such a
 * fiber may lose an interruption that arrives while a finalizer waits. The reason is that `Effect.addFinalizer` restores the FiberRefs of
 * the fiber, and one of these FiberRefs holds the interruption. This happens with finalizers that another fiber has added. Here the
 * finalizers run on a fiber that nobody interrupts. When test/kit/ScopeEnd passes with Effect's functions, this module can be deleted.
 */
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"

/** Closes a scope as `Scope.close` does, without losing an interruption. */
export const close = (scope: Scope.CloseableScope, exit: Exit.Exit<unknown, unknown>): Effect.Effect<void> =>
  Effect.uninterruptible(
    Effect.flatMap(Effect.flatMap(Effect.forkDaemon(Scope.close(scope, exit)), Fiber.await), (exit) => exit)
  )

/** Runs an effect as `Effect.scoped` does, without losing an interruption. */
export const scoped = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, Exclude<R, Scope.Scope>> =>
  Effect.acquireUseRelease(Scope.make(), (scope) => Scope.extend(effect, scope), close)
