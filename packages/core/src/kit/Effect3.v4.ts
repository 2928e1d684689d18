/**
 * Functions that version 3 of Effect has and version 4 does not have, with the same arguments. `Module_member` replaces `Module.member`:
 * the build of the packages for version 4 puts this name in place of Effect's own name. A function is in this module if only a few modules
 * use it, so that a rule of the build is not worth the work.
 */
import * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Base64 from "effect/encoding/Base64"
import * as Base64Url from "effect/encoding/Base64Url"
import * as Hex from "effect/encoding/Hex"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import { dual } from "effect/Function"
import * as HashMap from "effect/HashMap"
import * as Headers from "effect/http/Headers"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Inspectable from "effect/Inspectable"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import type * as LogLevel from "effect/LogLevel"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import * as Pipeable from "effect/Pipeable"
import * as Pull from "effect/Pull"
import * as Queue from "effect/Queue"
import * as Random from "effect/Random"
import * as Ref from "effect/Ref"
import * as References from "effect/References"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"
import type * as SchemaIssue from "effect/SchemaIssue"
import * as Semaphore from "effect/Semaphore"
import * as Stream from "effect/Stream"
import * as Tracer from "effect/Tracer"
import * as EffectInternals from "./EffectInternals.js"

type Eff<A, E = never, R = never> = Effect.Effect<A, E, R>

// Effect

/** Runs an effect so that an interruption of the caller does not wait for the end of the effect. */
export const Effect_disconnect = <A, E, R>(self: Eff<A, E, R>): Eff<A, E, R> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.contextWith((context: Context.Context<R>) => {
      const fiber = Effect.runForkWith(context)(restore(self))
      return Effect.onInterrupt(restore(Fiber.join(fiber)), () => Effect.sync(() => fiber.interruptUnsafe()))
    })
  )

export const Effect_contextWith = <R, A>(f: (context: Context.Context<R>) => A): Eff<A, never, R> =>
  Effect.map(Effect.context<R>(), f)

export const Effect_mapInputContext: {
  <R, R2>(f: (context: Context.Context<R2>) => Context.Context<R>): <A, E>(self: Eff<A, E, R>) => Eff<A, E, R2>
  <A, E, R, R2>(self: Eff<A, E, R>, f: (context: Context.Context<R2>) => Context.Context<R>): Eff<A, E, R2>
} = dual(
  2,
  <A, E, R, R2>(self: Eff<A, E, R>, f: (context: Context.Context<R2>) => Context.Context<R>) =>
    Effect.updateContext(self, (own: Context.Context<R2>) => EffectInternals.withReferences(own, f(own)))
)

export const Effect_when: {
  (condition: () => boolean): <A, E, R>(self: Eff<A, E, R>) => Eff<Option.Option<A>, E, R>
} = (condition) => (self) => Effect.when(self, Effect.sync(condition))

export const Effect_contextWithEffect = <R, A, E, R2>(
  f: (context: Context.Context<R>) => Eff<A, E, R2>
): Eff<A, E, R | R2> => Effect.contextWith(f)

export const Effect_timeoutTo = <A, E, R, B, B1>(
  self: Eff<A, E, R>,
  { duration, onSuccess, onTimeout }: {
    readonly duration: Duration.Input
    readonly onTimeout: () => B1
    readonly onSuccess: (a: A) => B
  }
): Eff<B | B1, E, R> =>
  Effect.timeoutOrElse(Effect.map(self, onSuccess) as Eff<B | B1, E, R>, {
    duration,
    orElse: () => Effect.sync(onTimeout)
  })

export const Effect_checkInterruptible = <A, E, R>(f: (isInterruptible: boolean) => Eff<A, E, R>): Eff<A, E, R> =>
  Effect.withFiber((fiber) => f((fiber as unknown as { readonly interruptible: boolean }).interruptible))

export const Effect_makeSemaphore: typeof Semaphore.make = Semaphore.make

interface Supervisor {
  readonly value: Eff<ReadonlyArray<unknown>>
  readonly counter: Metric.FiberRuntimeMetricsService
}

/** Counts the fibers that run at the moment. */
export const Supervisor_track: Eff<Supervisor> = Effect.sync(() => {
  let running = 0
  return {
    value: Effect.sync(() => Array.from({ length: running })),
    counter: { recordFiberStart: () => void running++, recordFiberEnd: () => void running-- }
  }
})

