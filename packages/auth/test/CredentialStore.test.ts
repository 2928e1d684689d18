import * as KeyValueStore from "@effect/platform/KeyValueStore"
import { assert, describe, it } from "@effect/vitest"
import * as CredentialStore from "@effect-mcp/auth/CredentialStore"
import { Effect, Redacted } from "effect"

const registration = (clientId: string) => ({
  clientId,
  clientSecret: Redacted.make("a-secret"),
  authMethod: undefined,
  secretExpiresAt: undefined,
  redirectUris: ["http://127.0.0.1/x"]
})

const open = Effect.map(
  Effect.provide(KeyValueStore.KeyValueStore, KeyValueStore.layerMemory),
  (values) => ({ values, store: CredentialStore.make(values) })
)

describe("A store of credentials", () => {
  it.effect("MUST keep them by issuer, exactly as the issuer is written", () =>
    Effect.gen(function*() {
      const { store } = yield* open
      const issuers = [
        "https://a.test",
        "https://a.test/",
        "https://A.test",
        "https://a.test/t1",
        `https://a.test/${"x".repeat(3000)}`
      ]
      for (const issuer of issuers) yield* store.registrations.set(registration(issuer), issuer)
      for (const issuer of issuers) assert.strictEqual((yield* store.registrations.get(issuer))!.clientId, issuer)
      yield* store.registrations.set(undefined, issuers[0]!)
      assert.isUndefined(yield* store.registrations.get(issuers[0]!))
      assert.isDefined(yield* store.registrations.get(issuers[1]!))
    }))

  it.effect("MUST keep tokens by issuer and resource, and never take one for the other", () =>
    Effect.gen(function*() {
      const { store } = yield* open
      const tokens = {
        accessToken: Redacted.make("t"),
        type: "Bearer" as const,
        expiresAt: undefined,
        renewAt: undefined,
        refreshToken: undefined,
        scopes: undefined
      }
      yield* store.tokens.set(tokens, "https://a.test", "https://r.test/x")
      assert.deepStrictEqual(yield* store.tokens.get("https://a.test", "https://r.test/x"), tokens)
      for (
        const key of [
          ["https://a.test"],
          ["https://r.test/x", "https://a.test"],
          ["https://a.test", "https://r.test"],
          ["https://a.testhttps://r.test/x"]
        ]
      ) {
        assert.isUndefined(yield* store.tokens.get(...key))
      }
    }))

  it.effect("takes a record that it cannot read as missing", () =>
    Effect.gen(function*() {
      const { values } = yield* open
      for (const text of ["", "{", "{}", "null", "{\"clientId\":1}"]) {
        const store = CredentialStore.make({ ...values, get: () => Effect.succeedSome(text) })
        assert.isUndefined(yield* store.registrations.get("https://a.test"))
      }
    }))

  it.effect("is in memory by default, and each layer has its own", () =>
    Effect.gen(function*() {
      const store = Effect.provide(CredentialStore.CredentialStore, CredentialStore.layerMemory)
      const first = yield* store
      yield* first.registrations.set(registration("c"), "https://a.test")
      assert.isUndefined(yield* (yield* store).registrations.get("https://a.test"))
    }))
})
