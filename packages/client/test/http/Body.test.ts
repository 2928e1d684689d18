import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, TestClock } from "effect"
import * as Body from "../../src/http/Body.js"
import * as Played from "./Played.js"

/** A response to a GET, which the test goes on with. */
const opened = (headers: Record<string, string> = {}) =>
  Effect.gen(function*() {
    const http = yield* Played.make()
    const getting = yield* Effect.fork(http.client.get(Played.URL))
    const open = yield* Effect.flatMap(http.next, (asked) => asked.open(200, headers))
    return { open, response: yield* Fiber.join(getting) }
  })

const whole = (body: string | Uint8Array, headers?: Record<string, string>) =>
  Effect.tap(opened(headers), ({ open }) => Effect.zipRight(open.push(body), open.end))

describe("A body", () => {
  it.effect("is read as text, whether its length was said or not", () =>
    Effect.gen(function*() {
      for (const headers of [{}, { "content-length": "9" }, { "content-length": "nine" }]) {
        const { open, response } = yield* whole("ä€😀", headers)
        assert.strictEqual(yield* Body.text(response, 9), "ä€😀")
        assert.isTrue(open.isOver())
      }
    }))

  it.effect("is joined from its pieces, also in the middle of a letter", () =>
    Effect.gen(function*() {
      const { open, response } = yield* opened()
      for (const byte of new TextEncoder().encode("ä€😀")) yield* open.push(new Uint8Array([byte]))
      yield* open.end
      assert.strictEqual(yield* Body.text(response, 9), "ä€😀")
    }))

  it.effect("is not read on when it is larger than it may be, whatever it has promised", () =>
    Effect.gen(function*() {
      const headers = [{}, { "content-length": "3" }, { "content-length": "99999999999999999999" }]
      for (const one of headers) {
        const { open, response } = yield* opened(one)
        yield* open.push("1234567890")
        if ("content-length" in one) yield* open.end
        assert.deepInclude(yield* Effect.flip(Body.text(response, 9)), { reason: "Read" })
      }
      const { response } = yield* opened({ "content-length": "10" })
      assert.deepInclude(yield* Effect.flip(Body.text(response, 9)), { reason: "Read" })
    }))

  it.effect("is refused when it is no UTF-8, or cut off", () =>
    Effect.gen(function*() {
      const wrong = yield* whole(new Uint8Array([0x61, 0xc3]))
      assert.deepInclude(yield* Effect.flip(Body.text(wrong.response, 9)), { reason: "Decode" })
      const short = yield* opened()
      yield* short.open.push("12")
      yield* short.open.cut
      const error = yield* Effect.flip(Body.text(short.response, 9))
      assert.deepInclude(error, { reason: "Read", message: "The answer to GET was cut off" })
    }))

  it.effect("has a beginning, however long it is or takes", () =>
    Effect.gen(function*() {
      const long = yield* opened()
      yield* long.open.push("12345")
      yield* long.open.push("67890")
      assert.strictEqual(yield* Body.beginning(long.response, 7), "1234567")
      assert.isTrue(long.open.isOver())
      const slow = yield* opened()
      yield* slow.open.push("123")
      const reading = yield* Effect.fork(Body.beginning(slow.response, 7))
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* Fiber.join(reading), "123")
      assert.isTrue(slow.open.isOver())
      const cut = yield* opened()
      yield* cut.open.push("1")
      yield* cut.open.cut
      assert.strictEqual(yield* Body.beginning(cut.response, 7), "1")
    }))

  it.effect("can be read for nobody, for a second at most", () =>
    Effect.gen(function*() {
      for (const headers of [{}, { "content-length": "5" }]) {
        const { open, response } = yield* whole("12345", headers)
        yield* Body.discard(response)
        assert.isTrue(open.isOver())
      }
      const { open, response } = yield* opened()
      const reading = yield* Effect.fork(Body.discard(response))
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(reading)
      assert.isTrue(open.isOver())
    }))
})
