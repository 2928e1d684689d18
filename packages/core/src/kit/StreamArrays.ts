/**
 * Makes, changes and reads streams as arrays of values, because a step with many values costs as much as a step with one value. Only this
 * module uses the `Chunk`s of Effect 3; all other modules use arrays. Version 4 of Effect has no chunks, and the arrays in its streams are
 * never empty. `StreamArrays.v4.ts` replaces this module for version 4.
 */
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"

/** Reads the next values of a stream, possibly none. Fails with `None` at the end of the stream, or with `Some` of the stream's error. */
export type Pull<A, E = never, R = never> = Effect.Effect<ReadonlyArray<A>, Option.Option<E>, R>

/** Returns an effect that reads the next array of the stream. The stream is closed with the scope. */
export const toPull = <A, E, R>(stream: Stream.Stream<A, E, R>): Effect.Effect<Pull<A, E, R>, never, R | Scope.Scope> =>
  Effect.map(Stream.toPull(stream), (pull) => Effect.map(pull, (chunk) => Chunk.toReadonlyArray(chunk)))

/** Makes a stream of the arrays that `pull` returns. The stream runs `pull` again and again until it fails. `None` ends the stream. */
export const fromPull = <A, E, R>(pull: Pull<A, E, R>): Stream.Stream<A, E, R> =>
  Stream.repeatEffectChunkOption(Effect.map(pull, Chunk.unsafeFromArray))

/** Calls `f` with each array of values that came together. */
export const map = <A, B, E, R>(
  stream: Stream.Stream<A, E, R>,
  f: (values: ReadonlyArray<A>) => ReadonlyArray<B>
): Stream.Stream<B, E, R> => Stream.mapChunks(stream, (chunk) => Chunk.unsafeFromArray(f(Chunk.toReadonlyArray(chunk))))

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
  Stream.runForEachChunk(stream, (chunk) => Effect.sync(() => Chunk.forEach(chunk, (value) => f(value))))

/** Reads a stream to its end and returns all its values. */
export const collect = <A, E, R>(stream: Stream.Stream<A, E, R>): Effect.Effect<ReadonlyArray<A>, E, R> =>
  Effect.map(Stream.runCollect(stream), (values) => Chunk.toReadonlyArray(values))

/**
 * Makes a stream page by page with `page`. Each page has values, and the state from which `page` makes the next page; `None` ends the
 * stream.
 */
export const paginate = <S, A, E, R>(
  first: S,
  page: (state: S) => Effect.Effect<readonly [ReadonlyArray<A>, Option.Option<S>], E, R>
): Stream.Stream<A, E, R> =>
  Stream.paginateChunkEffect(
    first,
    (state) => Effect.map(page(state), ([values, next]) => [Chunk.unsafeFromArray(values), next] as const)
  )