export const Effect_supervised = <A, E, R>(self: Eff<A, E, R>, { counter }: Supervisor): Eff<A, E, R> =>
  Effect.provideService(self, Metric.FiberRuntimeMetrics, counter)

export const Effect_zipLeft: {
  <B, E2, R2>(that: Eff<B, E2, R2>): <A, E, R>(self: Eff<A, E, R>) => Eff<A, E | E2, R | R2>
  <A, E, R, B, E2, R2>(self: Eff<A, E, R>, that: Eff<B, E2, R2>): Eff<A, E | E2, R | R2>
} = dual(
  2,
  <A, E, R, B, E2, R2>(self: Eff<A, E, R>, that: Eff<B, E2, R2>): Eff<A, E | E2, R | R2> =>
    Effect.flatMap(self, (a) => Effect.as(that, a))
)

export const Effect_orElse: {
  <A2, E2, R2>(that: () => Eff<A2, E2, R2>): <A, E, R>(self: Eff<A, E, R>) => Eff<A | A2, E2, R | R2>
  <A, E, R, A2, E2, R2>(self: Eff<A, E, R>, that: () => Eff<A2, E2, R2>): Eff<A | A2, E2, R | R2>
} = dual(2, <A, E, R, A2, E2, R2>(self: Eff<A, E, R>, that: () => Eff<A2, E2, R2>) => Effect.catch(self, that))

export const Effect_orDieWith: {
  <E>(f: (error: E) => unknown): <A, R>(self: Eff<A, E, R>) => Eff<A, never, R>
  <A, E, R>(self: Eff<A, E, R>, f: (error: E) => unknown): Eff<A, never, R>
} = dual(2, <A, E, R>(self: Eff<A, E, R>, f: (error: E) => unknown) => Effect.orDie(Effect.mapError(self, f)))

export const Effect_unlessEffect = <A, E, R, E2, R2>(
  self: Eff<A, E, R>,
  condition: Eff<boolean, E2, R2>
): Eff<Option.Option<A>, E | E2, R | R2> =>
  Effect.flatMap(condition, (is): Eff<Option.Option<A>, E, R> => is ? Effect.succeedNone : Effect.asSome(self))

export const Effect_tapBoth = <A, E, R, X, E1, R1, Y, E2, R2>(
  self: Eff<A, E, R>,
  { onFailure, onSuccess }: {
    readonly onFailure: (error: E) => Eff<X, E1, R1>
    readonly onSuccess: (value: A) => Eff<Y, E2, R2>
  }
): Eff<A, E | E1 | E2, R | R1 | R2> =>
  Effect.matchEffect(self, {
    onFailure: (error) => Effect.andThen(onFailure(error), Effect.fail(error)),
    onSuccess: (value) => Effect.as(onSuccess(value), value)
  })

export const Effect_iterate = <A, E, R>(
  initial: A,
  options: { readonly while: (a: A) => boolean; readonly body: (a: A) => Eff<A, E, R> }
): Eff<A, E, R> =>
  Effect.suspend(() =>
    options.while(initial)
      ? Effect.flatMap(options.body(initial), (a) => Effect_iterate(a, options))
      : Effect.succeed(initial)
  )

export const Effect_intoDeferred: {
  <A, E>(deferred: Deferred.Deferred<A, E>): <R>(self: Eff<A, E, R>) => Eff<boolean, never, R>
  <A, E, R>(self: Eff<A, E, R>, deferred: Deferred.Deferred<A, E>): Eff<boolean, never, R>
} = dual(2, <A, E, R>(self: Eff<A, E, R>, deferred: Deferred.Deferred<A, E>) => Deferred.into(self, deferred))

export const Effect_catchSomeDefect: {
  <A2, E2, R2>(pf: (defect: unknown) => Option.Option<Eff<A2, E2, R2>>): <A, E, R>(
    self: Eff<A, E, R>
  ) => Eff<A | A2, E | E2, R | R2>
} = (pf) => Effect.catchDefect((defect) => Option.getOrElse(pf(defect), () => Effect.die(defect)))

export const Effect_cachedFunction = <A, B, E, R>(
  f: (a: A) => Eff<B, E, R>
): Eff<(a: A) => Eff<B, E, R>> =>
  Effect.sync(() => {
    const known = new Map<A, Eff<B, E, R>>()
    return (a) =>
      Effect.suspend(() => {
        const found = known.get(a)
        if (found !== undefined) return found
        return Effect.flatMap(Effect.cached(f(a)), (made) => {
          known.set(a, made)
          return made
        })
      })
  })

