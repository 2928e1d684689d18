import * as LanguageModel from "@effect/ai/LanguageModel"
import * as AiTool from "@effect/ai/Tool"
import { assert, describe, it } from "@effect/vitest"
import * as ClientToolkit from "@effect-mcp/ai/ClientToolkit"
import * as ToolList from "@effect-mcp/ai/ToolList"
import type { Client } from "@effect-mcp/core/Client"
import * as Definition from "@effect-mcp/core/Definition"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Tool from "@effect-mcp/core/Tool"
import * as ToolResult from "@effect-mcp/core/ToolResult"
import * as AppView from "@effect-mcp/extensions/AppView"
import * as TestServer from "@effect-mcp/testing/TestServer"
import { Context, Effect, Fiber, Layer, Schema, TestClock } from "effect"
import * as ScriptedModel from "./ScriptedModel.js"
import { client, eras } from "./Serving.js"

class NotFound extends Schema.TaggedError<NotFound>()("NotFound", { q: Schema.String }) {}

const Search = Tool.make("search", {
  description: "Full-text search over the notes.",
  title: "Search",
  parameters: { q: Schema.String, limit: Schema.optionalWith(Schema.Int, { default: () => 10 }) },
  success: Schema.Struct({ hits: Schema.Array(Schema.String), at: Schema.Date }),
  failure: NotFound,
  annotations: { readOnlyHint: true, openWorldHint: false }
})
const Say = Tool.make("say", { parameters: { text: Schema.String } })
const Slow = Tool.make("slow")
const Notes = Definition.make(Search, Say, Slow)

const at = new Date(0)

const NotesLive = McpServer.implement(Notes, {
  search: ({ limit, q }) => q === "" ? new NotFound({ q }) : Effect.succeed({ hits: [`${q}:${limit}`], at }),
  say: ({ text }) =>
    Effect.succeed(
      text === "fail" ? ToolResult.asError(ToolResult.text("could not say it")) : ToolResult.text(`said ${text}`)
    ),
  slow: () => Effect.never
})

for (const [era, versions] of eras) {
  const NotesClient = TestServer.layer(Notes, NotesLive, { versions })

  describe(`A toolkit of a tool list, in the ${era} era`, () => {
    it.scoped("is called by a language model, and gives it structured content, text and failures", () =>
      Effect.gen(function*() {
        const list = yield* ToolList.make(yield* client(NotesLive, { versions }))
        const toolkit = yield* ClientToolkit.fromList(list)
        const model = ScriptedModel.make([
          ScriptedModel.call("1", "search", { q: "effect" }),
          ScriptedModel.call("2", "say", { text: "hello" }),
          ScriptedModel.call("3", "search", { q: "" }),
          ScriptedModel.call("4", "say", { text: 7 }),
          ScriptedModel.finish("tool-calls")
        ])
        const response = yield* Effect.provide(
          LanguageModel.generateText({ prompt: "Find it", toolkit, concurrency: "unbounded" }),
          model.layer
        )
        assert.deepStrictEqual(
          response.toolResults.map(({ encodedResult, isFailure, name }) => [name, isFailure, encodedResult]),
          [
            ["search", false, { hits: ["effect:10"], at: "1970-01-01T00:00:00.000Z" }],
            ["say", false, "said hello"],
            ["search", true, { _tag: "ToolFailure", tool: "search", message: "{\"q\":\"\",\"_tag\":\"NotFound\"}" }],
            ["say", true, {
              _tag: "ToolFailure",
              tool: "say",
              message: "Invalid arguments for tool \"say\": text: Expected string, actual 7"
            }]
          ]
        )
      }))

    it.scoped("describes its tools to the model with their JSON Schemas and hints", () =>
      Effect.gen(function*() {
        const list = yield* ToolList.make(yield* client(NotesLive, { versions }), { dialect: "gemini" })
        const toolkit = yield* ClientToolkit.fromList(list)
        const model = ScriptedModel.make([ScriptedModel.text("no")])
        yield* Effect.provide(LanguageModel.generateText({ prompt: "Hi", toolkit }), model.layer)
        const search = model.seen[0]!.tools.find(({ name }) => name === "search")!
        assert.strictEqual(search.description, "Full-text search over the notes.")
        assert.deepStrictEqual<unknown>(AiTool.getJsonSchema(search as never), list.get("search")?.inputSchema)
        assert.strictEqual(Context.unsafeGet(search.annotations, AiTool.Title), "Search")
        assert.isTrue(Context.get(search.annotations, AiTool.Readonly))
        assert.isFalse(Context.get(search.annotations, AiTool.OpenWorld))
        assert.isTrue(Context.get(search.annotations, AiTool.Destructive))
      }))

    it.scoped("can change between two generations, when it is an effect", () =>
      Effect.gen(function*() {
        const following = yield* ToolList.follow(yield* client(NotesLive, { versions }))
        const toolkit = Effect.flatMap(following.current, (list) => ClientToolkit.fromList(list))
        const model = ScriptedModel.make([ScriptedModel.call("1", "say", { text: "a" })])
        const response = yield* Effect.provide(LanguageModel.generateText({ prompt: "Hi", toolkit }), model.layer)
        assert.strictEqual(response.toolResults[0]?.result, "said a")
      }))

    it.scoped("has time-outs for each call, and the model reads that one passed", () =>
      Effect.gen(function*() {
        const list = yield* ToolList.make(yield* client(NotesLive, { versions }))
        const toolkit = yield* ClientToolkit.fromList(list, { call: () => ({ timeout: "5 seconds" }) })
        const model = ScriptedModel.make([ScriptedModel.call("1", "slow", {})])
        const fiber = yield* Effect.fork(
          Effect.provide(LanguageModel.generateText({ prompt: "Hi", toolkit }), model.layer)
        )
        yield* Effect.yieldNow()
        yield* TestClock.adjust("6 seconds")
        const response = yield* Fiber.join(fiber)
        assert.deepInclude(response.toolResults[0]?.encodedResult as object, {
          message: "The tool \"slow\" did not answer in time."
        })
      }))
  })

  describe(`A toolkit of a definition, in the ${era} era`, () => {
    it.effect("has parameters, successes and failures by type", () =>
      Effect.gen(function*() {
        const toolkit = yield* ClientToolkit.of(Notes)
        const model = ScriptedModel.make([
          ScriptedModel.call("1", "search", { q: "effect" }),
          ScriptedModel.call("2", "search", { q: "" }),
          ScriptedModel.call("3", "say", { text: "hello" }),
          ScriptedModel.call("4", "say", { text: "fail" })
        ])
        const response = yield* Effect.provide(
          LanguageModel.generateText({ prompt: "Find it", toolkit, concurrency: "unbounded" }),
          model.layer
        )
        const [found, none, said, failed] = response.toolResults
        if (found?.name === "search" && !found.isFailure) {
          const { result }: {
            readonly result: { readonly hits: ReadonlyArray<string>; readonly at: Date }
          } = found
          assert.deepStrictEqual(result, { hits: ["effect:10"], at })
        } else assert.fail("no hits")
        assert.instanceOf(none?.result, NotFound)
        assert.isTrue(none?.isFailure)
        assert.strictEqual(said?.result, "said hello")
        assert.instanceOf(failed?.result, ClientToolkit.ToolFailure)
        assert.deepInclude(failed?.encodedResult as object, { tool: "say", message: "could not say it" })
        const [first] = response.toolCalls
        if (first?.name === "search") {
          const { params }: { readonly params: { readonly q: string; readonly limit: number } } = first
          assert.deepStrictEqual(params, { q: "effect", limit: 10 })
        } else assert.fail("no call")
      }).pipe(Effect.provide(NotesClient)))

    it.effect("takes its handlers from a layer, too", () =>
      Effect.gen(function*() {
        const model = ScriptedModel.make([ScriptedModel.call("1", "say", { text: "hello" })])
        const response = yield* Effect.provide(
          LanguageModel.generateText({ prompt: "Say it", toolkit: ClientToolkit.make(Notes) }),
          model.layer
        )
        assert.strictEqual(response.toolResults[0]?.result, "said hello")
      }).pipe(Effect.provide(Layer.provide(ClientToolkit.layer(Notes), NotesClient))))
  })
}

