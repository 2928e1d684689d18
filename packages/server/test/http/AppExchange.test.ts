import { fromWeb } from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { AppExchange } from "../../src/http/AppExchange.js"
import type { Reader, Writer } from "../../src/http/HttpExchange.js"

const exchange = (init: RequestInit = {}, url = "http://localhost/a/b?c=d") => {
  const noted = { aborted: 0 }
  return { noted, one: new AppExchange(fromWeb(new Request(url, init)), () => noted.aborted++) }
}

const ignoring: Reader = { drained: () => {}, gone: () => {} }

/** The answer, read to its end. */
const text = (answer: Effect.Effect<HttpServerResponse.HttpServerResponse>) =>
  Effect.flatMap(answer, (response) => Effect.promise(() => HttpServerResponse.toWeb(response).text()))

const streaming = (one: AppExchange, reader: Reader) =>
  Effect.gen(function*() {
    let writer!: Writer
    const response = yield* one.answer(() => {
      writer = one.stream(200, { "content-type": "text/event-stream" }, reader)
    })
    return { writer, body: HttpServerResponse.toWeb(response).body!.getReader() }
  })

const utf8 = new TextDecoder()

const pull = (body: ReadableStreamDefaultReader<Uint8Array>) =>
  Effect.map(Effect.promise(() => body.read()), ({ value }) => value === undefined ? undefined : utf8.decode(value))

describe("AppExchange", () => {
  it("has the URL as path and query, and the path that the client used", () => {
    const { one } = exchange()
    assert.deepStrictEqual([one.method, one.url, one.path], ["GET", "/a/b?c=d", "/a/b"])
    assert.strictEqual(exchange({}, "http://localhost").one.path, "/")
    assert.strictEqual(one.headers.host, "localhost")
  })

  it.effect("sends a complete answer, with the headers that every answer gets", () =>
    Effect.gen(function*() {
      const { one } = exchange()
      one.added = { vary: "Origin" }
      const response = yield* one.answer(() =>
        one.reply(201, { "content-type": "text/plain", "x-none": undefined }, "hi")
      )
      assert.strictEqual(response.status, 201)
      const web = HttpServerResponse.toWeb(response)
      assert.strictEqual(web.headers.get("vary"), "Origin")
      assert.strictEqual(web.headers.get("content-type"), "text/plain")
      assert.strictEqual(yield* Effect.promise(() => web.text()), "hi")
    }))

  it.effect("reads the body before it answers", () =>
    Effect.gen(function*() {
      const { one } = exchange({ method: "POST", body: "héllo" })
      assert.strictEqual(
        yield* text(one.answer(() => one.body(100, (body) => one.reply(200, {}, String(body))))),
        "héllo"
      )
      for (const [content, fault] of [["x".repeat(101), "size"], [Uint8Array.of(0xff), "encoding"]] as const) {
        const { one } = exchange({ method: "POST", body: content })
        const answer = one.answer(() => one.body(100, (body) => one.reply(200, {}, JSON.stringify(body))))
        assert.deepStrictEqual(JSON.parse(yield* text(answer)), { fault })
      }
    }))

  it.effect("streams what the endpoint writes, until it ends the stream", () =>
    Effect.gen(function*() {
      const { body, writer } = yield* streaming(exchange().one, ignoring)
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
      const { body, writer } = yield* streaming(exchange().one, { drained: () => drained++, gone: () => {} })
      assert.isFalse(writer.write("x".repeat(20_000)))
      assert.strictEqual((yield* pull(body))?.length, 20_004)
      assert.strictEqual(drained, 1)
    }))

  it.effect("reports that the client has disconnected, once, and not when the stream was ended", () =>
    Effect.gen(function*() {
      let gone = 0
      const reader = { drained: () => {}, gone: () => gone++ }
      const left = yield* streaming(exchange().one, reader)
      yield* pull(left.body)
      yield* Effect.promise(() => left.body.cancel())
      assert.strictEqual(gone, 1)
      assert.isTrue(left.writer.write("x"))
      const ended = yield* streaming(exchange().one, reader)
      ended.writer.end()
      while ((yield* pull(ended.body)) !== undefined);
      assert.strictEqual(gone, 1)
    }))

  it.effect("reports a client that disconnects or is cut off, and not one whose stream was ended", () =>
    Effect.gen(function*() {
      for (const how of ["leave", "cut", "end"] as const) {
        const { one } = exchange()
        let gone = 0
        one.onGone(() => gone++)
        const { body, writer } = yield* streaming(one, ignoring)
        yield* pull(body)
        if (how === "leave") yield* Effect.promise(() => body.cancel())
        else writer[how]()
        while ((yield* pull(body)) !== undefined);
        assert.deepStrictEqual([gone, one.isGone], how === "end" ? [0, false] : [1, true], how)
      }
    }))

  it.effect("cuts the stream, also when the client does not read", () =>
    Effect.gen(function*() {
      const { noted, one } = exchange()
      const { body, writer } = yield* streaming(one, ignoring)
      writer.write("a")
      writer.cut()
      assert.strictEqual(noted.aborted, 1)
      let rest = ""
      for (let piece = yield* pull(body); piece !== undefined; piece = yield* pull(body)) rest += piece
      assert.notInclude(rest, "a")
    }))

  it.effect("reports that the client has disconnected when the answering fiber is interrupted", () =>
    Effect.gen(function*() {
      const { one } = exchange()
      let gone = false
      one.onGone(() => gone = true)
      const answering = yield* Effect.fork(Effect.uninterruptible(one.answer(() => {})))
      yield* Effect.yieldNow()
      yield* Fiber.interrupt(answering)
      assert.isTrue(gone && one.isGone)
    }))
})
