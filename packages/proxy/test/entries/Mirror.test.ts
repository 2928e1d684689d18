import { assert, describe, it } from "@effect/vitest"
import { noLists, type ServerLists } from "@effect-mcp/client/unstable/Entries"
import * as Registry from "@effect-mcp/server/Registry"
import { preempted } from "@effect-mcp/testing/unstable/Preempted"
import { Effect, Fiber } from "effect"
import * as Mirror from "../../src/entries/Mirror.js"

const lists = (...names: ReadonlyArray<string>): ServerLists => ({
  ...noLists,
  tools: names.map((name) => ({ name, inputSchema: { type: "object" } }))
})

const made = Effect.gen(function*() {
  const registry = yield* Registry.make
  const mirror = yield* Mirror.make({
    name: "up",
    registry,
    forward: () => Effect.succeed({}),
    extensions: [],
    maxEntries: 100,
    isEach: () => false,
    ownerOf: () => Effect.succeed(undefined),
    completes: () => false,
    startsTasks: () => undefined,
    hasResources: () => false,
    subscribe: () => () => Effect.void,
    filter: () => true
  })
  const names = Effect.sync(() => ["a", "b", "c", "d"].filter((name) => registry.tools.has(name)))
  return { mirror, names }
})

describe("The entries of an upstream", () => {
  for (const interrupted of ["the lists that are set", "lists that wait for them", "both"] as const) {
    it.effect(`are those of its last lists when fibers are interrupted between any two of their steps: ${interrupted}`, () =>
      preempted(
        Effect.scoped(Effect.gen(function*() {
          const { mirror, names } = yield* made
          yield* mirror.set(lists("a"), [])
          const first = yield* Effect.forkDaemon(mirror.set(lists("a", "b"), []))
          const second = yield* Effect.forkDaemon(mirror.set(lists("c"), []))
          yield* Effect.yieldNow()
          if (interrupted !== "lists that wait for them") yield* Fiber.interruptFork(first)
          if (interrupted !== "the lists that are set") yield* Fiber.interruptFork(second)
          yield* mirror.set(lists("b", "d"), [])
          yield* Fiber.awaitAll([first, second])
          const found = yield* names
          // A fiber that stood still may set its lists last.
          assert.oneOf(found.join(), ["b,d", "c", "a,b"])
          yield* mirror.set(lists("a", "d"), [])
          assert.deepStrictEqual(yield* names, ["a", "d"])
          yield* mirror.set(undefined, [])
          assert.deepStrictEqual(yield* names, ["a", "d"])
        })),
        { runs: 300 }
      ))
  }
})
