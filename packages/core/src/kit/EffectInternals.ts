/**
 * What versions 3 and 4 of Effect do in different ways, as far as this library uses it: how code outside of any Effect runs and interrupts
 * fibers, reads their exits and completes deferreds and latches, and how it reads contexts and clocks. Modules of all packages use this
 * module, and name none of these inner parts of Effect themselves. For version 4 this module is written anew, mostly as aliases.
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

/** What a fiber begins with. */
export type Services<R = never> = Runtime.Runtime<R>

export const defaultServices: Services = Runtime.defaultRuntime

/** The same services for fibers that can be interrupted, also when the fiber that gave the services cannot. */
export const interruptible = <R>(services: Services<R>): Services<R> =>
  RuntimeFlags.isEnabled(services.runtimeFlags, RuntimeFlags.Interruption)
    ? services
    : Runtime.enableRuntimeFlag(services, RuntimeFlags.Interruption)

/** The services of the fiber that asks. Fibers that are started with them can be interrupted if this fiber can. */
export const currentServices: <R = never>() => Effect.Effect<Services<R>, never, R> = Effect.runtime

/** The services of the fiber that asks, for fibers that can be interrupted. */
export const services: Effect.Effect<Services> = Effect.map(currentServices(), interruptible)

/** The context within services. */
export const contextOfServices = <R>(services: Services<R>): Context.Context<R> => services.context

/** The context that a fiber runs with. */
export const contextOfFiber = (fiber: Fiber.RuntimeFiber<any, any>): Context.Context<never> => fiber.currentContext

/** Runs the first steps of an effect before it returns. */
export const runFork: <R, A, E>(services: Services<R>, effect: Effect.Effect<A, E, R>) => Fiber.RuntimeFiber<A, E> =
  Runtime.runFork

/** Runs an effect when the fibers that are ready have had their turn. */
export const runForkLater = <R, A, E>(
  services: Services<R>,
  effect: Effect.Effect<A, E, R>
): Fiber.RuntimeFiber<A, E> => Runtime.runFork(services, effect, { immediate: false })

/** Runs a task when the code that runs now has returned. */
export const later = (task: () => void): void => Scheduler.defaultScheduler.scheduleTask(task, 0)

/** An Either as an effect. In version 3 an Either is an effect; all modules call this function where they use it as an effect. */
export const fromEither: <A, E>(either: Either.Either<A, E>) => Effect.Effect<A, E> = identity

/** The outcome of an effect that `fromEither` has made; `undefined` for an effect that has to run. */
export const outcome = <A, E, R>(effect: Effect.Effect<A, E, R>): Either.Either<A, E> | undefined =>
  Either.isEither(effect) ? effect as Either.Either<A, E> : undefined

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
  fiber.addObserver(() => later(() => done(ended, Effect.void)))
  return Effect.succeed(ended)
})

export const deferred = <A, E = never>(): Deferred.Deferred<A, E> => Deferred.unsafeMake(FiberId.none)

/** Completes a deferred; the first call decides. Inside of a woken fiber, the deferred is completed when that fiber has stopped. */
export const done = <A, E>(deferred: Deferred.Deferred<A, E>, effect: Effect.Effect<A, E>): void =>
  Waking.wake(() => Deferred.unsafeDone(deferred, effect))

export type Latch = Effect.Latch

/** A closed latch, or an open latch. */
export const latch: (isOpen?: boolean) => Latch = Effect.unsafeMakeLatch

export const open = (latch: Latch): void => void latch.unsafeOpen()

export const close = (latch: Latch): void => void latch.unsafeClose()

/** A scope that closes with another one. Its finalizers run one after another, or all at once. */
export const childOf = (
  scope: Scope.Scope,
  finalizers: "sequential" | "parallel" = "sequential"
): Effect.Effect<Scope.CloseableScope> => Scope.fork(scope, ExecutionStrategy[finalizers])

/** A scope whose finalizers all run at once. */
export const parallelScope: Effect.Effect<Scope.CloseableScope> = Scope.make(ExecutionStrategy.parallel)

/** The milliseconds since 1970. */
export const millis = (clock: Clock.Clock): number => clock.unsafeCurrentTimeMillis()

/** The nanoseconds since a moment that the clock chose. */
export const nanos = (clock: Clock.Clock): bigint => clock.unsafeCurrentTimeNanos()

/** A time in milliseconds since 1970, as ISO 8601 writes it. `DateTime` would add 3 kB to the bundle of an application. */
export const iso = (millis: number): string => new Date(millis).toISOString()

/** Takes all values that wait in a queue, also when there are none. */
export const takeWaiting = <A>(queue: Queue.Dequeue<A>): Effect.Effect<Iterable<A>> => Queue.takeAll(queue)

/** The services of a context, by the keys of their tags. */
export const entries = (context: Context.Context<never>): ReadonlyMap<string, unknown> => context.unsafeMap

