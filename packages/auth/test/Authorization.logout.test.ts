import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import { assert, describe, it } from "@effect/vitest"
import * as Authorization from "@effect-mcp/auth/Authorization"
import type * as ClientIdentity from "@effect-mcp/auth/ClientIdentity"
import { Effect, TestClock } from "effect"
import * as Net from "./Net.js"
import * as World from "./World.js"

const grants = (world: World.World) => world.sent("POST /token").map(({ form }) => form.get("grant_type"))

const OTHER = "https://mcp.test/other"

/** Two servers with one authorization server, where the client has registered once. */
const sharing = World.make.bind(undefined, {
  expiresIn: 100,
  metadata: { revocation_endpoint: `${World.ISSUER}/revoke` },
  instead: ({ url }) => url.pathname === "/revoke" ? new Response(null) : undefined,
  insteadOfMcp: ({ url }) =>
    url.pathname === "/.well-known/oauth-protected-resource/other"
      ? Net.json({ resource: OTHER, authorization_servers: [World.ISSUER] })
      : undefined
})

describe("A logout at one of two servers with one authorization server", () => {
  it.effect("leaves the other its registration, which can refresh its tokens and revoke them", () =>
    Effect.gen(function*() {
      const world = sharing()
      yield* Effect.gen(function*() {
        const { headers, login, logout } = yield* Authorization.Authorization
        yield* login(World.SERVER)
        yield* login(OTHER)
        assert.lengthOf(world.sent("POST /register"), 1)
        yield* logout(World.SERVER)
        yield* TestClock.adjust("2 minutes")
        assert.property(yield* headers(OTHER, HttpClientRequest.post(OTHER)), "authorization")
        assert.deepStrictEqual(grants(world), ["authorization_code", "authorization_code", "refresh_token"])
        yield* logout(OTHER)
      }).pipe(Effect.provide(world.layer))
      assert.lengthOf(world.sent("POST /revoke"), 4)
    }))

  it.effect("registers the client anew at the next login", () =>
    Effect.gen(function*() {
      const world = sharing()
      yield* Effect.gen(function*() {
        const { login, logout } = yield* Authorization.Authorization
        yield* login(World.SERVER)
        yield* login(OTHER)
        yield* logout(World.SERVER)
        yield* login(World.SERVER)
        yield* logout(OTHER)
      }).pipe(Effect.provide(world.layer))
      const [first, second, ...more] = world.opened.map(({ searchParams }) => searchParams.get("client_id"))
      assert.strictEqual(first, second)
      assert.lengthOf(more, 1)
      assert.notStrictEqual(more[0], first)
      assert.lengthOf(world.sent("POST /register"), 2)
      assert.lengthOf(world.sent("POST /revoke"), 4)
    }))
})

/** Adds members to what the authorization server answers to a registration. */
const registering = (more: Readonly<Record<string, unknown>>, options: World.Options = {}) => {
  const { instead } = options
  const world: World.World = World.make({
    ...options,
    instead: (request) => {
      if (request.url.pathname === "/client" && request.method === "DELETE") return new Response(null, { status: 204 })
      if (request.url.pathname !== "/register") return instead?.(request)
      return Net.json({ ...JSON.parse(request.text) as object, client_id: "managed", ...more }, 201)
    },
    clients: { managed: more["client_secret"] as string | undefined }
  })
  return world
}

const loginAndOut = (world: World.World) =>
  Effect.provide(
    Effect.flatMap(
      Authorization.Authorization,
      ({ login, logout }) => Effect.zipRight(login(World.SERVER), logout(World.SERVER))
    ),
    world.layer
  )

describe("A logout where the client can delete its registration (RFC 7592)", () => {
  it.effect("deletes the registration with its own access token", () =>
    Effect.gen(function*() {
      const url = `${World.ISSUER}/client?id=managed`
      const world = registering({ registration_client_uri: url, registration_access_token: "its-own" })
      yield* loginAndOut(world)
      const [deleted, ...more] = world.sent("DELETE /client")
      assert.lengthOf(more, 0)
      assert.strictEqual(deleted?.url.href, url)
      assert.strictEqual(deleted?.headers["authorization"], "Bearer its-own")
    }))

  for (
    const [metadata, issuers, asks] of [
      [{ revocation_endpoint: `${World.ISSUER}/revoke` }, [World.ISSUER], "asks who the client is"],
      [{ revocation_endpoint: undefined }, [], "asks nobody where no tokens are revoked"]
    ] as const
  ) {
    it.effect(`deletes it also when the client is not known any more, and ${asks}`, () =>
      Effect.gen(function*() {
        const asked: Array<string> = []
        const ask: NonNullable<ClientIdentity.ClientIdentity["ask"]> = ({ issuer }) =>
          Effect.suspend(() => {
            asked.push(issuer)
            return Effect.fail("nobody knows")
          })
        const world = registering({
          client_secret: "secret",
          client_secret_expires_at: 60,
          registration_client_uri: `${World.ISSUER}/client`,
          registration_access_token: "its-own"
        }, { identity: { ask }, metadata })
        yield* Effect.gen(function*() {
          const { login, logout } = yield* Authorization.Authorization
          yield* login(World.SERVER)
          yield* TestClock.adjust("2 minutes")
          yield* logout(World.SERVER)
        }).pipe(Effect.provide(world.layer))
        assert.deepStrictEqual(asked, [...issuers])
        assert.lengthOf(world.sent("DELETE /client"), 1)
      }))
  }

  for (
    const url of ["http://127.0.0.1:8000/client", "https://mcp.test/client", "https://auth.test:444/client", "/client"]
  ) {
    it.effect(`MUST NOT send the token to ${url}, where the client has not registered`, () =>
      Effect.gen(function*() {
        const world = registering({ registration_client_uri: url, registration_access_token: "its-own" }, {
          authorization: { privateHosts: ["127.0.0.1"] }
        })
        world.net.add("http://127.0.0.1:8000", () => Effect.succeed(new Response(null)))
        world.net.add("https://auth.test:444", () => Effect.succeed(new Response(null)))
        yield* loginAndOut(world)
        assert.deepStrictEqual(world.net.received.filter(({ method }) => method === "DELETE"), [])
      }))
  }
})

