/**
 * Closes scopes for fibers that go on afterwards, such as the fiber that connects again (`client/group/Reconnect`). In Effect 3.22 such a
 * fiber may lose an interruption that arrives while a finalizer waits: `Effect.addFinalizer` puts back the FiberRefs of the fiber, and
 * one of them is the interruption. It happens with finalizers that another fiber has added. These functions run the finalizers on a fiber
 * that nobody interrupts. When test/kit/ScopeEnd passes on Effect's functions, this module can be deleted.
 */
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"

/** `Scope.close`. */
export const close = (scope: Scope.CloseableScope, exit: Exit.Exit<unknown, unknown>): Effect.Effect<void> =>
  Effect.uninterruptible(
    Effect.flatMap(Effect.flatMap(Effect.forkDaemon(Scope.close(scope, exit)), Fiber.await), (exit) => exit)
  )

/** `Effect.scoped`. */
export const scoped = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, Exclude<R, Scope.Scope>> =>
  Effect.acquireUseRelease(Scope.make(), (scope) => Scope.extend(effect, scope), close)
