/**
 * `tools/list` and `tools/call`: from checked parameters to the tool that is meant, from the way its handler ended to a
 * result. Arguments that the tool does not take, and failures it has declared, are results that the model reads.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/tools
 * @since 0.1.0
 */
import type * as Tool from "@effect-mcp/definition/Tool"
import * as Methods from "@effect-mcp/protocol/legacy/Methods"
import { InvalidParams, ofIssue } from "@effect-mcp/protocol/McpError"
import type { PaginatedParams } from "@effect-mcp/protocol/Pagination"
import type * as Tools from "@effect-mcp/protocol/Tools"
import * as Version from "@effect-mcp/protocol/Version"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import type * as ParseResult from "effect/ParseResult"
import type { RegisteredTool, RegistryService } from "../Registry.js"
import * as Reply from "../runtime/Reply.js"
import type { Route } from "../runtime/Router.js"
import * as PagedList from "./PagedList.js"

/**
 * @since 0.1.0
 * @category routes
 */
export const routes = (registry: RegistryService, options: { readonly pageSize: number }): ReadonlyArray<Route> => {
  const list = PagedList.make({
    list: "tools",
    shelf: registry.tools,
    pageSize: options.pageSize,
    advertised: ({ advertised }) => advertised,
    result: (tools): Tools.ListToolsResult => ({ tools })
  })
  return [
    {
      method: Methods.listTools,
      trusted: true,
      kept: true,
      serve: ({ cursor }: PaginatedParams) => ({ effect: list(cursor), context: Context.empty() })
    },
    {
      method: Methods.callTool,
      trusted: false,
      serve: (params: Tools.CallToolParams, session) => {
        const tool = registry.tools.get(params.name)
        return tool === undefined
          ? { effect: Effect.fail(unknownTool(params.name)), context: Context.empty() }
          : { effect: tool.call(params.arguments, session.version), context: tool.context }
      }
    }
  ]
}

const unknownTool = (name: string) => new InvalidParams({ message: `Unknown tool: ${Reply.quotable(name)}` })

/**
 * What to run when a tool is called, out of its definition and its handler.
 *
 * @since 0.1.0
 * @category constructors
 */
export const call = (
  tool: Tool.Tool.Any,
  handler: (parameters: any) => Effect.Effect<any, any, any>
): RegisteredTool["call"] => {
  const { codec, name } = tool
  const ended = { onFailure: failed(codec), onSuccess: codec.encodeSuccess }
  const run = (parameters: unknown) => Effect.matchCauseEffect(Effect.suspend(() => handler(parameters)), ended)
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
    // A handler that failed and then died, in a finalizer or beside it, has a bug that nobody may miss.
    const failure = Cause.isDie(cause) ? Option.none() : Cause.failureOption(cause)
    if (Option.isNone(failure)) return Effect.failCause(cause)
    return Reply.isProtocolError(failure.value) ? Effect.fail(failure.value) : codec.encodeFailure(failure.value)
  }

// Up to 2025-06-18 bad arguments are the program's fault; from 2025-11-25 on the model is told and may mend them.
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
