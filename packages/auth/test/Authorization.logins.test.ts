import * as Headers from "@effect/platform/Headers"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import { assert, describe, it } from "@effect/vitest"
import * as Authorization from "@effect-mcp/auth/Authorization"
import { AuthorizationError } from "@effect-mcp/auth/AuthorizationError"
import * as CredentialStore from "@effect-mcp/auth/CredentialStore"
import type { Grant } from "@effect-mcp/auth/Grant"
import { HttpResponseError } from "@effect-mcp/core/HttpResponseError"
import { Deferred, Effect, Fiber, Layer, Option, Redacted, TestClock } from "effect"
import * as World from "./World.js"

/** Lets everything go on that needs no clock. */
const turns = Effect.repeatN(Effect.promise(() => new Promise((resolve) => setImmediate(resolve))), 10)

const post = HttpClientRequest.post(World.SERVER)

const headers = Effect.flatMap(Authorization.Authorization, (one) => one.headers(World.SERVER, post))

/** What happens to a request that the server has refused: with 403 when it lacks a scope, else with 401. */
const refused = (sent: Headers.Input = {}, { attempt = 1, scope }: { attempt?: number; scope?: string } = {}) => {
  const challenge = scope === undefined ? `error="invalid_token"` : `error="insufficient_scope", scope="${scope}"`
  return Effect.flatMap(Authorization.Authorization, (one) =>
    one.onRefused({
      request: HttpClientRequest.setHeaders(post, sent),
      refusal: new HttpResponseError({
        method: "POST",
        url: World.SERVER,
        status: scope === undefined ? 401 : 403,
        headers: Headers.fromInput({ "www-authenticate": `Bearer ${challenge}` }),
        body: ""
      }),
      server: World.SERVER,
      attempt,
      memory: new Map()
    }))
}

const login = Effect.flatMap(Authorization.Authorization, (one) => one.login(World.SERVER))

const logout = Effect.flatMap(Authorization.Authorization, (one) => one.logout(World.SERVER))

const storing = (change: (store: CredentialStore.CredentialStoreService) => CredentialStore.CredentialStoreService) =>
  Layer.effect(
    CredentialStore.CredentialStore,
    Effect.map(CredentialStore.CredentialStore, change)
  ).pipe(Layer.provide(CredentialStore.layerMemory))

/** A grant that asks the user in this way. */
const asking = (obtain: Grant["obtain"]): Grant => ({
  isInteractive: true,
  isRegistered: () => false,
  client: () => Effect.succeed({ clientId: "app" }),
  obtain
})

describe("A request with expired tokens", () => {
  it.effect("is sent at once while another request looks for the tokens of another process, and may then ask the user", () =>
    Effect.gen(function*() {
      const looks = yield* Deferred.make<void>()
      const release = yield* Deferred.make<void>()
      let isSlow = false
      const store = storing((store) => ({
        ...store,
        tokens: {
          ...store.tokens,
          get: (...key) =>
            isSlow
              ? Effect.zipRight(
                Effect.zipRight(Deferred.succeed(looks, undefined), Deferred.await(release)),
                store.tokens.get(...key)
              )
              : store.tokens.get(...key)
        }
      }))
      const world = World.make({ expiresIn: 100, store })
      yield* Effect.gen(function*() {
        yield* login
        const sent = yield* headers
        yield* TestClock.adjust("2 minutes")
        isSlow = true
        const first = yield* Effect.fork(refused(sent))
        yield* Deferred.await(looks)
        const second = yield* Effect.fork(headers)
        yield* turns
        assert.isTrue(Option.isSome(yield* Fiber.poll(second)), "the request waits")
        assert.deepStrictEqual(yield* Fiber.join(second), sent)
        // Once the server has refused it, it waits for the same run: its timeouts stand still now.
        const again = yield* Effect.fork(refused(sent))
        yield* turns
        assert.isTrue(Option.isNone(yield* Fiber.poll(again)))
        isSlow = false
        yield* Deferred.succeed(release, undefined)
        assert.isTrue(yield* Fiber.join(first))
        assert.isTrue(yield* Fiber.join(again))
        assert.notDeepEqual(yield* headers, sent)
        assert.lengthOf(world.opened, 1)
      }).pipe(Effect.provide(world.layer))
    }))
})

describe("A renewal", () => {
  it.effect("does not ask the user, also when another process has stored expired tokens that only the user can renew", () =>
    Effect.gen(function*() {
      const store = yield* Effect.provide(CredentialStore.CredentialStore, CredentialStore.layerMemory)
      const world = World.make({ expiresIn: 100, store: Layer.succeed(CredentialStore.CredentialStore, store) })
      yield* Effect.gen(function*() {
        yield* login
        const tokens = yield* store.tokens.get(World.ISSUER, World.SERVER)
        const other = { ...tokens!, accessToken: Redacted.make("other"), refreshToken: undefined }
        yield* store.tokens.set(other, World.ISSUER, World.SERVER)
        yield* TestClock.adjust("2 minutes")
        const sent = yield* headers
        assert.deepStrictEqual(sent, { authorization: "Bearer other" })
        assert.lengthOf(world.opened, 1)
        // The server refuses the request, and only now the browser opens.
        assert.isTrue(yield* refused(sent))
        assert.lengthOf(world.opened, 2)
      }).pipe(Effect.provide(world.layer))
    }))
})

