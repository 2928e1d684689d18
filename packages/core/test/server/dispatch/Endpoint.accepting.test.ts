import { assert, describe, it } from "@effect/vitest"
import * as Message from "@effect-mcp/core/Message"
import { ServerSession } from "@effect-mcp/core/ServerSession"
import { Effect } from "effect"
import { withEndpoint } from "../http/TestExchange.js"
import { ask, refused, request } from "../modern/Posting.js"
import { act, GreetLive, serve } from "../Serving.js"

describe("a POST", () => {
  for (const modern of [false, true]) {
    it.effect(`is answered in the form that the client accepts, ${modern ? "at 2026-07-28" : "in a session"}`, () =>
      Effect.gen(function*() {
        const live = serve(act(Effect.flatMap(ServerSession, ({ progress }) => progress(1))))
        for (const responses of ["auto", "json", "stream"] as const) {
          yield* withEndpoint(live, (http) =>
            Effect.gen(function*() {
              const session = modern ? http : yield* http.open()
              const call = (accept: string | undefined) =>
                modern
                  ? ask(http, request("tools/call", { name: "act" }, { progressToken: "t" }), { accept })
                  : session.ask(Message.request(1, "tools/call", { name: "act", _meta: { progressToken: "t" } }), {
                    accept
                  })
              const isStream = (accept: string | undefined) => Effect.map(call(accept), (exchange) => exchange.isStream)
              assert.isFalse(yield* isStream("application/json"))
              assert.isTrue(yield* isStream("text/event-stream"))
              for (const accept of ["*/*", undefined]) {
                assert.strictEqual(yield* isStream(accept), responses !== "json")
              }
            }), { responses })
        }
      }))
  }

  it.effect("of a subscription needs a client that accepts event streams", () =>
    withEndpoint(serve(GreetLive), (http) =>
      Effect.gen(function*() {
        const listen = request("subscriptions/listen", { notifications: {} })
        const exchange = yield* ask(http, listen, { accept: "application/json" })
        refused(exchange, 406, -32600)
      })))
})
