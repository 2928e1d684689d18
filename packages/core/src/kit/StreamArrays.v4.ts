/**
 * Makes, changes and reads streams as arrays of values, because many values at once cost as much as one value. This module replaces
 * `StreamArrays` for version 4 of Effect, in whose streams no array is empty.
 */
import type { NonEmptyReadonlyArray } from "effect/Array"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Pull_ from "effect/Pull"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"

/** Reads the next values of a stream, possibly none. Fails with `None` at the end of the stream, or with `Some` of the stream's error. */
export type Pull<A, E = never, R = never> = Effect.Effect<ReadonlyArray<A>, Option.Option<E>, R>

/** Returns an effect that reads the next array of the stream. The stream is closed with the scope. */
export const toPull = <A, E, R>(stream: Stream.Stream<A, E, R>): Effect.Effect<Pull<A, E, R>, never, R | Scope.Scope> =>
  Effect.map(Stream.toPull(stream), (pull): Pull<A, E, R> =>
    Pull_.catchDone(
      Effect.mapError(pull, (error) => Cause.isDone(error) ? error as Cause.Done<void> : Option.some(error as E)),
      () => Effect.fail(Option.none<E>())
    ))

const isFilled = <A>(values: ReadonlyArray<A>): values is NonEmptyReadonlyArray<A> => values.length > 0

/**
 * Makes a stream of the arrays that `pull` returns. The stream runs `pull` again and again until it fails. `None` ends the stream. Empty
 * arrays are skipped.
 */
export const fromPull = <A, E, R>(pull: Pull<A, E, R>): Stream.Stream<A, E, R> => {
  const next: Effect.Effect<NonEmptyReadonlyArray<A>, E | Cause.Done, R> = Effect.flatMap(
    Effect.mapError(pull, (end) => Option.isNone(end) ? Cause.Done() : end.value),
    (values) => isFilled(values) ? Effect.succeed(values) : next
  )
  return Stream.fromPull(Effect.succeed(next)) as Stream.Stream<A, E, R>
}

/** Calls `f` with each array of values that came together. */
export const map = <A, B, E, R>(
  stream: Stream.Stream<A, E, R>,
  f: (values: ReadonlyArray<A>) => ReadonlyArray<B>
): Stream.Stream<B, E, R> => Stream.flattenArray(Stream.filter(Stream.map(Stream.chunks(stream), f), isFilled))

/** Calls `f` with each value, and joins the arrays that `f` returns. Results of values that came together stay together. */
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

/** Reads a stream to its end and returns all its values. */
export const collect: <A, E, R>(stream: Stream.Stream<A, E, R>) => Effect.Effect<ReadonlyArray<A>, E, R> =
  Stream.runCollect

/**
 * Makes a stream page by page with `page`. Each page has values, and the state from which `page` makes the next page; `None` ends the
 * stream.
 */
export const paginate: <S, A, E, R>(
  first: S,
  page: (state: S) => Effect.Effect<readonly [ReadonlyArray<A>, Option.Option<S>], E, R>
) => Stream.Stream<A, E, R> = Stream.paginate
