/**
 * Checks (laws) that every implementation of `SealKeys` must pass. A law gets the services of two nodes that share their keys and have no
 * key yet. Make the implementation with the option `rotation` of this module: a key encrypts values for one day, and decrypts these values
 * for one more hour. The laws move the `TestClock`.
 *
 * @since 0.1.0
 */
import type { SealKey, SealKeysService } from "@effect-mcp/core/SealKeys"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as TestClock from "effect/TestClock"
import * as Law from "./Law.js"

/**
 * The services of two nodes: the same service twice, or two services over one store.
 *
 * @category models
 */
export type Nodes = readonly [SealKeysService, SealKeysService]

/**
 * The option `rotation` that the implementation must have for these laws.
 *
 * @category constants
 */
export const rotation = { every: Duration.days(1), keep: Duration.hours(1) } as const

const isSame = (found: Option.Option<SealKey>, { id, secret }: SealKey) =>
  Option.isSome(found) && found.value.id === id &&
  Redacted.value(found.value.secret).join() === Redacted.value(secret).join()

const one = Law.make<Nodes>(
  "has one current key on all nodes, and each node finds this key",
  (nodes, expect) =>
    Effect.gen(function*() {
      const keys = yield* Effect.forEach(
        Array.from({ length: 20 }, (_, n) => nodes[n % 2]!),
        ({ current }) => current,
        { concurrency: "unbounded" }
      )
      const [first] = keys
      yield* expect(new Set(keys.map(({ id }) => id)).size === 1, "nodes that began together have several current keys")
      yield* expect(/^[0-9A-Za-z]{1,32}$/.test(first!.id), `the id of a key is ${first!.id}`)
      yield* expect(Redacted.value(first!.secret).length >= 32, "a secret has less than 32 bytes")
      for (const { find } of nodes) {
        yield* expect(isSame(yield* find(first!.id), first!), "a node does not find the key")
      }
    })
)

const rotated = Law.make<Nodes>(
  "replaces the key when its time has passed, and finds the old key for some time",
  (nodes, expect) =>
    Effect.gen(function*() {
      const first = yield* nodes[0].current
      yield* TestClock.adjust("23 hours")
      yield* expect((yield* nodes[1].current).id === first.id, "the key was replaced too early")
      yield* TestClock.adjust("1 hour")
      const second = yield* nodes[1].current
      yield* expect(second.id !== first.id, "the key was not replaced")
      yield* expect((yield* nodes[0].current).id === second.id, "two nodes have two current keys")
      for (const { find } of nodes) {
        yield* expect(isSame(yield* find(first.id), first), "a node does not find the old key")
        yield* expect(isSame(yield* find(second.id), second), "a node does not find the new key")
      }
      yield* TestClock.adjust("1 hour")
      for (const { find } of nodes) {
        yield* expect(Option.isNone(yield* find(first.id)), "a node finds a key that is too old")
        yield* expect(isSame(yield* find(second.id), second), "a node does not find the current key")
      }
    })
)

const fresh = Law.make<Nodes>(
  "finds at once the key that another node has just made",
  (nodes, expect) =>
    Effect.gen(function*() {
      yield* nodes[1].find("unknown")
      const made = yield* nodes[0].current
      yield* expect(isSame(yield* nodes[1].find(made.id), made), "the other node does not find it")
    })
)

const unknown = Law.make<Nodes>("has no key of an unknown id", ([{ current, find }], expect) =>
  Effect.gen(function*() {
    const { id } = yield* current
    for (
      const other of ["", "x", `${id}x`, id.slice(1), "__proto__", "constructor", "*", "{}", "\u0000", "x".repeat(32)]
    ) {
      yield* expect(Option.isNone(yield* find(other)), `it found the key ${JSON.stringify(other)}`)
    }
  }))

/**
 * All laws.
 *
 * @category constants
 */
export const laws: ReadonlyArray<Law.Law<Nodes>> = [one, rotated, fresh, unknown]
