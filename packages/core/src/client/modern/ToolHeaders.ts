/**
 * The headers that repeat arguments of tools over HTTP. `ModernCalls` sends its requests through this module, which learns the headers from
 * each list of tools. A tool with invalid headers is left out of the list, with a warning, as the specification demands of clients over
 * HTTP. When the server refuses the headers of a call (`McpError.HeaderMismatch`), this module lists the tools with `ServerTools`, and
 * sends the call again. `HttpTransport` makes the map of headers, `modern/Http` reads the map for each call, and `modern/Connect` passes
 * the map to this module.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports#custom-headers-from-tool-parameters
 */
import * as Clock from "effect/Clock"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as Stream from "effect/Stream"
import type { Params } from "../../jsonrpc/Message.js"
import type { Exchanges } from "../../jsonrpc/Transport.js"
import type { JsonObject } from "../../protocol/Json.js"
import * as Methods from "../../protocol/modern/Methods.js"
import * as ParamHeaders from "../../protocol/modern/ParamHeaders.js"
import type * as Tools from "../../protocol/Tools.js"
import type { ClientError } from "../ClientError.js"
import type { Calls } from "../session/MethodCalls.js"
import type { ServerToolsService } from "../session/ServerTools.js"
import * as TimeLeft from "../session/TimeLeft.js"

/** How many characters the names of the headers and properties of one tool may have together, because HTTP servers accept no more. */
const MAX_TEXT = 16 * 1024

/** For how many tools the headers are kept. The oldest are removed first. Tools without headers do not count. */
const MAX_TOOLS = 1000

/**
 * For each tool that has headers, a function that makes the headers of a call from its arguments. The key is the name of the tool. An entry
 * stays until the tool is listed again.
 */
export type ToolHeaders = Map<string, (args: JsonObject | undefined) => Record<string, string>>

/** The `exchanges` of the HTTP transport of this library, which keep the headers of tools. */
export interface HttpExchanges extends Exchanges {
  readonly toolHeaders: ToolHeaders
}

/** Returns the map of headers that the session fills; `undefined` for a transport whose requests have no headers. */
export const ofExchanges = (exchanges: Exchanges | HttpExchanges | undefined): ToolHeaders | undefined => {
  if (exchanges === undefined) return undefined
  return "toolHeaders" in exchanges ? exchanges.toolHeaders : new Map()
}

/** Makes the headers of a call. The call of a tool that was never listed has no headers. */
export const of = (known: ToolHeaders, params: JsonObject | undefined): Record<string, string> => {
  const make = known.get(params?.name as string)
  return make === undefined ? {} : make(params?.arguments as JsonObject | undefined)
}

/** Learns the headers from a page of `tools/list`. Returns the page without tools whose headers are invalid, and the reasons. */
export const learn = (
  known: ToolHeaders,
  page: JsonObject
): { readonly page: JsonObject; readonly problems: ReadonlyArray<string> } => {
  if (!Array.isArray(page.tools)) return { page, problems: [] }
  const problems: Array<string> = []
  const valid = page.tools.filter((tool) => {
    const { inputSchema, name } = (tool ?? {}) as { readonly inputSchema?: unknown; readonly name?: unknown }
    if (typeof name !== "string" || typeof inputSchema !== "object" || inputSchema === null) return true
    const headers = headersOf(inputSchema as JsonObject)
    known.delete(name)
    if (Either.isLeft(headers)) problems.push(`"${onOneLine(name, 128)}" (${onOneLine(headers.left, 200)})`)
    else if (headers.right !== undefined) known.set(name, headers.right)
    if (known.size > MAX_TOOLS) known.delete(known.keys().next().value!)
    return Either.isRight(headers)
  })
  return problems.length === 0 ? { page, problems } : { page: { ...page, tools: valid }, problems }
}

const headersOf = (inputSchema: JsonObject): Either.Either<
  ((args: JsonObject | undefined) => Record<string, string>) | undefined,
  string
> =>
  Either.flatMap(ParamHeaders.of(inputSchema), (headers) => {
    const text = headers.reduce((sum, { header, path }) => sum + header.length + path.join(".").length, 0)
    if (text > MAX_TEXT) return Either.left(`the names of its headers have more than ${MAX_TEXT} characters`)
    return Either.right(headers.length === 0 ? undefined : (args) => ParamHeaders.make(headers, args))
  })

/** Writes a text of the server for the log: shortened and without control characters. */
const onOneLine = (text: string, max: number): string => text.slice(0, max).replace(/[\p{Cc}\u2028\u2029]/gu, " ")

/** How many tools a warning names. */
const MAX_NAMED = 10

/** Writes the warning about the tools that are left out. */
export const sentence = (problems: ReadonlyArray<string>): string => {
  const named = problems.slice(0, MAX_NAMED).join(", ")
  const more = problems.length > MAX_NAMED ? `, and ${problems.length - MAX_NAMED} more` : ""
  return `Tools are left out of the list, because they name invalid headers: ${named}${more}`
}

/**
 * Makes a function that sends requests over HTTP. The function learns the headers from each list of tools. When the server refuses the
 * headers of a call, the function lists the tools and sends the call again. The call, the list and the second call together have the time
 * of one call.
 */
export const requests = (
  request: Calls["request"],
  headers: ToolHeaders,
  tools: ServerToolsService,
  list: Stream.Stream<Tools.Tool, ClientError>,
  timeout: Duration.DurationInput
): Calls["request"] =>
(method, params, options) => {
  const sent = request(method, params, options)
  if (method === Methods.listTools.name) {
    return Effect.flatMap(sent, (result) => {
      const { page, problems } = learn(headers, result)
      return Effect.as(problems.length === 0 ? Effect.void : Effect.logWarning(sentence(problems)), page as Params)
    })
  }
  if (method !== Methods.callTool.name) return sent
  return Effect.flatMap(Clock.currentTimeMillis, (began) => {
    const { listings } = tools
    // The client SHOULD list the tools and try again (2026-07-28 basic/transports#custom-headers-from-tool-parameters).
    return Effect.catchTag(sent, "HeaderMismatch", (refusal) => {
      const left = TimeLeft.since(began, method, options, timeout)
      return Effect.flatMap(tools.find(String(params?.name), list, left.after, listings), () => {
        // Without a new list, the call fails with the refusal, which means that the server has not run the call.
        if (tools.listings === listings) return Effect.fail(refusal)
        const rest = Effect.flatMap(Clock.currentTimeMillis, left.call)
        return Effect.flatMap(rest, (options) => request(method, params, options))
      })
    })
  })
}
