import { assert, describe, it } from "@effect/vitest"
import * as TokenVerifier from "@effect-mcp/auth/TokenVerifier"
import { Effect, Redacted } from "effect"
import * as Net from "./Net.js"
import * as Protected from "./Protected.js"

describe("A verifier of the application", () => {
  const claims = { sub: "ada", aud: Protected.RESOURCE, scope: "notes:read" }

  it.scoped("runs for each request, unless it says how long its result holds", () =>
    Effect.gen(function*() {
      const seen: Array<string> = []
      const verifier = (cacheFor: number) =>
        TokenVerifier.make((token) =>
          Effect.sync(() => {
            seen.push(Redacted.value(token))
            return { issuer: Protected.ISSUER, claims, isCurrent: (millis: number) => millis < cacheFor }
          })
        )
      const anew = yield* Protected.make(Net.make(), { verifier: verifier(0) })
      yield* anew.call("whoami", "a")
      const served = yield* anew.call("whoami", "a")
      assert.strictEqual(served.json.result.content[0].text, "https://login.test#ada true")
      const kept = yield* Protected.make(Net.make(), { verifier: verifier(1) })
      yield* kept.call("whoami", "b")
      yield* kept.call("whoami", "b")
      assert.deepStrictEqual(seen, ["a", "a", "b"])
    }))

  it.scoped("its tokens MUST be for this server and from a trusted issuer, too", () =>
    Effect.gen(function*() {
      const tokens: Record<string, TokenVerifier.Verified> = {
        good: { issuer: Protected.ISSUER, claims },
        other: { issuer: "https://other.test", claims },
        audience: { issuer: Protected.ISSUER, claims: { ...claims, aud: undefined } },
        nobody: { issuer: Protected.ISSUER, claims: { aud: claims.aud } },
        time: { issuer: Protected.ISSUER, claims: { ...claims, exp: "never" } },
        mtls: { issuer: Protected.ISSUER, claims: { ...claims, cnf: { "x5t#S256": "a" } } },
        empty: { issuer: Protected.ISSUER, claims: { ...claims, cnf: {} } }
      }
      const server = yield* Protected.make(Net.make(), {
        verifier: TokenVerifier.make((token) => Effect.succeed(tokens[Redacted.value(token)]!))
      })
      for (const token of Object.keys(tokens)) {
        assert.strictEqual((yield* server.call("whoami", token)).status, token === "good" ? 200 : 401, token)
      }
    }))

  it.scoped("refuses tokens with 401 and a reason, or with 503 when it cannot know", () =>
    Effect.gen(function*() {
      const server = yield* Protected.make(Net.make(), {
        verifier: TokenVerifier.make((token) =>
          Redacted.value(token) === "a" ? TokenVerifier.invalid("The user has left") : TokenVerifier.unavailable
        )
      })
      const refused = yield* server.call("whoami", "a")
      assert.strictEqual(refused.status, 401)
      assert.match(refused.challenge!, /error="invalid_token", error_description="The user has left"/)
      const late = yield* server.call("whoami", "b")
      assert.deepStrictEqual([late.status, late.challenge, late.headers.get("retry-after")], [503, null, "5"])
    }))
})
