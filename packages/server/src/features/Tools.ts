/**
 * `tools/list` and `tools/call`: finds the tool that a call names, and turns the end of its handler into a result.
 * Arguments that the tool does not accept, and failures that the tool declares, become results that the model reads.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/tools
 */
import type * as Tool from "@effect-mcp/definition/Tool"
import { InvalidParams, ofIssue } from "@effect-mcp/protocol/McpError"
import type { PaginatedParams } from "@effect-mcp/protocol/Pagination"
import type * as Tools from "@effect-mcp/protocol/Tools"
import * as Version from "@effect-mcp/protocol/Version"
import * as Cause from "effect/Cause"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import type * as ParseResult from "effect/ParseResult"
import type { RegisteredTool, RegistryService } from "../Registry.js"
import * as Reply from "../runtime/Reply.js"
import * as Route from "../runtime/Route.js"
import * as PagedList from "./PagedList.js"

export const routes = (
  registry: RegistryService,
  options: { readonly pageSize: number }
): ReadonlyArray<Route.Route> => {
  const isOffered = () => registry.offers("tools")
  const list = PagedList.make({
    list: "tools",
    entries: registry.tools,
    pageSize: options.pageSize,
    advertised: ({ advertised }) => advertised,
    result: (tools): Tools.ListToolsResult => ({ tools })
  })
  return [
    {
      method: "tools/list",
      isOffered,
      isTrusted: true,
      isStable: true,
      serve: ({ cursor }: PaginatedParams) => Route.served(list(cursor))
    },
    {
      method: "tools/call",
      isOffered,
      isTrusted: false,
      isStable: false,
      serve: (params: Tools.CallToolParams, session) => {
        const tool = registry.tools.get(params.name)
        return tool === undefined
          ? Route.failed(new InvalidParams({ message: `Unknown tool: ${Reply.quotable(params.name)}` }))
          : { effect: tool.call(params.arguments, session.version), context: tool.context }
      }
    }
  ]
}

/** The registry entry of a tool, from its definition and its handler. */
export const entry = (
  tool: Tool.Tool.Any,
  handler: (parameters: any) => Effect.Effect<any, any, any>,
  context: Context.Context<never>
): RegisteredTool => ({ advertised: tool.advertised, context, call: call(tool, handler) })

const call = (
  { codec, name }: Tool.Tool.Any,
  handler: (parameters: any) => Effect.Effect<any, any, any>
): RegisteredTool["call"] => {
  const ending = { onFailure: failed(codec), onSuccess: codec.encodeSuccess }
  const run = (parameters: unknown) => Effect.matchCauseEffect(Effect.suspend(() => handler(parameters)), ending)
  return (args, version) => {
    const decoded = codec.decodeArguments(args ?? {})
    if (Either.isEither(decoded)) {
      return Either.isRight(decoded)
        ? run(decoded.right)
        : refused(name, decoded.left as ParseResult.ParseIssue, version)
    }
    return Effect.matchEffect(decoded, {
      onFailure: (issue) => refused(name, issue, version),
      onSuccess: run
    })
  }
}

const failed =
  (codec: Tool.Tool.Any["codec"]) => (cause: Cause.Cause<unknown>): Effect.Effect<Tools.CallToolResult, unknown> => {
    // A handler that failed, and then died in a finalizer, has a bug: it must be logged as a defect.
    const failure = Cause.isDie(cause) ? Option.none() : Cause.failureOption(cause)
    if (Option.isNone(failure)) return Effect.failCause(cause)
    return Reply.isProtocolError(failure.value) ? Effect.fail(failure.value) : codec.encodeFailure(failure.value)
  }

// Up to 2025-06-18 wrong arguments are an error for the calling program; since 2025-11-25 the model reads what is wrong.
const refused = (
  name: string,
  issue: ParseResult.ParseIssue,
  version: string
): Effect.Effect<Tools.CallToolResult, InvalidParams> => {
  const error = ofIssue(issue, `arguments for tool "${name}"`)
  return Version.hasArgumentErrorResults(version)
    ? Effect.succeed({ content: [{ type: "text", text: error.message }], isError: true })
    : Effect.fail(error)
}
