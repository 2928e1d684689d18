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
        yield* minutes(11)
        assert.strictEqual(yield* Login.call(client, "whoami"), "ada of client-1-of-auth.test: read,write")
        assert.deepStrictEqual(yield* Login.grants, ["authorization_code", "authorization_code", "refresh_token"])
      }).pipe(Effect.provide(Login.layer(code, { scopes: ["read", "write"], lifetime: "10 minutes" }))))
  }

  for (const version of ["2025-11-25", "2026-07-28"] as const) {
    for (const refreshTokens of ["rotating", "none"] as const) {
      const opened: Array<string | null> = []
      const settings: Login.Settings = {
        scopes: ["read", "write"],
        lifetime: "5 minutes",
        refreshTokens,
        onRequest: ({ headers, method, url }) => {
          if (url !== Login.SERVER) return
          if (method === "GET" || headers.get("mcp-method") === "subscriptions/listen") {
            opened.push(headers.get("authorization"))
          }
        }
      }
      it.scoped(`open the stream of changes again when a token ends, with the next one, at ${version}, refresh tokens: ${refreshTokens}`, () =>
        Effect.gen(function*() {
          opened.length = 0
          const client = yield* Login.connect({ versions: [version] })
          yield* Login.call(client, "whoami")
          yield* Login.answered
          assert.lengthOf(opened, 1)
          yield* minutes(12)
          if (refreshTokens === "rotating") {
            assert.isAtLeast(new Set(opened).size, 3)
            assert.isAtMost(opened.length, 6)
          }
          // The user is not asked for the sake of a stream.
          const logins = (yield* Login.grants).filter((grant) => grant === "authorization_code")
          assert.lengthOf(logins, 1)
          assert.match((yield* Login.call(client, "whoami"))!, /^ada/)
          yield* minutes(1)
          assert.isAtLeast(new Set(opened).size, 2)
        }).pipe(Effect.provide(Login.layer(code, settings))))
    }
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

/** Lets time pass in steps shorter than any limit of time. All requests are answered before the next step. */
const minutes = (count: number) =>
  Effect.repeatN(Effect.zipRight(TestClock.adjust("10 seconds"), Login.answered), 6 * count - 1)
