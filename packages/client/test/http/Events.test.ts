import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import { assert, describe, it } from "@effect/vitest"
import * as Sse from "@effect-mcp/jsonrpc/Sse"
import { Deferred, Effect, Fiber, Stream } from "effect"
import * as Events from "../../src/http/Events.js"

const response = (stream: Stream.Stream<Uint8Array, unknown>) => ({ stream }) as HttpClientResponse.HttpClientResponse

const bytes = (text: string) => new TextEncoder().encode(text)

describe("Events", () => {
  it.effect("are the same, however their bytes are cut", () =>
    Effect.gen(function*() {
      const text = "\uFEFF: hi\r\n\r\nid: 1\r\ndata: ä€😀\r\ndata: two\r\n\r\nretry: 5\n\ndata\n\n"
      const expected = [
        { event: undefined, id: "1", retry: undefined, data: "ä€😀\ntwo" },
        { event: undefined, id: undefined, retry: 5, data: undefined },
        { event: undefined, id: undefined, retry: undefined, data: "" }
      ]
      for (const size of [1, 2, 3, 7, 1000]) {
        const heard: Array<Sse.Event | Sse.TooLarge> = []
        const chunks = Stream.rechunk(Stream.fromIterable(bytes(text)), size).pipe(
          Stream.chunks,
          Stream.map((chunk) => Uint8Array.from(chunk))
        )
        yield* Events.read(response(chunks), 1000, (event) => void heard.push(event))
        assert.deepStrictEqual(heard, expected)
      }
    }))

  it.effect("are waited for one by one", () =>
    Effect.gen(function*() {
      const heard: Array<unknown> = []
      const gate = yield* Deferred.make<void>()
      const reading = yield* Effect.fork(
        Events.read(response(Stream.make(bytes("data: 1\n\ndata: 2\n\n"), bytes("data: 3\n\n"))), 1000, (event) => {
          heard.push((event as Sse.Event).data)
          return heard.length === 1 ? Deferred.await(gate) : undefined
        })
      )
      yield* Effect.repeatN(Effect.yieldNow(), 10)
      assert.deepStrictEqual(heard, ["1"])
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(reading)
      assert.deepStrictEqual(heard, ["1", "2", "3"])
    }))

  it.effect("that are too large cost themselves", () =>
    Effect.gen(function*() {
      const heard: Array<Sse.Event | Sse.TooLarge> = []
      const text = `data: ${"x".repeat(100)}\n\ndata: 2\n\n`
      yield* Events.read(response(Stream.make(bytes(text))), 50, (event) => void heard.push(event))
      assert.instanceOf(heard[0], Sse.TooLarge)
      assert.deepInclude(heard[1], { data: "2" })
    }))

  it.effect("fail with their stream", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(Events.read(response(Stream.fail("gone")), 50, () => undefined))
      assert.deepInclude(error, { reason: "Read", message: "The stream of events was cut off", cause: "gone" })
    }))
})
