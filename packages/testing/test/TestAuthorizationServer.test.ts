import { assert, describe, it } from "@effect/vitest"
import * as TestAuthorizationServer from "@effect-mcp/testing/TestAuthorizationServer"
import { Effect, TestClock } from "effect"
import * as Jose from "jose"
import {
  authorization,
  basic,
  codeOf,
  exchange,
  ISSUER,
  login,
  person,
  post,
  program,
  refresh,
  RESOURCE,
  send,
  withServer
} from "./Logins.js"

describe("The metadata", () => {
  it.effect("MUST be at the addresses of RFC 8414 and of OpenID Connect", () =>
    Effect.gen(function*() {
      const root = ["/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"]
      const below = [...root.map((path) => `${path}/tenant`), "/tenant/.well-known/openid-configuration"]
      for (const [issuer, paths] of [[ISSUER, root], [`${ISSUER}/tenant`, below]] as const) {
        const server = yield* TestAuthorizationServer.make({ issuer, scopes: ["read"] })
        for (const path of paths) {
          const response = yield* Effect.orDie(server.handle(new Request(`${ISSUER}${path}`)))
          const json = yield* Effect.promise(() => response.json() as Promise<Record<string, unknown>>)
          assert.deepInclude(json, {
            issuer,
            token_endpoint: `${issuer}/token`,
            code_challenge_methods_supported: ["S256"],
            authorization_response_iss_parameter_supported: true,
            client_id_metadata_document_supported: false,
            scopes_supported: ["read"]
          })
        }
      }
    }))

  it.effect("has the members that a test changes", () =>
    withServer(
      { metadata: { token_endpoint: "https://other.test/token", registration_endpoint: undefined } },
      (server) =>
        Effect.gen(function*() {
          const { json } = yield* send(server, "/.well-known/oauth-authorization-server")
          assert.strictEqual(json["token_endpoint"], "https://other.test/token")
          assert.notProperty(json, "registration_endpoint")
        })
    ))
})

describe("An authorization request", () => {
  it.effect("gives a code for tokens that the published keys verify", () =>
    withServer({ claims: ({ subject }) => ({ email: `${subject}@example.com` }) }, (server) =>
      Effect.gen(function*() {
        const url = yield* authorization()
        const response = yield* server.login(url)
        assert.strictEqual(response.get("state"), "the-state")
        assert.strictEqual(response.get("iss"), ISSUER)
        const { headers, json, status } = yield* post(server, "/token", exchange(response.get("code")!))
        assert.strictEqual(status, 200)
        assert.strictEqual(headers.get("cache-control"), "no-store")
        assert.deepInclude(json, { token_type: "Bearer", expires_in: 3600, scope: "read write" })
        const { json: keys } = yield* send(server, "/jwks")
        const { payload, protectedHeader } = yield* Effect.promise(() =>
          Jose.jwtVerify(
            String(json["access_token"]),
            Jose.createLocalJWKSet({ keys: keys["keys"] as Array<Jose.JWK> }),
            { issuer: ISSUER, audience: RESOURCE, typ: "at+jwt", currentDate: new Date(0) }
          )
        )
        assert.deepInclude(payload, {
          sub: "ada",
          client_id: "person",
          scope: "read write",
          email: "ada@example.com",
          iat: 0,
          exp: 3600
        })
        assert.strictEqual(protectedHeader.kid, "key-1")
        const requests = yield* server.requests
        assert.deepStrictEqual(requests.map(({ method, url }) => `${method} ${url.pathname}`), [
          "GET /authorize",
          "POST /token",
          "GET /jwks"
        ])
      })))

  it.effect("SHOULD be refused with an error that names the issuer", () =>
    withServer({ scopes: ["read", "write"] }, (server) =>
      Effect.gen(function*() {
        const cases: ReadonlyArray<readonly [Readonly<Record<string, string>>, string]> = [
          [{ response_type: "token" }, "unsupported_response_type"],
          [{ code_challenge: "" }, "invalid_request"],
          [{ code_challenge_method: "plain" }, "invalid_request"],
          [{ resource: "" }, "invalid_target"],
          [{ resource: "mcp" }, "invalid_target"],
          [{ scope: "read admin" }, "invalid_scope"]
        ]
        for (const [changes, error] of cases) {
          const response = yield* server.login(yield* authorization(changes))
          assert.strictEqual(response.get("error"), error)
          assert.strictEqual(response.get("iss"), ISSUER)
          assert.strictEqual(response.get("state"), "the-state")
          assert.isFalse(response.has("code"))
        }
      })))

  it.effect("MUST NOT have a parameter twice, as a token request MUST NOT", () =>
    withServer({}, (server) =>
      Effect.gen(function*() {
        const url = yield* authorization()
        url.searchParams.append("scope", "admin")
        assert.strictEqual((yield* server.login(url)).get("error"), "invalid_request")
        const form = new URLSearchParams(exchange(yield* codeOf(server)))
        const asJson = { "content-type": "application/json" }
        const other = yield* send(server, "/token", { method: "POST", body: form.toString(), headers: asJson })
        assert.strictEqual(other.json["error"], "invalid_request")
        form.append("resource", "https://other.test")
        const twice = yield* send(server, "/token", { method: "POST", body: form })
        assert.strictEqual(twice.json["error"], "invalid_request")
      })))

  it.effect("MUST have a redirect URI that the client registered; else the user sees a page", () =>
    withServer({}, (server) =>
      Effect.gen(function*() {
        const base = TestAuthorizationServer.redirectUri
        for (
          const redirect_uri of [`${base}/`, `${base}?x=1`, "https://evil.test/callback", "javascript:alert(1)", ""]
        ) {
          const { pathname, search } = yield* authorization({ redirect_uri })
          const { headers, status } = yield* send(server, `${pathname}${search}`)
          assert.strictEqual(status, 400)
          assert.isNull(headers.get("location"))
        }
        // The port of a program on the user's machine differs each time.
        assert.isString(yield* codeOf(server, { redirect_uri: base.replace("7777", "8888") }))
        const exit = yield* Effect.exit(server.login(yield* authorization({ client_id: "other" })))
        assert.include(String(exit), "This server does not know the client.")
      })))

  it.effect("grants what the user consents to", () =>
    withServer({
      consent: ({ clientId, resource, scopes }) => {
        assert.deepStrictEqual([clientId, resource], ["person", RESOURCE])
        return scopes.includes("admin")
          ? { error: "access_denied" }
          : Effect.succeed({ subject: "bob", scopes: ["read"] })
      }
    }, (server) =>
      Effect.gen(function*() {
        const { json } = yield* login(server)
        assert.strictEqual(json["scope"], "read")
        const token = yield* server.verify(String(json["access_token"]))
        assert.deepInclude(token, { subject: "bob", scopes: ["read"], resource: RESOURCE, expiresAt: 3_600_000 })
        const response = yield* server.login(yield* authorization({ scope: "admin" }))
        assert.strictEqual(response.get("error"), "access_denied")
      })))
})

