import { assert, describe, it } from "@effect/vitest"
import * as Message from "@effect-mcp/core/Message"
import type * as Version from "@effect-mcp/core/protocol/Version"
import { Effect } from "effect"
import { initialize, withEndpoint } from "../http/TestExchange.js"
import * as Modern from "../modern/Modern.js"
import { GreetLive, serve } from "../Serving.js"

const versions: readonly [Version.Version, ...Array<Version.Version>] = ["2025-06-18", "2025-11-25", "2026-07-28"]

const server = serve(GreetLive, { versions })

/** A message with an envelope that names a revision, or without an envelope. */
const named = ({ id, method, params }: Message.Request, version: string | undefined) =>
  Message.request(id, method, { ...params, ...(version === undefined ? undefined : Modern.envelope({ version })) })

const headers = (version: string | undefined): Record<string, string> =>
  version === undefined ? {} : { "mcp-protocol-version": version, "mcp-method": "tools/list" }

describe("initialize over HTTP", () => {
  for (
    const [header, envelope, isServed] of [
      [undefined, undefined, true],
      [undefined, "2026-07-28", true],
      ["2025-11-25", "2025-11-25", true],
      ["2025-11-25", "2026-07-28", true],
      ["2026-07-28", undefined, true],
      ["2026-07-28", "2025-11-25", true],
      ["2026-07-28", "2099-01-01", true],
      ["2026-07-28", "2026-07-28", false]
    ] as const
  ) {
    const what = isServed ? "is served" : "is a method that the server does not have"
    it.effect(`${what} when the header has ${header ?? "no revision"} and the envelope ${envelope ?? "none"}`, () =>
      withEndpoint(server, (http) =>
        Effect.gen(function*() {
          const exchange = yield* http.ask(named(initialize(), envelope), {
            ...headers(header),
            "mcp-method": "initialize"
          })
          assert.strictEqual(exchange.status, isServed ? 200 : 404, exchange.text)
          if (isServed) assert.strictEqual(exchange.json.result.protocolVersion, "2025-11-25")
          else assert.strictEqual(exchange.json.error.code, -32601)
        })))
  }
})

describe("a request whose envelope names a legacy revision", () => {
  it.effect("is served in its session, and is modern when the server does not support the revision", () =>
    withEndpoint(server, (http) =>
      Effect.gen(function*() {
        const client = yield* http.open()
        const list = Message.request(1, "tools/list")
        const served = yield* client.ask(named(list, "2025-11-25"), headers("2025-11-25"))
        assert.deepStrictEqual(served.json.result.tools.map(({ name }: { readonly name: string }) => name), ["greet"])
        assert.notProperty(served.json.result, "resultType")
        const refused = yield* client.ask(named(list, "2024-11-05"), headers("2024-11-05"))
        assert.deepStrictEqual([refused.status, refused.json.error.code], [400, -32022])
      })))
})
