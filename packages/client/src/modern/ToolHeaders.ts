/**
 * The HTTP headers that repeat arguments of tools, learnt from the lists of tools that a server has sent over this
 * connection. A tool whose marks are not valid is left out of the list and reported, as the specification demands of
 * clients over HTTP.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports#custom-headers-from-tool-parameters
 */
import type { JsonObject } from "@effect-mcp/protocol/Json"
import type { ParamHeader } from "@effect-mcp/protocol/modern/ParamHeaders"
import * as ParamHeaders from "@effect-mcp/protocol/modern/ParamHeaders"
import * as Either from "effect/Either"

/** For how many tools the headers are kept: the oldest go first. Most tools have none and are not counted. */
const MAX_TOOLS = 1000

/** How many characters the names of one tool's headers and properties may have: HTTP servers take no more. */
const MAX_TEXT = 16 * 1024

export interface ToolHeaders {
  /** The headers of a call. A tool that was never listed has none. */
  readonly of: (params: JsonObject | undefined) => Record<string, string>
  /** Learns the headers of a page of `tools/list`. Gives the page without the invalid tools, and why they are left out. */
  readonly learn: (page: JsonObject) => { readonly page: JsonObject; readonly problems: ReadonlyArray<string> }
}

export const make = (): ToolHeaders => {
  const known = new Map<string, ReadonlyArray<ParamHeader>>()

  /** Why a tool is left out; `undefined` when it stays. */
  const learnTool = (tool: unknown): string | undefined => {
    const { inputSchema, name } = (tool ?? {}) as { readonly inputSchema?: unknown; readonly name?: unknown }
    if (typeof name !== "string" || typeof inputSchema !== "object" || inputSchema === null) return undefined
    const headers = ParamHeaders.of(inputSchema as JsonObject)
    known.delete(name)
    if (Either.isLeft(headers)) return `"${onOneLine(name, 128)}" (${onOneLine(headers.left, 200)})`
    const text = headers.right.reduce((sum, { header, path }) => sum + header.length + path.join(".").length, 0)
    if (text > MAX_TEXT) {
      return `"${onOneLine(name, 128)}" (the names of its headers have more than ${MAX_TEXT} characters)`
    }
    if (headers.right.length > 0) known.set(name, headers.right)
    if (known.size > MAX_TOOLS) { for (const oldest of known.keys()) return void known.delete(oldest) }
    return undefined
  }

  return {
    of: (params) => {
      const headers = typeof params?.name === "string" ? known.get(params.name) : undefined
      return headers === undefined ? {} : ParamHeaders.make(headers, params?.arguments as JsonObject | undefined)
    },
    learn: (page) => {
      if (!Array.isArray(page.tools)) return { page, problems: [] }
      const problems: Array<string> = []
      const tools = page.tools.filter((tool) => {
        const problem = learnTool(tool)
        if (problem !== undefined) problems.push(problem)
        return problem === undefined
      })
      return problems.length === 0 ? { page, problems } : { page: { ...page, tools }, problems }
    }
  }
}

/** A text of the server, shortened and without control characters: it goes into the log. */
const onOneLine = (text: string, max: number): string => text.slice(0, max).replace(/[\p{Cc}\u2028\u2029]/gu, " ")

/** How many tools a warning names. */
const MAX_NAMED = 10

/** The warning about the tools that are left out. */
export const sentence = (problems: ReadonlyArray<string>): string => {
  const named = problems.slice(0, MAX_NAMED).join(", ")
  const more = problems.length > MAX_NAMED ? `, and ${problems.length - MAX_NAMED} more` : ""
  return `Tools are left out of the list, because they name invalid headers: ${named}${more}`
}