/** Returns the failures first, as version 3 does. `Effect.partition` of version 4 returns the successes first. */
export const Effect_partition = <A, B, E, R>(
  elements: Iterable<A>,
  f: (a: A, i: number) => Eff<B, E, R>
): Eff<[excluded: Array<E>, satisfying: Array<B>], never, R> =>
  Effect.map(Effect.partition(elements, f), ([passes, fails]) => [fails, passes])

// Fiber, Exit, Cause, Layer, Random, Metric

/** Version 4 has no status of fibers. A fiber that waits has what it waits for in the member `_yielded`, which is not public. */
export const Fiber_status = <A, E>(
  fiber: Fiber.Fiber<A, E>
): Eff<{ readonly _tag: "Done" | "Suspended" | "Running" }> =>
  Effect.sync(() => ({
    _tag: fiber.pollUnsafe() !== undefined
      ? "Done"
      : (fiber as unknown as { readonly _yielded: unknown })._yielded === undefined
      ? "Running"
      : "Suspended"
  }))

export const Fiber_poll = <A, E>(fiber: Fiber.Fiber<A, E>): Eff<Option.Option<Exit.Exit<A, E>>> =>
  Effect.sync(() => Option.fromNullishOr(fiber.pollUnsafe()))

export const Fiber_interrupt = <A, E>(fiber: Fiber.Fiber<A, E>): Eff<Exit.Exit<A, E>> =>
  Effect.andThen(Fiber.interrupt(fiber), Fiber.await(fiber))

export const FiberId_none = undefined

export const Deferred_unsafeMake = <A, E = never>(_id: undefined): Deferred.Deferred<A, E> => Deferred.makeUnsafe()

export const Deferred_unsafeDone: typeof Deferred.doneUnsafe = Deferred.doneUnsafe

export const Runtime_runFork: typeof Effect.runForkWith = Effect.runForkWith

export const Fiber_interruptFork = (fiber: Fiber.Fiber<unknown, unknown>): Eff<void> =>
  Effect.sync(() => fiber.interruptUnsafe())

export const Exit_zipLeft = <A, E, B, E2>(self: Exit.Exit<A, E>, that: Exit.Exit<B, E2>): Exit.Exit<A, E | E2> =>
  Exit.isFailure(self) ? self : Exit.isFailure(that) ? Exit.failCause(that.cause) : self

export const Cause_failures = <E>(cause: Cause.Cause<E>): ReadonlyArray<E> =>
  cause.reasons.filter(Cause.isFailReason).map((reason) => reason.error)

export const Cause_flatMap = <E, E2>(cause: Cause.Cause<E>, f: (error: E) => Cause.Cause<E2>): Cause.Cause<E2> =>
  Cause.fromReasons(cause.reasons.flatMap((reason) => Cause.isFailReason(reason) ? f(reason.error).reasons : [reason]))

export const Cause_sequential: typeof Cause.combine = Cause.combine

export const Cause_isEmpty = (cause: Cause.Cause<unknown>): boolean => cause.reasons.length === 0

export const Cause_size = (cause: Cause.Cause<unknown>): number => cause.reasons.length

export const Layer_mapError = <A, E, R, E2>(self: Layer.Layer<A, E, R>, f: (error: E) => E2): Layer.Layer<A, E2, R> =>
  Layer.catchCause(self, (cause) => Layer.effectContext(Effect.failCause(Cause.map(cause, f)))) as Layer.Layer<A, E2, R>

export const Layer_die = (defect: unknown): Layer.Layer<never> => Layer.effectDiscard(Effect.die(defect))

export const Layer_scopedContext: typeof Layer.effectContext = Layer.effectContext

export const Random_nextRange: typeof Random.nextBetween = Random.nextBetween

export const Clock_currentTimeNanos: typeof Clock.monotonicTimeNanos = Clock.monotonicTimeNanos

export const Clock_sleep: typeof Effect.sleep = Effect.sleep

export const Metric_tagged = <In, Out>(
  metric: Metric.Metric<In, Out>,
  key: string,
  value: string
): Metric.Metric<In, Out> => Metric.withAttributes(metric, { [key]: value })

