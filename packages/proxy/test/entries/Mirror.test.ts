import { assert, describe, it } from "@effect/vitest"
import * as Registry from "@effect-mcp/core/Registry"
import { noLists } from "@effect-mcp/core/unstable/client/Entries"
import type { ProxyEntry } from "@effect-mcp/proxy/ProxyEntry"
import { Effect, Fiber, Logger } from "effect"
import { preempted } from "../../../testing/test/support/Preempted.js"
import * as Mirror from "../../src/entries/Mirror.js"
import type { UpstreamLists } from "../../src/upstream/ListFollower.js"

const lists = (...names: ReadonlyArray<string>): UpstreamLists => ({
  ...noLists,
  hints: new Map(),
  tools: names.map((name) => ({ name, inputSchema: { type: "object" } }))
})

const made = (filter: (entry: ProxyEntry) => boolean = () => true) =>
  Effect.gen(function*() {
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
      filter
    })
    const names = Effect.sync(() => ["a", "b", "c", "d"].filter((name) => registry.tools.has(name)))
    return { mirror, names }
  })

describe("The entries of an upstream", () => {
  for (const interrupted of ["the lists that are set", "lists that wait for them", "both"] as const) {
    it.effect(`are those of its last lists when fibers are interrupted between any two of their steps: ${interrupted}`, () =>
      preempted(
        Effect.scoped(Effect.gen(function*() {
          const { mirror, names } = yield* made()
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

  it.scoped("are reported once for each change of them when the filter throws", () =>
    Effect.gen(function*() {
      const logged: Array<string> = []
      const logger = Logger.make(({ message }) => void logged.push(String(message)))
      yield* Effect.gen(function*() {
        const { mirror, names } = yield* made(({ listed, name }) => {
          if (name === "b" && listed.title === undefined) throw new Error("no title")
          return true
        })
        const b = (more: object): UpstreamLists => {
          const { tools, ...others } = lists("a", "b", "c")
          return { ...others, tools: tools.map((tool) => tool.name === "b" ? { ...tool, ...more } : tool) }
        }
        yield* mirror.set(b({}), [])
        yield* mirror.set(b({}), [])
        yield* mirror.set(undefined, [])
        yield* mirror.set(b({}), [])
        assert.deepStrictEqual(yield* names, ["a", "c"])
        assert.lengthOf(logged, 1)
        yield* mirror.set(b({ description: "changed" }), [])
        assert.lengthOf(logged, 2)
        yield* mirror.set(b({ title: "B" }), [])
        assert.deepStrictEqual(yield* names, ["a", "b", "c"])
        assert.lengthOf(logged, 2)
      }).pipe(Effect.provide(Logger.replace(Logger.defaultLogger, logger)))
    }))
})
