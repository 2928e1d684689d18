import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as StreamArrays from "../../src/kit/StreamArrays.js"

/** Gives these arrays, then fails with this. */
const pulls = <A, E>(arrays: ReadonlyArray<ReadonlyArray<A>>, end: Option.Option<E>): StreamArrays.Pull<A, E> => {
  const left = [...arrays]
  return Effect.suspend(() => {
    const next = left.shift()
    return next === undefined ? Effect.fail(end) : Effect.succeed(next)
  })
}

/** The values that came together, in order. */
const together = <A, E>(stream: Stream.Stream<A, E>) =>
  Effect.gen(function*() {
    const found: Array<ReadonlyArray<A>> = []
    yield* Stream.runDrain(StreamArrays.map(stream, (values) => {
      found.push(values)
      return values
    }))
    return found
  })

describe("A stream of arrays", () => {
  it.effect("has what was pulled until the end", () =>
    Effect.gen(function*() {
      const stream = StreamArrays.fromPull(pulls([[1, 2], [], [3]], Option.none<never>()))
      expect(yield* StreamArrays.collect(stream)).toEqual([1, 2, 3])
    }))

  it.effect("fails with the error of the pull", () =>
    Effect.gen(function*() {
      const seen: Array<number> = []
      const stream = StreamArrays.fromPull(pulls([[1], [2]], Option.some("broken")))
      const error = yield* Effect.flip(StreamArrays.forEach(stream, (value) => seen.push(value)))
      expect([error, seen]).toEqual(["broken", [1, 2]])
    }))

  it.effect("is pulled array by array", () =>
    Effect.gen(function*() {
      const pull = yield* StreamArrays.toPull(StreamArrays.fromPull(pulls([[1, 2], [3]], Option.none<never>())))
      expect([yield* pull, yield* pull]).toEqual([[1, 2], [3]])
      expect(Option.isNone(yield* Effect.flip(pull))).toBe(true)
    }).pipe(Effect.scoped))

  it.effect("keeps together what is made of values that came together", () =>
    Effect.gen(function*() {
      const stream = StreamArrays.fromPull(pulls([["a b", "c"], ["d e"], ["f"]], Option.none<never>()))
      const words = StreamArrays.mapConcat(stream, (text) => text === "f" ? [] : text.split(" "))
      expect((yield* together(words)).filter((values) => values.length > 0)).toEqual([["a", "b", "c"], ["d", "e"]])
    }))

  it.effect("comes page after page, each when it is read", () =>
    Effect.gen(function*() {
      let read = 0
      const pages = StreamArrays.paginate(
        0,
        (page) =>
          Effect.sync(() => {
            read++
            return [page === 1 ? [] : [page, page], page === 3 ? Option.none<number>() : Option.some(page + 1)] as const
          })
      )
      expect(yield* StreamArrays.collect(Stream.take(pages, 1))).toEqual([0])
      expect(read).toBe(1)
      expect(yield* StreamArrays.collect(pages)).toEqual([0, 0, 2, 2, 3, 3])
    }))
})
