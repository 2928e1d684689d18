import { assert, describe, it } from "@effect/vitest"
import * as Message from "@effect-mcp/core/Message"
import * as Version from "@effect-mcp/core/protocol/Version"
import { Effect } from "effect"
import { withEndpoint } from "../http/TestExchange.js"
import { GreetLive, logbook, serve, until } from "../Serving.js"

const ping = Message.request(1, "ping")

describe("MCP-Protocol-Version", () => {
  it.effect("is the agreed revision, or absent", () =>
    withEndpoint(serve(GreetLive), (http) =>
      Effect.gen(function*() {
        for (const version of ["2025-03-26", "2025-06-18", "2025-11-25"]) {
          const client = yield* http.open(version)
          assert.strictEqual((yield* client.ask(ping, { "mcp-protocol-version": version })).status, 200)
          assert.strictEqual((yield* client.ask(ping)).status, 200)
        }
      })))

  it.effect("is refused when it is unknown, with the supported revisions", () =>
    withEndpoint(serve(GreetLive, { versions: Version.legacy }), (http) =>
      Effect.gen(function*() {
        const client = yield* http.open()
        for (const version of ["1999-01-01", "2026-07-28", "", "2025-11-25, 2025-11-25"]) {
          const headers = { "mcp-protocol-version": version }
          for (const exchange of [client.post(ping, headers), client.get(headers), client.delete(headers)]) {
            assert.strictEqual(exchange.status, 400)
            const { message } = exchange.json.error
            assert.include(message, `Unsupported protocol version: ${version}`)
            assert.include(message, "2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25")
          }
        }
      })))

  it.effect("may be another one that the server knows: the agreed one holds, and the operator is warned once", () => {
    const { layer, lines } = logbook()
    return withEndpoint(serve(GreetLive), (http) =>
      Effect.gen(function*() {
        const client = yield* http.open("2025-06-18")
        for (let i = 0; i < 2; i++) {
          assert.strictEqual((yield* client.ask(ping, { "mcp-protocol-version": "2025-11-25" })).status, 200)
        }
        const batch = client.post([ping], { "mcp-protocol-version": "2025-03-26" })
        assert.strictEqual(batch.status, 400)
        yield* until(() => lines.length > 0)
        assert.deepStrictEqual(
          lines.map(({ level, message }) => [level, /2025-11-25.*agreed on 2025-06-18/.test(message)]),
          [
            ["Warning", true]
          ]
        )
      })).pipe(Effect.provide(layer))
  })
})
