/**
 * Streams that are made, changed and read by arrays of values, for version 4, in which an array of a stream is never empty: many values
 * at once cost as much as one.
 */
import type { NonEmptyReadonlyArray } from "effect/Array"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Pull_ from "effect/Pull"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"

/** Gives the next values of a stream, which may be none. Fails with `None` at the end, or with the stream's error. */
export type Pull<A, E = never, R = never> = Effect.Effect<ReadonlyArray<A>, Option.Option<E>, R>

/** Reads a stream, array by array, until the scope closes. */
export const toPull = <A, E, R>(stream: Stream.Stream<A, E, R>): Effect.Effect<Pull<A, E, R>, never, R | Scope.Scope> =>
  Effect.map(Stream.toPull(stream), (pull): Pull<A, E, R> =>
    Pull_.catchDone(
      Effect.mapError(pull, (error) => Cause.isDone(error) ? error as Cause.Done<void> : Option.some(error as E)),
      () => Effect.fail(Option.none<E>())
    ))

const isFilled = <A>(values: ReadonlyArray<A>): values is NonEmptyReadonlyArray<A> => values.length > 0

/** A stream of what an effect gives, again and again. */
export const fromPull = <A, E, R>(pull: Pull<A, E, R>): Stream.Stream<A, E, R> => {
  const next: Effect.Effect<NonEmptyReadonlyArray<A>, E | Cause.Done, R> = Effect.flatMap(
    Effect.mapError(pull, (end) => Option.isNone(end) ? Cause.Done() : end.value),
    (values) => isFilled(values) ? Effect.succeed(values) : next
  )
  return Stream.fromPull(Effect.succeed(next)) as Stream.Stream<A, E, R>
}

/** Calls `f` with the values that came together. */
export const map = <A, B, E, R>(
  stream: Stream.Stream<A, E, R>,
  f: (values: ReadonlyArray<A>) => ReadonlyArray<B>
): Stream.Stream<B, E, R> => Stream.flattenArray(Stream.filter(Stream.map(Stream.chunks(stream), f), isFilled))

/** All values that `f` makes of each value. What is made of values that came together stays together. */
export const mapConcat = <A, B, E, R>(
  stream: Stream.Stream<A, E, R>,
  f: (value: A) => ReadonlyArray<B>
): Stream.Stream<B, E, R> =>
  map(stream, (values) => values.length === 1 ? f(values[0]!) : values.flatMap((one) => f(one)))

/** Calls `f` with each value. Values that came together are handled in one step. */
export const forEach = <A, E, R>(
  stream: Stream.Stream<A, E, R>,
  f: (value: A) => void
): Effect.Effect<void, E, R> =>
  Stream.runForEachArray(stream, (values) => Effect.sync(() => values.forEach((value) => f(value))))

/** All values of a stream that ends. */
export const collect: <A, E, R>(stream: Stream.Stream<A, E, R>) => Effect.Effect<ReadonlyArray<A>, E, R> =
  Stream.runCollect

/** A stream that comes page after page: each page has values, and the state that the next page is made from. */
export const paginate: <S, A, E, R>(
  first: S,
  page: (state: S) => Effect.Effect<readonly [ReadonlyArray<A>, Option.Option<S>], E, R>
) => Stream.Stream<A, E, R> = Stream.paginate
