/**
 * The parts of Effect that differ between versions 3 and 4, as far as this library uses them. With these functions, code outside of any
 * Effect runs and interrupts fibers, reads the exits of fibers, completes deferreds and latches, and reads contexts and clocks. Modules of
 * all packages call this module, and do not use these parts of Effect directly. `EffectInternals.v4.ts` replaces this module for version 4,
 * mostly with aliases.
 */
import * as Cause from "effect/Cause"
import type * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Equal from "effect/Equal"
import * as ExecutionStrategy from "effect/ExecutionStrategy"
import type * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as FiberRef from "effect/FiberRef"
import * as FiberRefs from "effect/FiberRefs"
import { identity } from "effect/Function"
import { globalValue } from "effect/GlobalValue"
import * as HashSet from "effect/HashSet"
import type * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Runtime from "effect/Runtime"
import * as RuntimeFlags from "effect/RuntimeFlags"
import * as Scheduler from "effect/Scheduler"
import * as Scope from "effect/Scope"
import type * as Tracer from "effect/Tracer"
import * as Waking from "./Waking.js"

/** The values with which a fiber starts: in version 3 its context, its FiberRefs and its runtime flags. */
export type Services<R = never> = Runtime.Runtime<R>

export const defaultServices: Services = Runtime.defaultRuntime

/** Returns the same services, for fibers that can be interrupted. The fiber that gave the services may itself be uninterruptible. */
export const interruptible = <R>(services: Services<R>): Services<R> =>
  RuntimeFlags.isEnabled(services.runtimeFlags, RuntimeFlags.Interruption)
    ? services
    : Runtime.enableRuntimeFlag(services, RuntimeFlags.Interruption)

/**
 * Returns the services of the current fiber. A fiber that is started with these services can be interrupted if the current fiber can be
 * interrupted.
 */
export const currentServices: <R = never>() => Effect.Effect<Services<R>, never, R> = Effect.runtime

/** The services of the current fiber, for fibers that can be interrupted. */
export const services: Effect.Effect<Services> = Effect.map(currentServices(), interruptible)

/** Returns the context that the services contain. */
export const contextOfServices = <R>(services: Services<R>): Context.Context<R> => services.context

/** Returns the context with which a fiber runs. */
export const contextOfFiber = (fiber: Fiber.RuntimeFiber<any, any>): Context.Context<never> => fiber.currentContext

/** Starts a fiber, and runs the effect up to its first asynchronous step before `runFork` returns. */
export const runFork: <R, A, E>(services: Services<R>, effect: Effect.Effect<A, E, R>) => Fiber.RuntimeFiber<A, E> =
  Runtime.runFork

/** Starts a fiber that runs its first step after all fibers that are ready now have had their turn. */
export const runForkLater = <R, A, E>(
  services: Services<R>,
  effect: Effect.Effect<A, E, R>
): Fiber.RuntimeFiber<A, E> => Runtime.runFork(services, effect, { immediate: false })

/** Calls `task` after the code that runs now has returned. */
export const later = (task: () => void): void => Scheduler.defaultScheduler.scheduleTask(task, 0)

/**
 * Makes an effect from an Either. In version 3 an Either is already an effect; in version 4 it is not. Therefore all modules call this
 * function.
 */
export const fromEither: <A, E>(either: Either.Either<A, E>) => Effect.Effect<A, E> = identity

/** Returns the Either of an effect that `fromEither` has made; `undefined` for any other effect. */
export const outcome = <A, E, R>(effect: Effect.Effect<A, E, R>): Either.Either<A, E> | undefined =>
  Either.isEither(effect) ? effect as Either.Either<A, E> : undefined

/** Interrupts a fiber and does not wait for its end. */
export const interrupt = (fiber: Fiber.RuntimeFiber<unknown, unknown>): void =>
  fiber.unsafeInterruptAsFork(FiberId.none)

/** Returns the exit of a fiber that has ended; `undefined` while the fiber runs. */
export const exitOf = <A, E>(fiber: Fiber.RuntimeFiber<A, E>): Exit.Exit<A, E> | undefined =>
  fiber.unsafePoll() ?? undefined

/**
 * Makes a deferred that succeeds when the fiber that runs this effect has ended. The fiber of a request ends before the response is sent.
 * Fibers that wait for the deferred continue after the response was sent.
 */
