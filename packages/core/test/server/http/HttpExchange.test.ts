import { assert, describe, it } from "@effect/vitest"
import * as Message from "@effect-mcp/core/Message"
import { Effect } from "effect"
import { act, serve } from "../Serving.js"
import { call, initialize, proper, type TestExchange, withEndpoint } from "./TestExchange.js"

describe("an endpoint", () => {
  it.effect("answers every exchange at most once, for any request and after a disconnect", () =>
    withEndpoint(serve(act(Effect.never)), (http) =>
      Effect.gen(function*() {
        const client = yield* http.open()
        const session = { ...proper, ...client.session }
        const exchanges: Array<TestExchange> = []
        for (const method of ["GET", "POST", "DELETE", "OPTIONS", "PUT"]) {
          for (
            const headers of [{}, proper, session, { ...session, host: "evil.com" }, { ...session, accept: "*/*" }]
          ) {
            for (const body of ["", "{", "[]", Message.request(1, "ping"), call(2, "act"), initialize()]) {
              if (method === "DELETE" && headers === session) continue
              for (const url of ["/mcp", "/sse", "/sse?sessionId=x", "/x"]) {
                exchanges.push(http.send(method, headers, body, url))
              }
            }
          }
        }
        for (const exchange of exchanges.filter((_, i) => i % 3 === 0)) exchange.hangUp()
        yield* http.endpoint.close
        for (const exchange of exchanges) {
          // A client that has disconnected before the answer does not count.
          if (!exchange.isGone) assert.strictEqual(exchange.answers, 1)
          assert.isAtMost(exchange.answers, 1)
          assert.isTrue(exchange.ended || exchange.isGone)
        }
      }), { path: "/mcp", limits: { maxSessions: 20 }, legacy: { ssePath: "/sse" } }))
})
