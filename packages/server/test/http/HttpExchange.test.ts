import { assert, describe, it } from "@effect/vitest"
import * as Message from "@effect-mcp/jsonrpc/Message"
import { Effect } from "effect"
import { act, serve } from "../Serving.js"
import type { Visit } from "./Visit.js"
import { call, initialize, proper, visiting } from "./Visit.js"

describe("an endpoint", () => {
  it.effect("answers every exchange once, whatever the client sends, and whether it has disconnected", () =>
    visiting(serve(act(Effect.never)), (visitor) =>
      Effect.gen(function*() {
        const client = yield* visitor.open()
        const session = { ...proper, ...client.session }
        const visits: Array<Visit> = []
        for (const method of ["GET", "POST", "DELETE", "OPTIONS", "PUT"]) {
          for (
            const headers of [{}, proper, session, { ...session, host: "evil.com" }, { ...session, accept: "*/*" }]
          ) {
            for (const body of ["", "{", "[]", Message.request(1, "ping"), call(2, "act"), initialize()]) {
              if (method === "DELETE" && headers === session) continue
              for (const url of ["/mcp", "/sse", "/sse?sessionId=x", "/x"]) {
                visits.push(visitor.visit(method, headers, body, url))
              }
            }
          }
        }
        for (const visit of visits.filter((_, i) => i % 3 === 0)) visit.hangUp()
        yield* visitor.endpoint.close
        for (const visit of visits) {
          // A client that has disconnected before the answer does not count.
          if (!visit.isGone) assert.strictEqual(visit.answers, 1)
          assert.isAtMost(visit.answers, 1)
          assert.isTrue(visit.ended || visit.isGone)
        }
      }), { path: "/mcp", ssePath: "/sse", sessions: { max: 20 } }))
})