export const ended: Effect.Effect<Deferred.Deferred<void>> = Effect.withFiberRuntime((fiber) => {
  const ended = deferred<void>()
  fiber.addObserver(() => later(() => done(ended, Effect.void)))
  return Effect.succeed(ended)
})

export const deferred = <A, E = never>(): Deferred.Deferred<A, E> => Deferred.unsafeMake(FiberId.none)

/**
 * Completes a deferred with an effect. Later calls for the same deferred change nothing. A call inside a woken fiber completes the deferred
 * after that fiber has stopped.
 */
export const done = <A, E>(deferred: Deferred.Deferred<A, E>, effect: Effect.Effect<A, E>): void =>
  Waking.wake(() => Deferred.unsafeDone(deferred, effect))

export type Latch = Effect.Latch

/** Makes a latch. Default: closed. */
export const latch: (isOpen?: boolean) => Latch = Effect.unsafeMakeLatch

export const open = (latch: Latch): void => void latch.unsafeOpen()

export const close = (latch: Latch): void => void latch.unsafeClose()

/**
 * Makes a scope that closes when `scope` closes. Its finalizers run one after another, or all at the same time. Default: `sequential`, one
 * after another.
 */
export const childOf = (
  scope: Scope.Scope,
  finalizers: "sequential" | "parallel" = "sequential"
): Effect.Effect<Scope.CloseableScope> => Scope.fork(scope, ExecutionStrategy[finalizers])

/** Makes a scope whose finalizers all run at the same time. */
export const parallelScope: Effect.Effect<Scope.CloseableScope> = Scope.make(ExecutionStrategy.parallel)

/** Returns the milliseconds since 1970. */
export const millis = (clock: Clock.Clock): number => clock.unsafeCurrentTimeMillis()

/** Returns the nanoseconds since some moment that the clock has chosen. */
export const nanos = (clock: Clock.Clock): bigint => clock.unsafeCurrentTimeNanos()

/** Writes a time in milliseconds since 1970 as ISO 8601 text. Effect's `DateTime` would add 3 kB to the bundle of an application. */
export const iso = (millis: number): string => new Date(millis).toISOString()

/** Takes all values that a queue has now; an empty collection when the queue has none. */
export const takeWaiting = <A>(queue: Queue.Dequeue<A>): Effect.Effect<Iterable<A>> => Queue.takeAll(queue)

/** Returns the services of a context, by the keys of their tags. */
export const entries = (context: Context.Context<never>): ReadonlyMap<string, unknown> => context.unsafeMap

export const contextOf: <R>(entries: Map<string, unknown>) => Context.Context<R> = Context.unsafeMake

/** Replaces the services of a context with which the fiber already runs. A second context for the same fiber would cost more. */
export const fill = (
  _fiber: Fiber.RuntimeFiber<any, any>,
  context: Context.Context<never>,
  entries: Map<string, unknown>
): void => {
  ;(context as { unsafeMap: Map<string, unknown> }).unsafeMap = entries
}

/**
 * The parts of `Services` besides the context: FiberRefs and runtime flags. For fibers that each get their own context, adding a context to
 * a `Rest` costs less than replacing the context of `Services`.
 */
export type Rest = Pick<Services, "fiberRefs" | "runtimeFlags">

export const restOf = <R>({ fiberRefs, runtimeFlags }: Services<R>): Rest => ({
  fiberRefs: FiberRefs.delete(fiberRefs, FiberRef.currentContext),
  runtimeFlags
})

/** Makes services from this context and this `Rest`. */
export const makeServices = <R>(context: Context.Context<R>, { fiberRefs, runtimeFlags }: Rest): Services<R> =>
  Runtime.make({ context, fiberRefs, runtimeFlags })

/** Updates a metric outside of any fiber. */
export const update = <In>(metric: Metric.Metric<any, In, any>, value: In): void => metric.unsafeUpdate(value, [])

/** The cause of a fiber that was interrupted, though no other fiber has interrupted it. */
export const interruption: Cause.Cause<never> = Cause.interrupt(FiberId.none)

/** Returns a value of which the process has one for each key, also when the module that calls this function is loaded twice. */
export const shared: <A>(key: string, make: () => A) => A = globalValue

/** A value that belongs to a fiber. Fibers that this fiber starts inherit the value. The process has one `Local` for each key. */
export type Local<A> = FiberRef.FiberRef<A>

