import { assert, describe, it } from "@effect/vitest"
import type { SealKeysService } from "@effect-mcp/core/SealKeys"
import * as SealKeys from "@effect-mcp/core/SealKeys"
import { laws, rotation } from "@effect-mcp/testing/SealKeysLaws"
import { Effect, Option } from "effect"

const pairOf = (change: (keys: SealKeysService) => Partial<SealKeysService>) =>
  Effect.map(SealKeys.memory(rotation), (keys) => {
    const faulty = { ...keys, ...change(keys) }
    return [faulty, faulty] as const
  })

const faults: Readonly<Record<string, readonly [Parameters<typeof pairOf>[0], law: string]>> = {
  "makes a key for each caller": [() => ({ current: SealKeys.generate }), laws[0]!.name],
  "forgets the old key at once": [
    ({ current, find }) => ({
      find: (id) => Effect.flatMap(current, (key) => key.id === id ? find(id) : Effect.succeed(Option.none()))
    }),
    laws[1]!.name
  ],
  "remembers that there was no key": [
    ({ find }) => {
      let isMissing = false
      return {
        find: (id) =>
          Effect.tap(isMissing ? Effect.succeedNone : find(id), (found) =>
            Effect.sync(() => {
              isMissing ||= Option.isNone(found)
            }))
      }
    },
    laws[2]!.name
  ],
  "takes a part of an id for the id": [
    ({ current, find }) => ({
      find: (id) => Effect.flatMap(current, (key) => id !== "" && key.id.endsWith(id) ? find(key.id) : find(id))
    }),
    laws[3]!.name
  ]
}

describe("The laws of seal keys", () => {
  for (const [fault, [change, law]] of Object.entries(faults)) {
    it.effect(`find keys of which a node ${fault}`, () =>
      Effect.gen(function*() {
        const { check } = laws.find(({ name }) => name === law)!
        assert.strictEqual((yield* Effect.flip(check(pairOf(change)))).law, law)
      }))
  }
})
