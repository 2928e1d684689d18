/**
 * Errors hold no value of a header that the client sent, also where `fetch` takes the white space around it away.
 */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import { assert, describe, it } from "@effect/vitest"
import type { HttpResponseError } from "@effect-mcp/core/HttpResponseError"
import type { TransportError } from "@effect-mcp/core/LocalError"
import * as Message from "@effect-mcp/core/Message"
import * as Remote from "@effect-mcp/core/Remote"
import * as Transport from "@effect-mcp/core/Transport"
import { Deferred, Effect, Fiber } from "effect"
import * as ScriptedServer from "./ScriptedServer.js"

/** The messages of an error and of its causes. */
const messages = (error: unknown): ReadonlyArray<string> =>
  error instanceof Error ? [error.message, ...messages(error.cause)] : []

describe("An error over HTTP", () => {
  it.scoped("holds no token that the server repeats without the white space around it", () =>
    Effect.gen(function*() {
      const pair = yield* ScriptedServer.pair({
        headers: { authorization: " Bearer  0123456789\n", "x-key": "abcdefgh\n" }
      })
      const calling = yield* pair.call("ping")
      const body = "Bearer  0123456789, 0123456789, abcdefgh"
      yield* Effect.flatMap(
        pair.expect("ping"),
        (exchange) => exchange.reply(400, { "content-type": "text/plain" }, body)
      )
      const { cause, message } = (yield* Fiber.join(calling)) as TransportError
      assert.strictEqual((cause as HttpResponseError).body, "[redacted], [redacted], [redacted]")
      assert.notInclude(message, "0123456789")
    }))

  it.scoped("holds no value that `fetch` refuses and quotes, nor does one of its causes", () =>
    Effect.gen(function*() {
      const undelivered = yield* Deferred.make<unknown>()
      const headers = { authorization: "Bearer 0123456789\nabc\n" }
      const transport = yield* Effect.provide(
        Remote.connector(ScriptedServer.URL, { headers, standalone: false }).connect,
        FetchHttpClient.layer
      )
      yield* Effect.forkScoped(transport.run!((delivery) => {
        if (delivery instanceof Transport.Undelivered) Deferred.unsafeDone(undelivered, Effect.succeed(delivery.error))
      }))
      transport.unsafeSend(Message.request(1, "initialize"))
      const [message, ...causes] = messages(yield* Deferred.await(undelivered))
      assert.include(message, "is an invalid header value")
      assert.isNotEmpty(causes)
      for (const one of [message, ...causes]) assert.notInclude(one, "0123456789")
    }))
})
