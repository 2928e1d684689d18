import { assert, describe, it } from "@effect/vitest"
import type { AccessToken } from "@effect-mcp/testing/AuthorizationServerModel"
import * as TestAuthorizationServer from "@effect-mcp/testing/TestAuthorizationServer"
import { Effect, Exit, Redacted, TestClock } from "effect"
import * as Jose from "jose"
import { basic, codeOf, credentials, ISSUER, post, program, RESOURCE, SECRET, send, withServer } from "./Logins.js"

describe("A client", () => {
  it.effect("registers itself with redirect URIs that are https or of this machine", () =>
    withServer({ clients: [] }, (server) =>
      Effect.gen(function*() {
        const register = (body: unknown) => send(server, "/register", { method: "POST", body: JSON.stringify(body) })
        const redirect_uris = ["https://app.test/callback"]
        const { json, status } = yield* register({
          redirect_uris,
          client_name: "App",
          token_endpoint_auth_method: "none"
        })
        assert.strictEqual(status, 201)
        assert.deepInclude(json, { client_id: "client-1-of-auth.test", client_name: "App" })
        assert.notProperty(json, "client_secret")
        assert.match(String((yield* register({ redirect_uris })).json["client_secret"]), /^secret-/)
        const changes = { client_id: "client-1-of-auth.test", redirect_uri: redirect_uris[0]! }
        assert.isString(yield* codeOf(server, changes))
        for (const uris of [undefined, [], ["http://app.test/"], ["javascript:alert(1)"], [1]]) {
          assert.strictEqual((yield* register({ redirect_uris: uris })).json["error"], "invalid_redirect_uri")
        }
        assert.strictEqual((yield* register([])).json["error"], "invalid_client_metadata")
        yield* server.forgetClients
        const exit = yield* Effect.exit(codeOf(server, changes))
        assert.isTrue(Exit.isFailure(exit))
      })))

  it.effect("MUST have a document that names itself, and the redirect URI", () =>
    Effect.gen(function*() {
      const url = "https://app.test/client.json"
      const good = { client_id: url, client_name: "App", redirect_uris: [TestAuthorizationServer.redirectUri] }
      const documents: ReadonlyArray<readonly [unknown, boolean]> = [
        [good, true],
        [{ ...good, client_id: `${url}/` }, false],
        [{ ...good, client_name: undefined }, false],
        [{ ...good, redirect_uris: [] }, false],
        [{ ...good, redirect_uris: ["https://app.test/other"] }, false],
        [[], false]
      ]
      for (const [document, isGood] of documents) {
        yield* withServer({ clientDocument: () => Effect.succeed(document) }, (server) =>
          Effect.map(
            Effect.exit(codeOf(server, { client_id: url })),
            (exit) => assert.strictEqual(Exit.isSuccess(exit), isGood)
          ))
      }
      yield* withServer({ clientDocument: () => Effect.fail("not found") }, (server) =>
        Effect.map(Effect.exit(codeOf(server, { client_id: url })), (exit) =>
          assert.isTrue(Exit.isFailure(exit))))
    }))

  it.effect("gets a token for itself with its secret, in the header or in the form", () =>
    withServer({}, (server) =>
      Effect.gen(function*() {
        const form = { ...credentials, client_id: "program" }
        for (
          const [fields, headers, status] of [
            [credentials, basic, 200],
            [{ ...form, client_secret: SECRET }, {}, 200],
            [{ ...form, client_secret: "wrong" }, {}, 401],
            [{ ...form, client_secret: SECRET }, basic, 400],
            [form, {}, 401],
            [credentials, {}, 401],
            [credentials, { authorization: "Bearer x" }, 401],
            [{ ...credentials, client_id: "person" }, {}, 400]
          ] as const
        ) {
          const { json, status: given } = yield* post(server, "/token", fields, headers)
          assert.strictEqual(given, status, JSON.stringify(json))
          if (status === 200) {
            assert.notProperty(json, "refresh_token")
            assert.deepInclude(yield* server.verify(String(json["access_token"])), { subject: "program" })
          }
        }
      })))

  it.effect("gets a token for itself with a signature, which is good once and for this server", () =>
    Effect.gen(function*() {
      const { privateKey, publicKey } = yield* TestAuthorizationServer.keyPair
      const signer = yield* Effect.promise(() =>
        Jose.importJWK(JSON.parse(Redacted.value(privateKey.key)) as Jose.JWK, privateKey.algorithm)
      )
      const sign = (audience: string, id: string, subject = "job") =>
        Effect.promise(() =>
          new Jose.SignJWT({ iss: subject, sub: subject, aud: audience, exp: 60, jti: id })
            .setProtectedHeader({ alg: "ES256" }).sign(signer)
        )
      yield* withServer({ clients: [{ clientId: "job", publicKey }, program] }, (server) =>
        Effect.gen(function*() {
          const statusOf = (assertion: string, type = "jwt-bearer") =>
            Effect.map(
              post(server, "/token", {
                ...credentials,
                client_assertion: assertion,
                client_assertion_type: `urn:ietf:params:oauth:client-assertion-type:${type}`
              }),
              ({ status }) => status
            )
          const good = yield* sign(ISSUER, "1")
          assert.strictEqual(yield* statusOf(good), 200)
          assert.strictEqual(yield* statusOf(good), 401)
          assert.strictEqual(yield* statusOf(yield* sign(`${ISSUER}/token`, "2")), 401)
          assert.strictEqual(yield* statusOf(yield* sign(ISSUER, "3", "program")), 401)
          assert.strictEqual(yield* statusOf(yield* sign(ISSUER, "4"), "saml"), 401)
          assert.strictEqual(yield* statusOf("no.jwt"), 401)
          yield* TestClock.adjust("1 minute")
          assert.strictEqual(yield* statusOf(yield* sign(ISSUER, "5")), 401)
        }))
    }))
})

