/**
 * The parts of Effect that differ between versions 3 and 4, as far as this library uses them. With these functions, code outside of any
 * Effect runs and interrupts fibers, reads the exits of fibers, completes deferreds and latches, and reads contexts and clocks. This module
 * replaces `EffectInternals` for version 4.
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Console from "effect/Console"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as HashSet from "effect/HashSet"
import * as Latch_ from "effect/Latch"
import * as Layer from "effect/Layer"
import type * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Random from "effect/Random"
import * as References from "effect/References"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import * as Tracer from "effect/Tracer"
import * as Waking from "./Waking.js"

/** The values with which a fiber starts: in version 4 its context. */
export type Services<R = never> = Context.Context<R>

export const defaultServices: Services = Context.empty()

/** Returns the same services, for fibers that can be interrupted. In version 4 each new fiber can be interrupted. */
export const interruptible = <R>(services: Services<R>): Services<R> => services

/** Returns the services of the current fiber. */
export const currentServices: <R = never>() => Effect.Effect<Services<R>, never, R> = Effect.context

/** The services of the current fiber, for fibers that can be interrupted. */
export const services: Effect.Effect<Services> = currentServices()

/** Returns the context that the services contain. */
export const contextOfServices = <R>(services: Services<R>): Context.Context<R> => services

/** Returns the context with which a fiber runs. */
export const contextOfFiber = (fiber: Fiber.Fiber<any, any>): Context.Context<never> =>
  fiber.context as Context.Context<never>

/** Starts a fiber, and runs the effect up to its first asynchronous step before `runFork` returns. */
export const runFork = <R, A, E>(services: Services<R>, effect: Effect.Effect<A, E, R>): Fiber.Fiber<A, E> =>
  Effect.runForkWith(services)(effect)

/** Starts a fiber that runs the effect after all fibers that are ready now have had their turn. */
export const runForkLater = <R, A, E>(services: Services<R>, effect: Effect.Effect<A, E, R>): Fiber.Fiber<A, E> =>
  Effect.runForkWith(services)(Effect.andThen(Effect.yieldNow, effect))

/** Calls `task` after the code that runs now has returned. */
export const later = (task: () => void): void => void Promise.resolve().then(task)

/** Makes an effect from a result. */
export const fromEither: <A, E>(result: Result.Result<A, E>) => Effect.Effect<A, E> = Effect.fromResult

/**
 * Returns the result of an effect that has already ended; `undefined` for an effect that has to run, and for a defect or an interruption.
 */
export const outcome = <A, E, R>(effect: Effect.Effect<A, E, R>): Result.Result<A, E> | undefined => {
  if (!Exit.isExit(effect)) return undefined
  const exit = effect as Exit.Exit<A, E>
  if (Exit.isSuccess(exit)) return Result.succeed(exit.value)
  const error = Cause.findErrorOption(exit.cause)
  return Option.isSome(error) ? Result.fail(error.value) : undefined
}

/** Interrupts a fiber and does not wait for its end. */
export const interrupt = (fiber: Fiber.Fiber<unknown, unknown>): void => fiber.interruptUnsafe()

/** Returns the exit of a fiber that has ended; `undefined` while the fiber runs. */
export const exitOf = <A, E>(fiber: Fiber.Fiber<A, E>): Exit.Exit<A, E> | undefined => fiber.pollUnsafe()

/**
 * Makes a deferred that succeeds when the fiber that runs this effect has ended. The fiber of a request ends before the response is sent.
 * Fibers that wait for the deferred continue after the response was sent.
 */
export const ended: Effect.Effect<Deferred.Deferred<void>> = Effect.withFiber((fiber) => {
  const ended = deferred<void>()
  fiber.addObserver(() => later(() => done(ended, Effect.void)))
  return Effect.succeed(ended)
})

export const deferred = <A, E = never>(): Deferred.Deferred<A, E> => Deferred.makeUnsafe()

/**
 * Completes a deferred with an effect. Later calls for the same deferred change nothing. A call inside a woken fiber completes the deferred
 * after that fiber has stopped.
 */
export const done = <A, E>(deferred: Deferred.Deferred<A, E>, effect: Effect.Effect<A, E>): void =>
  Waking.wake(() => void Deferred.doneUnsafe(deferred, effect))

