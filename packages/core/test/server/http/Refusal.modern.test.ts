import { assert, describe, it } from "@effect/vitest"
import * as HttpRefusal from "@effect-mcp/core/HttpRefusal"
import * as Message from "@effect-mcp/core/Message"
import { Effect } from "effect"
import { ask, greet, headers } from "../modern/Posting.js"
import { GreetLive, identified, serve } from "../Serving.js"
import { answered, assertRefused, proper, withEndpoint } from "./TestExchange.js"

// SHOULD NOT send a code from -32000 to -32019.
describe("A refusal of a client of 2026-07-28", () => {
  it.effect("has a code of JSON-RPC, whichever check refuses the request", () =>
    withEndpoint(serve(GreetLive), (http) =>
      Effect.gen(function*() {
        const cases: ReadonlyArray<readonly [number, Record<string, string | undefined>]> = [
          [403, { host: "evil.example" }],
          [403, { origin: "https://evil.example" }],
          [406, { accept: "text/html" }],
          [415, { "content-type": "text/plain" }],
          [415, { "content-encoding": "gzip" }],
          [413, { "content-length": "99999999" }],
          [400, { "transfer-encoding": "gzip" }]
        ]
        for (const [status, others] of cases) assertRefused(yield* ask(http, greet, others), status, -32600, /./)
        for (const later of ["2026-07-28", "2099-01-01"]) {
          const others = { ...proper, ...headers(greet), "mcp-protocol-version": later }
          assertRefused(yield* answered(http.send("PUT", others, greet)), 405, -32600, /./)
          assertRefused(yield* answered(http.send("GET", others, "")), 405, -32600, /./)
          assertRefused(yield* answered(http.send("POST", others, greet, "/other")), 404, -32600, /./)
        }
      }), { path: "/mcp", legacy: { sessions: false } }))

  for (const status of [401, 403, 429, 503]) {
    it.effect(`has a code of JSON-RPC, where the application refuses with ${status}`, () => {
      const refusal = new HttpRefusal.HttpRefusal({ status, error: { code: -32007, message: "No" } })
      return withEndpoint(serve(GreetLive, identified(() => Effect.fail(refusal))), (http) =>
        Effect.gen(function*() {
          assertRefused(yield* ask(http, greet), status, status < 500 ? -32600 : -32603, /./)
          const legacy = yield* http.ask(Message.request(1, "ping"))
          assert.strictEqual(legacy.json.error.code, -32007)
        }))
    })
  }
})
