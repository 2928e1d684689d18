/**
 * Gives a model a search tool instead of a long list of tools. The model searches in its own words, gets the tools that fit, and calls a
 * tool by the tool's own name. So a host can still ask its user about each tool.
 *
 * This module is for hosts with hundreds or thousands of tools, in a `ToolList` of a session or of a group. It supports the features of
 * providers for tools that are loaded later: Anthropic's tool references and OpenAI's tool search in the application. With other providers,
 * the found tools become tools of the next request. `search/ToolIndex` ranks the tools.
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

/**
 * The options of `make`.
 *
 * @category models
 */
export interface Options {
  /** The name of the search tool. When a server has a tool of this name, that tool is left out. Default: `search_tools`. */
  readonly name?: string | undefined
  /**
   * The description of the search tool for the model. Default: a sentence that tells the model to search before it says that something
   * cannot be done.
   */
  readonly description?: string | undefined
  /** How many tools one search gives at most. Default: 5. */
  readonly limit?: number | undefined
  /**
   * How many tools one conversation may find. When this number is reached, a search gives only tools that the conversation has already
   * found. Default: 128.
   */
  readonly maxFound?: number | undefined
  /** The dialect of the schema of the search tool. Use the same dialect as for the list. Default: `json-schema`. */
  readonly dialect?: ModelSchema.Dialect | undefined
}

/**
 * The search of one conversation with a model.
 *
 * @category models
 */
export interface ToolSearch {
  /** The search tool, in the form that the model gets. */
  readonly tool: ToolList.ModelTool
  /**
   * Runs a search. Gives the tools that fit the words of the model, the best first, and adds these tools to `found`. `args` are the
   * arguments that the model has written for the search tool.
   */
  readonly find: (args: unknown) => Effect.Effect<ReadonlyArray<ToolList.ModelTool>>
  /**
   * The found tools, in the order in which they were first found. A tool that is no longer listed stays here, because messages of the
   * conversation refer to it.
   */
  readonly found: Effect.Effect<ReadonlyArray<ToolList.ModelTool>>
  /**
   * The search tool and the found tools as a `ToolList`, for the member `tools` of the next request to a provider without support for tools
   * that are loaded later. The model can call the search tool through `call` of this list, too. Such a call gives the names and
   * descriptions of the found tools.
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
 * Makes the search of one conversation. `source` is a list from `ToolList.make`, or the result of `ToolList.follow`, whose list follows its
 * servers.
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

/** Returns the words that a model has written for the search tool. Some models write only the text instead of an object. */
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

/** Returns the output of a search for a model whose provider has no support for tools that are loaded later. */
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
 * Returns the member `tools` of Anthropic's messages: the search tool and the found tools. The found tools have `defer_loading`, so that
 * they do not change the beginning of the prompt. The model reads such a tool at the place where `anthropicResult` refers to it.
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
 * Returns the content of a `tool_result` of Anthropic's messages for a use of the search tool: references to the found tools.
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
 * Returns the member `tools` of OpenAI's responses: a tool search that the application runs. The calls of the search are items of the type
 * `tool_search_call`.
 *
 * @see https://developers.openai.com/api/docs/guides/tools-tool-search
 * @category utils
 */
export const openaiResponses = ({ tool }: ToolSearch): ReadonlyArray<JsonObject> => [
  { type: "tool_search", execution: "client", description: tool.description, parameters: tool.inputSchema }
]

/**
 * Returns the item that answers a `tool_search_call` of OpenAI's responses with the found tools.
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