/** A server whose sessions have an id, so that a client ends them with DELETE. */
const sessions = World.make.bind(undefined, {
  insteadOfMcp: ({ headers, text }) =>
    headers["authorization"] !== undefined && text.includes("\"initialize\"")
      ? Net.json(
        {
          jsonrpc: "2.0",
          id: (JSON.parse(text) as { id: number }).id,
          result: { protocolVersion: "2025-11-25", capabilities: {}, serverInfo: { name: "s", version: "1" } }
        },
        200,
        { "mcp-session-id": "one" }
      )
      : undefined
})

/** Runs an effect in a session, which ends before the layer of `Authorization`. */
const inSession = <A, E>(world: World.World, use: Effect.Effect<A, E, Authorization.Authorization>) =>
  Effect.provide(Effect.scoped(Effect.zipRight(world.connect, use)), world.layer)

describe("The end of a session", () => {
  it.effect("does not ask the user to log in after a logout", () =>
    Effect.gen(function*() {
      const world = sessions()
      yield* inSession(
        world,
        Effect.flatMap(Authorization.Authorization, ({ logout }) => logout(World.SERVER))
      )
      assert.lengthOf(world.sent("DELETE /mcp"), 1)
      assert.lengthOf(world.opened, 1)
    }))

  it.effect("does not ask the user to log in when the tokens cannot be refreshed", () =>
    Effect.gen(function*() {
      const world = sessions()
      yield* inSession(
        world,
        Effect.sync(() => {
          world.server.revoke()
          world.server.revokeRefresh()
        })
      )
      assert.lengthOf(world.sent("DELETE /mcp"), 1)
      assert.lengthOf(world.opened, 1)
    }))

  it.effect("refreshes tokens that the server refuses", () =>
    Effect.gen(function*() {
      const world = sessions()
      yield* inSession(world, Effect.sync(() => world.server.revoke()))
      assert.lengthOf(world.sent("DELETE /mcp"), 2)
      assert.deepStrictEqual(grants(world), ["authorization_code", "refresh_token"])
      assert.lengthOf(world.opened, 1)
    }))
})

describe("A client of 2026-07-28 that stays connected", () => {
  /** Answers with the token of the request, which the client may keep for an hour. */
  const echoing = World.make.bind(undefined, {
    versions: ["2026-07-28"] as const,
    expiresIn: 100,
    insteadOfMcp: ({ headers, method, text }) => {
      const token = headers["authorization"]
      if (token === undefined || method !== "POST") return undefined
      const { id, method: name } = JSON.parse(text) as { id: number; method: string }
      const hints = { resultType: "complete", ttlMs: 3_600_000, cacheScope: "private" }
      const result = name === "server/discover"
        ? { ...hints, supportedVersions: ["2026-07-28"], capabilities: { resources: {} } }
        : { ...hints, contents: [{ uri: "me:", text: token }] }
      return Net.json({ jsonrpc: "2.0", id, result })
    }
  })

  const reads = (world: World.World) => world.sent("POST /mcp").filter(({ text }) => text.includes("resources/read"))

  it.effect("MUST NOT serve the next user what it keeps for the user who has logged out", () =>
    Effect.gen(function*() {
      const world = echoing()
      yield* World.run(world, (client) =>
        Effect.gen(function*() {
          const { login, logout } = yield* Authorization.Authorization
          const ada = yield* client.readResource("me:")
          assert.deepStrictEqual(yield* client.readResource("me:"), ada)
          assert.lengthOf(reads(world), 1)
          yield* logout(World.SERVER)
          yield* login(World.SERVER)
          const bob = yield* client.readResource("me:")
          assert.notDeepEqual(bob, ada)
          assert.deepStrictEqual(yield* client.readResource("me:"), bob)
        }))
      assert.deepStrictEqual(
        reads(world).map(({ headers }) => headers["authorization"]?.split("-")[0]),
        ["Bearer access", "Bearer access"]
      )
    }))

  it.effect("asks again once after a renewal of the token", () =>
    Effect.gen(function*() {
      const world = echoing()
      yield* World.run(world, (client) =>
        Effect.gen(function*() {
          const read = client.readResource("me:")
          const before = yield* read
          yield* TestClock.adjust("2 minutes")
          const after = yield* read
          assert.notDeepEqual(after, before)
          assert.deepStrictEqual(yield* read, after)
        }))
      assert.lengthOf(reads(world), 2)
    }))
})
