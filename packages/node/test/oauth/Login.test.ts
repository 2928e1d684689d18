/**
 * Programs that log in at a real authorization server, `oidc-provider`, over sockets: from the first request without a token
 * to the logout.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Program from "./Program.js"
import * as Protected from "./Protected.js"
import * as Provider from "./Provider.js"
import * as Visitor from "./Visitor.js"

const whoami = Protected.whoami

/** A program that has logged in where tokens can be revoked. */
const opaque = Effect.gen(function*() {
  const provider = yield* Provider.make({ format: "opaque", clients: [Protected.introspector] })
  const server = yield* Protected.make(provider, { introspect: true })
  const program = yield* Program.make()
  return { client: yield* program.connect(server.url), program, provider, server }
})

describe("A program that a person uses", () => {
  for (const version of ["2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"] as const) {
    for (const introspect of [false, true]) {
      const tokens = introspect ? "opaque tokens" : "JWTs"
      it.scopedLive(`logs in, is served, refreshes, logs out and logs in again, with ${tokens} at ${version}`, () =>
        Effect.gen(function*() {
          const provider = yield* Provider.make({
            format: introspect ? "opaque" : "jwt",
            clients: [Protected.introspector]
          })
          const server = yield* Protected.make(provider, { introspect })
          const program = yield* Program.make()
          const { authorization, visitor } = program
          const client = yield* program.connect(server.url, version)
          assert.strictEqual(client.version, version)
          const user = yield* whoami(client)
          assert.deepInclude(user, { name: "ada", scopes: ["notes:read"] })
          const toProvider = provider.requests.filter((one) => !/introspection|jwks/.test(one))
          assert.deepStrictEqual([...new Set(toProvider)], [
            "GET /.well-known/oauth-authorization-server",
            "POST /reg",
            "GET /auth",
            "GET /interaction",
            "POST /interaction",
            "POST /token"
          ])
          assert.strictEqual(provider.count("POST /token"), 1)
          // The tokens expire.
          yield* program.advance(3600)
          assert.deepStrictEqual(yield* program.provide(whoami(client)), user)
          assert.strictEqual(provider.count("POST /token"), 2)
          assert.lengthOf(visitor.opened, 1)
          yield* program.provide(authorization.logout(server.url))
          assert.deepInclude(yield* program.provide(whoami(client)), { name: "ada", scopes: ["notes:read"] })
          assert.lengthOf(visitor.opened, 2)
          assert.strictEqual(provider.count("POST /token"), 3)
        }))
    }
  }

  it.scopedLive("fails with what the authorization server says when the user cancels", () =>
    Effect.gen(function*() {
      const provider = yield* Provider.make()
      const server = yield* Protected.make(provider)
      const program = yield* Program.make({ visitor: Visitor.make({ consents: false }) })
      const error = Program.causeOf(yield* Effect.flip(program.connect(server.url)))
      assert.deepInclude(error, { reason: "Denied", error: "access_denied" })
      assert.strictEqual(provider.count("POST /token"), 0)
    }))

  it.scopedLive("SHOULD get the scopes that a server requires later, besides those that it has", () =>
    Effect.gen(function*() {
      const provider = yield* Provider.make()
      const server = yield* Protected.make(provider)
      const program = yield* Program.make()
      const client = yield* program.connect(server.url)
      yield* server.require("notes:write")
      assert.sameMembers([...(yield* whoami(client)).scopes], ["notes:read", "notes:write"])
      assert.lengthOf(program.visitor.opened, 2)
      yield* server.require("notes:write", "notes:admin")
      const all = yield* Effect.all(Array.from({ length: 20 }, () => whoami(client)), { concurrency: "unbounded" })
      for (const { scopes } of all) assert.sameMembers([...scopes], ["notes:read", "notes:write", "notes:admin"])
      assert.lengthOf(program.visitor.opened, 3)
      yield* server.require("notes:unknown")
      const error = Program.causeOf(yield* Effect.flip(whoami(client)))
      assert.notInclude(["Browser", "Unreachable"], error.reason)
    }))

  it.scopedLive(
    "refreshes once for a thousand calls that meet one token which the server no longer accepts",
    () =>
      Effect.gen(function*() {
        const { client, program, provider } = yield* opaque
        yield* provider.forget("AccessToken")
        const before = provider.count("POST /token")
        const users = yield* Effect.all(Array.from({ length: 1000 }, () => whoami(client)), {
          concurrency: "unbounded"
        })
        assert.lengthOf(users.filter(({ name }) => name === "ada"), 1000)
        assert.strictEqual(provider.count("POST /token"), before + 1)
        assert.lengthOf(program.visitor.opened, 1)
      }),
    180_000
  )

  it.scopedLive("goes on with each refresh token that it is given: one that is used twice would end the grant", () =>
    Effect.gen(function*() {
      const { client, program, provider } = yield* opaque
      for (let time = 0; time < 5; time++) {
        yield* program.advance(3600)
        const calls = Effect.all([whoami(client), whoami(client), whoami(client)], { concurrency: "unbounded" })
        assert.lengthOf(yield* program.provide(calls), 3)
      }
      assert.strictEqual(provider.count("POST /token"), 6)
      assert.lengthOf(program.visitor.opened, 1)
    }))

  it.scopedLive("logs in again when the authorization server has ended the grant", () =>
    Effect.gen(function*() {
      const { client, program, provider } = yield* opaque
      yield* provider.forget("AccessToken", "RefreshToken", "Grant")
      assert.strictEqual((yield* whoami(client)).name, "ada")
      assert.lengthOf(program.visitor.opened, 2)
    }))

  it.scopedLive("registers again when the authorization server has forgotten it", () =>
    Effect.gen(function*() {
      const { client, provider } = yield* opaque
      yield* provider.forget("AccessToken", "RefreshToken", "Grant")
      yield* provider.forget("Client")
      assert.strictEqual((yield* whoami(client)).name, "ada")
      assert.strictEqual(provider.count("POST /reg"), 2)
    }))
})
