import * as KeyValueStore from "@effect/platform/KeyValueStore"
import { assert, describe, it } from "@effect/vitest"
import type { CredentialDatabase } from "@effect-mcp/auth/CredentialDatabase"
import * as CredentialStore from "@effect-mcp/auth/CredentialStore"
import { Effect } from "effect"
import * as Laws from "./CredentialStoreLaws.js"

const open = Effect.map(
  Effect.provide(KeyValueStore.KeyValueStore, KeyValueStore.layerMemory),
  (values) => ({ values, store: CredentialStore.make(values) })
)

/** A database in memory, from which a process can be cut off. */
const sharedMemory = Effect.gen(function*() {
  const owners = new Map<string, Map<string, string>>()
  let isCut = false
  const process = (mayBeCut: boolean) => (owner: string): CredentialDatabase => {
    const texts = owners.get(owner) ?? new Map<string, string>()
    owners.set(owner, texts)
    const step = <A>(run: () => A) =>
      Effect.suspend(() => mayBeCut && isCut ? Effect.fail(new Error("away")) : Effect.sync(run))
    return {
      read: (name) => step(() => texts.get(name)),
      write: (name, text, lock) =>
        step(() => {
          if (lock !== undefined && texts.get(lock.name)?.startsWith(lock.token) !== true) return "LockLost"
          if (text === undefined) texts.delete(name)
          else if (!texts.has(name) && texts.size >= Laws.MAX_RECORDS) return "Full"
          else texts.set(name, text)
          return "Stored"
        }),
      swap: (name, before, after) =>
        step(() => {
          const isSame = texts.get(name) === before
          if (isSame) texts.set(name, after)
          return isSame
        })
    }
  }
  return {
    of: (owner: string) => CredentialStore.makeShared(owner, process(false)),
    one: yield* CredentialStore.makeShared("ada", process(true)),
    cut: (now: boolean) => Effect.sync(() => void (isCut = now))
  }
})

describe("A store of credentials over a database of the application", () => {
  const pair = Effect.flatMap(sharedMemory, ({ of }) => Effect.zip(of("ada"), of("ada")))
  for (const { check, name } of Laws.laws) it.scoped(name, () => check(pair))
  for (const { check, name } of Laws.shared) it.scoped(name, () => check(sharedMemory))
})

describe("A store of credentials", () => {
  const pair = Effect.map(open, ({ store }) => [store, store] as const)
  for (const { check, name } of Laws.laws) it.scoped(name, () => check(pair))

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
      yield* first.registrations.set(Laws.registration("c"), "https://a.test")
      assert.isUndefined(yield* (yield* store).registrations.get("https://a.test"))
    }))
})