export const Metric_histogram = (
  name: string,
  boundaries: ReadonlyArray<number>,
  description?: string
): Metric.Histogram<number> => Metric.histogram(name, { boundaries, description })

export const MetricBoundaries_fromIterable = (boundaries: Iterable<number>): ReadonlyArray<number> => [...boundaries]

// Duration, Context, Either, Array, Record, Struct

export const Duration_decodeUnknown = (u: unknown): Option.Option<Duration.Duration> =>
  Duration.fromInput(u as Duration.Input)

const inputs = <A>(f: (self: Duration.Duration, that: Duration.Duration) => A): {
  (that: Duration.Input): (self: Duration.Input) => A
  (self: Duration.Input, that: Duration.Input): A
} =>
  dual(
    2,
    (self: Duration.Input, that: Duration.Input) => f(Duration.fromInputUnsafe(self), Duration.fromInputUnsafe(that))
  )

export const Duration_greaterThan = inputs(Duration.isGreaterThan)

export const Duration_greaterThanOrEqualTo = inputs(Duration.isGreaterThanOrEqualTo)

export const Duration_subtract = inputs(Duration.subtract)

export const Duration_format = (self: Duration.Input): string => Duration.format(Duration.fromInputUnsafe(self))

export type Context_TagClass<Self, Id extends string, Service> = Context.ServiceClass<Self, Id, Service>

export const Context_unsafeGet: typeof Context.getUnsafe = Context.getUnsafe

export const Either_orElse = <A, E, B, E2>(
  self: Result.Result<A, E>,
  that: (error: E) => Result.Result<B, E2>
): Result.Result<A | B, E2> => Result.isSuccess(self) ? Result.succeed(self.success) : that(self.failure)

export const Either_filterOrLeft: {
  <A, B extends A, E, E2>(
    self: Result.Result<A, E>,
    is: (a: A) => a is B,
    error: (a: A) => E2
  ): Result.Result<B, E | E2>
  <A, E, E2>(self: Result.Result<A, E>, is: (a: A) => boolean, error: (a: A) => E2): Result.Result<A, E | E2>
} = <A, E, E2>(
  self: Result.Result<A, E>,
  is: (a: A) => boolean,
  error: (a: A) => E2
): Result.Result<any, E | E2> =>
  Result.flatMap(self, (a): Result.Result<A, E | E2> => is(a) ? Result.succeed(a) : Result.fail(error(a)))

export const Either_getOrThrow: typeof Result.getOrThrow = Result.getOrThrow

export const Either_mapBoth: typeof Result.mapBoth = Result.mapBoth

export const Option_getRight: typeof Option.getSuccess = Option.getSuccess

export const Array_partition: {
  <A, B extends A>(
    self: Iterable<A>,
    is: (a: A, i: number) => a is B
  ): [excluded: Array<Exclude<A, B>>, satisfying: Array<B>]
  <A>(self: Iterable<A>, is: (a: A, i: number) => boolean): [excluded: Array<A>, satisfying: Array<A>]
} = (self: Iterable<any>, is: (a: any, i: number) => boolean): [any, any] => {
  const parts: [Array<any>, Array<any>] = [[], []]
  let i = 0
  for (const a of self) parts[is(a, i++) ? 1 : 0].push(a)
  return parts
}

export const Record_filterMap = <K extends string, A, B>(
  self: Readonly<Record<K, A>>,
  f: (a: A, key: K) => Option.Option<B>
): Record<string, B> =>
  Object.fromEntries(
    Object.entries<A>(self).flatMap(([key, a]) => Option.toArray(Option.map(f(a, key as K), (b) => [key, b] as const)))
  )

export const Struct_pick = <A extends object, K extends PropertyKey>(self: A, ...keys: ReadonlyArray<K>): Partial<A> =>
  Object.fromEntries(
    keys.flatMap((key) => Object.hasOwn(self, key) ? [[key, self[key as unknown as keyof A]]] : [])
  ) as Partial<A>

export const Headers_remove = (self: Headers.Headers, names: ReadonlyArray<string>): Headers.Headers =>
  Headers.removeMany(self, names)

export const Pipeable_Class = (): typeof Pipeable.Class => Pipeable.Class

export const Tracer_externalSpan = (
  { context: _, ...span }: Parameters<typeof Tracer.externalSpan>[0] & { readonly context: Context.Context<never> }
): Tracer.ExternalSpan => Tracer.externalSpan(span)

