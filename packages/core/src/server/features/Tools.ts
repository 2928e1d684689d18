/**
 * Serves `tools/list` and `tools/call`: finds the tool that a call names, runs the handler, and makes the result. Arguments that the tool
 * does not accept, and failures that the tool declares, become results that the model reads. `McpServer.tool` makes an entry of the
 * `Registry` with this module, and `dispatch/Build` adds its routes to the server.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/tools
 */
import * as Cause from "effect/Cause"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import type * as Tool from "../../definition/Tool.js"
import { isToolResult, type ToolResult } from "../../definition/ToolResult.js"
import type { JsonObject } from "../../protocol/Json.js"
import { InvalidParams } from "../../protocol/McpError.js"
import type { PaginatedParams } from "../../protocol/Pagination.js"
import * as WrappedOutput from "../../protocol/rules/WrappedOutput.js"
import type * as Tools from "../../protocol/Tools.js"
import * as Version from "../../protocol/Version.js"
import type { ServerCacheOptions } from "../CacheHints.js"
import type { RegisteredTool, RegistryService } from "../Registry.js"
import type { HandlerContext } from "../runtime/HandlerContext.js"
import * as HandlerName from "../runtime/HandlerName.js"
import * as HandlerOutcome from "../runtime/HandlerOutcome.js"
import * as HandlerResult from "../runtime/HandlerResult.js"
import * as MethodHints from "../runtime/MethodHints.js"
import * as Route from "../runtime/Route.js"
import type { TaskRunner } from "../tasks/TaskRunner.js"
import * as PagedList from "./PagedList.js"
import * as Surroundings from "./Surroundings.js"
import type * as TaskCall from "./TaskCall.js"
import * as ToolArguments from "./ToolArguments.js"

/** The runner of tasks, and the code for calls that become tasks. */
interface Tasks {
  readonly runner: TaskRunner
  readonly call: typeof TaskCall
}

interface Options extends ToolArguments.Options {
  readonly pageSize: number
  readonly cache?: ServerCacheOptions | undefined
  readonly tasks: Tasks | undefined
}

export const routes = (registry: RegistryService, options: Options): ReadonlyArray<Route.Route> => {
  const list = PagedList.serve({
    list: "tools",
    entries: registry.tools,
    pageSize: options.pageSize,
    hints: MethodHints.ofMethod(options.cache, "tools/list"),
    advertised: ({ advertised }) => advertised,
    result: (tools): Tools.ListToolsResult => ({ tools })
  })
  const toolArguments = ToolArguments.make(registry.tools, options)
  return [
    {
      method: "tools/list",
      isTrusted: true,
      isStable: true,
      serve: ({ cursor }: PaginatedParams) => list(cursor)
    },
    {
      method: "tools/call",
      isTrusted: false,
      isStable: false,
      seen: toolArguments.seen,
      serve: serve(registry, toolArguments, options.tasks)
    }
  ]
}

const serve = (
  registry: RegistryService,
  toolArguments: ToolArguments.ToolArguments,
  withTasks: Tasks | undefined
): Route.Route["serve"] =>
(params: Tools.CallToolParams, session, raw) => {
  const tool = registry.tools.get(params.name) ?? registry.tools.get(Route.ANY)
  if (tool === undefined) return Route.failed(unknown(params.name))
  const isPlain = tool.task === undefined && params.task === undefined
  const tasks = isPlain ? undefined : withTasks
  const settle = settled(tool)
  const used = tool.around === undefined
    ? tool.call
    : (args: unknown, name: string) =>
      Surroundings.use(
        tool,
        () => ({ kind: "tool", entry: Surroundings.tool(tool, name), arguments: args }),
        Effect.suspend(() => tool.call(args, name)),
        settle
      )
  const call = () =>
    ToolArguments.decodes(tool)
      ? toolArguments.call(tool, used, params, raw)
      : used(params.arguments, params.name)
  const called = isWrapped(tool.advertised, session.version) ? () => Effect.map(call(), wrapped) : call
  if (tool.around === undefined && tasks === undefined) return { effect: called(), context: tool.context }
  const refusal = tasks?.call.refusal(session as HandlerContext, tool.task)
  const suspended = Effect.suspend(called)
  const served = Surroundings.serve(
    tool,
    // A refusal shows that the tool exists, so only a request to which the tool is visible gets the refusal.
    refusal === undefined ? tasks?.call.begun(tool.task, suspended) ?? suspended : Effect.fail(refusal),
    Effect.fail(unknown(params.name)),
    settle
  )
  return tasks === undefined || refusal !== undefined
    ? served
    : {
      ...served,
      effect: tasks.call.run(
        tasks.runner,
        session as HandlerContext,
        tool.task,
        served.effect,
        Surroundings.scopesOf(tool)
      )
    }
}

/** Makes a result from the failure of a service or middleware around a tool, where the tool declares this failure. */
const settled = ({ failed }: RegisteredTool) => (end: Effect.Effect<unknown, unknown, any>) =>
  failed === undefined ? end : Effect.catchAllCause(end, failed)

/**
 * Whether the output schema in the client's list wraps the value of the tool in an object. This is true with legacy revisions (up to
 * 2025-11-25) when the schema also allows values that are not objects.
 */