describe("A code", () => {
  it.effect("is good once, and a second use revokes its tokens", () =>
    withServer({}, (server) =>
      Effect.gen(function*() {
        const code = yield* codeOf(server)
        const { json } = yield* post(server, "/token", exchange(code))
        assert.isDefined(yield* server.verify(String(json["access_token"])))
        const again = yield* post(server, "/token", exchange(code))
        assert.deepInclude(again, { status: 400 })
        assert.strictEqual(again.json["error"], "invalid_grant")
        assert.isUndefined(yield* server.verify(String(json["access_token"])))
        assert.strictEqual((yield* refresh(server, json["refresh_token"])).json["error"], "invalid_grant")
      })))

  it.effect("is good for its client, verifier, redirect URI and resource, and for a minute", () =>
    withServer({ clients: [person, { clientId: "other" }] }, (server) =>
      Effect.gen(function*() {
        const cases: ReadonlyArray<readonly [Readonly<Record<string, string>>, string]> = [
          [{ client_id: "other" }, "invalid_grant"],
          [{ code_verifier: "w".repeat(43) }, "invalid_grant"],
          [{ redirect_uri: "http://127.0.0.1:1/callback" }, "invalid_grant"],
          [{ resource: "https://other.test" }, "invalid_target"],
          [{ client_id: "stranger" }, "invalid_client"],
          [{ grant_type: "password" }, "unsupported_grant_type"]
        ]
        for (const [changes, error] of cases) {
          const { json } = yield* post(server, "/token", exchange(yield* codeOf(server), changes))
          assert.strictEqual(json["error"], error)
        }
        const late = yield* codeOf(server)
        yield* TestClock.adjust("1 minute")
        assert.strictEqual((yield* post(server, "/token", exchange(late))).json["error"], "invalid_grant")
      })))
})