describe("A toolkit of a definition", () => {
  it("describes each tool with the JSON Schema that its server advertises", () => {
    const { search } = ClientToolkit.make(Notes).tools
    assert.deepStrictEqual<unknown>(AiTool.getJsonSchema(search), Search.advertised.inputSchema)
  })

  it.effect("describes its tools in the dialect of the model, and takes the nulls of the strict form out", () =>
    Effect.gen(function*() {
      const toolkit = yield* ClientToolkit.of(Notes, { dialect: "openai-strict" })
      const model = ScriptedModel.make([ScriptedModel.call("1", "search", { q: "effect", limit: null })])
      const response = yield* Effect.provide(
        LanguageModel.generateText({ prompt: "Find it", toolkit }),
        model.layer
      )
      assert.deepNestedInclude(AiTool.getJsonSchema(model.seen[0]!.tools[0] as never) as object, {
        required: ["q", "limit"],
        additionalProperties: false
      })
      assert.deepStrictEqual(response.toolCalls[0]?.params, { q: "effect", limit: 10 })
      assert.deepInclude(response.toolResults[0]?.encodedResult as object, { hits: ["effect:10"] })
    }).pipe(Effect.provide(TestServer.layer(Notes, NotesLive))))

  it("requires the client of its handlers by type", () => {
    const program: Effect.Effect<unknown, never, Client> = ClientToolkit.of(Notes)
    assert.isTrue(Effect.isEffect(program))
  })

  it("throws when a tool has a name that models do not accept", () => {
    assert.throws(
      () => ClientToolkit.make(Definition.make(Tool.make("notes.search"))),
      /Tool "notes.search": models do not accept this name: rename the tool, or make the toolkit of a ToolList/
    )
  })

  it("throws when a tool is for views only", () => {
    const meta = AppView.meta("ui://notes/list", { visibility: ["app"] })
    assert.throws(
      () => ClientToolkit.make(Definition.make(Tool.make("refresh", { meta }))),
      `Tool "refresh" is only for the user interface of its server (MCP Apps), not for a model: remove the tool from this definition`
    )
  })
})
