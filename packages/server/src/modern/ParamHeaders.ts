/**
 * Checks the HTTP headers that only the tables of a server know: those that repeat arguments of a tool call, for tools whose
 * schema marks arguments with `x-mcp-header`, and `Mcp-Name` of the methods of extensions. Which headers a tool has is computed
 * once for each schema.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports#custom-headers-from-tool-parameters
 */
import type { Request } from "@effect-mcp/jsonrpc/Message"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import type { HeaderMismatch } from "@effect-mcp/protocol/McpError"
import * as Names from "@effect-mcp/protocol/modern/Headers"
import * as Methods from "@effect-mcp/protocol/modern/Methods"
import * as ParamHeaders from "@effect-mcp/protocol/modern/ParamHeaders"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import type { Headers } from "../http/HttpExchange.js"
import type { Server } from "../runtime/Server.js"

/** Gives the error of a request whose headers differ from its arguments. Only over HTTP there are headers. */
export const make = (
  { extensions: { nameParameters }, inputSchema }: Pick<Server, "extensions" | "inputSchema">
): (request: Request, sent: Headers) => HeaderMismatch | undefined => {
  const headers = new WeakMap<JsonObject, ReadonlyArray<ParamHeaders.ParamHeader>>()
  const headersOf = (schema: JsonObject): ReadonlyArray<ParamHeaders.ParamHeader> => {
    let found = headers.get(schema)
    if (found === undefined) headers.set(schema, found = Either.getOrElse(ParamHeaders.of(schema), () => []))
    return found
  }
  return (request, sent) => {
    const { method, params } = request
    if (nameParameters.has(method)) {
      return Option.getOrUndefined(Either.getLeft(Names.check(request, (name) => sent[name], nameParameters)))
    }
    if (method !== Methods.callTool.name) return undefined
    const schema = typeof params?.name === "string" ? inputSchema(params.name) : undefined
    const marked = schema === undefined ? [] : headersOf(schema)
    if (marked.length === 0) return undefined
    const checked = ParamHeaders.check(marked, params?.arguments as JsonObject | undefined, (name) => sent[name])
    return Either.isLeft(checked) ? checked.left : undefined
  }
}
