/**
 * Functions and schemas that only tests use, that version 3 has and version 4 does not have, made with the functions of version 4:
 * `Module_member` replaces `Module.member`, as in the module `Effect3` of the kit.
 */
import * as Cause from "effect/Cause"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Formatter from "effect/Formatter"
import * as HashMap from "effect/HashMap"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import type * as LogLevel from "effect/LogLevel"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as References from "effect/References"
import * as Result from "effect/Result"
import * as Scheduler from "effect/Scheduler"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"
import * as SchemaTransformation from "effect/SchemaTransformation"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import * as Tracer from "effect/Tracer"

// Effect, Fiber, Cause

export const Effect_forkAll = (effects: Iterable<Effect.Effect<any, any, any>>): any =>
  Effect.forkChild(Effect.all([...effects], { concurrency: "unbounded" }))

/** In version 4 an option and a result are not effects. */
export const Effect_flatten = (self: Effect.Effect<any, any, any>): any =>
  Effect.flatMap(
    self,
    (inner) =>
      Option.isOption(inner) ? Effect.fromOption(inner) : Result.isResult(inner) ? Effect.fromResult(inner) : inner
  )

export const Effect_fromNullable = Effect.fromNullishOr

export const Effect_timeoutFail = (
  self: Effect.Effect<any, any, any>,
  { duration, onTimeout }: { readonly duration: any; readonly onTimeout: () => any }
): any => Effect.timeoutOrElse(self, { duration, orElse: () => Effect.suspend(() => Effect.fail(onTimeout())) })

export const Effect_withScheduler = (scheduler: Scheduler.Scheduler) => (self: Effect.Effect<any, any, any>): any =>
  Effect.provideService(self, Scheduler.Scheduler, scheduler)

const turns = Effect.repeat(Effect.promise(() => new Promise((resolve) => setImmediate(resolve))), { times: 10 })

/** The test clock of version 4 does not wait, before and after it moves, until the fibers have run as far as they can. */
export const TestClock_adjust = (duration: any): Effect.Effect<void> =>
  Effect.andThen(Effect.andThen(turns, TestClock.adjust(duration)), turns)

export const Cause_parallel = Cause.combine

export const Cause_isFailType = Cause.hasFails

export const Context_unsafeMake = Context.makeUnsafe

// A FiberRef is a reference of the context.

let made = 0

export const FiberRef_unsafeMake = (value: any): any =>
  Context.Reference(`@effect-mcp/test/FiberRef/${made++}`, { defaultValue: () => value })

export const FiberRef_get = (ref: Context.Reference<any>): any =>
  Effect.withFiber((fiber) => {
    const value = fiber.getRef(ref)
    return Effect.succeed(
      ref === References.CurrentLogAnnotations ? HashMap.fromIterable(Object.entries(value)) : value
    )
  })

export const FiberRef_currentLogAnnotations = References.CurrentLogAnnotations

export const Effect_locally = (...args: [any, any, any] | [any, any]): any =>
  args.length === 3
    ? Effect.provideService(args[0], args[1], args[2])
    : (self: any) => Effect.provideService(self, args[0], args[1])

// Mailbox

export type Mailbox_Mailbox<_A, _E = never> = any

export const Mailbox_make = (): any =>
  Effect.map(Queue.unbounded<any, any>(), (queue) => ({
    queue,
    offer: (value: unknown) => Queue.offer(queue, value),
    end: Queue.end(queue),
    fail: (error: unknown) => Queue.fail(queue, error),
    unsafeSize: () => Option.some(Queue.sizeUnsafe(queue))
  }))

export const Mailbox_toStream = ({ queue }: { readonly queue: Queue.Queue<any, any> }): any => Stream.fromQueue(queue)

// Layer, Config, Logger, Schedule

export const Layer_fail = (error: any): any => Layer.effectContext(Effect.fail(error))

export const Layer_memoize = (self: any): any =>
  Effect.flatMap(
    Effect.scope,
    (scope) => Effect.map(Effect.cached(Layer.buildWithScope(self, scope)), Layer.effectContext)
  )

export const Layer_project = (self: any, from: any, to: any, f: (service: any) => any): any =>
  Layer.provide(Layer.effect(to, Effect.map(from, f)), self)

