import { assert, describe, it } from "@effect/vitest"
import * as HttpRefusal from "@effect-mcp/server/HttpRefusal"
import { Effect } from "effect"
import { answered, proper, withEndpoint } from "./http/TestExchange.js"
import { GreetLive, serve } from "./Serving.js"

describe("HttpRefusal", () => {
  const rows: ReadonlyArray<[string, HttpRefusal.HttpRefusal, number, object]> = [
    ["unauthorized", HttpRefusal.unauthorized("Bearer realm=\"mcp\""), 401, {
      "www-authenticate": "Bearer realm=\"mcp\""
    }],
    ["forbidden", HttpRefusal.forbidden("Forbidden: not today"), 403, {}]
  ]
  for (const [name, refusal, status, headers] of rows) {
    it.effect(`${name} reaches the client when authenticate fails with it`, () =>
      withEndpoint(serve(GreetLive), (http) =>
        Effect.gen(function*() {
          const exchange = yield* answered(http.send("POST", proper, "{"))
          assert.strictEqual(exchange.status, status)
          assert.deepStrictEqual(exchange.sent, { ...headers, "content-type": "application/json" })
          assert.deepStrictEqual(exchange.json, {
            jsonrpc: "2.0",
            error: { code: HttpRefusal.CODE, message: refusal.message }
          })
        }), { authenticate: () => Effect.fail(refusal) }))
  }
})
