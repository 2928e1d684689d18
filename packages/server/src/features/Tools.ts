/**
 * `tools/list` and `tools/call`: finds the tool that a call names, and turns the end of its handler into a result.
 * Arguments that the tool does not accept, and failures that the tool declares, become results that the model reads.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/tools
 */
import type * as Tool from "@effect-mcp/definition/Tool"
import { isToolResult } from "@effect-mcp/definition/ToolResult"
import { InvalidParams, ofIssue } from "@effect-mcp/protocol/McpError"
import type { PaginatedParams } from "@effect-mcp/protocol/Pagination"
import type * as Tools from "@effect-mcp/protocol/Tools"
import * as Cause from "effect/Cause"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import type * as ParseResult from "effect/ParseResult"
import type { RegisteredTool, RegistryService } from "../Registry.js"
import * as Reply from "../runtime/Reply.js"
import * as Returned from "../runtime/Returned.js"
import * as Route from "../runtime/Route.js"
import * as Subject from "../runtime/Subject.js"
import * as PagedList from "./PagedList.js"

export const routes = (
  registry: RegistryService,
  options: { readonly pageSize: number }
): ReadonlyArray<Route.Route> => {
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
      isTrusted: true,
      isStable: true,
      serve: ({ cursor }: PaginatedParams) => Route.served(list(cursor))
    },
    {
      method: "tools/call",
      isTrusted: false,
      isStable: false,
      serve: (params: Tools.CallToolParams) => {
        const tool = registry.tools.get(params.name)
        return tool === undefined
          ? Route.failed(new InvalidParams({ message: `Unknown tool: ${Subject.quotable(params.name)}` }))
          : { effect: tool.call(params.arguments), context: tool.context }
      }
    }
  ]
}

/** The registry entry of a tool, from its definition and its handler. */
export const entry = (
  tool: Tool.Tool.Any,
  handler: (parameters: any) => Effect.Effect<any, any, any>,
  context: Context.Context<never>,
  registry: RegistryService
): RegisteredTool => ({ advertised: tool.advertised, context, call: call(tool, handler, registry) })

const call = (
  { codec, name }: Tool.Tool.Any,
  handler: (parameters: any) => Effect.Effect<any, any, any>,
  registry: RegistryService
): RegisteredTool["call"] => {
  const actor = `The handler of ${Subject.tool(name)}`
  let warned = false
  // SHOULD declare `resources` (2025-11-25 server/tools#embedded-resources)
  const embedsUndeclared = (success: unknown) =>
    !warned && isToolResult(success) && !registry.offers("resources") &&
    success.content.some(({ type }) => type === "resource")
  const warning = Effect.suspend(() => {
    warned = true
    return Effect.logWarning(`${actor} embeds resources, and this server offers none: add a resource or a template`)
  })
  const ending = {
    onFailure: failed(codec),
    onSuccess: (success: unknown) => {
      const result = Returned.promise(success, actor) ?? codec.encodeSuccess(success)
      return embedsUndeclared(success) ? Effect.zipRight(warning, result) : result
    }
  }
  const run = (parameters: unknown) => Effect.matchCauseEffect(Returned.run(() => handler(parameters), actor), ending)
  return (args) => {
    const decoded = codec.decodeArguments(args ?? {})
    if (Either.isEither(decoded)) {
      return Either.isRight(decoded)
        ? run(decoded.right)
        : Effect.succeed(refused(name, decoded.left as ParseResult.ParseIssue))
    }
    return Effect.matchEffect(decoded, {
      onFailure: (issue) => Effect.succeed(refused(name, issue)),
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

// Also up to 2025-06-18, whose hosts show their model results, and no errors.
const refused = (name: string, issue: ParseResult.ParseIssue): Tools.CallToolResult => ({
  content: [{ type: "text", text: ofIssue(issue, `arguments for ${Subject.tool(name)}`).message }],
  isError: true
})
