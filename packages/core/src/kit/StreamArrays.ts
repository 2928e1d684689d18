/**
 * Streams that are made, changed and read by arrays of values: many values at once cost as much as one. This is the module that
 * knows the `Chunk`s of Effect 3; all others use arrays. Version 4 of Effect has no chunks, and its arrays in a stream are
 * never empty: for version 4 this module is written anew.
 */
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"

/** Gives the next values of a stream, which may be none. Fails with `None` at the end, or with the stream's error. */
export type Pull<A, E = never, R = never> = Effect.Effect<ReadonlyArray<A>, Option.Option<E>, R>

/** Reads a stream, array by array, until the scope closes. */
export const toPull = <A, E, R>(stream: Stream.Stream<A, E, R>): Effect.Effect<Pull<A, E, R>, never, R | Scope.Scope> =>
  Effect.map(Stream.toPull(stream), (pull) => Effect.map(pull, (chunk) => Chunk.toReadonlyArray(chunk)))

/** A stream of what an effect gives, again and again. */
export const fromPull = <A, E, R>(pull: Pull<A, E, R>): Stream.Stream<A, E, R> =>
  Stream.repeatEffectChunkOption(Effect.map(pull, Chunk.unsafeFromArray))

/** Calls `f` with the values that came together. */
export const map = <A, B, E, R>(
  stream: Stream.Stream<A, E, R>,
  f: (values: ReadonlyArray<A>) => ReadonlyArray<B>
): Stream.Stream<B, E, R> => Stream.mapChunks(stream, (chunk) => Chunk.unsafeFromArray(f(Chunk.toReadonlyArray(chunk))))

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
  Stream.runForEachChunk(stream, (chunk) => Effect.sync(() => Chunk.forEach(chunk, (value) => f(value))))

/** All values of a stream that ends. */
export const collect = <A, E, R>(stream: Stream.Stream<A, E, R>): Effect.Effect<ReadonlyArray<A>, E, R> =>
  Effect.map(Stream.runCollect(stream), (values) => Chunk.toReadonlyArray(values))

/** A stream that comes page after page: each page has values, and the state that the next page is made from. */
export const paginate = <S, A, E, R>(
  first: S,
  page: (state: S) => Effect.Effect<readonly [ReadonlyArray<A>, Option.Option<S>], E, R>
): Stream.Stream<A, E, R> =>
  Stream.paginateChunkEffect(
    first,
    (state) => Effect.map(page(state), ([values, next]) => [Chunk.unsafeFromArray(values), next] as const)
  )
