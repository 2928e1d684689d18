/**
 * What versions 3 and 4 of Effect do in different ways, as far as this library uses it: how code outside of any Effect
 * runs and interrupts fibers, reads their exits and completes deferreds and latches, and how it reads contexts and clocks.
 * This is the module for version 4.
 */
import * as Cause from "effect/Cause"
import type * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as HashSet from "effect/HashSet"
import * as Latch_ from "effect/Latch"
import type * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import * as Tracer from "effect/Tracer"
import * as Waking from "./Waking.js"

/** What a fiber begins with. */
export type Services<R = never> = Context.Context<R>

export const defaultServices: Services = Context.empty()

/** The same services for fibers that can be interrupted: in version 4 each new fiber can. */
export const interruptible = <R>(services: Services<R>): Services<R> => services

/** The services of the fiber that asks. */
export const currentServices: <R = never>() => Effect.Effect<Services<R>, never, R> = Effect.context

/** The services of the fiber that asks, for fibers that can be interrupted. */
export const services: Effect.Effect<Services> = currentServices()

/** The context within services. */
export const contextOfServices = <R>(services: Services<R>): Context.Context<R> => services

/** The context that a fiber runs with. */
export const contextOfFiber = (fiber: Fiber.Fiber<any, any>): Context.Context<never> =>
  fiber.context as Context.Context<never>

/** Runs the first steps of an effect before it returns. */
export const runFork = <R, A, E>(services: Services<R>, effect: Effect.Effect<A, E, R>): Fiber.Fiber<A, E> =>
  Effect.runForkWith(services)(effect)

/** Runs an effect when the fibers that are ready have had their turn. */
export const runForkLater = <R, A, E>(services: Services<R>, effect: Effect.Effect<A, E, R>): Fiber.Fiber<A, E> =>
  Effect.runForkWith(services)(Effect.andThen(Effect.yieldNow, effect))

/** Runs a task when the code that runs now has returned. */
export const later = (task: () => void): void => void Promise.resolve().then(task)

/** A result as an effect. */
export const fromEither: <A, E>(result: Result.Result<A, E>) => Effect.Effect<A, E> = Effect.fromResult

/** The outcome of an effect that is done already; `undefined` for an effect that has to run. */
export const outcome = <A, E, R>(effect: Effect.Effect<A, E, R>): Result.Result<A, E> | undefined => {
  if (!Exit.isExit(effect)) return undefined
  const exit = effect as Exit.Exit<A, E>
  if (Exit.isSuccess(exit)) return Result.succeed(exit.value)
  const error = Cause.findErrorOption(exit.cause)
  return Option.isSome(error) ? Result.fail(error.value) : undefined
}

/** Interrupts a fiber and does not wait for its end. */
export const interrupt = (fiber: Fiber.Fiber<unknown, unknown>): void => fiber.interruptUnsafe()

/** The exit of a fiber that has ended. */
export const exitOf = <A, E>(fiber: Fiber.Fiber<A, E>): Exit.Exit<A, E> | undefined => fiber.pollUnsafe()

/**
 * A deferred that succeeds when the fiber that runs this effect has ended. The fiber of a request ends before its response
 * is sent, and fibers that wait for the deferred continue after that.
 */
export const ended: Effect.Effect<Deferred.Deferred<void>> = Effect.withFiber((fiber) => {
  const ended = deferred<void>()
  fiber.addObserver(() => later(() => done(ended, Effect.void)))
  return Effect.succeed(ended)
})

export const deferred = <A, E = never>(): Deferred.Deferred<A, E> => Deferred.makeUnsafe()

/** Completes a deferred; the first call decides. Inside of a woken fiber, the deferred is completed when that fiber has stopped. */
export const done = <A, E>(deferred: Deferred.Deferred<A, E>, effect: Effect.Effect<A, E>): void =>
  Waking.wake(() => void Deferred.doneUnsafe(deferred, effect))

export type Latch = Latch_.Latch

/** A closed latch, or an open one. */
export const latch: (isOpen?: boolean) => Latch = Latch_.makeUnsafe

export const open = (latch: Latch): void => void latch.openUnsafe()

export const close = (latch: Latch): void => void latch.closeUnsafe()

/** A scope that closes with another one. Its finalizers run one after another, or all at once. */
export const childOf = (
  scope: Scope.Scope,
  finalizers: "sequential" | "parallel" = "sequential"
): Effect.Effect<Scope.Closeable> => Scope.fork(scope, finalizers)

/** A scope whose finalizers all run at once. */
export const parallelScope: Effect.Effect<Scope.Closeable> = Scope.make("parallel")

/** The milliseconds since 1970. */
export const millis = (clock: Clock.Clock): number => clock.currentTimeMillisUnsafe()

