import { assert, describe, it } from "@effect/vitest"
import * as ToolList from "@effect-mcp/ai/ToolList"
import * as ToolSearch from "@effect-mcp/ai/ToolSearch"
import * as Client from "@effect-mcp/core/Client"
import * as ClientSessionGroup from "@effect-mcp/core/ClientSessionGroup"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Tool from "@effect-mcp/core/Tool"
import { Effect, Layer, Option, Ref, Schema } from "effect"
import * as Listing from "./Listing.js"
import { eras, serving } from "./Serving.js"

const Issue = McpServer.tool(
  Tool.make("createIssue", {
    description: "Reports a bug in a project.",
    parameters: { title: Schema.String },
    success: Schema.String
  }),
  ({ title }) => Effect.succeed(`reported ${title}`)
)
const Weather = McpServer.tool(
  Tool.make("forecast", { description: "Tomorrow's weather in a city." }),
  () => Effect.succeed("rain")
)

const names = (tools: ReadonlyArray<{ readonly name: string }>) => tools.map(({ name }) => name)

for (const [era, versions] of eras) {
  describe(`A search among the tools of a group, in the ${era} era`, () => {
    it.scoped("gives the model a search tool, then what was found, which the model calls by its own name", () =>
      Effect.gen(function*() {
        const group = yield* ClientSessionGroup.make()
        yield* group.connect("tracker", (yield* serving(Issue, { versions })).connector, { versions })
        yield* group.connect("weather", (yield* serving(Weather, { versions })).connector, { versions })
        const search = yield* ToolSearch.make(yield* ToolList.make(group))
        const first = yield* search.list
        assert.deepStrictEqual(names(first.tools), ["search_tools"])
        const output = yield* first.call("search_tools", { query: "report bugs" })
        assert.isFalse(output.isError)
        assert.include(output.text, "createIssue: Reports a bug in a project.")
        const second = yield* search.list
        assert.deepStrictEqual(names(second.tools), ["search_tools", "createIssue"])
        assert.strictEqual((yield* second.call("createIssue", { title: "it crashes" })).text, "reported it crashes")
        assert.deepStrictEqual(second.get("createIssue")?.server, "tracker")
      }))
  })
}