// Logger

interface LoggerOptions<M> {
  readonly message: M
  readonly cause: Cause.Cause<unknown>
  readonly annotations: HashMap.HashMap<string, unknown>
  readonly logLevel: { readonly _tag: string; readonly label: string }
}

export const Logger_add = (logger: Logger.Logger<unknown, unknown>): Layer.Layer<never> =>
  Logger.layer([logger], { mergeWithExisting: true })

export const Logger_make = <M, A>(log: (options: LoggerOptions<M>) => A): Logger.Logger<M, A> =>
  Logger.make(({ cause, fiber, logLevel, message }) =>
    log({
      message,
      cause,
      annotations: HashMap.fromIterable(Object.entries(fiber.getRef(References.CurrentLogAnnotations))),
      logLevel: { _tag: logLevel === "Warn" ? "Warning" : logLevel, label: logLevel.toUpperCase() }
    })
  )

export const LogLevel_All = "All"

export const Logger_withMinimumLogLevel = (level: LogLevel.LogLevel) => <A, E, R>(self: Eff<A, E, R>): Eff<A, E, R> =>
  Effect.provideService(self, References.MinimumLogLevel, level)

// Stream

export const Chunk_toArray = <A>(self: Iterable<A>): Array<A> => [...self]

export const Chunk_toReadonlyArray = <A>(self: Iterable<A>): ReadonlyArray<A> => [...self]

export const Stream_runFold =
  <A, B>(initial: B, f: (state: B, a: A) => B) => <E, R>(self: Stream.Stream<A, E, R>): Eff<B, E, R> =>
    Stream.runFold(self, () => initial, f)

export const Stream_mapAccum = <S, A, B>(initial: S, f: (state: S, a: A) => readonly [S, B]) =>
<E, R>(
  self: Stream.Stream<A, E, R>
): Stream.Stream<B, E, R> =>
  Stream.mapAccum(self, () => initial, (state, a) => {
    const [next, value] = f(state, a)
    return [next, [value]] as const
  })

/** `Queue.clear` of version 4 waits until the queue has a value; `Queue.takeAll` of version 3 returns at once. */
export const Queue_takeAll: typeof Queue.clear = Queue.clear

export const Stream_fromQueue = <A>(queue: Queue.Dequeue<A>, _options?: object): Stream.Stream<A> =>
  Stream.fromQueue(queue)

export const Stream_catchAllCause: typeof Stream.catchCause = Stream.catchCause

export const Stream_execute = <A, E, R>(effect: Eff<A, E, R>): Stream.Stream<never, E, R> =>
  Stream.fromEffectDrain(effect)

export const Stream_repeatEffectOption = <A, E, R>(effect: Eff<A, Option.Option<E>, R>): Stream.Stream<A, E, R> =>
  Stream.fromPull(Effect.succeed(Effect.map(
    Effect.mapError(effect, (end) => Option.isNone(end) ? Cause.Done() : end.value),
    Arr.of
  ))) as Stream.Stream<A, E, R>

export const Stream_fromReadableStream = <A, E>(
  evaluate: () => ReadableStream<A>,
  onError: (error: unknown) => E
): Stream.Stream<A, E> => Stream.fromReadableStream({ evaluate, onError })

export const Stream_mapConcat =
  <A, B>(f: (a: A) => Iterable<B>) => <E, R>(self: Stream.Stream<A, E, R>): Stream.Stream<B, E, R> =>
    Stream.flattenIterable(Stream.map(self, f))

export const Stream_mapConcatEffect: {
  <A, B, E2, R2>(f: (a: A) => Eff<Iterable<B>, E2, R2>): <E, R>(
    self: Stream.Stream<A, E, R>
  ) => Stream.Stream<B, E | E2, R | R2>
  <A, E, R, B, E2, R2>(
    self: Stream.Stream<A, E, R>,
    f: (a: A) => Eff<Iterable<B>, E2, R2>
  ): Stream.Stream<B, E | E2, R | R2>
} = dual(
  2,
  <A, E, R, B, E2, R2>(self: Stream.Stream<A, E, R>, f: (a: A) => Eff<Iterable<B>, E2, R2>) =>
    Stream.flattenIterable(Stream.mapEffect(self, f))
)

