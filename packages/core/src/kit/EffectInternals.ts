/**
 * What versions 3 and 4 of Effect do in different ways, as far as this library uses it: how code outside of any Effect
 * runs and interrupts fibers, reads their exits and completes deferreds and latches, and how it reads contexts and clocks.
 * Other modules name none of these inner parts of Effect. For version 4 this module is written anew, mostly as aliases.
 */
import * as Cause from "effect/Cause"
import * as Chunk from "effect/Chunk"
import type * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as ExecutionStrategy from "effect/ExecutionStrategy"
import type * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as FiberRef from "effect/FiberRef"
import * as FiberRefs from "effect/FiberRefs"
import { globalValue } from "effect/GlobalValue"
import * as HashSet from "effect/HashSet"
import type * as Metric from "effect/Metric"
import * as Runtime from "effect/Runtime"
import * as RuntimeFlags from "effect/RuntimeFlags"
import * as Scope from "effect/Scope"

/** What a fiber begins with. */
export type Services<R = never> = Runtime.Runtime<R>

export const defaultServices: Services = Runtime.defaultRuntime

/** The same services for fibers that can be interrupted, also when the fiber that gave the services cannot. */
export const interruptible = <R>(services: Services<R>): Services<R> =>
  RuntimeFlags.isEnabled(services.runtimeFlags, RuntimeFlags.Interruption)
    ? services
    : Runtime.enableRuntimeFlag(services, RuntimeFlags.Interruption)

/** The services of the fiber that asks, for fibers that can be interrupted. */
export const services: Effect.Effect<Services> = Effect.map(Effect.runtime<never>(), interruptible)

/** Runs the first steps of an effect before it returns. */
export const runFork: <R, A, E>(services: Services<R>, effect: Effect.Effect<A, E, R>) => Fiber.RuntimeFiber<A, E> =
  Runtime.runFork

/** Runs an effect when the fibers that are ready have had their turn. */
export const runForkLater = <R, A, E>(
  services: Services<R>,
  effect: Effect.Effect<A, E, R>
): Fiber.RuntimeFiber<A, E> => Runtime.runFork(services, effect, { immediate: false })

/** Interrupts a fiber and does not wait for its end. */
export const interrupt = (fiber: Fiber.RuntimeFiber<unknown, unknown>): void =>
  fiber.unsafeInterruptAsFork(FiberId.none)

/** The exit of a fiber that has ended. */
export const exitOf = <A, E>(fiber: Fiber.RuntimeFiber<A, E>): Exit.Exit<A, E> | undefined =>
  fiber.unsafePoll() ?? undefined

/**
 * A deferred that succeeds when the fiber that runs this effect has ended. The fiber of a request ends before its response
 * is sent, and fibers that wait for the deferred continue after that.
 */
export const ended: Effect.Effect<Deferred.Deferred<void>> = Effect.withFiberRuntime((fiber) => {
  const ended = deferred<void>()
  fiber.addObserver(() => done(ended, Effect.void))
  return Effect.succeed(ended)
})

export const deferred = <A, E = never>(): Deferred.Deferred<A, E> => Deferred.unsafeMake(FiberId.none)

/** Completes a deferred; the first call decides. */
export const done: <A, E>(deferred: Deferred.Deferred<A, E>, effect: Effect.Effect<A, E>) => void = Deferred.unsafeDone

/** A closed latch, or an open one. */
export const latch: (isOpen?: boolean) => Effect.Latch = Effect.unsafeMakeLatch

export const open = (latch: Effect.Latch): void => void latch.unsafeOpen()

export const close = (latch: Effect.Latch): void => void latch.unsafeClose()

/** A scope that closes with another one. Its finalizers run one after another, or all at once. */
export const childOf = (
  scope: Scope.Scope,
  finalizers: "sequential" | "parallel" = "sequential"
): Effect.Effect<Scope.CloseableScope> => Scope.fork(scope, ExecutionStrategy[finalizers])

/** A scope whose finalizers all run at once. */
export const parallelScope: Effect.Effect<Scope.CloseableScope> = Scope.make(ExecutionStrategy.parallel)

/** The milliseconds since 1970. */
export const millis = (clock: Clock.Clock): number => clock.unsafeCurrentTimeMillis()

/** A time in milliseconds since 1970, as ISO 8601 writes it. `DateTime` would add 3 kB to the bundle of an application. */
export const iso = (millis: number): string => new Date(millis).toISOString()

export const chunk: <A>(values: ReadonlyArray<A>) => Chunk.Chunk<A> = Chunk.unsafeFromArray

/** The services of a context, by the keys of their tags. */
export const entries = (context: Context.Context<never>): ReadonlyMap<string, unknown> => context.unsafeMap

export const contextOf: <R>(entries: Map<string, unknown>) => Context.Context<R> = Context.unsafeMake

/** The services of the fiber that a logger is called for. */
export const contextIn = (refs: FiberRefs.FiberRefs): Context.Context<never> =>
  FiberRefs.getOrDefault(refs, FiberRef.currentContext)

/** Services from their parts. */
export const makeServices: <R>(
  parts: Pick<Services<R>, "context" | "fiberRefs" | "runtimeFlags">
) => Services<R> = Runtime.make

/** The fiber refs without the context, for fibers that each have a context of their own: replacing a context costs more than adding one. */
export const withoutContext = (refs: FiberRefs.FiberRefs): FiberRefs.FiberRefs =>
  FiberRefs.delete(refs, FiberRef.currentContext)

/** Updates a metric outside of any fiber. */
export const update = <In>(metric: Metric.Metric<any, In, any>, value: In): void => metric.unsafeUpdate(value, [])

/** The cause of a fiber that was interrupted by no fiber. */
export const interruption: Cause.Cause<never> = Cause.interrupt(FiberId.none)

/** A value that a fiber has, and that the fibers that it starts inherit. Each key in the process has one such value. */
export type Local<A> = FiberRef.FiberRef<A>

export const local = <A>(key: string, initial: A): Local<A> => globalValue(key, () => FiberRef.unsafeMake(initial))

/** A set to which layers add side by side. Layers that are built on top of these layers have all that was added. */
export const localSet = <A>(key: string): Local<HashSet.HashSet<A>> =>
  globalValue(key, () => FiberRef.unsafeMakeHashSet<A>(HashSet.empty()))

export const valueOf: <A>(local: Local<A>) => Effect.Effect<A> = FiberRef.get

/** Runs an effect as a promise, which is rejected when the effect fails or its signal aborts. */
export const runPromise = <R, A, E>(
  services: Services<R>,
  effect: Effect.Effect<A, E, R>,
  signal: AbortSignal
): Promise<A> => Runtime.runPromise(services, effect, { signal })