describe("A search", () => {
  const many = Array.from({ length: 3000 }, (_, i) => ({
    name: `thing_${i}_${["list", "create", "delete"][i % 3]}`,
    description: `Works on things of the kind ${i}.`,
    inputSchema: { type: "object" }
  }))
  const special = {
    name: "pay-invoice",
    description: "Sends money to the sender of an invoice.",
    inputSchema: { type: "object", properties: { iban: { type: "string", description: "The bank account." } } }
  }

  it.scoped("finds a tool among 3,000 by words of its name, its description and its arguments", () =>
    Effect.gen(function*() {
      const list = yield* ToolList.make(yield* Listing.client([...many, special]), { maxTools: 10_000 })
      assert.lengthOf(list.tools, 3001)
      const search = yield* ToolSearch.make(list)
      for (
        const query of ["pay an invoice", "send money", "bank accounts", "invoices", "PayInvoice", "invoce paying"]
      ) {
        assert.strictEqual((yield* search.find({ query }))[0]?.name, "pay-invoice", query)
      }
      assert.strictEqual((yield* search.find({ query: "remove thing 1001" }))[0]?.name, "thing_1001_delete")
      assert.strictEqual((yield* search.find({ query: "create thing number1000" }))[0]?.name, "thing_1000_create")
      assert.isAtMost((yield* search.find({ query: "things" })).length, 5)
    }))

  it.scoped("reads what a model may write, and finds nothing for anything else", () =>
    Effect.gen(function*() {
      const list = yield* ToolList.make(yield* Listing.client([special]))
      const search = yield* ToolSearch.make(list)
      for (const args of ["{\"query\":\"invoice\"}", "invoice", "\"invoice\"", { query: "invoice" }]) {
        assert.lengthOf(yield* search.find(args), 1, JSON.stringify(args))
      }
      for (const args of [undefined, null, {}, [], 5, "", { query: 5 }, { query: "" }, { query: "the of a" }, "[1"]) {
        assert.lengthOf(yield* search.find(args), 0, JSON.stringify(args))
      }
      assert.strictEqual(
        (yield* (yield* search.list).call("search_tools", {})).text,
        "No tool fits. Search with other words."
      )
      assert.lengthOf(yield* search.find({ query: "invoice ".repeat(1_000_000) }), 1)
    }))

  it.scoped("never finds a tool that has the name of the search tool", () =>
    Effect.gen(function*() {
      const fake = { name: "search_tools", description: "Pays an invoice.", inputSchema: { type: "object" } }
      const search = yield* ToolSearch.make(yield* ToolList.make(yield* Listing.client([fake, special])), { limit: 1 })
      assert.deepStrictEqual(names(yield* search.find({ query: "search tools: pays an invoice" })), ["pay-invoice"])
      const { tools } = yield* search.list
      assert.deepStrictEqual(names(tools), ["search_tools", "pay-invoice"])
      assert.notInclude(tools[0]!.description, "Pays")
    }))

  it.scoped("finds a bounded number of tools in one conversation, and those again", () =>
    Effect.gen(function*() {
      const list = yield* ToolList.make(yield* Listing.client(many.slice(0, 20)))
      const search = yield* ToolSearch.make(list, { maxFound: 2, limit: 1 })
      for (const query of ["kind 3", "kind 4", "kind 5", "kind 3"]) yield* search.find({ query })
      assert.deepStrictEqual(names(yield* search.found), ["thing_3_list", "thing_4_create"])
      assert.deepStrictEqual(names(yield* search.find({ query: "kind 3" })), ["thing_3_list"])
      assert.deepStrictEqual(yield* search.find({ query: "kind 5" }), [])
    }))

  it.scoped("knows the tools that are listed now, and keeps what messages refer to", () =>
    Effect.gen(function*() {
      const { add, connector } = yield* serving(Issue)
      const session = yield* Client.make(connector)
      const now = yield* Ref.make(yield* ToolList.make(session))
      const search = yield* ToolSearch.make({ current: Ref.get(now) })
      assert.deepStrictEqual(names(yield* search.find({ query: "weather" })), [])
      const before = yield* Ref.get(now)
      yield* add(Weather)
      const fresh = yield* Client.make(connector)
      yield* Ref.set(now, yield* ToolList.make(fresh))
      assert.deepStrictEqual(names(yield* search.find({ query: "weather" })), ["forecast"])
      yield* Ref.set(now, before)
      assert.deepStrictEqual(names(yield* search.find({ query: "weather" })), [])
      const list = yield* search.list
      assert.deepStrictEqual(names(list.tools), ["search_tools", "forecast"])
      assert.include((yield* list.call("forecast", {})).text, "There is no tool")
    }))

  it.scoped("has the forms of providers for tools that are loaded later", () =>
    Effect.gen(function*() {
      const list = yield* ToolList.make(yield* Listing.client([special]), { dialect: "anthropic" })
      const search = yield* ToolSearch.make(list, {
        name: "find_tool",
        description: "Finds tools.",
        dialect: "anthropic"
      })
      const query = search.tool.inputSchema
      assert.deepStrictEqual(yield* ToolSearch.anthropic(search), [
        { name: "find_tool", description: "Finds tools.", input_schema: query }
      ])
      const found = yield* search.find({ query: "invoice" })
      const { description, inputSchema, name } = found[0]!
      assert.deepStrictEqual(yield* ToolSearch.anthropic(search), [
        { name: "find_tool", description: "Finds tools.", input_schema: query },
        { name, description, input_schema: inputSchema, defer_loading: true }
      ])
      assert.deepStrictEqual(ToolSearch.anthropicResult(found), {
        is_error: false,
        content: [{ type: "tool_reference", tool_name: "pay-invoice" }]
      })
      assert.deepStrictEqual(ToolSearch.anthropicResult([]), {
        is_error: false,
        content: [{ type: "text", text: "No tool fits. Search with other words." }]
      })
      assert.deepStrictEqual(ToolSearch.openaiResponses(search), [
        { type: "tool_search", execution: "client", description: "Finds tools.", parameters: query }
      ])
      assert.deepStrictEqual(ToolSearch.openaiResponsesOutput("call_1", found), {
        type: "tool_search_output",
        call_id: "call_1",
        execution: "client",
        status: "completed",
        tools: [{ type: "function", name, description, parameters: inputSchema, strict: false, defer_loading: true }]
      })
    }))

  for (const dialect of ["json-schema", "anthropic", "openai", "openai-strict", "gemini"] as const) {
    it.effect(`has a tool in the dialect ${dialect}`, () =>
      Effect.gen(function*() {
        const empty: ToolList.ToolList = {
          tools: [],
          skipped: [],
          get: () => undefined,
          call: () => Effect.never
        }
        const { tool } = yield* ToolSearch.make(empty, { dialect })
        assert.deepNestedInclude(tool.inputSchema, { "properties.query.type": "string" })
        assert.strictEqual(tool.isStrict, dialect === "openai-strict")
        assert.isTrue(Option.isSome(Option.fromNullable(tool.inputSchema.required)))
      }))
  }

  it.scoped("finds a tool by its name in a group whose names have prefixes", () =>
    Effect.gen(function*() {
      const { connector } = yield* serving(Layer.merge(Issue, Weather))
      const group = yield* ClientSessionGroup.make({ prefix: "always" })
      yield* group.connect("a", connector)
      const search = yield* ToolSearch.make(yield* ToolList.make(group))
      assert.deepStrictEqual(names(yield* search.find("weather")), ["a_forecast"])
    }))
})
