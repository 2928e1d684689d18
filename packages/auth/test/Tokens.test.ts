import { assert, describe, it } from "@effect/vitest"
import { Tokens } from "@effect-mcp/auth/Tokens"
import { Redacted, Schema } from "effect"
import { inspect } from "node:util"

const tokens: Tokens = {
  accessToken: Redacted.make("access-secret"),
  type: "Bearer",
  expiresAt: 2,
  renewAt: 1,
  refreshToken: Redacted.make("refresh-secret"),
  scopes: ["a"]
}

describe("Tokens", () => {
  it("show no secret when they are printed", () => {
    for (
      const text of [
        JSON.stringify(tokens),
        inspect(tokens, { depth: 9, showHidden: true }),
        `${String(tokens.accessToken)}`
      ]
    ) {
      assert.notInclude(text, "secret")
    }
  })

  it("have a form that can be stored", () => {
    const json = Schema.parseJson(Tokens)
    assert.deepStrictEqual(Schema.decodeSync(json)(Schema.encodeSync(json)(tokens)), tokens)
  })
})
