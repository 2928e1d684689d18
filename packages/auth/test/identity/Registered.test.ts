import * as KeyValueStore from "@effect/platform/KeyValueStore"
import { assert, describe, it } from "@effect/vitest"
import type { AuthorizationError } from "@effect-mcp/auth/AuthorizationError"
import * as CredentialStore from "@effect-mcp/auth/CredentialStore"
import { Deferred, Effect, Fiber, Redacted } from "effect"
import * as Registered from "../../src/identity/Registered.js"

const ISSUER = "https://auth.test"

const registration: CredentialStore.Registration = {
  clientId: "one",
  clientSecret: undefined,
  authMethod: "none",
  secretExpiresAt: undefined,
  redirectUris: [],
  management: { url: `${ISSUER}/client`, token: Redacted.make("its-own") },
  resources: ["a"]
}

/** A store that lets other fibers run at each step, as a store of files does. `reading` is complete when it is read. */
const slow = Effect.gen(function*() {
  const memory = yield* KeyValueStore.KeyValueStore
  const reading = yield* Deferred.make<void>()
  const store = CredentialStore.make({
    ...memory,
    get: (key) =>
      Effect.zipRight(Deferred.succeed(reading, undefined), Effect.zipRight(Effect.yieldNow(), memory.get(key))),
    set: (key, value) => Effect.zipRight(Effect.yieldNow(), memory.set(key, value))
  })
  yield* store.registrations.set(registration, ISSUER)
  return { store, reading }
}).pipe(Effect.provide(KeyValueStore.layerMemory))

const binding = (resource: string): CredentialStore.Binding => ({
  issuer: ISSUER,
  resource,
  scopes: undefined,
  key: undefined
})

describe("the registration of a client that logs in and out at the same moment", () => {
  it.effect("knows all resources that use it", () =>
    Effect.gen(function*() {
      const { store } = yield* slow
      const uses = ["b", "c", "d"].map((resource) => Registered.use(store, ISSUER, resource, registration))
      assert.deepStrictEqual(yield* Effect.all(uses, { concurrency: "unbounded" }), [true, true, true])
      assert.sameMembers([...(yield* store.registrations.get(ISSUER))!.resources!], ["a", "b", "c", "d"])
    }))

  it.effect("is deleted, or is used by the login, and never both", () =>
    Effect.gen(function*() {
      for (const isLoginFirst of [true, false]) {
        const { reading, store } = yield* slow
        const login = Registered.use(store, ISSUER, "b", registration)
        const logout = Registered.release(store, binding("a"), "one")
        const first = yield* Effect.fork<unknown, AuthorizationError, never>(isLoginFirst ? login : logout)
        yield* Deferred.await(reading)
        const second = yield* isLoginFirst ? logout : login
        const [isUsed, deleted] = isLoginFirst ? [yield* Fiber.join(first), second] : [second, yield* Fiber.join(first)]
        assert.strictEqual(isUsed, isLoginFirst)
        assert.strictEqual(deleted === undefined, isLoginFirst)
        const left = yield* store.registrations.get(ISSUER)
        assert.deepStrictEqual(left?.resources, isLoginFirst ? ["b"] : undefined)
      }
    }))
})