describe("Another issuer that the server trusts", () => {
  const JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"
  const EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
  const type = (name: string) => `urn:ietf:params:oauth:token-type:${name}`

  it.effect("gives a program access for its user with an ID-JAG", () =>
    Effect.gen(function*() {
      const provider = yield* TestAuthorizationServer.make({
        issuer: "https://idp.test",
        clients: [{ ...program, clientId: "at-idp", idsElsewhere: { [ISSUER]: "program" } }]
      })
      yield* withServer({ trusts: [provider], clients: [program, { ...program, clientId: "other" }] }, (server) =>
        Effect.gen(function*() {
          const identity = yield* provider.sign({ sub: "ada", aud: "at-idp" })
          const { json } = yield* post(provider, "/token", {
            grant_type: EXCHANGE,
            requested_token_type: type("id-jag"),
            subject_token: identity,
            subject_token_type: type("id_token"),
            audience: ISSUER,
            resource: RESOURCE,
            scope: "read",
            client_id: "at-idp",
            client_secret: SECRET
          })
          assert.deepInclude(json, { issued_token_type: type("id-jag"), token_type: "N_A" })
          const assertion = String(json["access_token"])
          const form = { grant_type: JWT_BEARER, assertion, resource: RESOURCE }
          const { json: tokens } = yield* post(server, "/token", form, basic)
          const token = yield* server.verify(String(tokens["access_token"]))
          assert.deepInclude(token, { subject: "ada", clientId: "program", scopes: ["read"] })
          for (const client of [{}, { client_id: "other", client_secret: SECRET }]) {
            assert.strictEqual((yield* post(server, "/token", { ...form, ...client })).json["error"], "invalid_grant")
          }
          yield* TestClock.adjust("6 minutes")
          assert.strictEqual((yield* post(server, "/token", form, basic)).json["error"], "invalid_grant")
        }))
    }))

  it.effect("signs what holds for five minutes from now, unless it is given something else", () =>
    Effect.gen(function*() {
      const provider = yield* TestAuthorizationServer.make({ issuer: "https://idp.test" })
      yield* TestClock.adjust("10 minutes")
      const times = (claims: object) =>
        Effect.map(provider.sign({ sub: "ada", ...claims }), (token) => {
          const { exp, iat } = Jose.decodeJwt(token)
          return [iat, exp]
        })
      assert.deepStrictEqual(yield* times({}), [600, 900])
      assert.deepStrictEqual(yield* times({ exp: 601 }), [600, 601])
    }))

  it.effect("lets a workload in with its token, without a client", () =>
    Effect.gen(function*() {
      const platform = yield* TestAuthorizationServer.make({ issuer: "https://kubernetes.test" })
      const stranger = yield* TestAuthorizationServer.make({ issuer: "https://kubernetes.test" })
      yield* withServer({ trusts: [platform] }, (server) =>
        Effect.gen(function*() {
          const ask = (assertion: string) =>
            post(server, "/token", { grant_type: JWT_BEARER, assertion, resource: RESOURCE })
          const claims = { sub: "system:job", aud: ISSUER }
          const { json } = yield* ask(yield* platform.sign(claims))
          assert.deepInclude(yield* server.verify(String(json["access_token"])), { subject: "system:job" })
          const wrong = [
            yield* platform.sign({ ...claims, aud: "https://other.test" }),
            yield* platform.sign({ ...claims, exp: -1 }),
            yield* platform.sign({ ...claims, iss: "https://other.test" }),
            yield* stranger.sign(claims),
            "x"
          ]
          for (const assertion of wrong) assert.strictEqual((yield* ask(assertion)).json["error"], "invalid_grant")
        }))
    }))

  it.effect("is the server itself when a gateway exchanges a user's token for one of its upstream", () =>
    withServer({}, (server) =>
      Effect.gen(function*() {
        const subject = yield* server.issue({ resource: "https://gateway.test/mcp", subject: "ada", scopes: ["read"] })
        const form = {
          grant_type: EXCHANGE,
          subject_token: subject,
          subject_token_type: type("access_token"),
          resource: RESOURCE
        }
        const { json } = yield* post(server, "/token", form, basic)
        assert.strictEqual(json["issued_token_type"], type("access_token"))
        const token: AccessToken | undefined = yield* server.verify(String(json["access_token"]))
        assert.deepInclude(token, { subject: "ada", actor: "program", resource: RESOURCE, scopes: ["read"] })
        assert.deepStrictEqual(Jose.decodeJwt(String(json["access_token"]))["act"], { sub: "program" })
        const wrong = yield* post(server, "/token", { ...form, subject_token: "x" }, basic)
        assert.strictEqual(wrong.json["error"], "invalid_request")
        const open = yield* post(server, "/token", { ...form, client_id: "person" })
        assert.strictEqual(open.json["error"], "unauthorized_client")
      })))
})