/** The nanoseconds since a moment that the clock chose: of the clock that does not jump. */
export const nanos = (clock: Clock.Clock): bigint => clock.monotonicTimeNanosUnsafe()

/** A time in milliseconds since 1970, as ISO 8601 writes it. */
export const iso = (millis: number): string => new Date(millis).toISOString()

/** Takes all values that wait in a queue, also when there are none. */
export const takeWaiting: <A>(queue: Queue.Dequeue<A>) => Effect.Effect<Iterable<A>> = Queue.clear

/** The services of a context, by the keys of their tags. */
export const entries = (context: Context.Context<never>): ReadonlyMap<string, unknown> => context.mapUnsafe

export const contextOf = <R>(entries: Map<string, unknown>): Context.Context<R> => Context.makeUnsafe(entries)

/** Gives a context, with which the fiber already runs, other services. The references of the fiber stay. */
export const fill = (
  fiber: Fiber.Fiber<any, any>,
  _context: Context.Context<never>,
  entries: Map<string, unknown>
): void => {
  for (const [key, value] of fiber.context.mapUnsafe) if (!entries.has(key)) entries.set(key, value)
  fiber.setContext(Context.makeUnsafe(entries))
}

/** Services without what belongs to one fiber, for fibers that each have a context of their own. */
export type Rest = Context.Context<never>

export const restOf = <R>(services: Services<R>): Rest =>
  Context.omit(Tracer.ParentSpan)(services as Context.Context<any>) as Rest

/** Services with this context. */
export const makeServices = <R>(context: Context.Context<R>, rest: Rest): Services<R> =>
  rest.mapUnsafe.size === 0 ? context : Context.merge(rest, context)

/** Updates a metric outside of any fiber. */
export const update = <In>(metric: Metric.Metric<In, any>, value: In): void =>
  metric.updateUnsafe(value, Context.empty())

/** The cause of a fiber that was interrupted by no fiber. */
export const interruption: Cause.Cause<never> = Cause.interrupt()

const ofProcess = globalThis as unknown as Record<string, Map<unknown, any> | undefined>

/** A value that the process has once, also when the module that asks is loaded twice. */
export const shared = <A>(key: string, make: () => A): A => {
  const all = ofProcess["@effect-mcp/core/kit/EffectInternals/shared"] ??= new Map()
  if (!all.has(key)) all.set(key, make())
  return all.get(key)
}

/** A value that a fiber has, and that the fibers that it starts inherit. Each key in the process has one such value. */
export type Local<A> = Context.Reference<A>

export const local = <A>(key: string, initial: A): Local<A> =>
  Context.Reference<A>(key, { defaultValue: () => initial })

/** Runs an effect whose fiber, and the fibers that it starts, have this value. */
export const withValue = <A, E, R, B>(
  effect: Effect.Effect<A, E, R>,
  local: Local<B>,
  value: B
): Effect.Effect<A, E, R> => Effect.provideService(effect, local, value)

/** A set to which layers add side by side. Layers that are built on top of these layers have all that was added. */
export const localSet = <A>(key: string): Local<HashSet.HashSet<A>> =>
  Context.Reference<HashSet.HashSet<A>>(key, { defaultValue: () => HashSet.empty<A>() })

/** Adds to a set until the scope closes. */
export const addTo = <A>(local: Local<HashSet.HashSet<A>>, value: A): Effect.Effect<void, never, Scope.Scope> =>
  Effect.asVoid(Effect.updateServiceScoped(local, HashSet.add(value)))

/** Version 4 logs no failure as unhandled, unless the application asks for that. */
export const unreported = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> => effect

export const valueOf = <A>(local: Local<A>): Effect.Effect<A> => Effect.map(Effect.context<never>(), Context.get(local))

/** Runs an effect as a promise, which is rejected when the effect fails or its signal aborts. */
export const runPromise = <R, A, E>(
  services: Services<R>,
  effect: Effect.Effect<A, E, R>,
  signal: AbortSignal
): Promise<A> => Effect.runPromiseWith(services)(effect, { signal })

/** A link to a span. */
export const spanLink = (span: Tracer.AnySpan): Tracer.SpanLink => ({ span, attributes: {} })

/** In version 4 such values are services, which the application names. */
export type ChangedValues = ReadonlyArray<never>

export const changedValues = (_before: Services, _fiber: Fiber.Fiber<any, any>): ChangedValues | undefined => undefined

export const withChanged = <A, E, R>(effect: Effect.Effect<A, E, R>, _values: ChangedValues): Effect.Effect<A, E, R> =>
  effect

export const withoutChanged: typeof withChanged = withChanged
