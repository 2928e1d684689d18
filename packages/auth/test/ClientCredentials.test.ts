import { assert, describe, it } from "@effect/vitest"
import * as ClientCredentials from "@effect-mcp/auth/ClientCredentials"
import * as Dpop from "@effect-mcp/auth/Dpop"
import { Effect, Redacted, TestClock } from "effect"
import * as Jose from "jose"
import * as Net from "./Net.js"
import * as World from "./World.js"

const CLIENT_SECRET = "the-secret-of-the-program"

const withSecret = (issuer = World.ISSUER) =>
  ClientCredentials.secret({ issuer, clientId: "program", clientSecret: Redacted.make(CLIENT_SECRET) })

describe("A program without a user", () => {
  it.effect("gets a token with its secret, and the next one before that expires", () =>
    Effect.gen(function*() {
      const world = World.make({
        grant: withSecret(),
        clients: { program: CLIENT_SECRET },
        expiresIn: 100,
        refreshTokens: "none",
        scope: "read",
        tools: { write: "write" }
      })
      yield* World.run(world, (client) =>
        Effect.gen(function*() {
          yield* TestClock.adjust("2 minutes")
          const before = world.sent("POST /mcp").length
          yield* client.ping()
          assert.lengthOf(world.sent("POST /mcp"), before + 1)
          // More scopes need no user either.
          yield* client.callTool("write")
        }))
      const requests = world.sent("POST /token")
      assert.deepStrictEqual(requests.map(({ form }) => form.get("grant_type")), Array(3).fill("client_credentials"))
      assert.deepStrictEqual(requests.map(({ form }) => form.get("scope")), ["read", "read", "read write"])
      for (const { form } of requests) assert.strictEqual(form.get("resource"), World.SERVER)
      assert.lengthOf(world.opened, 0)
    }))

  it.effect("fails with what the server says about the resource, and repeats no secret", () =>
    Effect.gen(function*() {
      for (const authMethod of ["client_secret_basic", "client_secret_post"] as const) {
        for (const name of ["error", "error_description"]) {
          const world = World.make({
            grant: ClientCredentials.secret({
              issuer: World.ISSUER,
              clientId: "program",
              clientSecret: Redacted.make(CLIENT_SECRET),
              authMethod
            }),
            instead: ({ form, headers, url }) =>
              url.pathname === "/token"
                ? Net.json({
                  error: "invalid_target",
                  [name]: headers["authorization"]?.split(" ")[1] ?? form.get("client_secret"),
                  ...(name === "error" ? { error_description: `${form.get("resource")} is unknown` } : undefined)
                }, 400)
                : undefined
          })
          const { error = "", message } = yield* World.refused(world)
          for (const secret of [CLIENT_SECRET, btoa(`program:${CLIENT_SECRET}`)]) {
            assert.notInclude(`${message} ${error}`, secret)
          }
          assert.include(message, "[redacted]")
          assert.strictEqual(message.includes(`${World.SERVER} is unknown`), name === "error")
        }
      }
    }))

  it.effect("MUST NOT send its secret to another authorization server", () =>
    Effect.gen(function*() {
      const world = World.make({ grant: withSecret("https://other.test") })
      const { message, reason } = yield* World.refused(world)
      assert.strictEqual(reason, "UnknownClient")
      assert.include(message, "https://other.test")
      assert.lengthOf(world.sent("POST /token"), 0)
    }))

  it.effect("proves who it is with a signature for the issuer, which is used once", () =>
    Effect.gen(function*() {
      const kinds: ReadonlyArray<{ isPem: boolean; keyId?: string; kid: string | undefined }> = [
        { isPem: true, kid: undefined },
        { isPem: true, keyId: "k0", kid: "k0" },
        { isPem: false, kid: "k1" },
        { isPem: false, keyId: "k0", kid: "k0" }
      ]
      for (const { isPem, keyId, kid } of kinds) {
        const { privateKey, publicKey } = yield* Effect.promise(() =>
          Jose.generateKeyPair("ES256", { extractable: true })
        )
        const key = yield* Effect.promise(() =>
          isPem
            ? Jose.exportPKCS8(privateKey)
            : Jose.exportJWK(privateKey).then((jwk) => JSON.stringify({ ...jwk, kid: "k1" }))
        )
        const assertions: Array<string> = []
        const world = World.make({
          grant: ClientCredentials.privateKey({
            issuer: World.ISSUER,
            clientId: "program",
            privateKey: { key: Redacted.make(key), algorithm: "ES256", keyId }
          }),
          instead: ({ form, url }) => {
            if (url.pathname !== "/token") return undefined
            assert.strictEqual(
              form.get("client_assertion_type"),
              "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
            )
            assertions.push(form.get("client_assertion")!)
            return new Response(
              JSON.stringify({ access_token: `t${assertions.length}`, token_type: "Bearer", expires_in: 60 })
            )
          },
          insteadOfMcp: ({ headers, url }) =>
            url.pathname === "/mcp" && headers["authorization"]?.startsWith("Bearer t")
              ? new Response(null, { status: 202 })
              : undefined
        })
        yield* TestClock.setTime(1_800_000_000_000)
        yield* Effect.ignore(World.login(world))
        yield* World.login(world)
        assert.lengthOf(assertions, 2)
        const ids = new Set<unknown>()
        for (const assertion of assertions) {
          const { payload, protectedHeader } = yield* Effect.promise(() =>
            Jose.jwtVerify(assertion, publicKey, { currentDate: new Date(1_800_000_000_000) })
          )
          assert.deepInclude(payload, { iss: "program", sub: "program", aud: World.ISSUER, iat: 1_800_000_000 })
          assert.isAtMost(payload.exp! - payload.iat!, 60)
          assert.strictEqual(protectedHeader.kid, kid)
          ids.add(payload.jti)
        }
        assert.lengthOf([...ids], 2)
      }
    }))

  it.effect("signs anew when it sends the request again with a nonce of DPoP", () =>
    Effect.gen(function*() {
      const { privateKey } = yield* Effect.promise(() => Jose.generateKeyPair("ES256", { extractable: true }))
      const key = yield* Effect.promise(() => Jose.exportPKCS8(privateKey))
      const ids: Array<unknown> = []
      const world = World.make({
        metadata: { dpop_signing_alg_values_supported: ["ES256"] },
        authorization: { dpop: Dpop.es256 },
        grant: ClientCredentials.privateKey({
          issuer: World.ISSUER,
          clientId: "program",
          privateKey: { key: Redacted.make(key), algorithm: "ES256" }
        }),
        instead: ({ form, url }) => {
          if (url.pathname !== "/token") return undefined
          ids.push(Jose.decodeJwt(form.get("client_assertion")!).jti)
          return ids.length === 1
            ? new Response("{\"error\":\"use_dpop_nonce\"}", { status: 400, headers: { "dpop-nonce": "n1" } })
            : new Response("{\"access_token\":\"t1\",\"token_type\":\"DPoP\"}")
        }
      })
      yield* World.login(world)
      assert.lengthOf(ids, 2)
      assert.notStrictEqual(ids[0], ids[1])
    }))

  it.effect("sends no request again that succeeded, or failed otherwise, with a new nonce of DPoP", () =>
    Effect.gen(function*() {
      const answers = [
        [200, { access_token: "t1", token_type: "DPoP" }],
        [400, { error: "invalid_request" }]
      ] as const
      for (const [status, body] of answers) {
        let requests = 0
        const world = World.make({
          metadata: { dpop_signing_alg_values_supported: ["ES256"] },
          authorization: { dpop: Dpop.es256 },
          grant: withSecret(),
          instead: ({ url }) => {
            if (url.pathname !== "/token") return undefined
            requests++
            return new Response(JSON.stringify(body), { status, headers: { "dpop-nonce": `n${requests}` } })
          }
        })
        yield* Effect.either(World.login(world))
        assert.strictEqual(requests, 1)
      }
    }))

  it.effect("fails without repeating a key that cannot sign", () =>
    Effect.gen(function*() {
      for (
        const key of [
          "no key at all",
          "{\"kty\":\"secret-part\"}",
          "-----BEGIN PRIVATE KEY-----\nsecret-part\n-----END PRIVATE KEY-----"
        ]
      ) {
        const world = World.make({
          grant: ClientCredentials.privateKey({
            issuer: World.ISSUER,
            clientId: "program",
            privateKey: { key: Redacted.make(key), algorithm: "ES256" }
          })
        })
        const error = yield* World.refused(world)
        assert.strictEqual(error.reason, "Signing")
        assert.notInclude(error.message + JSON.stringify(error), "secret-part")
      }
    }))
})
