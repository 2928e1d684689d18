import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { GreetLive, identified, serve } from "../Serving.js"
import { probe, serving, status } from "./Probing.js"
import { answered, makeClient } from "./TestExchange.js"

describe("the health of a process", () => {
  it.scoped("is answered to GET and HEAD, for every host, without authentication and with nothing about the server", () =>
    Effect.gen(function*() {
      const http = yield* makeClient({ health: true, allowedHosts: ["mcp.example.com"], path: "/mcp" })
      for (const path of ["/livez", "/readyz", "/readyz?verbose"]) {
        const exchange = yield* probe(http, path)
        assert.deepStrictEqual([exchange.status, exchange.text], [200, "ok"])
        assert.deepStrictEqual(exchange.sent, { "content-type": "text/plain", "cache-control": "no-store" })
        const head = yield* probe(http, path, "HEAD")
        assert.deepStrictEqual([head.status, head.text], [200, ""])
      }
    }).pipe(Effect.provide(serve(GreetLive, identified(() => Effect.die("it is not called"))))))

  it.scoped("is not served by default", () =>
    Effect.gen(function*() {
      const http = yield* makeClient({ path: "/mcp", allowedHosts: ["*"] })
      const exchange = http.send("GET", { host: "127.0.0.1" }, "", "/livez")
      assert.strictEqual(exchange.status, 404)
    }).pipe(Effect.provide(serve(GreetLive))))

  it.scoped("is answered after the endpoint has closed, while a server still passes probes to it", () =>
    Effect.gen(function*() {
      const { close, http } = yield* serving(Layer.empty)
      assert.deepStrictEqual([yield* status(http, "/livez"), yield* status(http, "/readyz")], [200, 200])
      yield* close
      assert.deepStrictEqual([yield* status(http, "/livez"), yield* status(http, "/readyz")], [200, 503])
    }))

  it.scopedLive("is bad when the event loop is late, for all probes that wait, and good when it is in time again", () =>
    Effect.gen(function*() {
      const { http } = yield* serving(Layer.empty, { health: { maxLag: "200 millis" } })
      const send = () => http.send("GET", {}, "", "/livez")
      const waiting = [send(), send(), send()]
      for (const began = performance.now(); performance.now() - began < 300;) {
        /* no other work of this thread runs */
      }
      for (const exchange of waiting) {
        assert.strictEqual((yield* answered(exchange)).status, 503)
      }
      const next = Effect.suspend(() => answered(send()))
      yield* Effect.repeat(next, { until: ({ status }) => status === 200 })
    }))
})
