/**
 * Servers that package `auth` protects, with tokens of a real authorization server: rotation of keys, introspection, revocation,
 * clocks that differ, and tokens that are for another server.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Dpop from "@effect-mcp/auth/Dpop"
import { Effect, Fiber } from "effect"
import { ask, initialize, until } from "../HttpFixture.js"
import { shells } from "../Shells.js"
import * as Guarded from "./Guarded.js"
import * as OfficialClient from "./OfficialClient.js"
import * as Program from "./Program.js"
import * as Protected from "./Protected.js"
import * as Provider from "./Provider.js"

const { whoami } = Protected

const machine = {
  client_id: "machine",
  client_secret: "the-secret-of-the-machine",
  grant_types: ["client_credentials"],
  response_types: [],
  redirect_uris: []
}

const clients = [Protected.introspector, machine]

/** A token for a resource, without a user. */
const tokenFor = (provider: Provider.Provider, resource: string) =>
  Effect.promise(() =>
    fetch(`${provider.issuer}/token`, {
      method: "POST",
      headers: { authorization: `Basic ${btoa(`${machine.client_id}:${machine.client_secret}`)}` },
      body: new URLSearchParams({ grant_type: "client_credentials", resource, scope: "notes:read" })
    }).then((response) => response.json() as Promise<{ readonly access_token: string }>)
  ).pipe(Effect.map((json) => json.access_token))

/** The status with which a server answers a first request that has this token. */
const statusOf = (url: string, token: string) =>
  Effect.map(ask(url, initialize(), { authorization: `Bearer ${token}` }), ({ status }) => status)

