/**
 * Gives a model a search tool instead of a long list of tools. The model searches in its own words and gets the tools that fit. Then it
 * calls a tool by the tool's own name. So the host can ask its user before each call, as it does without a search.
 *
 * This module is for hosts with hundreds or thousands of tools in a `ToolList`. Some providers let a model get tools in the middle of a
 * conversation. This module supports the tool references of Anthropic, and OpenAI's tool search that the application runs. For other
 * providers, add the found tools to the tools of the next request. `search/ToolIndex` finds the tools.
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
  /** The name of the search tool. A search does not find a tool of a server with this name. Default: `search_tools`. */
  readonly name?: string | undefined
  /**
   * The description of the search tool for the model. Default: a sentence that tells the model to search before it says that something
   * cannot be done.
   */
  readonly description?: string | undefined
  /** The most tools that one search returns. Default: 5. */
  readonly limit?: number | undefined
  /**
   * The most tools that all searches of one conversation find together. When the conversation has found this many tools, a search returns
   * only tools that an earlier search has found. Default: 128.
   */
  readonly maxFound?: number | undefined
  /** The dialect of the schema of the search tool. Use the same dialect as for the list. Default: `json-schema`. */
  readonly dialect?: ModelSchema.Dialect | undefined
}

/**
 * The search tool of one conversation with a model, and the tools that the conversation has found.
 *
 * @category models
 */
export interface ToolSearch {
  /** The search tool, in the form that the model gets. */
  readonly tool: ToolList.ModelTool
  /**
   * Runs a search. `args` are the arguments that the model has written for the search tool. Returns the tools that fit, the best first, and
   * adds these tools to `found`.
   */
  readonly find: (args: unknown) => Effect.Effect<ReadonlyArray<ToolList.ModelTool>>
  /**
   * The found tools, in the order in which they were first found. When a server no longer lists a tool, the tool stays here, because
   * messages of the conversation may refer to it.
   */
  readonly found: Effect.Effect<ReadonlyArray<ToolList.ModelTool>>
  /**
   * The search tool and the found tools as a `ToolList`. Use it with a provider that does not let a model get tools in the middle of a
   * conversation: send the tools of this list with the next request. `call` of this list also runs the search tool, and returns the names
   * and descriptions of the found tools.
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
 * Makes the search tool of one conversation. `source` contains the tools to search: a list from `ToolList.make`, or the result of
 * `ToolList.follow`.
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

/** Returns the output of a search as text, for providers that do not let a model get tools in the middle of a conversation. */
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
 * Returns the member `tools` for a request of Anthropic's Messages API: the search tool and the found tools. The found tools have
 * `defer_loading`, so that they do not change the beginning of the prompt. The model reads a found tool where the content of
 * `anthropicResult` names the tool.
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
 * Returns the result of the search tool for Anthropic's Messages API. Put `content` and `is_error` into the `tool_result`. `content` has
 * references to the found tools.
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
 * Returns the member `tools` for a request of OpenAI's Responses API: a tool search that the application runs. When the model searches, the
 * response has an item of the type `tool_search_call`.
 *
 * @see https://developers.openai.com/api/docs/guides/tools-tool-search
 * @category utils
 */
export const openaiResponses = ({ tool }: ToolSearch): ReadonlyArray<JsonObject> => [
  { type: "tool_search", execution: "client", description: tool.description, parameters: tool.inputSchema }
]

/**
 * Returns the item that answers a `tool_search_call` in OpenAI's Responses API. The item has the found tools.
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
