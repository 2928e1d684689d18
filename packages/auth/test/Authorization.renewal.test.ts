import { assert, describe, it } from "@effect/vitest"
import { AuthorizationError } from "@effect-mcp/auth/AuthorizationError"
import * as CredentialStore from "@effect-mcp/auth/CredentialStore"
import * as Dpop from "@effect-mcp/auth/Dpop"
import { Deferred, Effect, Fiber, Layer, Logger, LogLevel, Redacted, TestClock } from "effect"
import * as Net from "./Net.js"
import * as World from "./World.js"

/** Lets everything go on that needs no clock. */
const turns = Effect.repeatN(Effect.promise(() => new Promise((resolve) => setImmediate(resolve))), 10)

const grants = (world: World.World) => world.sent("POST /token").map(({ form }) => form.get("grant_type"))

describe("A token that is about to expire", () => {
  it.effect("is renewed a minute before, while requests go on with it", () =>
    Effect.gen(function*() {
      const release = yield* Deferred.make<void>()
      const asked = yield* Deferred.make<void>()
      const failed = yield* Deferred.make<void>()
      const logger = Logger.make(({ message }) => {
        if (String(message).includes("was not renewed")) Deferred.unsafeDone(failed, Effect.void)
      })
      let slow = false
      const world = World.make({
        expiresIn: 600,
        instead: ({ form }) =>
          slow && form.get("grant_type") === "refresh_token"
            ? Deferred.succeed(asked, undefined).pipe(
              Effect.zipRight(Deferred.await(release)),
              Effect.as(new Response("{}", { status: 400 }))
            )
            : undefined
      })
      yield* World.run(world, (client) =>
        Effect.gen(function*() {
          yield* TestClock.adjust("8 minutes")
          yield* client.ping()
          assert.deepStrictEqual(grants(world), ["authorization_code"])
          yield* TestClock.adjust("70 seconds")
          slow = true
          // The authorization server does not answer, and no request waits for it.
          yield* Effect.all(Array.from({ length: 20 }, () => client.ping()), { concurrency: "unbounded" })
          yield* Deferred.await(asked)
          assert.deepStrictEqual(grants(world), ["authorization_code", "refresh_token"])
          slow = false
          yield* Deferred.succeed(release, undefined)
          yield* Deferred.await(failed)
          yield* client.ping()
          // Not again within 30 seconds after a renewal that failed.
          assert.lengthOf(grants(world), 2)
          yield* TestClock.adjust("31 seconds")
          yield* client.ping()
          while (grants(world).length < 3) yield* turns
          assert.lengthOf(world.opened, 1)
        })).pipe(
          Effect.provide(Logger.replace(Logger.defaultLogger, logger)),
          Logger.withMinimumLogLevel(LogLevel.Debug)
        )
    }))

  it.effect("is waited for when it has expired, once for all requests", () =>
    Effect.gen(function*() {
      const world = World.make({ expiresIn: 100 })
      yield* World.run(world, (client) =>
        Effect.gen(function*() {
          yield* TestClock.adjust("2 minutes")
          const before = world.sent("POST /mcp").length
          yield* Effect.all(Array.from({ length: 100 }, () => client.ping()), { concurrency: "unbounded" })
          assert.deepStrictEqual(grants(world), ["authorization_code", "refresh_token"])
          assert.lengthOf(world.sent("POST /mcp").slice(before), 100)
        }))
    }))

  it.effect("MUST NOT be assumed to come with a refresh token", () =>
    Effect.gen(function*() {
      const world = World.make({ expiresIn: 100, refreshTokens: "none" })
      yield* World.run(world, (client) => Effect.zipRight(TestClock.adjust("2 minutes"), client.ping()))
      assert.deepStrictEqual(grants(world), ["authorization_code", "authorization_code"])
      assert.lengthOf(world.opened, 2)
    }))

  it.effect("leads to a login when its refresh token is refused", () =>
    Effect.gen(function*() {
      const world = World.make({ expiresIn: 100 })
      yield* World.run(world, (client) =>
        Effect.gen(function*() {
          world.server.revokeRefresh()
          yield* TestClock.adjust("2 minutes")
          yield* client.ping()
          assert.lengthOf(world.opened, 2)
        }))
    }))

  it.effect("leads to no timeout of another client's request, however long the user takes to log in", () =>
    Effect.gen(function*() {
      const asked = yield* Deferred.make<void>()
      const release = yield* Deferred.make<void>()
      const world: World.World = World.make({
        expiresIn: 100,
        browse: (_, consent) =>
          world.opened.length === 1
            ? consent
            : Deferred.succeed(asked, undefined).pipe(
              Effect.zipRight(Deferred.await(release)),
              Effect.zipRight(consent)
            )
      })
      yield* World.run(world, (client) =>
        Effect.gen(function*() {
          const other = yield* world.connect
          world.server.revokeRefresh()
          yield* TestClock.adjust("2 minutes")
          const first = yield* Effect.fork(client.ping())
          yield* Deferred.await(asked)
          yield* TestClock.adjust("31 seconds")
          const second = yield* Effect.fork(other.ping())
          yield* turns
          yield* TestClock.adjust("2 minutes")
          yield* Deferred.succeed(release, undefined)
          yield* Fiber.join(first)
          yield* Fiber.join(second)
          assert.lengthOf(world.opened, 2)
        }))
    }))

  it.effect("does not lead to a login when the authorization server is not available", () =>
    Effect.gen(function*() {
      for (const status of [500, 503, 429]) {
        const world = World.make({
          instead: ({ form }) =>
            form.get("grant_type") === "refresh_token" ? new Response("{\"error\":\"x\"}", { status }) : undefined
        })
        const error = yield* World.run(world, (client) =>
          Effect.zipRight(Effect.sync(world.server.revoke), Effect.flip(client.ping())))
        assert.strictEqual(World.causeOf(error).reason, "Unreachable")
        assert.lengthOf(world.opened, 1)
      }
    }))

  it.effect("is used when it cannot be stored", () =>
    Effect.gen(function*() {
      const store = yield* Effect.provide(CredentialStore.CredentialStore, CredentialStore.layerMemory)
      const full = new AuthorizationError({ reason: "Store", message: "The disk is full" })
      const broken = { ...store, tokens: { ...store.tokens, set: () => Effect.fail(full) } }
      const world = World.make({ store: Layer.succeed(CredentialStore.CredentialStore, broken) })
      yield* World.run(world, (client) => client.ping())
      assert.lengthOf(world.opened, 1)
    }))

  it.effect("leaves no used refresh token in a store that is full: the next program would end the login with it", () =>
    Effect.gen(function*() {
      const store = yield* Effect.provide(CredentialStore.CredentialStore, CredentialStore.layerMemory)
      let isFull = false
      const set: typeof store.tokens.set = (tokens, ...key) =>
        isFull && tokens !== undefined
          ? Effect.fail(new AuthorizationError({ reason: "Store", message: "The disk is full" }))
          : store.tokens.set(tokens, ...key)
      const full = Layer.succeed(CredentialStore.CredentialStore, { ...store, tokens: { ...store.tokens, set } })
      const world = World.make({ expiresIn: 100, store: full })
      yield* World.run(world, (client) =>
        Effect.gen(function*() {
          isFull = true
          yield* TestClock.adjust("101 seconds")
          yield* client.ping()
          yield* World.run(world, (other) => other.ping())
          yield* client.ping()
        }))
      assert.deepStrictEqual(grants(world), ["authorization_code", "refresh_token", "authorization_code"])
    }))

  for (const expires_in of [0, "", 1e308]) {
    it.effect(`is used until it is refused when its life is not a time: ${JSON.stringify(expires_in)}`, () =>
      Effect.gen(function*() {
        const store = yield* Effect.provide(CredentialStore.CredentialStore, CredentialStore.layerMemory)
        let issued = ""
        const world: World.World = World.make({
          store: Layer.succeed(CredentialStore.CredentialStore, store),
          instead: ({ url }) =>
            url.pathname !== "/token" ? undefined : Effect.map(
              world.server.issue({ resource: World.SERVER }),
              (token) =>
                Net.json({ access_token: issued = token, token_type: "Bearer", refresh_token: "r", expires_in })
            )
        })
        yield* World.run(world, (client) => Effect.zipRight(client.ping(), client.ping()))
        yield* World.run(world, (client) => client.ping())
        assert.deepStrictEqual(grants(world), ["authorization_code"])
        assert.strictEqual(world.sent("POST /mcp").at(-1)!.headers["authorization"], `Bearer ${issued}`)
      }))
  }

  it.effect("keeps its refresh token when the server issues no other", () =>
    Effect.gen(function*() {
      let refreshes = 0
      const world = World.make({
        expiresIn: 100,
        instead: ({ form }) => {
          if (form.get("grant_type") !== "refresh_token") return undefined
          refreshes++
          return new Response(JSON.stringify({ access_token: "fixed", token_type: "bearer", expires_in: 100 }))
        }
      })
      yield* Effect.ignore(World.run(world, (client) =>
        Effect.gen(function*() {
          yield* TestClock.adjust("2 minutes")
          yield* Effect.ignore(client.ping())
          yield* TestClock.adjust("2 minutes")
          yield* Effect.ignore(client.ping())
        })))
      assert.isAtLeast(refreshes, 2)
      const sent = world.sent("POST /token").map(({ form }) => form.get("refresh_token")).slice(1, 3)
      assert.strictEqual(sent[0], sent[1])
    }))

  it.effect("is not refreshed when another process has done it and stored the token", () =>
    Effect.gen(function*() {
      const store = yield* Effect.provide(CredentialStore.CredentialStore, CredentialStore.layerMemory)
      const shared = { store: Layer.succeed(CredentialStore.CredentialStore, store) }
      const world = World.make(shared)
      yield* World.run(world, (client) =>
        Effect.gen(function*() {
          world.server.revoke()
          // Another client with the same store.
          yield* World.run(world, (other) => other.ping())
          assert.lengthOf(grants(world), 2)
          yield* client.ping()
          assert.lengthOf(grants(world), 2)
        }))
    }))

  for (const dpop of [undefined, Dpop.es256]) {
    it.effect(`is refreshed by one of several clients with the same store only, ${dpop ? "with" : "without"} a key`, () =>
      Effect.gen(function*() {
        const store = yield* Effect.provide(CredentialStore.CredentialStore, CredentialStore.layerMemory)
        const world = World.make({
          store: Layer.succeed(CredentialStore.CredentialStore, store),
          expiresIn: 100,
          authorization: { dpop },
          ...(dpop === undefined ? undefined : { metadata: { dpop_signing_alg_values_supported: ["ES256"] } })
        })
        const scope = yield* Effect.scope
        // The first one logs in.
        const clients = yield* Effect.forEach(
          [1, 2, 3],
          () =>
            Effect.flatMap(
              Layer.buildWithScope(world.layer, scope),
              (context) => Effect.map(Effect.provide(world.connect, context), (client) => client)
            )
        )
        for (let round = 1; round < 4; round++) {
          yield* TestClock.adjust("101 seconds")
          yield* Effect.all(clients.map((client) => client.ping()), { concurrency: "unbounded" })
          assert.lengthOf(grants(world), 1 + round)
        }
        assert.lengthOf(world.opened, 1)
      }).pipe(Effect.scoped))
  }

  it.effect("waits no longer for the authorization server than `requestTimeout`", () =>
    Effect.gen(function*() {
      const world = World.make({
        expiresIn: 100,
        instead: ({ form }) => form.get("grant_type") === "refresh_token" ? Effect.never : undefined
      })
      yield* World.run(world, (client) =>
        Effect.gen(function*() {
          yield* TestClock.adjust("2 minutes")
          const calling = yield* Effect.fork(Effect.flip(client.ping({ timeout: "5 minutes" })))
          // For the renewal before the request, and for the one after its refusal.
          for (const refreshes of [1, 2]) {
            const isSent = () => grants(world).filter((one) => one === "refresh_token").length === refreshes
            while (!isSent()) yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
            yield* Effect.yieldNow({ priority: 10 })
            yield* TestClock.adjust("30 seconds")
          }
          assert.strictEqual(World.causeOf(yield* Fiber.join(calling)).reason, "Unreachable")
        }))
    }))
})

describe("Stored credentials", () => {
  it.effect("are redacted, and kept by issuer", () =>
    Effect.gen(function*() {
      const store = yield* Effect.provide(CredentialStore.CredentialStore, CredentialStore.layerMemory)
      const world = World.make({
        store: Layer.succeed(CredentialStore.CredentialStore, store),
        metadata: { token_endpoint_auth_methods_supported: ["client_secret_basic"] }
      })
      yield* World.run(world, () => Effect.void)
      const tokens = yield* store.tokens.get(World.ISSUER, World.SERVER)
      assert.isTrue(Redacted.isRedacted(tokens?.accessToken) && Redacted.isRedacted(tokens?.refreshToken))
      const registration = yield* store.registrations.get(World.ISSUER)
      assert.isTrue(Redacted.isRedacted(registration?.clientSecret))
      assert.isUndefined(yield* store.tokens.get("https://other.test", World.SERVER))
      assert.isUndefined(yield* store.registrations.get(`${World.ISSUER}/`))
    }))
})