describe("A protected server", () => {
  for (const [name, shell] of Object.entries(shells)) {
    for (const legacy of [{}, { sessions: false }]) {
      for (const version of ["2025-11-25", "2026-07-28"] as const) {
        const introspects = "sessions" in legacy
        const way = introspects ? "opaque tokens, without sessions" : "JWTs"
        it.scopedLive(`is logged in to and widens its scopes behind ${name} with ${way} at ${version}`, () =>
          Effect.gen(function*() {
            const provider = yield* Provider.make({ format: introspects ? "opaque" : "jwt", clients })
            const server = yield* Guarded.make(provider, { shell, http: { legacy }, introspects })
            const program = yield* Program.make()
            const client = yield* program.connect(server.url, version)
            const read = yield* whoami(client)
            assert.deepInclude(read, { name: "ada", scopes: ["notes:read"] })
            assert.lengthOf(program.visitor.opened, 1)
            const { isError = false } = yield* client.callTool("write")
            assert.isFalse(isError)
            assert.lengthOf(program.visitor.opened, 2)
            assert.sameMembers([...(yield* whoami(client)).scopes], ["notes:read", "notes:write"])
            if (introspects) yield* provider.forget("AccessToken")
            // A token that is signed with a key which the server does not know yet.
            else yield* provider.rotateKeys(true)
            yield* program.advance(3600)
            assert.strictEqual((yield* program.provide(whoami(client))).clientId, read.clientId)
            assert.strictEqual(provider.count("POST /token"), 3)
            assert.lengthOf(program.visitor.opened, 2)
          }))
      }
    }
  }

  it.scopedLive("MUST answer 401 to a token that was revoked, when it introspects tokens", () =>
    Effect.gen(function*() {
      const provider = yield* Provider.make({ format: "opaque", clients })
      const server = yield* Guarded.make(provider, { introspects: true })
      const program = yield* Program.make()
      const client = yield* program.connect(server.url)
      yield* whoami(client)
      yield* program.authorization.logout(server.url)
      assert.strictEqual(provider.count("POST /token/revocation"), 2)
      // The same connection needs another login.
      yield* whoami(client)
      assert.lengthOf(program.visitor.opened, 2)
    }))

  it.scopedLive("MUST refuse a token for another resource or audience before it does anything", () =>
    Effect.gen(function*() {
      for (const introspects of [false, true]) {
        const provider = yield* Provider.make({ format: introspects ? "opaque" : "jwt", clients })
        const server = yield* Guarded.make(provider, { introspects })
        const right = yield* tokenFor(provider, server.url)
        assert.strictEqual(yield* statusOf(server.url, right), 200)
        for (const other of ["https://other.example/mcp", `${server.url}/other`, new URL("/", server.url).href]) {
          assert.strictEqual(yield* statusOf(server.url, yield* tokenFor(provider, other)), 401, other)
        }
        yield* provider.setAudience("https://other.example/mcp")
        const program = yield* Program.make()
        const error = Program.causeOf(yield* Effect.flip(program.connect(server.url)))
        assert.strictEqual(error.reason, "TokenRefused")
        assert.strictEqual(server.calls(), 0)
        // A token in the query is malformed.
        const inQuery = yield* ask(`${server.url}?access_token=${right}`, initialize())
        assert.strictEqual(inQuery.status, 400)
      }
    }))

  it.scopedLive("MUST refuse a token of an authorization server that it does not name", () =>
    Effect.gen(function*() {
      const [provider, other] = yield* Effect.all([Provider.make({ clients }), Provider.make({ clients })])
      const server = yield* Guarded.make(provider)
      assert.strictEqual(yield* statusOf(server.url, yield* tokenFor(provider, server.url)), 200)
      assert.strictEqual(yield* statusOf(server.url, yield* tokenFor(other, server.url)), 401)
    }))

  it.scopedLive("accepts tokens of a server whose clock differs a little, and refuses them when it differs much", () =>
    Effect.gen(function*() {
      const tokens: ReadonlyArray<readonly [skew: number, life: number, status: number]> = [
        [20, 60, 200],
        [-20, 60, 200],
        // Expired for 10 seconds, which the tolerance covers, and for 100.
        [-70, 60, 200],
        [-160, 60, 401]
      ]
      for (const [clockSkew, tokenLife, status] of tokens) {
        const provider = yield* Provider.make({ clients, clockSkew, tokenLife })
        const server = yield* Guarded.make(provider)
        assert.strictEqual(
          yield* statusOf(server.url, yield* tokenFor(provider, server.url)),
          status,
          `${clockSkew} seconds`
        )
      }
    }))

  it.scopedLive("goes on with the keys that it has when the authorization server is gone, and answers 503 when it cannot tell", () =>
    Effect.gen(function*() {
      const provider = yield* Provider.make({ clients })
      const server = yield* Guarded.make(provider)
      const token = yield* tokenFor(provider, server.url)
      const later = yield* tokenFor(provider, server.url)
      assert.strictEqual(yield* statusOf(server.url, token), 200)
      yield* provider.stall("/jwks")
      assert.strictEqual(yield* statusOf(server.url, later), 200)
      const opaque = yield* Provider.make({ clients, format: "opaque" })
      const introspecting = yield* Guarded.make(opaque, { introspects: true, introspection: { cacheFor: "1 hour" } })
      const known = yield* tokenFor(opaque, introspecting.url)
      const unknown = yield* tokenFor(opaque, introspecting.url)
      assert.strictEqual(yield* statusOf(introspecting.url, known), 200)
      yield* opaque.stall("/token/introspection")
      const before = opaque.count("POST /token/introspection")
      const waiting = yield* Effect.fork(statusOf(introspecting.url, unknown))
      yield* until(() => opaque.count("POST /token/introspection") > before)
      // Only the request whose token is not known waits.
      assert.strictEqual(yield* statusOf(introspecting.url, known), 200)
      assert.strictEqual(yield* Fiber.join(waiting), 503)
    }))

  for (const version of ["2025-11-25", "2026-07-28"] as const) {
    it.scopedLive(`accepts tokens that are bound to a key with their proofs only, at ${version}`, () =>
      Effect.gen(function*() {
        const provider = yield* Provider.make({ dpop: true, requireNonce: true })
        const server = yield* Guarded.make(provider)
        const program = yield* Program.make({ dpop: Dpop.es256 })
        const client = yield* program.connect(server.url, version)
        assert.strictEqual((yield* whoami(client)).name, "ada")
        const request = { method: "POST", url: server.url } as never
        const { authorization } = yield* program.authorization.headers(server.url, request)
        for (const scheme of ["Bearer", "DPoP"]) {
          const headers = { authorization: authorization!.replace(/^DPoP/, scheme) }
          assert.strictEqual((yield* ask(server.url, initialize(), headers)).status, 401)
        }
      }))
  }

  for (const [name, make] of Object.entries(OfficialClient.clients)) {
    it.scopedLive(`is logged in to by ${name}`, () =>
      Effect.gen(function*() {
        const provider = yield* Provider.make()
        const server = yield* Guarded.make(provider)
        const official = yield* OfficialClient.connect(make, server.url)
        assert.deepInclude(yield* official.whoami, { name: "ada", scopes: ["notes:read"] })
      }))
  }
})