describe("DPoP", () => {
  it.effect("binds a token to a key, with a proof that is used once and has a nonce", () =>
    withServer({ dpop: { isRequired: true, nonces: true } }, (server) =>
      Effect.gen(function*() {
        const { privateKey, publicKey } = yield* Effect.promise(() => Jose.generateKeyPair("ES256"))
        const jwk = yield* Effect.promise(() => Jose.exportJWK(publicKey))
        const prove = (claims: Jose.JWTPayload = {}, typ = "dpop+jwt") =>
          Effect.promise(() =>
            new Jose.SignJWT({ htm: "POST", htu: `${ISSUER}/token`, iat: 0, jti: crypto.randomUUID(), ...claims })
              .setProtectedHeader({ typ, alg: "ES256", jwk }).sign(privateKey)
          )
        const ask = (dpop: string) => post(server, "/token", credentials, { ...basic, dpop })
        const refused = yield* ask(yield* prove())
        assert.strictEqual(refused.json["error"], "use_dpop_nonce")
        const nonce = refused.headers.get("dpop-nonce")!
        const proof = yield* prove({ nonce })
        const { json } = yield* ask(proof)
        assert.strictEqual(json["token_type"], "DPoP")
        const thumbprint = yield* Effect.promise(() => Jose.calculateJwkThumbprint(jwk))
        assert.deepInclude(yield* server.verify(String(json["access_token"])), { thumbprint })
        assert.deepStrictEqual(Jose.decodeJwt(String(json["access_token"]))["cnf"], { jkt: thumbprint })
        const wrong = [
          proof,
          yield* prove({ nonce, htm: "GET" }),
          yield* prove({ nonce, htu: `${ISSUER}/other` }),
          yield* prove({ nonce, iat: 600 }),
          yield* prove({ nonce }, "jwt"),
          "x.y.z"
        ]
        for (const one of wrong) assert.strictEqual((yield* ask(one)).json["error"], "invalid_dpop_proof")
        const none = yield* post(server, "/token", credentials, basic)
        assert.strictEqual(none.json["error"], "invalid_dpop_proof")
        // The nonce is good for this period and the next one.
        yield* TestClock.adjust("10 minutes")
        assert.strictEqual((yield* ask(yield* prove({ nonce, iat: 600 }))).json["error"], "use_dpop_nonce")
      })))
})
