/**
 * A search tool for a model in place of a long list of tools. The model gets the search tool, searches in its own words, gets the tools that
 * fit, and calls a tool by the tool's own name: so a host asks its user for each tool as it does without a search.
 *
 * The module is for hosts with hundreds or thousands of tools, in a `ToolList` of a session or of a group. It has the forms that providers
 * have for tools that are loaded later (Anthropic's tool references, OpenAI's tool search in the application); with other providers, the
 * tools that were found are tools of the next request. `search/ToolIndex` ranks the tools.
 *
 * @since 0.1.0
 */
import type { CallToolOptions } from "@effect-mcp/core/ClientSession"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import * as Ref from "effect/Ref"
import type * as ModelSchema from "./ModelSchema.js"
import * as Conversion from "./schema/Conversion.js"
import * as ToolIndex from "./search/ToolIndex.js"
import type * as ToolList from "./ToolList.js"
import * as ToolOutput from "./ToolOutput.js"

/** @category models */
export interface Options {
  /** The name of the search tool. A tool of a server with this name is left out. Default: `search_tools`. */
  readonly name?: string | undefined
  /** What the search tool does, for the model. Default: a sentence that says to search before saying that something cannot be done. */
  readonly description?: string | undefined
  /** How many tools a search gives. Default: 5. */
  readonly limit?: number | undefined
  /**
   * How many tools a conversation may find. A search beyond that gives no tool that was not found before. Default: 128.
   */
  readonly maxFound?: number | undefined
  /** The dialect of the schema of the search tool: use the dialect of the list. Default: `json-schema`. */
  readonly dialect?: ModelSchema.Dialect | undefined
}

/**
 * The search of one conversation with a model.
 *
 * @category models
 */
export interface ToolSearch {
  /** The search tool, as the model sees the tool. */
  readonly tool: ToolList.ModelTool
  /**
   * The tools that fit the words of a model, the best first. `args` are the arguments that the model wrote for the search tool. The tools
   * count as found from now on.
   */
  readonly find: (args: unknown) => Effect.Effect<ReadonlyArray<ToolList.ModelTool>>
  /** The tools that were found, in the order in which they were found first. A tool that has gone since stays: messages refer to it. */
  readonly found: Effect.Effect<ReadonlyArray<ToolList.ModelTool>>
  /**
   * The search tool and the tools that were found, as a list: for the `tools` of the next request to a provider without a form of its own.
   * Its `call` runs the search, too, and gives the names and descriptions of what was found.
   */
  readonly list: Effect.Effect<ToolList.ToolList>
}

const DESCRIPTION =
  "Finds tools by what they do. The tools that you see are few of many: search in plain words, such as " +
  "\"create an issue\", before you say that something cannot be done. Then call the tool that fits by its name."

const inputSchema = {
  type: "object",
  properties: { query: { type: "string", description: "What the tool should do, in a few plain words." } },
  required: ["query"],
  additionalProperties: false
} as const

/**
 * A search among the tools of a list, or of a list that follows its servers, for one conversation.
 *
 * @example
 * ```ts
 * import * as ToolList from "@effect-mcp/ai/ToolList"
 * import * as ToolSearch from "@effect-mcp/ai/ToolSearch"
 * import * as Client from "@effect-mcp/core/Client"
 * import { Effect } from "effect"
 *
 * export const program = Effect.gen(function*() {
 *   const list = yield* ToolList.make(yield* Client.Client, { dialect: "openai", maxTools: 10_000 })
 *   const search = yield* ToolSearch.make(list, { dialect: "openai" })
 *   // The tools of the next request:
 *   return ToolList.openai(yield* search.list)
 * })
 * ```
 * @category constructors
 */
export const make = (
  source: ToolList.ToolList | Pick<ToolList.Following, "current">,
  options: Options = {}
): Effect.Effect<ToolSearch> =>
  Effect.map(Ref.make<ReadonlyMap<string, ToolList.ModelTool>>(new Map()), (foundTools) => {
    const tool = searchTool(options)
    const current = "current" in source ? source.current : Effect.succeed(source)
    const found = Effect.map(Ref.get(foundTools), (tools) => [...tools.values()])
    const { limit = 5, maxFound = 128 } = options
    const find = Effect.fnUntraced(function*(args: unknown) {
      const { tools } = yield* current
      const ranked = ToolIndex.of(tools).search(queryOf(args), limit + 1)
        .filter(({ name }) => name !== tool.name)
        .slice(0, limit)
      return yield* Ref.modify(foundTools, (before) => {
        const known = new Map(before)
        const given = ranked.filter((one) => {
          const hasSpace = known.has(one.name) || known.size < maxFound
          if (hasSpace) known.set(one.name, one)
          return hasSpace
        })
        return [given, known]
      })
    })
    const list = Effect.map(Effect.zip(current, found), ([all, found]) => listOf(tool, all, found, find))
    return { tool, find, found, list }
  })

