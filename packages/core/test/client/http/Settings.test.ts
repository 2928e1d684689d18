import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Settings from "../../../src/client/http/Settings.js"

describe("Settings", () => {
  it("have a default for every bound", () => {
    const { headers, headersEffect, reconnect: _, ...rest } = Settings.fromOptions({})
    assert.deepStrictEqual({ ...headers }, {})
    assert.isUndefined(headersEffect)
    assert.deepStrictEqual(rest, {
      transport: "auto",
      authorize: undefined,
      authorizer: undefined,
      onRenewed: undefined,
      onSession: undefined,
      session: undefined,
      standalone: true,
      maxResumes: 5,
      maxRedirects: 3,
      maxExchanges: 64,
      capacity: 256,
      maxBodyBytes: 10 * 1024 * 1024,
      maxEventBytes: 10 * 1024 * 1024,
      maxDepth: undefined,
      maxNodes: 100_000,
      maxResponseNodes: 1_000_000,
      acceptTimeout: 30_000,
      closeTimeout: 1_000,
      readTimeout: undefined,
      terminateOnClose: true
    })
  })

  it("take headers of any case, or an effect that makes them, without the headers of the protocol", () => {
    const { headers } = Settings.fromOptions({ headers: { "X-A": "1", ACCEPT: "x", "Mcp-Session-Id": "y" } })
    assert.deepStrictEqual({ ...headers }, { "x-a": "1" })
    const effect = Effect.succeed({})
    assert.strictEqual(Settings.fromOptions({ headers: effect }).headersEffect, effect)
  })
})