export const Stream_timeoutFail = <A, E, R, E2>(
  self: Stream.Stream<A, E, R>,
  error: () => E2,
  duration: Duration.Input
): Stream.Stream<A, E | E2, R> =>
  Stream.timeoutOrElse(self, { duration, orElse: () => Stream.suspend(() => Stream.fail(error())) })

export const Stream_runForEachWhileScoped = <A, E, R, E2, R2>(
  self: Stream.Stream<A, E, R>,
  f: (a: A) => Eff<boolean, E2, R2>
): Eff<void, E | E2, R | R2> => Stream.runForEachWhile(self, f)

export const Stream_filterMap: {
  <A, B>(f: (a: A) => Option.Option<B>): <E, R>(self: Stream.Stream<A, E, R>) => Stream.Stream<B, E, R>
  <A, E, R, B>(self: Stream.Stream<A, E, R>, f: (a: A) => Option.Option<B>): Stream.Stream<B, E, R>
} = dual(
  2,
  <A, E, R, B>(self: Stream.Stream<A, E, R>, f: (a: A) => Option.Option<B>) =>
    Stream.flattenIterable(Stream.map(self, (a) => Option.toArray(f(a))))
)

export const Stream_interruptWhenDeferred: {
  <X, E2>(deferred: Deferred.Deferred<X, E2>): <A, E, R>(
    self: Stream.Stream<A, E, R>
  ) => Stream.Stream<A, E | E2, R>
  <A, E, R, X, E2>(self: Stream.Stream<A, E, R>, deferred: Deferred.Deferred<X, E2>): Stream.Stream<A, E | E2, R>
} = dual(
  2,
  <A, E, R, X, E2>(self: Stream.Stream<A, E, R>, deferred: Deferred.Deferred<X, E2>) =>
    Stream.interruptWhen(self, Deferred.await(deferred))
)

// Schedule

export const Schedule_upTo = <Out, In, E, R>(
  self: Schedule.Schedule<Out, In, E, R>,
  duration: Duration.Input
): Schedule.Schedule<Out, In, E, R> => Schedule.upTo(self, { duration })

export const Schedule_mapInput = <Out, In, E, R, In2>(
  self: Schedule.Schedule<Out, In, E, R>,
  f: (input: In2) => In
): Schedule.Schedule<Out, In2, E, R> =>
  Schedule.fromStep(
    Effect.map(Schedule.toStep(self), (step) => (now: number, input: In2) => step(now, f(input)))
  ) as Schedule.Schedule<Out, In2, E, R>

export const Schedule_resetWhen = <Out, In, E, R>(
  self: Schedule.Schedule<Out, In, E, R>,
  f: (out: Out) => boolean
): Schedule.Schedule<Out, In, E, R> =>
  Schedule.fromStep(Effect.map(Schedule.toStep(self), (first) => {
    let step = first
    return (now: number, input: In) =>
      Effect.flatMap(step(now, input), (result) =>
        f(result[0])
          ? Effect.flatMap(Schedule.toStep(self), (fresh) => {
            step = fresh
            return step(now, input)
          })
          : Effect.succeed(result))
  })) as Schedule.Schedule<Out, In, E, R>

export const Schedule_modifyDelayEffect = <Out, In, E, R>(
  self: Schedule.Schedule<Out, In, E, R>,
  f: (out: Out, delay: Duration.Duration) => Eff<Duration.Input>
): Schedule.Schedule<Out, In, E, R> =>
  Schedule.modifyDelay(self, ({ duration, output }) => Effect.map(f(output, duration), Duration.fromInputUnsafe))

export const Schedule_modifyDelay: {
  <Out>(f: (out: Out, delay: Duration.Duration) => Duration.Input): <In, E, R>(
    self: Schedule.Schedule<Out, In, E, R>
  ) => Schedule.Schedule<Out, In, E, R>
  <Out, In, E, R>(
    self: Schedule.Schedule<Out, In, E, R>,
    f: (out: Out, delay: Duration.Duration) => Duration.Input
  ): Schedule.Schedule<Out, In, E, R>
} = dual(2, <Out, In, E, R>(
  self: Schedule.Schedule<Out, In, E, R>,
  f: (out: Out, delay: Duration.Duration) => Duration.Input
) => Schedule_modifyDelayEffect(self, (out, delay) => Effect.succeed(f(out, delay))))

