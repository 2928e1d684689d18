import { assert, describe, it } from "@effect/vitest"
import * as ToolList from "@effect-mcp/ai/ToolList"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import type * as Tools from "@effect-mcp/core/protocol/Tools"
import { Registry } from "@effect-mcp/core/Registry"
import { Context, Effect, Layer, Logger } from "effect"
import { client, eras } from "./Serving.js"

/** A tool of a server that takes any arguments, mends nothing, and gives the arguments back. */
const echo = (inputSchema: JsonObject, name = "search") =>
  Layer.scopedDiscard(Effect.flatMap(Registry, ({ tools }) =>
    tools.register({
      advertised: { name, inputSchema: inputSchema as Tools.Tool["inputSchema"] },
      context: Context.empty(),
      call: (args) => Effect.succeed({ content: [{ type: "text", text: JSON.stringify(args) }] })
    })))

const inputSchema = {
  type: "object",
  properties: {
    q: { type: "string" },
    limit: { type: "integer", minimum: 1 },
    tags: { type: "array", items: { type: "string" } },
    either: { anyOf: [{ type: "integer" }, { type: "number" }] },
    dry: { type: "boolean" }
  },
  required: ["q"]
}

/** Calls the tool as a model does: what the server has received, and what was logged. */
const called = (
  versions: (typeof eras)[number][1],
  options: ToolList.Options,
  args: unknown,
  schema: JsonObject = inputSchema
) =>
  Effect.gen(function*() {
    const lines: Array<string> = []
    const logs = Logger.replace(Logger.defaultLogger, Logger.make(({ message }) => void lines.push(String(message))))
    const list = yield* ToolList.make(yield* client(echo(schema), { versions }), options)
    const output = yield* Effect.provide(list.call("search", args), logs)
    return { ...output, lines }
  })

for (const [era, versions] of eras) {
  describe(`The arguments that a model wrote, in the ${era} era`, () => {
    it.scoped("are mended by the schema of the tool before the call, and the log says what was mended", () =>
      Effect.gen(function*() {
        const args = { q: "5", limit: "7", tags: "[\"secret\"]", dry: null }
        for (const given of [args, JSON.stringify(args)]) {
          const { lines, text } = yield* called(versions, {}, given)
          assert.deepStrictEqual(JSON.parse(text), { q: "5", limit: 7, tags: ["secret"] })
          assert.deepStrictEqual(lines, [
            "Mended 3 places of a message of \"tools/call\" for tool \"search\" of \"test\": arguments.limit is a text, read as " +
            "a number; arguments.tags is a text, read as an array; arguments.dry is null, left out"
          ])
        }
      }))

    it.scoped("go to the server as they are where they are right, have no reading or several, or do not conform when mended", () =>
      Effect.gen(function*() {
        for (
          const args of [
            { q: "5", limit: 7, tags: ["[1]"] },
            { q: "a", limit: "07" },
            { q: "a", limit: "7", dry: "yes" },
            { q: "a", either: "7" },
            { q: "a", limit: "0" },
            { limit: "7" }
          ]
        ) {
          const { lines, text } = yield* called(versions, {}, args)
          assert.deepStrictEqual(JSON.parse(text), args)
          assert.deepStrictEqual(lines, [])
        }
      }))

    it.scoped("go to the server as they are where its schema is of a draft that does not look beside a reference", () =>
      Effect.gen(function*() {
        const draft = {
          $schema: "http://json-schema.org/draft-07/schema#",
          type: "object",
          properties: { a: { $ref: "#/definitions/any", type: "integer" } },
          definitions: { any: {} }
        }
        assert.deepStrictEqual(JSON.parse((yield* called(versions, {}, { a: "5" }, draft)).text), { a: "5" })
      }))

    it.scoped("are not mended where the host says so", () =>
      Effect.gen(function*() {
        const args = { q: "a", limit: "7" }
        assert.deepStrictEqual(JSON.parse((yield* called(versions, { mendArguments: false }, args)).text), args)
      }))

    it.scoped("lose the nulls of the strict form before they are mended", () =>
      Effect.gen(function*() {
        const schema = { ...inputSchema, additionalProperties: false }
        const args = { q: "a", limit: "7", tags: null, either: null, dry: null }
        const { lines, text } = yield* called(versions, { dialect: "openai-strict" }, args, schema)
        assert.deepStrictEqual(JSON.parse(text), { q: "a", limit: 7 })
        assert.lengthOf(lines, 1)
        assert.include(lines[0], "Mended 1 place ")
      }))

    it.scoped("go to the server as they are where its schema cannot be used", () =>
      Effect.gen(function*() {
        const broken = { type: "object", properties: { limit: { type: "integer", minimum: "none" } } }
        const args = { limit: "7" }
        assert.deepStrictEqual(JSON.parse((yield* called(versions, {}, args, broken)).text), args)
      }))

    it.scoped("are reported where the tool does not name them, with the nearest name", () =>
      Effect.gen(function*() {
        const args = { q: "a", limt: 7 }
        const { lines, text } = yield* called(versions, {}, args)
        assert.deepStrictEqual(JSON.parse(text), args)
        assert.deepStrictEqual(lines, [
          "1 unknown argument for tool \"search\" of \"test\": \"limt\" (perhaps \"limit\")"
        ])
        assert.deepStrictEqual((yield* called(versions, { unknownArguments: "accept" }, args)).lines, [])
      }))

    it.scoped("are refused where the tool does not name them and the host says so, and the model reads the nearest name", () =>
      Effect.gen(function*() {
        const { isError, lines, text } = yield* called(versions, { unknownArguments: "refuse" }, { q: "a", limt: "7" })
        assert.isTrue(isError)
        assert.include(text, "The arguments of \"search\" were refused: \"limt\" is unknown (did you mean \"limit\"?)")
        assert.lengthOf(lines, 1)
        const right = yield* called(versions, { unknownArguments: "refuse" }, { q: "a" })
        assert.deepStrictEqual(JSON.parse(right.text), { q: "a" })
      }))
  })
}

it.scoped("a tool whose schema needs too much work is called with the arguments as they are", () =>
  Effect.gen(function*() {
    const $defs = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [
      n,
      n === 59 ? {} : { allOf: [{ $ref: `#/$defs/${n + 1}` }, { $ref: `#/$defs/${n + 1}` }] }
    ]))
    const args = { limit: "7" }
    const schema = { type: "object", properties: { limit: { type: "integer" } }, allOf: [{ $ref: "#/$defs/0" }], $defs }
    assert.deepStrictEqual(JSON.parse((yield* called(["2025-11-25"], {}, args, schema)).text), args)
  }))