export const contextOf: <R>(entries: Map<string, unknown>) => Context.Context<R> = Context.unsafeMake

/** Gives a context, with which the fiber already runs, other services. A second context for the same fiber would cost more. */
export const fill = (
  _fiber: Fiber.RuntimeFiber<any, any>,
  context: Context.Context<never>,
  entries: Map<string, unknown>
): void => {
  ;(context as { unsafeMap: Map<string, unknown> }).unsafeMap = entries
}

/** Services without their context, for fibers that each have a context of their own: replacing a context costs more than adding one. */
export type Rest = Pick<Services, "fiberRefs" | "runtimeFlags">

export const restOf = <R>({ fiberRefs, runtimeFlags }: Services<R>): Rest => ({
  fiberRefs: FiberRefs.delete(fiberRefs, FiberRef.currentContext),
  runtimeFlags
})

/** Services with this context. */
export const makeServices = <R>(context: Context.Context<R>, { fiberRefs, runtimeFlags }: Rest): Services<R> =>
  Runtime.make({ context, fiberRefs, runtimeFlags })

/** Updates a metric outside of any fiber. */
export const update = <In>(metric: Metric.Metric<any, In, any>, value: In): void => metric.unsafeUpdate(value, [])

/** The cause of a fiber that was interrupted by no fiber. */
export const interruption: Cause.Cause<never> = Cause.interrupt(FiberId.none)

/** A value that the process has once, also when the module that asks is loaded twice. */
export const shared: <A>(key: string, make: () => A) => A = globalValue

/** A value that a fiber has, and that the fibers that it starts inherit. Each key in the process has one such value. */
export type Local<A> = FiberRef.FiberRef<A>

export const local = <A>(key: string, initial: A): Local<A> => shared(key, () => FiberRef.unsafeMake(initial))

/** Runs an effect whose fiber, and the fibers that it starts, have this value. */
export const withValue = <A, E, R, B>(
  effect: Effect.Effect<A, E, R>,
  local: Local<B>,
  value: B
): Effect.Effect<A, E, R> => Effect.locally(effect, local, value)

/** A set to which layers add side by side. Layers that are built on top of these layers have all that was added. */
export const localSet = <A>(key: string): Local<HashSet.HashSet<A>> =>
  shared(key, () => FiberRef.unsafeMakeHashSet<A>(HashSet.empty()))

/** Adds to a set until the scope closes. */
export const addTo = <A>(local: Local<HashSet.HashSet<A>>, value: A): Effect.Effect<void, never, Scope.Scope> =>
  Effect.locallyScopedWith(local, HashSet.add(value))

/** Runs an effect whose fiber, and the fibers that it starts, log no failure as unhandled: another fiber reads how they end. */
export const unreported = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.withUnhandledErrorLogLevel(effect, Option.none())

export const valueOf: <A>(local: Local<A>) => Effect.Effect<A> = FiberRef.get

/** Runs an effect as a promise, which is rejected when the effect fails or its signal aborts. */
export const runPromise = <R, A, E>(
  services: Services<R>,
  effect: Effect.Effect<A, E, R>,
  signal: AbortSignal
): Promise<A> => Runtime.runPromise(services, effect, { signal })

/** A link to a span. */
export const spanLink = (span: Tracer.AnySpan): Tracer.SpanLink => ({ _tag: "SpanLink", span, attributes: {} })

/** A value of a fiber as the runtime of version 3 treats it. */
interface Differing extends FiberRef.FiberRef<any> {
  readonly diff: (was: unknown, now: unknown) => unknown
  readonly patch: (patch: unknown) => (own: unknown) => unknown
}

/**
 * The values that one fiber has and another fiber does not have. `make` makes such a value from the value of the other fiber, and `undo`
 * takes it back.
 */
export type ChangedValues = ReadonlyArray<readonly [ref: Differing, forth: unknown, back: unknown]>

// These values say how a fiber runs, and not what it was given.
const ofRunning: ReadonlySet<unknown> = new Set([FiberRef.currentContext, FiberRef.interruptedCause])

/** What a fiber has been given since these services; `undefined` for nothing. The services of its context are not included. */
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

/** Runs an effect whose fiber, and the fibers that it starts, have these values, too. */
export const withChanged = <A, E, R>(effect: Effect.Effect<A, E, R>, values: ChangedValues): Effect.Effect<A, E, R> =>
  values.reduce((inner, [ref, forth]) => Effect.locallyWith(inner, ref, (own) => ref.patch(forth)(own)), effect)

/** Runs an effect within `withChanged` as if it were outside. */
export const withoutChanged = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  values: ChangedValues
): Effect.Effect<A, E, R> =>
  values.reduce((inner, [ref, , back]) => Effect.locallyWith(inner, ref, (own) => ref.patch(back)(own)), effect)
