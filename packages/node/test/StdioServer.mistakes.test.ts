/**
 * What the compiler says of a program with a mistake: this file is compiled with the others.
 */
import { assert, it } from "@effect/vitest"
import * as Definition from "@effect-mcp/core/Definition"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Tool from "@effect-mcp/core/Tool"
import * as StdioServer from "@effect-mcp/node/StdioServer"
import { Effect, Layer, Schema } from "effect"

it("a handler of a wrong type is reported at the handler, and not at `runMain`", () => {
  const Person = Definition.make(Tool.make("age", { success: Schema.Number }), Tool.make("name"))
  const PersonLive = McpServer.implement(Person, {
    // @ts-expect-error the handler gives a text
    age: () => Effect.succeed("old"),
    name: () => Effect.succeed("Ada")
  })
  const main = () =>
    StdioServer.layer.pipe(
      Layer.provide(McpServer.layer({ name: "person", version: "1.0.0" }, PersonLive)),
      Layer.launch,
      StdioServer.runMain
    )
  assert.isFunction(main)
})
