/**
 * Programs without a user, and tokens that are bound to a key, at a real authorization server.
 */
import { assert, describe, it } from "@effect/vitest"
import * as ClientCredentials from "@effect-mcp/auth/ClientCredentials"
import * as Dpop from "@effect-mcp/auth/Dpop"
import { Effect, Redacted } from "effect"
import { generateKeyPairSync } from "node:crypto"
import * as Program from "./Program.js"
import * as Protected from "./Protected.js"
import * as Provider from "./Provider.js"

const { whoami } = Protected

const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" })

const machine = {
  client_id: "machine",
  grant_types: ["client_credentials"],
  response_types: [],
  redirect_uris: []
}

const SECRET = "a secret: of + the machine/%"

const secret = { ...machine, client_secret: SECRET }

/** How a client proves who it is, as it is registered and as it does. */
const identities = {
  "a secret in the header": {
    client: { ...secret, token_endpoint_auth_method: "client_secret_basic" },
    grant: (issuer: string) =>
      ClientCredentials.secret({ issuer, clientId: "machine", clientSecret: Redacted.make(SECRET) })
  },
  "a secret in the form": {
    client: { ...secret, token_endpoint_auth_method: "client_secret_post" },
    grant: (issuer: string) =>
      ClientCredentials.secret({
        issuer,
        clientId: "machine",
        clientSecret: Redacted.make(SECRET),
        authMethod: "client_secret_post"
      })
  },
  "a private key": {
    client: {
      ...machine,
      token_endpoint_auth_method: "private_key_jwt",
      token_endpoint_auth_signing_alg: "ES256",
      jwks: { keys: [{ ...publicKey.export({ format: "jwk" }), kid: "k1", use: "sig" }] }
    },
    grant: (issuer: string) =>
      ClientCredentials.privateKey({
        issuer,
        clientId: "machine",
        privateKey: {
          key: Redacted.make(privateKey.export({ format: "pem", type: "pkcs8" }).toString()),
          algorithm: "ES256",
          keyId: "k1"
        }
      })
  }
}

describe("A program that acts for itself", () => {
  for (const [name, { client, grant }] of Object.entries(identities)) {
    for (const version of ["2025-11-25", "2026-07-28"] as const) {
      it.scopedLive(`gets tokens with ${name}, also when they expire, at ${version}`, () =>
        Effect.gen(function*() {
          const provider = yield* Provider.make({ clients: [client] })
          const server = yield* Protected.make(provider)
          const program = yield* Program.make({ grant: grant(provider.issuer) })
          const one = yield* program.connect(server.url, version)
          assert.deepInclude(yield* whoami(one), { clientId: "machine", scopes: ["notes:read"] })
          yield* program.advance(3600)
          // A new token each time: this grant has no refresh tokens.
          assert.strictEqual((yield* program.provide(whoami(one))).clientId, "machine")
          assert.strictEqual(provider.count("POST /token"), 2)
          yield* server.require("notes:write")
          assert.sameMembers([...(yield* program.provide(whoami(one))).scopes], ["notes:read", "notes:write"])
          assert.lengthOf(program.visitor.opened, 0)
        }))
    }
  }

  it.scopedLive("fails with what the server says when its secret is wrong, and repeats no secret", () =>
    Effect.gen(function*() {
      const provider = yield* Provider.make({ clients: [identities["a secret in the header"].client] })
      const server = yield* Protected.make(provider)
      const clientSecret = Redacted.make("another secret")
      const grant = ClientCredentials.secret({ issuer: provider.issuer, clientId: "machine", clientSecret })
      const program = yield* Program.make({ grant })
      const error = yield* Effect.flip(program.connect(server.url))
      assert.deepInclude(Program.causeOf(error), { reason: "TokenRefused", error: "invalid_client" })
      assert.notInclude(JSON.stringify(error), "another secret")
    }))
})

describe("Tokens that are bound to a key", () => {
  for (const requireNonce of [false, true]) {
    for (const version of ["2025-11-25", "2026-07-28"] as const) {
      const nonces = requireNonce ? "with the nonces that it wants" : "without nonces"
      it.scopedLive(`are issued, sent, refreshed and widened ${nonces}, at ${version}`, () =>
        Effect.gen(function*() {
          const provider = yield* Provider.make({ dpop: true, requireNonce })
          const server = yield* Protected.make(provider)
          const program = yield* Program.make({ dpop: Dpop.es256 })
          const client = yield* program.connect(server.url, version)
          assert.strictEqual((yield* whoami(client)).name, "ada")
          yield* provider.requireNonce
          yield* program.advance(3600)
          assert.strictEqual((yield* program.provide(whoami(client))).name, "ada")
          yield* server.require("notes:write")
          assert.include((yield* program.provide(whoami(client))).scopes, "notes:write")
          assert.lengthOf(program.visitor.opened, 2)
          const sent = server.authorizations.filter((one) => one !== undefined)
          assert.isTrue(sent.every((one) => one.startsWith("DPoP ")))
        }))
    }
  }

  it.scopedLive("are of no use to another program", () =>
    Effect.gen(function*() {
      const provider = yield* Provider.make({ dpop: true })
      const server = yield* Protected.make(provider)
      const program = yield* Program.make({ dpop: Dpop.es256 })
      yield* program.connect(server.url)
      const [scheme, token] = server.authorizations.at(-1)!.split(" ")
      assert.strictEqual(scheme, "DPoP")
      for (const authorization of [`Bearer ${token}`, `DPoP ${token}`]) {
        const { status } = yield* Effect.promise(() =>
          fetch(server.url, { method: "POST", headers: { authorization } })
        )
        assert.strictEqual(status, 401)
      }
    }))
})
