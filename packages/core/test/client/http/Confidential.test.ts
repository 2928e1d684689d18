/**
 * Errors hold no value of a header that the client sent, also where `fetch` takes the white space around it away.
 */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import type * as HttpBody from "@effect/platform/HttpBody"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import type { HttpResponseError } from "@effect-mcp/core/HttpResponseError"
import type { TransportError } from "@effect-mcp/core/LocalError"
import * as Message from "@effect-mcp/core/Message"
import * as Remote from "@effect-mcp/core/Remote"
import * as Transport from "@effect-mcp/core/Transport"
import { Deferred, Effect, Fiber, Inspectable } from "effect"
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

  const TOKEN = "a-token-of-the-user"

  for (const version of ["2025-11-25", "2026-07-28"] as const) {
    it.scoped(`holds no token that a JSON-RPC error repeats, as text or as a name, however deep the error may nest, at ${version}`, () =>
      Effect.gen(function*() {
        const pair = yield* ScriptedServer.pair({
          headers: { authorization: `Bearer ${TOKEN}` },
          limits: { maxDepth: 1_000_000 }
        })
        const params = version === "2025-11-25" ? {} : { _meta: { "io.modelcontextprotocol/protocolVersion": version } }
        for (const depth of [10, 2000, 3000, 4000, 5000, 6000]) {
          const deep = `${"[".repeat(depth)}{"${TOKEN}":["Bearer ${TOKEN}",7]}${"]".repeat(depth)}`
          const calling = yield* Effect.fork(Effect.flip(pair.conversation.request("tools/list", params)))
          const exchange = yield* pair.expect("tools/list")
          const error = `{"code":-1,"message":"no","data":${deep}}`
          yield* exchange.reply(
            200,
            { "content-type": "application/json" },
            `{"jsonrpc":"2.0","id":${JSON.stringify(exchange.message.id)},"error":${error}}`
          )
          const failed = yield* Fiber.join(calling)
          assert.strictEqual(failed._tag, "JsonRpcError", failed.message)
          let inner: unknown = failed._tag === "JsonRpcError" ? failed.data : undefined
          for (let n = 0; n < depth; n++) inner = Array.isArray(inner) ? inner[0] : inner
          assert.deepStrictEqual(inner, { "[redacted]": ["[redacted]", 7] })
        }
      }))
  }

  for (const version of ["2025-11-25", "2026-07-28"] as const) {
    for (const type of ["application/json", "text/event-stream"]) {
      it.scoped(`holds no token that a JSON-RPC error repeats, in ${type}, at ${version}`, () =>
        Effect.gen(function*() {
          const said = `Invalid token ${TOKEN}`
          let sent = 0
          const client = HttpClient.make((request) => {
            sent += request.headers.authorization === `Bearer ${TOKEN}` ? 1 : 0
            const { id } = JSON.parse(new TextDecoder().decode((request.body as HttpBody.Uint8Array).body))
            const error = { code: -32001, message: said, data: { said: [said] } }
            const text = JSON.stringify({ jsonrpc: "2.0", id, error })
            const body = type === "application/json" ? text : `data: ${text}\n\n`
            return Effect.succeed(
              HttpClientResponse.fromWeb(request, new Response(body, { headers: { "content-type": type } }))
            )
          })
          const connector = Remote.connector(ScriptedServer.URL, {
            headers: { authorization: `Bearer ${TOKEN}` },
            standalone: false
          })
          const failed = yield* Client.make(connector, { versions: [version] }).pipe(
            Effect.provideService(HttpClient.HttpClient, client),
            Effect.flip
          )
          assert.isAbove(sent, 0)
          assert.include(Inspectable.format(failed), "Invalid token [redacted]")
          assert.notInclude(Inspectable.format(failed) + messages(failed).join(), TOKEN)
        }))
    }
  }
})
