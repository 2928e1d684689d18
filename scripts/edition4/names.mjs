// What has another name in version 4, and the same arguments. A row is a rule, and fits two files at least.
const rows = `
Array.isNonEmptyReadonlyArray Array.isReadonlyArrayNonEmpty
Cause.failureOption Cause.findErrorOption
Cause.isDie Cause.hasDies
Cause.isInterrupted Cause.hasInterrupts
Cause.isInterruptedOnly Cause.hasInterruptsOnly
Config.string Config.String
Context.Tag Context.Service
Duration.DurationInput Duration.Input
Duration.decode Duration.fromInputUnsafe
Effect.Latch Latch.Latch
Effect.async Effect.callback
Effect.catchAll Effect.catch
Effect.catchAllCause Effect.catchCause
Effect.catchAllDefect Effect.catchDefect
Effect.clock Clock.Clock
Effect.either Effect.result
Effect.makeLatch Latch.make
Effect.runtime Effect.context
Effect.tapErrorCause Effect.tapCause
Effect.unsafeMakeLatch Latch.makeUnsafe
Effect.withFiberRuntime Effect.withFiber
Effect.zipRight Effect.andThen
Either.Either Result.Result
Either.all Result.all
Either.flatMap Result.flatMap
Either.flip Result.flip
Either.fromNullable Result.fromNullishOr
Either.gen Result.gen
Either.getLeft Result.getFailure
Either.getOrElse Result.getOrElse
Either.getOrThrowWith Result.getOrThrowWith
Either.getOrUndefined Result.getOrUndefined
Either.isLeft Result.isFailure
Either.isRight Result.isSuccess
Either.left Result.fail
Either.map Result.map
Either.mapLeft Result.mapError
Either.match Result.match
Either.right Result.succeed
Either.try Result.try
Exit.isInterrupted Exit.hasInterrupts
Fiber.RuntimeFiber Fiber.Fiber
Layer.scoped Layer.effect
Layer.scopedDiscard Layer.effectDiscard
Layer.setConfigProvider ConfigProvider.layer
Layer.unwrapEffect Layer.unwrap
Layer.unwrapScoped Layer.unwrap
Option.fromNullable Option.fromNullishOr
Predicate.isRecord Predicate.isObject
Queue.unsafeOffer Queue.offerUnsafe
Ref.unsafeMake Ref.makeUnsafe
Schema.Simplify Types.Simplify
Schema.Struct.Constructor Schema.Struct.MakeIn
Schema.decodeUnknown Schema.decodeUnknownEffect
Scope.CloseableScope Scope.Closeable
Scope.extend Scope.provide
Stream.catchAll Stream.catch
Stream.unwrapScoped Stream.unwrap
`.trim().split("\n").map((row) => row.split(" "))

export const names = new Map(rows)

export const nameRules = rows.map(([from, to]) => `${from} is ${to}`)