/** `min` and `max` are the factors by which the delay is multiplied at least and at most. */
export const Schedule_jitteredWith =
  ({ max, min }: { readonly min: number; readonly max: number }) =>
  <Out, In, E, R>(self: Schedule.Schedule<Out, In, E, R>): Schedule.Schedule<Out, In, E, R> =>
    Schedule.modifyDelay(
      self,
      ({ duration }) =>
        Effect.map(Random.next, (random) => Duration.millis(Duration.toMillis(duration) * (min + random * (max - min))))
    )

interface Driver<Out, In, E, R> {
  readonly next: (input: In) => Eff<Out, Option.Option<E>, R>
  readonly reset: Eff<void>
}

export const Schedule_driver = <Out, In, E, R>(
  self: Schedule.Schedule<Out, In, E, R>
): Eff<Driver<Out, In, E, R>, never, R> =>
  Effect.contextWith((context: Context.Context<R>) => {
    const fresh = Effect.provideContext(Schedule.toStepWithSleep(self), context)
    return Effect.flatMap(Effect.flatMap(fresh, Ref.make), (step) =>
      Effect.succeed({
        next: (input: In) =>
          Effect.flatMap(Ref.get(step), (run) =>
            Pull.catchDone(
              Effect.mapError(
                run(input),
                (error) => Cause.isDone(error) ? error as Cause.Done<Out> : Option.some(error as E)
              ),
              () => Effect.fail(Option.none<E>())
            )) as Eff<Out, Option.Option<E>, R>,
        reset: Effect.flatMap(fresh, (made) => Ref.set(step, made))
      }))
  })

// Schema

export type ParseResult_ParseIssue = SchemaIssue.Issue

export type ParseResult_ParseError = Schema.SchemaError

export type Schema_PropertySignature<_Type, A, _Key, _Encoded, I, _HasDefault, R> = Schema.Codec<A, I, R, R>

export declare namespace Schema_PropertySignature {
  export type Token = "?:" | ":"
}

export const Schema_decodeUnknownEither: typeof Schema.decodeUnknownResult = Schema.decodeUnknownResult

export const Schema_encodeUnknownEither: typeof Schema.encodeUnknownResult = Schema.encodeUnknownResult

export const Schema_encodeUnknown: typeof Schema.encodeUnknownEffect = Schema.encodeUnknownEffect

export const Schema_declare = <A>(_parameters: readonly [], { decode, encode }: {
  readonly decode: () => (u: unknown) => Eff<A, SchemaIssue.Issue>
  readonly encode: () => (u: unknown) => Eff<unknown, SchemaIssue.Issue>
}): Schema.Codec<A, any> =>
  Schema.Unknown.pipe(Schema.decodeTo(Schema.Unknown, {
    decode: SchemaGetter.transformEffect(decode()),
    encode: SchemaGetter.transformEffect(encode())
  })) as unknown as Schema.Codec<A, any>

export const Schema_parseJson: typeof Schema.fromJsonString = Schema.fromJsonString

// Encoding, Inspectable, HttpClientRequest

export const Encoding_encodeBase64: typeof Base64.encode = Base64.encode
export const Encoding_decodeBase64: typeof Base64.decode = Base64.decode
export const Encoding_decodeBase64String: typeof Base64.decodeString = Base64.decodeString
export const Encoding_encodeBase64Url: typeof Base64Url.encode = Base64Url.encode
export const Encoding_decodeBase64Url: typeof Base64Url.decode = Base64Url.decode
export const Encoding_decodeBase64UrlString: typeof Base64Url.decodeString = Base64Url.decodeString
export const Encoding_encodeHex: typeof Hex.encode = Hex.encode

export const Encoding_decodeUriComponent = (text: string): Result.Result<string, Error> =>
  Result.try({ try: () => decodeURIComponent(text), catch: (error) => error as Error })

export const Encoding_encodeUriComponent = (text: string): Result.Result<string, Error> =>
  Result.try({ try: () => encodeURIComponent(text), catch: (error) => error as Error })

export const Inspectable_toJSON: typeof Inspectable.toJson = Inspectable.toJson

export const HttpClientRequest_bodyUnsafeJson: typeof HttpClientRequest.bodyJsonUnsafe =
  HttpClientRequest.bodyJsonUnsafe

export const HttpClientRequest_del = (url: string): HttpClientRequest.HttpClientRequest =>
  HttpClientRequest.make("DELETE")(url)
