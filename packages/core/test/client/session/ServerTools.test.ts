import { assert, describe, it } from "@effect/vitest"
import { Chunk, Effect, Either, Stream } from "effect"
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
        return Stream.fromChunk(Chunk.of(tool("a")))
      }))
      assert.deepStrictEqual(
        yield* tools.find("a", list as never, left as never),
        Either.left("the tools changed while they were listed")
      )
      assert.strictEqual(tools.listings, 1)
    }))
})