describe("A refused request", () => {
  it.effect("that waited for the login of another request gets the scope that it needs itself", () =>
    Effect.gen(function*() {
      const world = World.make()
      yield* Effect.gen(function*() {
        yield* login
        const sent = yield* headers
        const both = ["read", "write"].map((scope) => refused(sent, { scope }))
        assert.deepStrictEqual(yield* Effect.all(both, { concurrency: "unbounded" }), [true, true])
        const scopes = world.opened.map(({ searchParams }) => searchParams.get("scope"))
        assert.deepStrictEqual(scopes, [null, "read", "read write"])
      }).pipe(Effect.provide(world.layer))
    }))

  it.effect("takes the tokens that another process has stored, without a login", () =>
    Effect.gen(function*() {
      const store = yield* Effect.provide(CredentialStore.CredentialStore, CredentialStore.layerMemory)
      const world = World.make({ refreshTokens: "none", store: Layer.succeed(CredentialStore.CredentialStore, store) })
      yield* Effect.gen(function*() {
        yield* login
        const sent = yield* headers
        const tokens = yield* store.tokens.get(World.ISSUER, World.SERVER)
        yield* store.tokens.set({ ...tokens!, accessToken: Redacted.make("other") }, World.ISSUER, World.SERVER)
        assert.isTrue(yield* refused(sent))
        assert.deepStrictEqual(yield* headers, { authorization: "Bearer other" })
        assert.lengthOf(world.opened, 1)
      }).pipe(Effect.provide(world.layer))
    }))

  it.effect("fails for a time like the one before it, whose new token the server has refused", () =>
    Effect.gen(function*() {
      const world = World.make({ refreshTokens: "none" })
      yield* Effect.gen(function*() {
        yield* login
        const sent = yield* headers
        assert.strictEqual((yield* Effect.flip(refused(sent, { attempt: 2 }))).reason, "TokenRefused")
        assert.strictEqual((yield* Effect.flip(refused(sent))).reason, "TokenRefused")
        assert.lengthOf(world.opened, 1)
        yield* TestClock.adjust("31 seconds")
        assert.isTrue(yield* refused(sent))
        assert.lengthOf(world.opened, 2)
      }).pipe(Effect.provide(world.layer))
    }))

  it.effect("asks the user again after a logout, also soon after the user has denied a login", () =>
    Effect.gen(function*() {
      let asked = 0
      const denied = new AuthorizationError({ reason: "Denied", message: "No" })
      const grant = asking(() => Effect.zipRight(Effect.sync(() => asked++), Effect.fail(denied)))
      yield* Effect.gen(function*() {
        yield* Effect.flip(refused())
        yield* Effect.flip(refused())
        assert.strictEqual(asked, 1)
        yield* logout
        yield* Effect.flip(refused())
        assert.strictEqual(asked, 2)
      }).pipe(Effect.provide(World.make({ grant }).layer))
    }))
})

describe("A login where the store fails to remove a client that the authorization server has forgotten:", () => {
  const broken = new AuthorizationError({ reason: "Store", message: "The disk is full" })
  const store = storing((store) => ({
    ...store,
    registrations: { ...store.registrations, set: () => Effect.fail(broken) }
  }))

  /** The reasons of two requests, one soon after the other, and how often the user was asked. */
  const twice = Effect.fnUntraced(function*(reason: AuthorizationError["reason"]) {
    let asked = 0
    const grant = asking(() =>
      Effect.suspend(() => {
        asked++
        return Effect.fail(new AuthorizationError({ reason, message: "Who is that?", error: "invalid_client" }))
      })
    )
    const reasons = yield* Effect.replicateEffect(Effect.flip(refused()), 2).pipe(
      Effect.provide(World.make({ grant, store }).layer)
    )
    return { reasons: reasons.map((error) => error.reason), asked }
  })

  it.effect("the error of the login says what the user has seen: the login counts when the user has denied it", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* twice("Denied"), { reasons: ["Denied", "Denied"], asked: 1 })
    }))

  it.effect("the error of the login says what the user has seen: a login that showed nothing does not count", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* twice("UnknownClient"), { reasons: ["UnknownClient", "UnknownClient"], asked: 2 })
    }))
})

describe("A login that was interrupted", () => {
  it.effect("does not lend the consent of its user to the next login, which fails before the user has seen anything", () =>
    Effect.gen(function*() {
      const latches = yield* Effect.replicateEffect(Deferred.make<void>(), 3)
      const begun = yield* Effect.replicateEffect(Deferred.make<void>(), 3)
      let asked = 0
      const unreachable = new AuthorizationError({ reason: "Unreachable", message: "There is no answer" })
      const world: World.World = World.make({
        grant: asking((context) =>
          Effect.suspend(() => {
            const login = asked++
            const answer = Effect.suspend(() =>
              login === 0 ? context.token({ clientId: "app" }, { code: "1" }) : Effect.fail(unreachable)
            )
            return Deferred.succeed(begun[login]!, undefined).pipe(
              Effect.zipRight(Deferred.await(latches[login]!)),
              Effect.zipRight(answer),
              Effect.uninterruptible
            )
          })
        )
      })
      yield* Effect.gen(function*() {
        const first = yield* Effect.fork(refused())
        yield* Deferred.await(begun[0]!)
        yield* Fiber.interrupt(first)
        const second = yield* Effect.fork(Effect.flip(refused()))
        yield* Deferred.await(begun[1]!)
        yield* Deferred.succeed(latches[0]!, undefined)
        while (world.sent("POST /token").length === 0) yield* turns
        yield* Deferred.succeed(latches[1]!, undefined)
        assert.strictEqual((yield* Fiber.join(second)).reason, "Unreachable")
        yield* Deferred.succeed(latches[2]!, undefined)
        yield* Effect.flip(refused())
        assert.strictEqual(asked, 3)
      }).pipe(Effect.provide(world.layer))
    }))
})
