import { assert, describe, it } from "@effect/vitest"
import * as HttpRefusal from "@effect-mcp/server/HttpRefusal"
import { Effect } from "effect"
import { answered, proper, visiting } from "./http/Visit.js"
import { GreetLive, serve } from "./Serving.js"

describe("HttpRefusal", () => {
  const rows: ReadonlyArray<[string, HttpRefusal.HttpRefusal, number, object]> = [
    ["unauthorized", HttpRefusal.unauthorized("Bearer realm=\"mcp\""), 401, {
      "www-authenticate": "Bearer realm=\"mcp\""
    }],
    ["forbidden", HttpRefusal.forbidden("Forbidden: not today"), 403, {}]
  ]
  for (const [name, refusal, status, headers] of rows) {
    it.effect(`${name} is what the client of a failed authenticate gets`, () =>
      visiting(serve(GreetLive), (visitor) =>
        Effect.gen(function*() {
          const visit = yield* answered(visitor.visit("POST", proper, "{"))
          assert.strictEqual(visit.status, status)
          assert.deepStrictEqual(visit.sent, { ...headers, "content-type": "application/json" })
          assert.deepStrictEqual(visit.json, {
            jsonrpc: "2.0",
            error: { code: HttpRefusal.CODE, message: refusal.message }
          })
        }), { authenticate: () => Effect.fail(refusal) }))
  }
})