export type Latch = Latch_.Latch

/** Makes a latch. Default: closed. */
export const latch: (isOpen?: boolean) => Latch = Latch_.makeUnsafe

export const open = (latch: Latch): void => void latch.openUnsafe()

export const close = (latch: Latch): void => void latch.closeUnsafe()

/**
 * Makes a scope that closes when `scope` closes. Its finalizers run one after another, or all at once. Default: `sequential`, one after
 * another.
 */
export const childOf = (
  scope: Scope.Scope,
  finalizers: "sequential" | "parallel" = "sequential"
): Effect.Effect<Scope.Closeable> => Scope.fork(scope, finalizers)

/** Makes a scope whose finalizers all run at once. */
export const parallelScope: Effect.Effect<Scope.Closeable> = Scope.make("parallel")

/** Returns the milliseconds since 1970. */
export const millis = (clock: Clock.Clock): number => clock.currentTimeMillisUnsafe()

/** Returns the nanoseconds since some moment that the clock has chosen. This clock does not jump. */
export const nanos = (clock: Clock.Clock): bigint => clock.monotonicTimeNanosUnsafe()

/** Writes a time in milliseconds since 1970 as ISO 8601 text. */
export const iso = (millis: number): string => new Date(millis).toISOString()

/** Takes all values that a queue has now. `Queue.clear` returns an empty array when the queue has none. */
export const takeWaiting: <A>(queue: Queue.Dequeue<A>) => Effect.Effect<Iterable<A>> = Queue.clear

/** Returns the services of a context, by the keys of their tags. */
export const entries = (context: Context.Context<never>): ReadonlyMap<string, unknown> => context.mapUnsafe

export const contextOf = <R>(entries: Map<string, unknown>): Context.Context<R> => Context.makeUnsafe(entries)

/** Replaces the services of a context with which the fiber already runs. The references that the fiber has in its context stay. */
export const fill = (
  fiber: Fiber.Fiber<any, any>,
  _context: Context.Context<never>,
  entries: Map<string, unknown>
): void => {
  for (const [key, value] of fiber.context.mapUnsafe) if (!entries.has(key)) entries.set(key, value)
  fiber.setContext(Context.makeUnsafe(entries))
}

/** The services without the parent span, which belongs to one fiber. They are for fibers that each get their own context. */
export type Rest = Context.Context<never>

export const restOf = <R>(services: Services<R>): Rest =>
  Context.omit(Tracer.ParentSpan)(services as Context.Context<any>) as Rest

/** Makes services from `rest` and `context`. When both have the same service, the service of `context` is used. */
export const makeServices = <R>(context: Context.Context<R>, rest: Rest): Services<R> =>
  rest.mapUnsafe.size === 0 ? context : Context.merge(rest, context)

/** Updates a metric outside of any fiber. */
export const update = <In>(metric: Metric.Metric<In, any>, value: In): void =>
  metric.updateUnsafe(value, Context.empty())

/** The cause of a fiber that was interrupted, though no other fiber has interrupted it. */
export const interruption: Cause.Cause<never> = Cause.interrupt()

const ofProcess = globalThis as unknown as Record<string, Map<unknown, any> | undefined>

/** Returns a value of which the process has one for each key, also when the module that calls this function is loaded twice. */
export const shared = <A>(key: string, make: () => A): A => {
  const all = ofProcess["@effect-mcp/core/kit/EffectInternals/shared"] ??= new Map()
  if (!all.has(key)) all.set(key, make())
  return all.get(key)
}

/** A value that belongs to a fiber. Fibers that this fiber starts inherit the value. The process has one `Local` for each key. */
export type Local<A> = Context.Reference<A>

export const local = <A>(key: string, initial: A): Local<A> => {
  ofFibers.add(key)
  return Context.Reference<A>(key, { defaultValue: () => initial })
}

/** The references that Effect itself and this project keep in contexts. In version 3 they are FiberRefs, which no context contains. */
const ofFibers: Set<string> = new Set(
  [...Object.values(References), Clock.Clock, ConfigProvider.ConfigProvider, Console.Console, Random.Random].map(
    ({ key }) => key
  )
)