export const local = <A>(key: string, initial: A): Local<A> => shared(key, () => FiberRef.unsafeMake(initial))

/** Runs an effect with `value` as the value of `local`, in its fiber and in the fibers that it starts. */
export const withValue = <A, E, R, B>(
  effect: Effect.Effect<A, E, R>,
  local: Local<B>,
  value: B
): Effect.Effect<A, E, R> => Effect.locally(effect, local, value)

/** Makes a set to which layers that are built side by side add values. Layers that are built on top of these layers get all values. */
export const localSet = <A>(key: string): Local<HashSet.HashSet<A>> =>
  shared(key, () => FiberRef.unsafeMakeHashSet<A>(HashSet.empty()))

/** Adds a value to a set, and removes the value when the scope closes. */
export const addTo = <A>(local: Local<HashSet.HashSet<A>>, value: A): Effect.Effect<void, never, Scope.Scope> =>
  Effect.locallyScopedWith(local, HashSet.add(value))

/** The values of a set. */
export const valuesIn = <A>(local: Local<HashSet.HashSet<A>>): Effect.Effect<ReadonlyArray<A>> =>
  Effect.map(FiberRef.get(local), (all) => [...all])

/**
 * Runs an effect. Failures of its fiber, and of the fibers that it starts, are not logged as unhandled, because another fiber reads their
 * exits.
 */
export const unreported = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.withUnhandledErrorLogLevel(effect, Option.none())

export const valueOf: <A>(local: Local<A>) => Effect.Effect<A> = FiberRef.get

/** Runs an effect and returns a promise. The promise is rejected when the effect fails, or when `signal` aborts. */
export const runPromise = <R, A, E>(
  services: Services<R>,
  effect: Effect.Effect<A, E, R>,
  signal: AbortSignal
): Promise<A> => Runtime.runPromise(services, effect, { signal })

/** Makes a link to a span. */
export const spanLink = (span: Tracer.AnySpan): Tracer.SpanLink => ({ _tag: "SpanLink", span, attributes: {} })

/** A FiberRef with its two members that compute and apply a difference between two of its values. */
interface Differing extends FiberRef.FiberRef<any> {
  readonly diff: (was: unknown, now: unknown) => unknown
  readonly patch: (patch: unknown) => (own: unknown) => unknown
}

/**
 * The FiberRefs whose values differ between two fibers, each with two patches. The patch `forth` makes the value of the second fiber from
 * the value of the first fiber; the patch `back` does the opposite.
 */
export type ChangedValues = ReadonlyArray<readonly [ref: Differing, forth: unknown, back: unknown]>

// The values of these FiberRefs say how a fiber runs, such as whether it can be interrupted. No code has given them to the fiber.
const ofRunning: ReadonlySet<unknown> = new Set([
  FiberRef.currentContext,
  FiberRef.currentRuntimeFlags,
  FiberRef.interruptedCause
])

/**
 * Returns the FiberRefs of a fiber whose values differ from those of the services; `undefined` when none differs. The services in the
 * context are not compared.
 */
export const changedValues = (
  { fiberRefs: before }: Services,
  fiber: Fiber.RuntimeFiber<any, any>
): ChangedValues | undefined => {
  const changed: Array<readonly [Differing, unknown, unknown]> = []
  for (const [key, [[, now]]] of fiber.getFiberRefs().locals) {
    const ref = key as Differing
    const was = FiberRefs.getOrDefault(before, ref)
    if (ofRunning.has(ref) || Equal.equals(was, now)) continue
    changed.push([ref, ref.diff(was, now), ref.diff(now, was)])
  }
  return changed.length === 0 ? undefined : changed
}

/** Runs an effect with these values in addition to its own, in its fiber and in the fibers that it starts. */
export const withChanged = <A, E, R>(effect: Effect.Effect<A, E, R>, values: ChangedValues): Effect.Effect<A, E, R> =>
  values.reduce((inner, [ref, forth]) => Effect.locallyWith(inner, ref, (own) => ref.patch(forth)(own)), effect)

/** Runs an effect inside of `withChanged` as if the effect were outside of it: removes the values again. */
export const withoutChanged = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  values: ChangedValues
): Effect.Effect<A, E, R> =>
  values.reduce((inner, [ref, , back]) => Effect.locallyWith(inner, ref, (own) => ref.patch(back)(own)), effect)
