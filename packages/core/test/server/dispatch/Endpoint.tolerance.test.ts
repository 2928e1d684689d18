import { assert, describe, it } from "@effect/vitest"
import * as Message from "@effect-mcp/core/Message"
import { Effect } from "effect"
import { answered, initialize, proper, withEndpoint } from "../http/TestExchange.js"
import { GreetLive, serve } from "../Serving.js"

const ping = Message.request(1, "ping")

describe("what an endpoint tolerates", () => {
  it.effect("a slash at the end of its paths, in requests and in options", () =>
    Effect.gen(function*() {
      for (const slash of ["", "/"]) {
        yield* withEndpoint(serve(GreetLive), (http) =>
          Effect.gen(function*() {
            for (const url of ["/mcp", "/mcp/", "/mcp?a=b", "/mcp/?a=b"]) {
              assert.strictEqual((yield* answered(http.send("POST", proper, initialize(), url))).status, 200, url)
            }
            for (const url of ["/sse", "/sse/"]) {
              const stream = http.send("GET", { host: "localhost", accept: "text/event-stream" }, "", url)
              assert.isTrue(stream.isStream)
            }
            for (const url of ["/", "/mcp//", "/mcp/x", "//mcp"]) {
              assert.strictEqual(http.send("POST", proper, initialize(), url).status, 404, url)
            }
          }), { path: `/mcp${slash}`, legacy: { ssePath: `/sse${slash}` } })
      }
    }))

  it.effect("a byte order mark before the message", () =>
    withEndpoint(serve(GreetLive), (http) =>
      Effect.gen(function*() {
        const client = yield* http.open()
        assert.deepStrictEqual((yield* client.ask(`\ufeff${JSON.stringify(ping)}`)).json, {
          jsonrpc: "2.0",
          id: 1,
          result: {}
        })
        assert.strictEqual((yield* client.ask(`\ufeff\ufeff${JSON.stringify(ping)}`)).status, 400)
      })))

  it.effect("a batch of one message, at the revision that has batches", () =>
    withEndpoint(serve(GreetLive), (http) =>
      Effect.gen(function*() {
        for (const version of ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]) {
          const client = yield* http.open(version)
          const { json, status } = yield* client.ask([ping])
          if (version === "2025-03-26") assert.deepStrictEqual([status, json[0].result], [200, {}])
          else assert.strictEqual(status, 400)
        }
      })))
})
