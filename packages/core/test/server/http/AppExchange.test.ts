import { fromWeb } from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { AppExchange } from "../../../src/server/http/AppExchange.js"
import { contract, pull, streaming } from "./ExchangeContract.js"

const exchange = (init: RequestInit = {}, url = "http://localhost/a/b?c=d") => {
  const noted = { aborted: 0 }
  const one = new AppExchange(fromWeb(new Request(url, init)), () => noted.aborted++)
  return { noted, one, answer: (handle: () => void) => Effect.map(one.answer(handle), HttpServerResponse.toWeb) }
}

contract("AppExchange", exchange)

describe("AppExchange", () => {
  it.effect("cuts the stream, also when the client does not read", () =>
    Effect.gen(function*() {
      const exchanging = exchange()
      const { body, writer } = yield* streaming(exchanging)
      writer.write("a")
      writer.cut()
      assert.strictEqual(exchanging.noted.aborted, 1)
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