/** The context `next`, with the references of `own` that `next` lacks: a fiber keeps its clock and its loggers when its services change. */
export const withReferences = <R>(own: Context.Context<any>, next: Context.Context<R>): Context.Context<R> => {
  const lacking = [...ofFibers].filter((key) => own.mapUnsafe.has(key) && !next.mapUnsafe.has(key))
  if (lacking.length === 0) return next
  const all = new Map(next.mapUnsafe)
  for (const key of lacking) all.set(key, own.mapUnsafe.get(key))
  return Context.makeUnsafe(all)
}

/** Runs an effect with `value` as the value of `local`, in its fiber and in the fibers that it starts. */
export const withValue = <A, E, R, B>(
  effect: Effect.Effect<A, E, R>,
  local: Local<B>,
  value: B
): Effect.Effect<A, E, R> => Effect.provideService(effect, local, value)

/**
 * A set to which layers add values. In version 4, a layer hands only its services on. So the values of all layers of one build are kept
 * beside the memo map of the build, and every layer of the build gets the values of the layers that were built before it.
 */
export class LocalSet<A> {
  private readonly ofBuilds = new WeakMap<Layer.MemoMap, Set<A>>()
  private readonly ofFibers: Local<HashSet.HashSet<A>>

  constructor(key: string) {
    this.ofFibers = Context.Reference<HashSet.HashSet<A>>(key, { defaultValue: () => HashSet.empty<A>() })
  }

  add(value: A): Effect.Effect<void, never, Scope.Scope> {
    return Effect.flatMap(Effect.serviceOption(Layer.CurrentMemoMap), (build) => {
      if (Option.isNone(build)) return Effect.updateServiceScoped(this.ofFibers, HashSet.add(value))
      const known = this.ofBuilds.get(build.value) ?? new Set()
      this.ofBuilds.set(build.value, known)
      return Effect.acquireRelease(Effect.sync(() => known.add(value)), () => Effect.sync(() => known.delete(value)))
    })
  }

  get values(): Effect.Effect<ReadonlyArray<A>> {
    return Effect.map(
      Effect.zip(Effect.serviceOption(Layer.CurrentMemoMap), valueOf(this.ofFibers)),
      ([build, ofFiber]) => [...Option.isSome(build) ? this.ofBuilds.get(build.value) ?? [] : [], ...ofFiber]
    )
  }
}

/** Makes a set to which layers that are built side by side add values. Layers that are built on top of these layers get all values. */
export const localSet = <A>(key: string): LocalSet<A> => shared(key, () => new LocalSet<A>(key))

/** Adds a value to a set, and removes the value when the scope closes. */
export const addTo = <A>(set: LocalSet<A>, value: A): Effect.Effect<void, never, Scope.Scope> => set.add(value)

/** The values of a set. */
export const valuesIn = <A>(set: LocalSet<A>): Effect.Effect<ReadonlyArray<A>> => set.values

/** Returns the effect as it is, because version 4 logs unhandled failures only if the application asks for it. */
export const unreported = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> => effect

export const valueOf = <A>(local: Local<A>): Effect.Effect<A> => Effect.map(Effect.context<never>(), Context.get(local))

/** Runs an effect and returns a promise. The promise is rejected when the effect fails, or when `signal` aborts. */
export const runPromise = <R, A, E>(
  services: Services<R>,
  effect: Effect.Effect<A, E, R>,
  signal: AbortSignal
): Promise<A> => Effect.runPromiseWith(services)(effect, { signal })

/** Makes a link to a span. */
export const spanLink = (span: Tracer.AnySpan): Tracer.SpanLink => ({ span, attributes: {} })

/**
 * In version 3, the FiberRefs that differ between two fibers. In version 4 such values are services in the context: a request has those that
 * the option `services` of the endpoint names. So this array is always empty.
 */
export type ChangedValues = ReadonlyArray<never>

export const changedValues = (_before: Services, _fiber: Fiber.Fiber<any, any>): ChangedValues | undefined => undefined

export const withChanged = <A, E, R>(effect: Effect.Effect<A, E, R>, _values: ChangedValues): Effect.Effect<A, E, R> =>
  effect

export const withoutChanged: typeof withChanged = withChanged
