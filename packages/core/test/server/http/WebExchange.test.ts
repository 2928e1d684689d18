import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { getEventListeners } from "node:events"
import { PIECE, type SlowReaders } from "../../../src/server/http/HttpExchange.js"
import { WebExchange } from "../../../src/server/http/WebExchange.js"
import { contract, opened, pull, streaming } from "./ExchangeContract.js"

const exchange = (init: RequestInit = {}, url = "http://localhost/a/b?c=d") => {
  let settle!: (response: Response) => void
  const response = new Promise<Response>((resolve) => {
    settle = resolve
  })
  const noted = { done: 0 }
  const request = new Request(url, init)
  const one = new WebExchange(request, undefined, settle, () => noted.done++)
  return {
    noted,
    one,
    request,
    answer: (handle: () => void) => Effect.zipRight(Effect.sync(handle), Effect.promise(() => response)),
    response: Effect.promise(() => response)
  }
}

contract("WebExchange", exchange)

const failed = (body: ReadableStreamDefaultReader<Uint8Array>) =>
  Effect.flip(Effect.tryPromise({ try: () => body.read(), catch: (error) => error as Error }))

describe("WebExchange", () => {
  it.effect("ends the stream with an error when it is cut, and drops what was not pulled", () =>
    Effect.gen(function*() {
      const exchanging = exchange()
      const { body, writer } = yield* streaming(exchanging)
      writer.write("a")
      writer.cut()
      assert.include((yield* failed(body)).message, "The server has cut off this answer")
      assert.strictEqual(exchanging.noted.done, 1)
    }))

  it.effect("is over when its request is aborted: while the body is read, before the answer, in the middle of a stream", () =>
    Effect.gen(function*() {
      for (const when of ["reading", "waiting", "streaming"] as const) {
        const abort = new AbortController()
        const body = when === "reading" ? { method: "POST", body: new ReadableStream(), duplex: "half" } : {}
        const exchanging = exchange({ signal: abort.signal, ...body } as RequestInit)
        let gone = 0
        let got = 0
        exchanging.one.onGone(() => gone++)
        if (when === "reading") exchanging.one.body(opened(100), () => got++)
        const stream = when === "streaming" ? yield* streaming(exchanging) : undefined
        abort.abort()
        if (stream !== undefined) assert.isUndefined(yield* pull(stream.body))
        else assert.strictEqual((yield* exchanging.response).status, 499)
        exchanging.one.reply(200, {}, "late")
        assert.deepStrictEqual([gone, got, exchanging.noted.done, exchanging.one.isGone], [1, 0, 1, true], when)
      }
    }))

  it("is over at once when its request has been aborted before", () => {
    const { noted, one } = exchange({ signal: AbortSignal.abort() })
    assert.deepStrictEqual([one.isGone, noted.done], [true, 1])
  })

  it.effect("tells a reader that the client has gone, also when the stream begins afterwards", () =>
    Effect.gen(function*() {
      const { one } = exchange({ signal: AbortSignal.abort() })
      let gone = 0
      one.stream(200, {}, { drained: () => {}, gone: () => gone++ })
      assert.strictEqual(gone, 0)
      yield* Effect.promise(() => Promise.resolve())
      assert.strictEqual(gone, 1)
    }))

  it.effect("does not care whether its request is aborted after the answer", () =>
    Effect.gen(function*() {
      for (const how of ["reply", "stream"] as const) {
        const abort = new AbortController()
        const exchanging = exchange({ signal: abort.signal })
        let gone = 0
        exchanging.one.onGone(() => gone++)
        if (how === "reply") exchanging.one.reply(200, {}, "a")
        else {
          const { body, writer } = yield* streaming(exchanging)
          yield* pull(body)
          writer.write("a")
          writer.end()
          assert.strictEqual(yield* pull(body), "a")
          assert.isUndefined(yield* pull(body))
        }
        assert.strictEqual(exchanging.noted.done, 1)
        assert.lengthOf(getEventListeners(exchanging.request.signal, "abort"), 0)
        abort.abort()
        assert.deepStrictEqual([gone, exchanging.one.isGone, exchanging.noted.done], [0, false, 1])
      }
    }))

  it.effect("cuts a client that does not take the end of a stream in time", () =>
    Effect.gen(function*() {
      let due: (() => void) | undefined
      const exchanging = exchange()
      const { body, writer } = yield* streaming(exchanging, undefined, {
        sendLong: () => {},
        tick: () => () => {},
        watch: (_, cut) => {
          due = cut
          return () => {
            due = undefined
          }
        }
      })
      writer.end()
      assert.strictEqual(exchanging.noted.done, 0)
      due!()
      yield* failed(body)
      assert.deepStrictEqual([exchanging.noted.done, due], [1, undefined])
    }))

  it.effect("keeps a timer of its own while it streams, and not longer", () =>
    Effect.gen(function*() {
      for (const how of ["end", "cancel"] as const) {
        const exchanging = exchange()
        let ticking = 0
        const { body, writer } = yield* streaming(exchanging, undefined, {
          sendLong: () => {},
          watch: () => () => {},
          tick: () => {
            ticking++
            return () => void ticking--
          }
        })
        assert.strictEqual(ticking, 1)
        if (how === "end") writer.end()
        yield* how === "end" ? pull(body) : Effect.promise(() => body.cancel())
        assert.strictEqual(ticking, 0)
      }
    }))

  it("passes a long answer on, to be sent in pieces", () => {
    const { one } = exchange()
    const long: Array<string> = []
    const slowReaders: SlowReaders = {
      sendLong: (_, __, ___, body) => long.push(body),
      watch: () => () => {},
      tick: () => () => {}
    }
    one.reply(200, {}, "x".repeat(PIECE + 1), slowReaders)
    assert.strictEqual(long[0]?.length, PIECE + 1)
  })

  it.effect("does not read a body that the application has read, or is reading", () =>
    Effect.gen(function*() {
      for (const [how, headers] of [["text", {}], ["lock", {}], ["text", { "content-length": "2" }]] as const) {
        const { one, request } = exchange({ method: "POST", body: "{}", headers })
        if (how === "text") yield* Effect.promise(() => request.text())
        else request.body!.getReader()
        let got: unknown
        one.body(opened(100), (body) => got = body)
        assert.deepStrictEqual(got, { fault: "taken" })
      }
    }))

  it.effect("reports a body whose end does not come", () =>
    Effect.gen(function*() {
      const body = new ReadableStream({ pull: (controller) => controller.error(new Error("reset")) })
      const { answer, one } = exchange({ method: "POST", body, duplex: "half" } as RequestInit)
      const response = yield* answer(() => one.body(opened(100), (body) => one.reply(400, {}, JSON.stringify(body))))
      assert.deepStrictEqual(yield* Effect.promise(() => response.json()), { fault: "unreadable" })
    }))

  it.effect("joins the pieces of a body, also inside a character", () =>
    Effect.gen(function*() {
      const bytes = new TextEncoder().encode("h€llo")
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => {
          for (const byte of bytes) controller.enqueue(Uint8Array.of(byte))
          controller.close()
        }
      })
      const { answer, one } = exchange({ method: "POST", body, duplex: "half" } as RequestInit)
      const response = yield* answer(() => one.body(opened(100), (body) => one.reply(200, {}, String(body))))
      assert.strictEqual(yield* Effect.promise(() => response.text()), "h€llo")
    }))
})
