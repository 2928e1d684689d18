import { assert, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import * as Definition from "@effect-mcp/core/Definition"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as RawTool from "@effect-mcp/core/RawTool"
import * as StandardTool from "@effect-mcp/core/StandardTool"
import * as TestServer from "@effect-mcp/testing/TestServer"
import { Effect, Layer, Schema } from "effect"
import { expectTypeOf } from "vitest"

const Echo = RawTool.make("echo", {
  inputSchema: { type: "object", properties: { q: { type: "string" }, n: { type: "integer" } }, required: ["q"] },
  outputSchema: { type: "object", required: ["echoed"] }
})

const Double = StandardTool.make("double", {
  parameters: Schema.standardSchemaV1(Schema.Struct({ n: Schema.NumberFromString })),
  inputSchema: { type: "object", properties: { n: { type: "string" } }, required: ["n"] }
})

const Both = Definition.make(Echo, Double)

const Live = Layer.mergeAll(
  McpServer.tool(Echo, (args) => Effect.succeed({ echoed: args.q })),
  McpServer.tool(Double, ({ n }) => Effect.succeed(`${n * 2}`))
)

it.effect("a server implements raw and standard tools, and a typed client calls them", () =>
  Effect.gen(function*() {
    const both = Client.of(yield* Client.Client, Both)
    const result = yield* both.echo({ q: "x" })
    expectTypeOf(result).toEqualTypeOf<{ readonly [key: string]: unknown }>()
    assert.deepStrictEqual(result, { echoed: "x" })
    assert.deepStrictEqual((yield* both.double({ n: "21" })).content, [{ type: "text", text: "42" }])
    // @ts-expect-error the input is a string
    assert.strictEqual((yield* Effect.flip(both.double({ n: 21 })))._tag, "InvalidParams")
    assert.deepInclude(yield* Effect.flip(both.echo({ n: 1.5 })), {
      _tag: "InvalidParams",
      message: `Invalid arguments for tool "echo": q: is missing; n: must be integer`
    })
  }).pipe(Effect.provide(TestServer.layer(Both, Live))))

it.effect("a server reports every wrong argument of a raw tool", () =>
  Effect.gen(function*() {
    const client = yield* Client.Client
    const { content, isError } = yield* client.callTool("echo", { n: 1.5 })
    assert.isTrue(isError)
    assert.deepStrictEqual(content, [{
      type: "text",
      text: `Invalid arguments for tool "echo": q: is missing; n: must be integer`
    }])
  }).pipe(Effect.provide(TestServer.layer(Both, Live))))
