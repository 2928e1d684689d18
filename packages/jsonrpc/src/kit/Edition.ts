/**
 * What differs between versions 3 and 4 of Effect in more than a name, as far as modules of this library use it: how a fiber is run,
 * interrupted and asked for its exit from where no Effect can run, how what waits is woken there, and what a context and a clock
 * hold. Other modules name none of these inner parts of Effect. This module is written again for version 4, where most of it is an alias.
 */
import * as Chunk from "effect/Chunk"
import type * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as ExecutionStrategy from "effect/ExecutionStrategy"
import type * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as Runtime_ from "effect/Runtime"
import * as RuntimeFlags from "effect/RuntimeFlags"
import * as Scope from "effect/Scope"

/** What a fiber begins with. */
export type Runtime<R = never> = Runtime_.Runtime<R>

export const defaultRuntime: Runtime = Runtime_.defaultRuntime

/** The same runtime for fibers that can be interrupted, though the fiber that made it cannot. */
export const interruptible = <R>(runtime: Runtime<R>): Runtime<R> =>
  RuntimeFlags.isEnabled(runtime.runtimeFlags, RuntimeFlags.Interruption)
    ? runtime
    : Runtime_.enableRuntimeFlag(runtime, RuntimeFlags.Interruption)

/** The runtime of the fiber that asks, for fibers that can be interrupted. */
export const runtime: Effect.Effect<Runtime> = Effect.map(Effect.runtime<never>(), interruptible)

/** Runs the first steps of an effect before it returns. */
export const runFork: <R, A, E>(runtime: Runtime<R>, effect: Effect.Effect<A, E, R>) => Fiber.RuntimeFiber<A, E> =
  Runtime_.runFork

/** Runs an effect when the fibers that are ready have had their turn. */
export const runForkLater = <R, A, E>(runtime: Runtime<R>, effect: Effect.Effect<A, E, R>): Fiber.RuntimeFiber<A, E> =>
  Runtime_.runFork(runtime, effect, { immediate: false })

/** Interrupts a fiber and does not wait for its end. */
export const interrupt = (fiber: Fiber.RuntimeFiber<unknown, unknown>): void =>
  fiber.unsafeInterruptAsFork(FiberId.none)

/** The exit of a fiber that has ended. */
export const exitOf = <A, E>(fiber: Fiber.RuntimeFiber<A, E>): Exit.Exit<A, E> | undefined =>
  fiber.unsafePoll() ?? undefined

export const deferred = <A, E = never>(): Deferred.Deferred<A, E> => Deferred.unsafeMake(FiberId.none)

/** Completes a deferred; the first call decides. */
export const done: <A, E>(deferred: Deferred.Deferred<A, E>, effect: Effect.Effect<A, E>) => void = Deferred.unsafeDone

/** A closed latch, or an open one. */
export const latch: (isOpen?: boolean) => Effect.Latch = Effect.unsafeMakeLatch

/** A scope that closes with another one, and whose finalizers run one after another. */
export const childOf = (scope: Scope.Scope): Effect.Effect<Scope.CloseableScope> =>
  Scope.fork(scope, ExecutionStrategy.sequential)

/** The milliseconds since 1970. */
export const millis = (clock: Clock.Clock): number => clock.unsafeCurrentTimeMillis()

/** The nanoseconds of a clock that does not jump. */
export const nanos = (clock: Clock.Clock): bigint => clock.unsafeCurrentTimeNanos()

export const chunk: <A>(values: ReadonlyArray<A>) => Chunk.Chunk<A> = Chunk.unsafeFromArray
