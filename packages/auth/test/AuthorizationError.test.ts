import { assert, describe, it } from "@effect/vitest"
import { AuthorizationError, type Reason } from "@effect-mcp/auth/AuthorizationError"
import { Effect } from "effect"
import * as Net from "./Net.js"
import * as World from "./World.js"

describe("An error of authorization", () => {
  it.effect("has a reason that an application can match on, and says what to do", () =>
    Effect.gen(function*() {
      const cases: ReadonlyArray<readonly [Reason, World.Options, RegExp]> = [
        ["UnsafeUrl", { metadata: { token_endpoint: "https://10.0.0.1/token" } }, /privateHosts.*"10\.0\.0\.1"/],
        ["Unreachable", { metadata: { token_endpoint: "https://gone.test/token" } }, /token endpoint/],
        ["InvalidMetadata", { metadata: { issuer: "https://evil.test" } }, /"https:\/\/evil.test".*not used/],
        ["UnknownClient", { metadata: { registration_endpoint: undefined } }, /preRegistered/],
        ["UnsupportedServer", { metadata: { authorization_endpoint: undefined } }, /no authorization endpoint/],
        ["UntrustedResponse", { redirect: ({ searchParams }) => searchParams.set("state", "x") }, /`state`/],
        ["TokenRefused", { instead: ({ url }) => url.pathname === "/token" ? Net.json({}, 400) : undefined }, /400/]
      ]
      for (const [reason, options, message] of cases) {
        const error = yield* World.refused(World.make(options))
        assert.instanceOf(error, AuthorizationError)
        assert.strictEqual(error.reason, reason)
        assert.match(error.message, message)
        assert.match(error.message, /^[A-Z]/)
      }
    }))
})