describe("Tokens", () => {
  it.effect("expire by Effect's clock", () =>
    withServer({ lifetime: "10 minutes", accessTokens: "opaque" }, (server) =>
      Effect.gen(function*() {
        const token = yield* server.issue({ resource: RESOURCE, scopes: ["read"] })
        assert.match(token, /^access-/)
        yield* TestClock.adjust("599 seconds")
        assert.isDefined(yield* server.verify(token))
        yield* TestClock.adjust("1 second")
        assert.isUndefined(yield* server.verify(token))
      })))

  it.effect("MUST rotate when they refresh, and a second use revokes all of the login", () =>
    withServer({}, (server) =>
      Effect.gen(function*() {
        const { json: first } = yield* login(server)
        const { json: second } = yield* refresh(server, first["refresh_token"], { scope: "read" })
        assert.strictEqual(second["scope"], "read")
        assert.notStrictEqual(second["refresh_token"], first["refresh_token"])
        assert.strictEqual((yield* refresh(server, first["refresh_token"])).json["error"], "invalid_grant")
        assert.strictEqual((yield* refresh(server, second["refresh_token"])).json["error"], "invalid_grant")
        assert.isUndefined(yield* server.verify(String(second["access_token"])))
      })))

  it.effect("have the scopes of the login again after a refresh with fewer: MUST be those of the old refresh token", () =>
    Effect.forEach(
      ["rotating", "fixed"] as const,
      (refreshTokens) =>
        withServer({ refreshTokens }, (server) =>
          Effect.gen(function*() {
            const { json: first } = yield* login(server)
            const { json: narrow } = yield* refresh(server, first["refresh_token"], { scope: "read" })
            assert.deepInclude(yield* server.verify(String(narrow["access_token"])), { scopes: ["read"] })
            const { json: wide } = yield* refresh(server, narrow["refresh_token"])
            assert.strictEqual(wide["scope"], "read write")
            assert.deepInclude(yield* server.verify(String(wide["access_token"])), { scopes: ["read", "write"] })
          }))
    ))

  it.effect("refresh after a refused refresh: only one that gives tokens uses the refresh token up", () =>
    withServer({}, (server) =>
      Effect.gen(function*() {
        const { json: first } = yield* login(server)
        const token = first["refresh_token"]
        const scope = yield* refresh(server, token, { scope: "admin" })
        assert.strictEqual(scope.json["error"], "invalid_scope")
        const resource = yield* refresh(server, token, { resource: "https://other.test" })
        assert.strictEqual(resource.json["error"], "invalid_target")
        const { json: second, status } = yield* refresh(server, token)
        assert.strictEqual(status, 200)
        // One that was used up ends the login, also when the request has another fault.
        assert.strictEqual((yield* refresh(server, token, { scope: "admin" })).json["error"], "invalid_grant")
        assert.isUndefined(yield* server.verify(String(second["access_token"])))
      })))

  it.effect("stay good for refreshing, or are not issued, where a test wants it", () =>
    Effect.gen(function*() {
      yield* withServer({ refreshTokens: "fixed" }, (server) =>
        Effect.gen(function*() {
          const { json } = yield* login(server)
          for (let n = 0; n < 2; n++) assert.strictEqual((yield* refresh(server, json["refresh_token"])).status, 200)
          const wrong = yield* refresh(server, json["refresh_token"], { scope: "admin" })
          assert.strictEqual(wrong.json["error"], "invalid_scope")
          yield* server.revokeAll("refresh")
          assert.strictEqual((yield* refresh(server, json["refresh_token"])).json["error"], "invalid_grant")
        }))
      yield* withServer({ refreshTokens: "none" }, (server) =>
        Effect.map(login(server), ({ json }) => assert.notProperty(json, "refresh_token")))
    }))

  it.effect("can be looked up and revoked by a client that authenticates", () =>
    withServer({ clients: [program, person] }, (server) =>
      Effect.gen(function*() {
        const { json } = yield* login(server)
        const token = String(json["access_token"])
        const active = yield* post(server, "/introspect", { token }, basic)
        assert.deepInclude(active.json, { active: true, sub: "ada", aud: RESOURCE, scope: "read write" })
        assert.strictEqual((yield* post(server, "/introspect", { token })).status, 401)
        // Another client's token.
        yield* post(server, "/revoke", { token }, basic)
        assert.isDefined(yield* server.verify(token))
        assert.strictEqual((yield* post(server, "/revoke", { token, client_id: "person" })).status, 200)
        assert.deepStrictEqual((yield* post(server, "/introspect", { token }, basic)).json, { active: false })
        yield* post(server, "/revoke", { token: String(json["refresh_token"]), client_id: "person" })
        assert.strictEqual((yield* refresh(server, json["refresh_token"])).json["error"], "invalid_grant")
      })))

  it.effect("are signed by a new key after a rotation", () =>
    withServer({ algorithm: "EdDSA" }, (server) =>
      Effect.gen(function*() {
        const kid = Effect.map(server.issue({ resource: RESOURCE }), (token) => Jose.decodeProtectedHeader(token).kid)
        const published = Effect.map(server.keys, ({ keys }) => keys.map((key) => key["kid"]))
        assert.strictEqual(yield* kid, "key-1")
        yield* server.rotateKeys()
        assert.strictEqual(yield* kid, "key-2")
        assert.deepStrictEqual(yield* published, ["key-1", "key-2"])
        yield* server.rotateKeys({ withdraw: true })
        assert.deepStrictEqual(yield* published, ["key-3"])
      })))
})