const isWrapped = ({ outputSchema }: Tools.Tool, version: Version.Version): boolean =>
  outputSchema !== undefined && WrappedOutput.allowsOthers(outputSchema) && Version.isLegacy(version)

/** Wraps an object in the form of the listed schema. `narrowResult` of the method wraps every other value. */
const wrapped = (result: Tools.CallToolResult): Tools.CallToolResult =>
  result.isError !== true && Predicate.isRecord(result.structuredContent)
    ? { ...result, structuredContent: WrappedOutput.value(result.structuredContent) }
    : result

/** See `Server.inputSchema`. */
export const inputSchema =
  ({ tools }: Pick<RegistryService, "tools">): (name: string) => JsonObject | undefined => (name) =>
    tools.get(name)?.advertised.inputSchema

/** See `Server.unseenTool`. */
export const unseen = (
  { tools }: Pick<RegistryService, "tools">,
  name: string
): Effect.Effect<InvalidParams | undefined, unknown> | undefined => {
  const tool = tools.get(name)
  return tool === undefined || !Surroundings.mayBeHidden(tool)
    ? undefined
    : Effect.map(Surroundings.isVisible(tool), (visible) => visible ? undefined : unknown(name))
}

const unknown = (name: string): InvalidParams =>
  new InvalidParams({ message: `Unknown tool: ${HandlerName.quotable(name)}` })

/** Makes the registry entry of a tool from its definition and its handler. */
export const entry = (
  tool: Tool.Tool.Any,
  handler: (parameters: any) => Effect.Effect<any, any, any>,
  context: Context.Context<never>,
  registry: RegistryService,
  startsTask: boolean
): RegisteredTool => ({
  advertised: tool.advertised,
  context,
  decode: tool.codec.decodeArguments,
  mendArguments: tool.mendArguments,
  call: call(tool, handler, registry),
  task: taskOf(tool.advertised, startsTask),
  ...Surroundings.ofDefinition(tool),
  failed: failed(tool.codec, (failure, encoded) => Effect.catchAllDefect(encoded, () => Effect.die(failure)))
})

/**
 * Makes the registry entry of a tool whose tasks are detached. The handler gets decoded arguments, begins the task, and then starts the
 * work. The handler succeeds without a value.
 */
export const detachedEntry = (
  tool: Tool.Tool.Any,
  engine: string,
  start: (parameters: any) => Effect.Effect<unknown, any, any>,
  context: Context.Context<never>,
  registry: RegistryService
): RegisteredTool => ({
  ...entry(tool, start, context, registry, false),
  call: (parameters) =>
    Effect.matchCauseEffect(start(parameters), {
      onFailure: failed(tool.codec),
      onSuccess: () => Effect.succeed({ content: [] })
    }),
  task: { support: "required", startsInHandler: true, detached: engine }
})

/** Makes the result of a call whose work has ended outside of the server, for a client of this revision. */
export const resultOf = (
  tool: Tool.Tool.Any,
  end: Effect.Effect<any, any>,
  registry: RegistryService,
  version: Version.Version
): Effect.Effect<Tools.CallToolResult, unknown> => {
  const result = call(tool, () => end, registry)(undefined, tool.name) as Effect.Effect<Tools.CallToolResult, unknown>
  return isWrapped(tool.advertised, version) ? Effect.map(result, wrapped) : result
}

const taskOf = ({ execution }: Tools.Tool, startsInHandler: boolean): RegisteredTool["task"] => {
  const support = execution?.taskSupport
  return support === undefined || support === "forbidden" ? undefined : { support, startsInHandler }
}

const call = (
  { codec, name }: Tool.Tool.Any,
  handler: (parameters: any) => Effect.Effect<any, any, any>,
  registry: RegistryService
): RegisteredTool["call"] => {
  const actor = `The handler of ${HandlerName.tool(name)}`
  let warned = false
  // SHOULD declare `resources` (2025-11-25 server/tools#embedded-resources)
  const embedsUndeclared = (success: ToolResult<unknown>) =>
    !warned && !registry.offers("resources") && success.content.some(({ type }) => type === "resource")
  const warning = Effect.suspend(() => {
    warned = true
    return Effect.logWarning(`${actor} embeds resources, and this server offers none: add a resource or a template`)
  })
  const ending = {
    onFailure: failed(codec),
    onSuccess: (success: unknown) => {
      const result = HandlerResult.isPromise(success) ? HandlerResult.promise(actor) : codec.encodeSuccess(success)
      return isToolResult(success) && embedsUndeclared(success) ? Effect.zipRight(warning, result) : result
    }
  }
  return (parameters) => Effect.matchCauseEffect(HandlerResult.effect(handler(parameters), actor), ending)
}

type Failed = Effect.Effect<Tools.CallToolResult, unknown>

const failed = (
  codec: Tool.Tool.Any["codec"],
  declared: (failure: unknown, encoded: Failed) => Failed = (_, encoded) => encoded
) =>
(cause: Cause.Cause<unknown>): Failed => {
  // When a handler failed, and then died in a finalizer, the cause is a bug, so the server must log a defect.
  const failure = Cause.isDie(cause) ? Option.none() : Cause.failureOption(cause)
  if (Option.isNone(failure)) return Effect.failCause(cause)
  return HandlerOutcome.isProtocolError(failure.value)
    ? Effect.fail(failure.value)
    : declared(failure.value, codec.encodeFailure(failure.value))
}
