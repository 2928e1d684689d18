/**
 * What every `HttpExchange` over a web `Request` does, whichever shell it belongs to.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import type { HttpExchange, Reader, SlowReaders, Writer } from "../../../src/server/http/HttpExchange.js"
import { Bodies, OpenBody } from "../../../src/server/http/RequestBody.js"

/** An exchange, and the response that it makes once `handle` has run. */
export interface Exchanging {
  readonly one: HttpExchange
  readonly answer: (handle: () => void) => Effect.Effect<Response>
}

export type Exchange = (init?: RequestInit, url?: string) => Exchanging

export const ignoring: Reader = { drained: () => {}, gone: () => {} }

/** A body that may have so many bytes, and may come when it likes. */
export const opened = (maxBodyBytes: number): OpenBody =>
  new OpenBody(
    new Bodies({ maxBodyBytes, bodyTimeout: Infinity, maxIncompleteBytes: Infinity }, { now: () => 0, watch: () => {} })
  )

const text = (answer: Effect.Effect<Response>) =>
  Effect.flatMap(answer, (response) => Effect.promise(() => response.text()))

export const streaming = ({ answer, one }: Exchanging, reader: Reader = ignoring, slowReaders?: SlowReaders) =>
  Effect.gen(function*() {
    let writer!: Writer
    const response = yield* answer(() => {
      writer = one.stream(200, { "content-type": "text/event-stream" }, reader, slowReaders)
    })
    return { writer, body: response.body!.getReader() }
  })

const utf8 = new TextDecoder()

export const pull = (body: ReadableStreamDefaultReader<Uint8Array>) =>
  Effect.map(Effect.promise(() => body.read()), ({ value }) => value === undefined ? undefined : utf8.decode(value))

export const contract = (name: string, exchange: Exchange): void => {
  describe(name, () => {
    it("has the URL as path and query, and the path that the client used", () => {
      const { one } = exchange({}, "http://localhost/a/b?c=d")
      assert.deepStrictEqual([one.method, one.url, one.path], ["GET", "/a/b?c=d", "/a/b"])
      const root = exchange({}, "http://localhost?c").one
      assert.deepStrictEqual([root.url, root.path], ["/?c", "/"])
      assert.strictEqual(exchange({}, "http://localhost:80").one.url, "/")
    })

    it("has the host of the URL, unless the request has a Host header", () => {
      assert.strictEqual(exchange({}, "https://a.example:3000/mcp").one.headers.host, "a.example:3000")
      assert.strictEqual(exchange({}, "http://[::1]:3000/mcp").one.headers.host, "[::1]:3000")
      assert.strictEqual(exchange({ headers: { host: "b.example" } }).one.headers.host, "b.example")
    })

    it("joins headers that are repeated", () => {
      const { headers } = exchange({ headers: [["Origin", "http://a"], ["origin", "http://b"]] }).one
      assert.strictEqual(headers.origin, "http://a, http://b")
    })

    it.effect("sends a complete answer, with the headers that have a value", () =>
      Effect.gen(function*() {
        const { answer, one } = exchange()
        const response = yield* answer(() =>
          one.reply(201, { "content-type": "text/plain", "x-none": undefined, vary: "Origin" }, "hi")
        )
        assert.strictEqual(response.status, 201)
        assert.strictEqual(response.headers.get("vary"), "Origin")
        assert.strictEqual(response.headers.get("content-type"), "text/plain")
        assert.strictEqual(yield* Effect.promise(() => response.text()), "hi")
        const none = exchange()
        const empty = yield* none.answer(() => none.one.reply(204, {}, ""))
        assert.deepStrictEqual([empty.status, empty.headers.get("content-type"), empty.body], [204, null, null])
      }))

    it.effect("reads the body before it answers", () =>
      Effect.gen(function*() {
        const { answer, one } = exchange({ method: "POST", body: "héllo" })
        assert.strictEqual(
          yield* text(answer(() => one.body(opened(100), (body) => one.reply(200, {}, String(body))))),
          "héllo"
        )
        for (const [content, fault] of [["x".repeat(101), "size"], [Uint8Array.of(0xff), "encoding"]] as const) {
          const { answer, one } = exchange({ method: "POST", body: content })
          const answered = answer(() => one.body(opened(100), (body) => one.reply(200, {}, JSON.stringify(body))))
          assert.deepStrictEqual(JSON.parse(yield* text(answered)), { fault })
        }
      }))

    it.effect("reads no more of a body than its limit before it answers", () =>
      Effect.gen(function*() {
        let sent = 0
        const body = new ReadableStream<Uint8Array>(
          { pull: (controller) => controller.enqueue(new Uint8Array(1000).fill(++sent)) },
          { highWaterMark: 0 }
        )
        const { answer, one } = exchange({ method: "POST", body, duplex: "half" } as RequestInit)
        let read = 0
        const answered = answer(() =>
          one.body(opened(10_000), (body) => {
            read = sent
            one.reply(200, {}, JSON.stringify(body))
          })
        )
        assert.deepStrictEqual(JSON.parse(yield* text(answered)), { fault: "size" })
        assert.isAtMost(read, 12)
      }))

    it.effect("streams what the endpoint writes, until it ends the stream", () =>
      Effect.gen(function*() {
        const { body, writer } = yield* streaming(exchange())
        assert.strictEqual(yield* pull(body), ": \n\n")
        assert.isTrue(writer.write("a"))
        assert.isTrue(writer.write("b"))
        assert.strictEqual(yield* pull(body), "ab")
        const waiting = yield* Effect.fork(pull(body))
        yield* Effect.yieldNow()
        writer.write("c")
        writer.end()
        assert.strictEqual(yield* Fiber.join(waiting), "c")
        assert.isUndefined(yield* pull(body))
      }))

    it.effect("reports that it is full, and that it has drained", () =>
      Effect.gen(function*() {
        let drained = 0
        const { body, writer } = yield* streaming(exchange(), { drained: () => drained++, gone: () => {} })
        assert.isFalse(writer.write("x".repeat(20_000)))
        assert.strictEqual((yield* pull(body))?.length, 20_004)
        assert.strictEqual(drained, 1)
      }))

    it.effect("reports that the client has disconnected, once, and not when the stream was ended", () =>
      Effect.gen(function*() {
        let gone = 0
        const reader = { drained: () => {}, gone: () => gone++ }
        const left = yield* streaming(exchange(), reader)
        yield* pull(left.body)
        yield* Effect.promise(() => left.body.cancel())
        assert.strictEqual(gone, 1)
        assert.isTrue(left.writer.write("x"))
        const ended = yield* streaming(exchange(), reader)
        ended.writer.end()
        while ((yield* pull(ended.body)) !== undefined);
        assert.strictEqual(gone, 1)
      }))

    it.effect("reports a client that disconnects or is cut off, and not one whose stream was ended", () =>
      Effect.gen(function*() {
        for (const how of ["leave", "cut", "end"] as const) {
          const exchanging = exchange()
          let gone = 0
          exchanging.one.onGone(() => gone++)
          const { body, writer } = yield* streaming(exchanging)
          yield* pull(body)
          if (how === "leave") yield* Effect.promise(() => body.cancel())
          else writer[how]()
          yield* Effect.ignore(Effect.tryPromise(() => body.read()))
          assert.deepStrictEqual([gone, exchanging.one.isGone], how === "end" ? [0, false] : [1, true], how)
        }
      }))
  })
}