export const Layer_retry = (self: any, schedule: any): any =>
  Layer.effectContext(
    Effect.flatMap(Effect.scope, (scope) => Effect.retry(Layer.buildWithScope(self, scope), schedule))
  )

export const ConfigProvider_fromMap = (map: ReadonlyMap<string, string>): ConfigProvider.ConfigProvider =>
  ConfigProvider.fromUnknown(Object.fromEntries(map))

export const LogLevel_None: LogLevel.LogLevel = "None"
export const LogLevel_Debug: LogLevel.LogLevel = "Debug"

export const Logger_minimumLogLevel = (level: LogLevel.LogLevel): Layer.Layer<never> =>
  Layer.succeed(References.MinimumLogLevel, level)

/** A tracer of version 3 gets the parts of a span one by one, and calls its annotations the context of the span. */
export const Tracer_make = (tracer: any): Tracer.Tracer =>
  Tracer.make({
    span: ({ annotations, kind, links, name, parent, startTime }) => {
      const span = tracer.span(name, parent, annotations, links, startTime, kind)
      return Object.assign(span, { annotations })
    }
  })

/** A tracer that also makes spans as a tracer of version 3 does. */
export const Effect_tracer = Effect.map(Effect.tracer, (tracer): any => ({
  span: (name: any, parent: any, annotations: any, links: any, startTime: any, kind: any) =>
    tracer.span(
      typeof name === "string"
        ? { name, parent, annotations, links, startTime, kind, root: Option.isNone(parent), sampled: true }
        : name
    ),
  context: tracer.context
}))

export const Layer_setTracer = (tracer: Tracer.Tracer): Layer.Layer<never> => Layer.succeed(Tracer.Tracer, tracer)

/** A metric with an attribute, also as the last part of a pipe. */
export const Metric_tagged = (...args: [any, string, string] | [string, string]): any =>
  args.length === 3
    ? Metric.withAttributes(args[0], { [args[1]]: args[2] })
    : (self: any) => Metric.withAttributes(self, { [args[0]]: args[1] })

export const Logger_none = Logger.make(() => {})

export const Inspectable_format = Formatter.format

// Schema

type Any = Schema.Codec<any, any, any, any>

interface Optional {
  readonly as?: "Option" | undefined
  readonly default?: (() => unknown) | undefined
  readonly exact?: boolean | undefined
  readonly nullable?: boolean | undefined
}

const optionalWith = (self: any, { as, default: value, exact, nullable }: Optional): any => {
  if (as === "Option") {
    const schema = nullable ? Schema.NullOr(self) : self
    return exact ? Schema.OptionFromOptionalKey(schema) : Schema.OptionFromOptional(schema)
  }
  if (value === undefined) {
    return exact
      ? Schema.optionalKey(self)
      : Schema.optional(nullable ? Schema.NullOr(self) : self)
  }
  if (nullable) {
    return Schema.optional(Schema.NullOr(Schema.toEncoded(self))).pipe(
      Schema.decodeTo(self, {
        decode: SchemaGetter.transformOptional((given: Option.Option<any>) =>
          Option.some(
            Option.getOrElse(Option.filter(given, (one) => one != null), () => Schema.encodeUnknownSync(self)(value()))
          )
        ),
        encode: SchemaGetter.passthrough({ strict: false })
      })
    )
  }
  const given = Effect.sync(value)
  return self.pipe(
    exact ? Schema.withDecodingDefaultTypeKey(given) : Schema.withDecodingDefaultType(given),
    Schema.withConstructorDefault(given)
  )
}

export const Schema_optionalWith = (...args: [any, any] | [any]): any =>
  args.length === 2 ? optionalWith(...args) : (self: any) => optionalWith(self, args[0])

const checked = (check: (...args: Array<any>) => any) => (...args: Array<any>) => (self: any): any =>
  self.check(check(...args))

