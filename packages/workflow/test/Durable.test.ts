import { assert, describe, it } from "@effect/vitest"
import { Durable } from "@effect-mcp/workflow/Durable"
import { Context, Effect } from "effect"

describe("A step of a durable tool", () => {
  it("is given to the body that yields it, with the type of what it gives", () => {
    const step = new Durable("one", Effect.succeed(1))
    const body = (function*() {
      const found: number = yield* step
      return found + 1
    })()
    assert.strictEqual(body.next().value, step)
    assert.deepStrictEqual(body.next(1), { done: true, value: 2 })
  })

  it.effect("gives its failure as a value, under the same name", () =>
    Effect.gen(function*() {
      const { either, name } = new Durable<number, string>("one", Effect.fail("no luck"))
      assert.strictEqual(either.name, name)
      // It needs nothing of the engine.
      const none = Context.empty() as Context.Context<any>
      const left = yield* Effect.mapInputContext(either.effect, (_: Context.Context<never>) => none)
      assert.strictEqual(left._tag, "Left")
    }))
})
