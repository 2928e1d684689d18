import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Fiber, Stream, TestClock } from "effect"
import * as ListPages from "../../../src/client/session/ListPages.js"
import { ServerToolsService } from "../../../src/client/session/ServerTools.js"

const left = () => Infinity

const tool = (name: string) => ({ name, inputSchema: { type: "object" as const } })

describe("A search for a tool", () => {
  it.effect("that needs a new list is not held up by a search that found nothing", () =>
    Effect.gen(function*() {
      const tools = new ServerToolsService()
      let lists = 0
      const list = Stream.suspend(() => {
        lists++
        return Stream.empty
      })
      for (const listings of [-1, tools.listings]) {
        assert.isTrue(Either.isLeft(yield* tools.find("a", list, left as never, listings)))
      }
      assert.strictEqual(lists, 1)
      assert.isTrue(Either.isLeft(yield* tools.find("a", list, left as never, tools.listings)))
      assert.strictEqual(lists, 2)
    }))

  it.effect("counts a list during which the tools changed", () =>
    Effect.gen(function*() {
      const tools = new ServerToolsService()
      const list = Stream.unwrap(Effect.sync(() => {
        tools.forget()
        return Stream.make(tool("a"))
      }))
      assert.deepStrictEqual(
        yield* tools.find("a", list as never, left as never),
        Either.left("the tools changed while they were listed")
      )
      assert.strictEqual(tools.listings, 1)
    }))
})

describe("A server that reports a change of its tools before each of 100 calls", () => {
  /** The requests for lists that 100 calls cause, each `pause` after the one before. */
  const requests = (list: (request: () => void) => Stream.Stream<unknown, unknown>, pause: number) =>
    Effect.gen(function*() {
      const tools = new ServerToolsService()
      let count = 0
      const calls = []
      for (let n = 0; n < 100; n++) {
        tools.forget()
        calls.push(yield* Effect.fork(tools.find("a", list(() => count++) as never, left as never)))
        yield* TestClock.adjust(pause)
      }
      yield* TestClock.adjust("10 seconds")
      yield* Fiber.joinAll(calls)
      return count
    })

  /** A list of this many pages, the last of which has the tool. */
  const pages = (count: number) => (request: () => void) =>
    ListPages.stream(
      "tools/list",
      (cursor) =>
        Effect.sync(() => {
          request()
          const n = Number(cursor ?? 1)
          return { tools: n === count ? [tool("a")] : [], nextCursor: n === count ? undefined : String(n + 1) }
        }),
      ({ tools }) => tools,
      () => Effect.void
    )

  const rows = [
    ["a list without end", pages(Infinity), 10, 64 * 2],
    [
      "a list that fails",
      (request: () => void) => Stream.execute(Effect.zipRight(Effect.sync(request), Effect.fail({ message: "no" }))),
      10,
      2
    ],
    ["a list of 60 pages", pages(60), 10, 60 * 2],
    ["a list of 60 pages, a second after each call", pages(60), 1000, 60 * 15],
    ["a list without end, a second after each call", pages(Infinity), 1000, 64 * 8],
    ["a short list", pages(1), 10, 100]
  ] as const
  for (const [name, list, pause, most] of rows) {
    it.effect(`costs ${most} requests at most with ${name}`, () =>
      Effect.map(requests(list, pause), (count) => {
        assert.isAtLeast(count, 1)
        assert.isAtMost(count, most)
      }))
  }

  it.effect("has a tool found that a short list has, in each call", () =>
    Effect.gen(function*() {
      const tools = new ServerToolsService()
      const list = tools.list((() => Effect.succeed({ tools: [tool("a")] })) as never, () => Effect.void)
      for (let n = 0; n < 10; n++) {
        tools.forget()
        assert.isTrue(Either.isRight(yield* tools.find("a", list, left as never)))
      }
    }))
})