export const Schema_pattern = checked(Schema.isPattern)
export const Schema_minLength = checked(Schema.isMinLength)
export const Schema_maxLength = checked(Schema.isMaxLength)
export const Schema_length = checked((length: any, annotations?: any) =>
  typeof length === "number"
    ? Schema.isBetweenLength(length, length, annotations)
    : Schema.isBetweenLength(length.min, length.max, annotations)
)
export const Schema_startsWith = checked(Schema.isStartingWith)
export const Schema_endsWith = checked(Schema.isEndingWith)
export const Schema_includes = checked(Schema.isIncluding)
export const Schema_minItems = checked(Schema.isMinLength)
export const Schema_maxItems = checked(Schema.isMaxLength)
export const Schema_itemsCount = checked((count: number, annotations?: any) =>
  Schema.isBetweenLength(count, count, annotations)
)
export const Schema_int = checked(Schema.isInt)
export const Schema_positive = checked((annotations?: any) => Schema.isGreaterThan(0, annotations))
export const Schema_greaterThan = checked(Schema.isGreaterThan)
export const Schema_greaterThanOrEqualTo = checked(Schema.isGreaterThanOrEqualTo)
export const Schema_lessThan = checked(Schema.isLessThan)
export const Schema_lessThanOrEqualTo = checked(Schema.isLessThanOrEqualTo)
export const Schema_multipleOf = checked(Schema.isMultipleOf)
export const Schema_Positive = Schema.Number.check(Schema.isGreaterThan(0))
export const Schema_NonNegative = Schema.Number.check(Schema.isGreaterThanOrEqualTo(0))
export const Schema_Uppercased = Schema.String.check(Schema.isUppercased())
export const Schema_Lowercased = Schema.String.check(Schema.isLowercased())
export const Schema_Capitalized = Schema.String.check(Schema.isCapitalized())

export const Schema_Date = Schema.DateFromString
export const Schema_DateFromSelf = Schema.Date
export const Schema_DateTimeUtc = Schema.DateTimeUtcFromString
export const Schema_BigInt = Schema.BigIntFromString
export const Schema_BigIntFromSelf = Schema.BigInt
export const Schema_URL = Schema.URLFromString

export const Schema_Enums = Schema.Enum
export const Schema_standardSchemaV1 = Schema.toStandardSchemaV1
export const Schema_optionalElement = Schema.optionalKey
export const Schema_mutable = (self: any): any => self

export const Schema_transform = (from: any, to: any, { decode, encode }: any): any =>
  from.pipe(Schema.decodeTo(to, SchemaTransformation.transform({ decode, encode })))

export const Schema_transformOrFail = (from: any, to: any, { decode, encode }: any): any =>
  from.pipe(Schema.decodeTo(to, SchemaTransformation.transformEffect({ decode, encode })))

export const Schema_compose = (to: Any) => (from: any): any => from.pipe(Schema.decodeTo(to))

export const Schema_transformLiterals = (...pairs: ReadonlyArray<readonly [any, any]>): any =>
  Schema.Union(pairs.map(([from, to]) =>
    Schema.Literal(from).pipe(
      Schema.decodeTo(Schema.Literal(to), SchemaTransformation.transform({ decode: () => to, encode: () => from }))
    )
  ))

export const Schema_split = (separator: string): any =>
  Schema.String.pipe(Schema.decodeTo(
    Schema.Array(Schema.String),
    SchemaTransformation.transform({
      decode: (text: string): ReadonlyArray<string> => text.split(separator),
      encode: (texts: ReadonlyArray<string>) => texts.join(separator)
    })
  ))

export const Schema_propertySignature = (self: any): any => self

export const Schema_BooleanFromString = Schema.Literals(["true", "false"]).pipe(Schema.decodeTo(
  Schema.Boolean,
  SchemaTransformation.transform({
    decode: (text: "true" | "false") => text === "true",
    encode: (is: boolean) => is ? "true" as const : "false" as const
  })
))

/** As in version 3, a text that is not a number is refused. */
export const Schema_NumberFromString = Schema.FiniteFromString

export const Schema_DateFromNumber = Schema.DateFromMillis
export const Schema_ULID = Schema.String.check(Schema.isULID())

export const Schema_Lowercase = Schema.String.pipe(
  Schema.decodeTo(Schema_Lowercased, SchemaTransformation.toLowerCase())
)

/** Equal when the encoded values are: for version 4, a member that is `undefined` is not a member that is missing. */
export const Schema_equivalence = (schema: any) => {
  const encode = Schema.encodeUnknownSync(schema)
  return (a: unknown, b: unknown): boolean => JSON.stringify(encode(a)) === JSON.stringify(encode(b))
}

export const Schema_MapFromSelf = ({ key, value }: any): any => Schema.ReadonlyMap(key, value)
export const Schema_Object = Schema.ObjectKeyword
