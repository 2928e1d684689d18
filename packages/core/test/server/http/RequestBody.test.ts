/**
 * Bodies that come in parts, at a web handler, with limits for what is incomplete.
 */
import { assert, describe, it } from "@effect/vitest"
import type { HttpOptions } from "@effect-mcp/core/WebHandler"
import * as WebHandler from "@effect-mcp/core/WebHandler"
import { Effect, Fiber, TestClock } from "effect"
import { GreetLive, serve } from "../Serving.js"
import { url } from "../WebRequests.js"
import { initialize, proper } from "./TestExchange.js"

const utf8 = new TextEncoder()
const message = JSON.stringify(initialize())

/** Clients of a web handler that send the first half of a body, and the other half when the test says so. */
const clients = (limits: HttpOptions["limits"]) =>
  Effect.map(
    WebHandler.make({ limits }),
    ({ handler }) => (half: string = message.slice(0, 20)) =>
      Effect.gen(function*() {
        let body!: ReadableStreamDefaultController<Uint8Array>
        const request = new Request(url, {
          method: "POST",
          body: new ReadableStream<Uint8Array>({ start: (controller) => void (body = controller) }),
          duplex: "half",
          headers: proper
        } as RequestInit)
        const answer = yield* Effect.fork(Effect.promise(() => handler(request)))
        yield* Effect.yieldNow()
        body.enqueue(utf8.encode(half))
        return {
          status: Effect.map(Fiber.join(answer), ({ status }) => status),
          finish: Effect.sync(() => {
            body.enqueue(utf8.encode(message.slice(half.length)))
            body.close()
          })
        }
      })
  )

describe("A body that comes in parts", () => {
  it.scoped("has `bodyTimeout` at least, also when another one has had it, and twice that time at most", () =>
    Effect.gen(function*() {
      const begin = yield* clients({ bodyTimeout: "10 seconds" })
      const old = yield* begin()
      yield* TestClock.adjust("9 seconds")
      const young = yield* begin()
      yield* TestClock.adjust("9 seconds")
      yield* young.finish
      assert.strictEqual(yield* young.status, 200)
      yield* TestClock.adjust("2 seconds")
      assert.strictEqual(yield* old.status, 408)
      // Also when there was none meanwhile.
      yield* TestClock.adjust("1 minute")
      const late = yield* begin()
      yield* TestClock.adjust("20 seconds")
      assert.strictEqual(yield* late.status, 408)
    }).pipe(Effect.provide(serve(GreetLive))))
})
