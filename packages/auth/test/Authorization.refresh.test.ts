import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import { assert, describe, it } from "@effect/vitest"
import * as Authorization from "@effect-mcp/auth/Authorization"
import * as CredentialStore from "@effect-mcp/auth/CredentialStore"
import { Context, Deferred, Effect, Exit, Fiber, Layer, Redacted, Scope, TestClock } from "effect"
import * as World from "./World.js"

const grants = (world: World.World) => world.sent("POST /token").map(({ form }) => form.get("grant_type"))

/** Lets everything go on that needs no clock. */
const turns = Effect.repeatN(Effect.promise(() => new Promise((resolve) => setImmediate(resolve))), 10)

const request = HttpClientRequest.post(World.SERVER)

/** A request whose token has expired; the authorization server has taken the refresh token, and answers after `release`. */
const refreshing = Effect.gen(function*() {
  const taken = yield* Deferred.make<void>()
  const release = yield* Deferred.make<void>()
  let isHeld = true
  const store = yield* Effect.provide(CredentialStore.CredentialStore, CredentialStore.layerMemory)
  const world: World.World = World.make({
    expiresIn: 100,
    store: Layer.succeed(CredentialStore.CredentialStore, store),
    metadata: { revocation_endpoint: `${World.ISSUER}/revoke` },
    instead: (request) => {
      if (request.url.pathname === "/revoke") return new Response(null)
      if (!isHeld || request.form.get("grant_type") !== "refresh_token") return undefined
      isHeld = false
      const answer = world.server.handler(request)
      return Effect.tap(
        Effect.isEffect(answer) ? answer : Effect.succeed(answer),
        () => Effect.zipRight(Deferred.succeed(taken, undefined), Deferred.await(release))
      )
    }
  })
  const layer = yield* Scope.make()
  const context = yield* Layer.buildWithScope(world.layer, layer)
  const authorization = Context.get(context, Authorization.Authorization)
  yield* authorization.login(World.SERVER)
  yield* TestClock.adjust("2 minutes")
  const calling = yield* Effect.fork(authorization.headers(World.SERVER, request))
  yield* Deferred.await(taken)
  return { authorization, calling, close: Scope.close(layer, Exit.void), release, store, world }
})

describe("A refresh that nothing waits for any more", () => {
  it.effect("keeps its tokens when the request has ended: the server takes a refresh token once", () =>
    Effect.gen(function*() {
      const { authorization, calling, close, release, world } = yield* refreshing
      yield* Fiber.interrupt(calling)
      const next = yield* Effect.fork(authorization.headers(World.SERVER, request))
      yield* turns
      yield* Deferred.succeed(release, undefined)
      assert.property(yield* Fiber.join(next), "authorization")
      assert.deepStrictEqual(grants(world), ["authorization_code", "refresh_token"])
      yield* close
    }))

  it.effect("keeps its tokens when the program ends, for the next one", () =>
    Effect.gen(function*() {
      const { close, release, world } = yield* refreshing
      const closing = yield* Effect.fork(close)
      yield* turns
      yield* Deferred.succeed(release, undefined)
      yield* Fiber.join(closing)
      yield* World.run(world, (client) => client.ping())
      assert.deepStrictEqual(grants(world), ["authorization_code", "refresh_token"])
      assert.lengthOf(world.opened, 1)
    }))

  it.effect("is given up 5 seconds after the program has ended", () =>
    Effect.gen(function*() {
      const { close, store } = yield* refreshing
      const before = yield* store.tokens.get(World.ISSUER, World.SERVER)
      const closing = yield* Effect.fork(close)
      yield* turns
      yield* TestClock.adjust("4 seconds")
      yield* turns
      assert.strictEqual((yield* Fiber.poll(closing))._tag, "None")
      yield* TestClock.adjust("1 seconds")
      yield* Fiber.join(closing)
      assert.deepStrictEqual(yield* store.tokens.get(World.ISSUER, World.SERVER), before)
    }))

  it.effect("ends before a logout, which revokes the tokens that it has got", () =>
    Effect.gen(function*() {
      const { authorization, calling, close, release, store, world } = yield* refreshing
      const old = yield* store.tokens.get(World.ISSUER, World.SERVER)
      yield* Fiber.interrupt(calling)
      const leaving = yield* Effect.fork(authorization.logout(World.SERVER))
      yield* turns
      assert.lengthOf(world.sent("POST /revoke"), 0)
      yield* Deferred.succeed(release, undefined)
      yield* Fiber.join(leaving)
      const [revoked] = world.sent("POST /revoke")
      assert.strictEqual(revoked?.form.get("token_type_hint"), "refresh_token")
      assert.notStrictEqual(revoked?.form.get("token"), Redacted.value(old!.refreshToken!))
      assert.isUndefined(yield* store.tokens.get(World.ISSUER, World.SERVER))
      yield* close
    }))

  it.effect("leaves nothing behind after a logout that did not wait for it", () =>
    Effect.gen(function*() {
      const { authorization, calling, close, release, store } = yield* refreshing
      yield* Fiber.interrupt(calling)
      const leaving = yield* Effect.fork(authorization.logout(World.SERVER))
      yield* turns
      yield* Fiber.interrupt(leaving)
      yield* turns
      yield* Deferred.succeed(release, undefined)
      yield* close
      assert.isUndefined(yield* store.tokens.get(World.ISSUER, World.SERVER))
      assert.isUndefined(yield* store.bindings.get(World.SERVER))
    }))
})
