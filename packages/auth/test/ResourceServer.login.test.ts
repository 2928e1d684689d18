import { assert, describe, it } from "@effect/vitest"
import * as Authorization from "@effect-mcp/auth/Authorization"
import * as AuthorizationCode from "@effect-mcp/auth/AuthorizationCode"
import * as Dpop from "@effect-mcp/auth/Dpop"
import * as TestAuthorizationServer from "@effect-mcp/testing/TestAuthorizationServer"
import { Effect, TestClock } from "effect"
import * as Login from "./Login.js"

const code = AuthorizationCode.make({ name: "Test" })

describe("A client and a protected server, with an authorization server between them", () => {
  for (const version of ["2025-11-25", "2026-07-28"] as const) {
    it.scoped(`log in, ask for more scopes, renew the token and take a new key, at ${version}`, () =>
      Effect.gen(function*() {
        const client = yield* Login.connect({ versions: [version] })
        assert.strictEqual(yield* Login.call(client, "whoami"), "ada of client-1-of-auth.test: read")
        assert.strictEqual(yield* Login.call(client, "write"), "written by ada")
        const server = yield* TestAuthorizationServer.TestAuthorizationServer
        yield* server.rotateKeys()
        yield* TestClock.adjust("11 minutes")
        assert.strictEqual(yield* Login.call(client, "whoami"), "ada of client-1-of-auth.test: read,write")
        assert.deepStrictEqual(yield* Login.grants, ["authorization_code", "authorization_code", "refresh_token"])
      }).pipe(Effect.provide(Login.layer(code, { scopes: ["read", "write"], lifetime: "10 minutes" }))))
  }

  it.scoped("bind the token to a key of the client", () =>
    Effect.gen(function*() {
      const client = yield* Login.connect()
      assert.strictEqual(yield* Login.call(client, "whoami"), "ada of client-1-of-auth.test: read")
      const { requests } = yield* TestAuthorizationServer.TestAuthorizationServer
      const [, proven] = (yield* requests).filter(({ url }) => url.pathname === "/token")
      assert.isString(proven?.headers["dpop"])
    }).pipe(Effect.provide(
      Login.layer(code, { dpop: { isRequired: true, nonces: true }, authorization: { dpop: Dpop.es256 } })
    )))

  it.effect("fail with the error of the user who does not consent", () =>
    Effect.gen(function*() {
      const { login } = yield* Authorization.Authorization
      const error = yield* Effect.flip(login(Login.SERVER))
      assert.deepInclude(error, { reason: "Denied", error: "access_denied" })
    }).pipe(Effect.provide(Login.layer(code, { consent: () => ({ error: "access_denied" }) }))))
})