const searchTool = (
  { description = DESCRIPTION, dialect = "json-schema", name = "search_tools" }: Options
): ToolList.ModelTool => {
  const { isStrict, schema } = Either.getOrThrowWith(
    Conversion.make(inputSchema, dialect),
    (reason) => new Error(`The search tool ${reason}`)
  )
  return { name, description, inputSchema: schema, isStrict, server: "host", tool: { name, description, inputSchema } }
}

/** The words that a model wrote for the search tool. A model may write the text alone. */
const queryOf = (args: unknown): string => {
  const value = typeof args === "string"
    ? Either.getOrElse(Either.try((): unknown => JSON.parse(args)), () => args)
    : args
  if (typeof value === "string") return value
  return Predicate.isRecord(value) && typeof value.query === "string" ? value.query : ""
}

const listOf = (
  tool: ToolList.ModelTool,
  all: ToolList.ToolList,
  found: ReadonlyArray<ToolList.ModelTool>,
  find: ToolSearch["find"]
): ToolList.ToolList => {
  const tools = [tool, ...found]
  const byName = new Map(tools.map((one) => [one.name, one]))
  return {
    tools,
    skipped: all.skipped,
    get: (name) => byName.get(name),
    call: (name, args, options?: CallToolOptions) =>
      name === tool.name ? Effect.map(find(args), outputOf) : all.call(name, args, options)
  }
}

/** What a model reads of a search, where its provider has no form for tools that were found. */
const outputOf = (found: ReadonlyArray<ToolList.ModelTool>): ToolOutput.ToolOutput =>
  ToolOutput.make({
    content: [{
      type: "text",
      text: found.length === 0
        ? "No tool fits. Search with other words."
        : `These tools fit, and you can call them by their names now:\n${
          found.map(({ description, name }) => `${name}: ${description}`).join("\n")
        }`
    }]
  })

/**
 * The `tools` of Anthropic's messages: the search tool, and the tools that were found, with `defer_loading`, so that they do not change the
 * beginning of the prompt. The model reads a tool where `anthropicResult` refers to the tool.
 *
 * @see https://platform.claude.com/docs/en/agents-and-tools/tool-use/tool-search-tool
 * @category utils
 */
export const anthropic = ({ found, tool }: ToolSearch): Effect.Effect<ReadonlyArray<JsonObject>> =>
  Effect.map(found, (tools) => [
    { name: tool.name, description: tool.description, input_schema: tool.inputSchema },
    ...tools.map(({ description, inputSchema, name }) => ({
      name,
      ...described(description),
      input_schema: inputSchema,
      defer_loading: true
    }))
  ])

/**
 * The content of a `tool_result` of Anthropic's messages for a use of the search tool: references to what was found.
 *
 * @see https://platform.claude.com/docs/en/agents-and-tools/tool-use/tool-search-tool
 * @category utils
 */
export const anthropicResult = (
  found: ReadonlyArray<ToolList.ModelTool>
): { readonly is_error: boolean; readonly content: ReadonlyArray<JsonObject> } =>
  found.length === 0
    ? ToolOutput.anthropic(outputOf(found))
    : { is_error: false, content: found.map(({ name }) => ({ type: "tool_reference", tool_name: name })) }

/**
 * The `tools` of OpenAI's responses: a tool search that the application runs. Its calls are items of the type `tool_search_call`.
 *
 * @see https://developers.openai.com/api/docs/guides/tools-tool-search
 * @category utils
 */
export const openaiResponses = ({ tool }: ToolSearch): ReadonlyArray<JsonObject> => [
  { type: "tool_search", execution: "client", description: tool.description, parameters: tool.inputSchema }
]

/**
 * The item that answers a `tool_search_call` of OpenAI's responses, with what was found.
 *
 * @see https://developers.openai.com/api/docs/guides/tools-tool-search
 * @category utils
 */
export const openaiResponsesOutput = (callId: string, found: ReadonlyArray<ToolList.ModelTool>): JsonObject => ({
  type: "tool_search_output",
  call_id: callId,
  execution: "client",
  status: "completed",
  tools: found.map(({ description, inputSchema, isStrict, name }) => ({
    type: "function",
    name,
    ...described(description),
    parameters: inputSchema,
    strict: isStrict,
    defer_loading: true
  }))
})

const described = (description: string) => description === "" ? undefined : { description }
