import { assert, describe, it } from "@effect/vitest"
import type * as Completer from "@effect-mcp/core/Completer"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Prompt from "@effect-mcp/core/Prompt"
import type { Suggestions } from "@effect-mcp/core/protocol/Completion"
import { Effect, Schema } from "effect"
import { connect, serve } from "./Serving.js"

const Shirt = Prompt.make("shirt", {
  arguments: { size: Schema.Literal("Small", "Large"), color: Schema.Literal("red"), text: Schema.String }
})

/** What the client gets that completes an argument of the prompt. */
const complete = (
  completers: { readonly [Name in "size" | "color" | "text"]?: Completer.Completer<never> },
  name: string,
  value: string,
  others?: Readonly<Record<string, string>>
) =>
  Effect.gen(function*() {
    const peer = yield* connect()
    const id = yield* peer.request("completion/complete", {
      ref: { type: "ref/prompt", name: "shirt" },
      argument: { name, value },
      ...(others === undefined ? undefined : { context: { arguments: others } })
    })
    return (yield* peer.expectResult(id)).completion as Suggestions
  }).pipe(
    Effect.scoped,
    Effect.provide(serve(McpServer.prompt(Shirt, () => Effect.succeed("A shirt."), { complete: completers })))
  )

describe("The completion of an argument", () => {
  it.effect("whose schema accepts certain strings gives those that begin with the text, whatever its case", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* complete({}, "size", "s"), { values: ["Small"], total: 1, hasMore: false })
      assert.deepStrictEqual((yield* complete({}, "size", "")).values, ["Small", "Large"])
      assert.deepStrictEqual((yield* complete({}, "size", "mall")).values, [])
      assert.deepStrictEqual((yield* complete({}, "color", "R")).values, ["red"])
    }))

  it.effect("uses a given completer in place of the schema, and gives it the other arguments", () =>
    Effect.gen(function*() {
      const completers: { readonly size: Completer.Completer<never> } = {
        size: (value, others) => Effect.succeed([`${value} of ${others.color}`])
      }
      assert.deepStrictEqual(yield* complete(completers, "size", "x", { color: "red" }), {
        values: ["x of red"],
        total: 1,
        hasMore: false
      })
      assert.deepStrictEqual((yield* complete(completers, "color", "")).values, ["red"])
    }))

  it.effect("passes on the total that a completer reports", () =>
    Effect.gen(function*() {
      const suggestions = { values: ["a"], total: 1000, hasMore: true }
      assert.deepStrictEqual(yield* complete({ text: () => Effect.succeed(suggestions) }, "text", ""), suggestions)
    }))

  it.effect("uses the schema where the given completer is undefined", () =>
    Effect.gen(function*() {
      const completers = { size: undefined, text: undefined } as unknown as {}
      assert.deepStrictEqual((yield* complete(completers, "size", "l")).values, ["Large"])
      assert.deepStrictEqual((yield* complete(completers, "text", "l")).values, [])
    }))
})
