import * as Headers from "@effect/platform/Headers"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import { assert, describe, it } from "@effect/vitest"
import * as Authorization from "@effect-mcp/auth/Authorization"
import * as CredentialStore from "@effect-mcp/auth/CredentialStore"
import * as Dpop from "@effect-mcp/auth/Dpop"
import { HttpResponseError } from "@effect-mcp/core/HttpResponseError"
import { Context, Effect, Layer, TestClock } from "effect"
import * as Jose from "jose"
import * as World from "./World.js"

const supported: World.Options = {
  metadata: { dpop_signing_alg_values_supported: ["ES256"] },
  authorization: { dpop: Dpop.es256 }
}

describe("A client with DPoP", () => {
  it.effect("sends each request with a new proof for its method, address and token", () =>
    Effect.gen(function*() {
      const world = World.make(supported)
      yield* World.run(world, (client) => client.ping())
      const [token] = world.sent("POST /token")
      const sent = [token!, ...world.sent("POST /mcp").slice(1)]
      const ids = new Set<unknown>()
      for (const { headers, method, url } of sent) {
        const proof = headers["dpop"]!
        assert.deepInclude(Jose.decodeProtectedHeader(proof), { typ: "dpop+jwt", alg: "ES256" })
        assert.notProperty(Jose.decodeProtectedHeader(proof).jwk, "d")
        const payload = Jose.decodeJwt(proof)
        assert.deepInclude(payload, { htm: method, htu: `${url.origin}${url.pathname}`, iat: 0 })
        assert.strictEqual(payload["ath"] !== undefined, url.pathname === "/mcp")
        ids.add(payload.jti)
        if (url.pathname === "/mcp") assert.match(headers["authorization"]!, /^DPoP access-/)
      }
      assert.strictEqual(ids.size, sent.length)
    }))

  it.effect("sends a request again with the nonce that either server wants, and keeps it", () =>
    Effect.gen(function*() {
      const world = World.make({ ...supported, nonces: true, mcpNonce: "mcp-nonce", expiresIn: 100 })
      yield* World.run(world, (client) =>
        Effect.gen(function*() {
          yield* client.ping()
          yield* TestClock.adjust("2 minutes")
          const before = world.sent("POST /mcp").length
          yield* client.ping()
          assert.lengthOf(world.sent("POST /mcp"), before + 1)
        }))
      assert.lengthOf(world.sent("POST /token"), 3)
      assert.lengthOf(world.opened, 1)
    }))

  it.effect("sends each of several requests again that one new nonce has refused, with the same token", () =>
    Effect.gen(function*() {
      let nonce = "first"
      const world = World.make({
        ...supported,
        get mcpNonce() {
          return nonce
        }
      })
      yield* World.run(world, (client) =>
        Effect.gen(function*() {
          yield* client.ping()
          const before = world.sent("POST /mcp").length
          nonce = "second"
          yield* Effect.all(Array.from({ length: 10 }, () => client.ping()), { concurrency: "unbounded" })
          assert.lengthOf(world.sent("POST /mcp").slice(before), 20)
        }))
      assert.lengthOf(world.sent("POST /token"), 1)
      assert.lengthOf(world.opened, 1)
    }))

  it.effect("refreshes a token that is refused after its nonce was", () =>
    Effect.gen(function*() {
      let nonce = "first"
      const world = World.make({
        ...supported,
        insteadOfMcp: ({ headers: { dpop } }) =>
          dpop === undefined || Jose.decodeJwt(dpop)["nonce"] === nonce ? undefined : new Response(null, {
            status: 401,
            headers: { "www-authenticate": "DPoP error=\"use_dpop_nonce\"", "dpop-nonce": nonce }
          })
      })
      yield* World.run(world, (client) =>
        Effect.gen(function*() {
          yield* client.ping()
          nonce = "second"
          world.server.revoke()
          yield* client.ping()
        }))
      const grants = world.sent("POST /token").map(({ form }) => form.get("grant_type"))
      assert.deepStrictEqual(grants, ["authorization_code", "refresh_token"])
      assert.lengthOf(world.opened, 1)
    }))

  /** A client that has logged in, and what it does when the server refuses a request with this challenge. */
  const refusing = Effect.gen(function*() {
    const world = World.make(supported)
    const authorization = yield* Effect.map(Layer.build(world.layer), Context.get(Authorization.Authorization))
    yield* authorization.login(World.SERVER)
    const memories = new Map<HttpClientRequest.HttpClientRequest, Map<unknown, unknown>>()
    const refuse = (
      request: HttpClientRequest.HttpClientRequest,
      attempt: number,
      error: string,
      headers: Readonly<Record<string, string>> = {}
    ) =>
      Effect.flatMap(authorization.headers(World.SERVER, request), (own) => {
        const memory = (attempt === 1 ? undefined : memories.get(request)) ?? new Map()
        memories.set(request, memory)
        return authorization.onRefused({
          request: HttpClientRequest.setHeaders(request, own),
          refusal: new HttpResponseError({
            method: request.method,
            url: World.SERVER,
            status: 401,
            headers: Headers.fromInput({ "www-authenticate": `DPoP error="${error}"`, ...headers }),
            body: ""
          }),
          server: World.SERVER,
          attempt,
          memory
        })
      })
    const nonce = (request: HttpClientRequest.HttpClientRequest, attempt: number, nonce: string) =>
      refuse(request, attempt, "use_dpop_nonce", { "dpop-nonce": nonce })
    const grants = () => world.sent("POST /token").map(({ form }) => form.get("grant_type"))
    return { grants, nonce, refuse, world }
  })

  it.scoped("refreshes a token that is refused when a request is sent again whose nonce was refused earlier", () =>
    Effect.gen(function*() {
      const { grants, nonce, refuse, world } = yield* refusing
      const request = HttpClientRequest.bodyText(HttpClientRequest.post(World.SERVER), "{}")
      assert.isTrue(yield* nonce(request, 1, "first"))
      world.server.revoke()
      assert.isTrue(yield* refuse(request, 1, "invalid_token"))
      assert.deepStrictEqual(grants(), ["authorization_code", "refresh_token"])
    }))

  it.scoped("gives a request without a body up after so many refusals, whatever others without a body were refused for", () =>
    Effect.gen(function*() {
      const { grants, nonce, refuse } = yield* refusing
      const [one, other] = [HttpClientRequest.get(World.SERVER), HttpClientRequest.get(World.SERVER)]
      assert.isFalse(yield* refuse(one, 4, "invalid_token"))
      for (const [attempt, given] of ["first", "second", "third"].entries()) {
        assert.isTrue(yield* nonce(other, attempt + 1, given))
      }
      assert.isFalse(yield* refuse(one, 4, "invalid_token"))
      assert.deepStrictEqual(grants(), ["authorization_code"])
    }))

  it.scoped("does not count the refusals of its nonces as attempts, for a request with a body and for one without", () =>
    Effect.gen(function*() {
      for (
        const request of [
          HttpClientRequest.get(World.SERVER),
          HttpClientRequest.bodyText(HttpClientRequest.post(World.SERVER), "{}")
        ]
      ) {
        const { grants, nonce, refuse } = yield* refusing
        for (const [attempt, given] of ["first", "second", "third"].entries()) {
          assert.isTrue(yield* nonce(request, attempt + 1, given))
        }
        assert.isTrue(yield* refuse(request, 4, "invalid_token"))
        assert.deepStrictEqual(grants(), ["authorization_code", "refresh_token"])
      }
    }))

  it.effect("keeps its key with the tokens, so that a later process can send them", () =>
    Effect.gen(function*() {
      const store = yield* Effect.provide(CredentialStore.CredentialStore, CredentialStore.layerMemory)
      const world = World.make({ ...supported, store: Layer.succeed(CredentialStore.CredentialStore, store) })
      yield* World.run(world, (client) => client.ping())
      yield* World.run(world, (client) => client.ping())
      assert.lengthOf(world.opened, 1)
      const keys = world.sent("POST /mcp").slice(1).map(({ headers }) =>
        Jose.decodeProtectedHeader(headers["dpop"]!).jwk!.x
      )
      assert.lengthOf([...new Set(keys)], 1)
      // Without the option, the tokens are of no use.
      yield* store.registrations.set(undefined, World.ISSUER)
      const without = World.make({
        ...supported,
        authorization: {},
        store: Layer.succeed(CredentialStore.CredentialStore, store)
      })
      yield* World.run(without, () => Effect.void)
      assert.lengthOf(without.opened, 1)
    }))

  it.effect("sends bearer tokens where the authorization server does not support it", () =>
    Effect.gen(function*() {
      const world = World.make({
        ...supported,
        metadata: { dpop_signing_alg_values_supported: undefined }
      })
      yield* World.run(world, (client) => client.ping())
      assert.isUndefined(world.sent("POST /token")[0]!.headers["dpop"])
      assert.match(world.sent("POST /mcp")[1]!.headers["authorization"]!, /^Bearer /)
    }))

  it.effect("does not take every nonce as a reason to try again", () =>
    Effect.gen(function*() {
      let nonce = 0
      const world = World.make({
        ...supported,
        instead: ({ url }) =>
          url.pathname === "/token"
            ? new Response(JSON.stringify({ error: "use_dpop_nonce" }), {
              status: 400,
              headers: { "dpop-nonce": `n${++nonce}` }
            })
            : undefined
      })
      assert.strictEqual((yield* World.refused(world)).reason, "TokenRefused")
      assert.lengthOf(world.sent("POST /token"), 2)
    }))
})
