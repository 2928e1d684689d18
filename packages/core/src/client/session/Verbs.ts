/**
 * The functions of a session, which the application gets from `Client` as a `ClientSession`. Each function is a call of the
 * `NegotiatedSession` that the era has opened. `OutputCheck` checks the structured content of results of tools. `RemoteTasks` waits for
 * calls of tools that become tasks. `ListPages` and `ServerTools` read the lists.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as EffectInternals from "../../kit/EffectInternals.js"
import type * as Extension from "../../protocol/Extension.js"
import type { JsonObject } from "../../protocol/Json.js"
import * as Version from "../../protocol/Version.js"
import type { CallToolOptions, ClientSessionService, ListOptions } from "../ClientSession.js"
import * as ListPages from "./ListPages.js"
import * as MethodCalls from "./MethodCalls.js"
import type { NegotiatedSession } from "./NegotiatedSession.js"
import * as OutputCheck from "./OutputCheck.js"
import * as RemoteTasks from "./RemoteTasks.js"
import type * as ServerTools from "./ServerTools.js"
import type * as TaskWatch from "./TaskWatch.js"
import * as TimeLeft from "./TimeLeft.js"

/** The values that calls of tools need besides the session. */
export interface ToolCalls {
  readonly checkOutputs: boolean
  readonly timeout: Duration.DurationInput
  readonly tools: ServerTools.ServerToolsService
  readonly watch: TaskWatch.TaskWatch
}

export const make = (negotiated: NegotiatedSession, toolCalls: ToolCalls): ClientSessionService => {
  const { awaitSubscription, call, ended, extended, facts, notifications, notify, refusal, report } = negotiated
  const listResources = (options?: ListOptions) => call("resources/list", page(options), options)
  const listResourceTemplates = (options?: ListOptions) => call("resources/templates/list", page(options), options)
  const listPrompts = (options?: ListOptions) => call("prompts/list", page(options), options)
  return {
    ...facts,
    era: Version.eraOf(facts.version)!,
    ...notifications,
    ...extended,
    awaitSubscription,
    ended,
    ping: (options) => Effect.asVoid(call("ping", undefined, options)),
    ...toolVerbs(negotiated, toolCalls),
    listResources,
    resources: ListPages.stream(
      "resources/list",
      (cursor) => listResources({ cursor }),
      ({ resources }) => resources,
      report
    ),
    listResourceTemplates,
    resourceTemplates: ListPages.stream(
      "resources/templates/list",
      (cursor) => listResourceTemplates({ cursor }),
      ({ resourceTemplates }) => resourceTemplates,
      report
    ),
    readResource: (uri, options) => call("resources/read", { uri }, options),
    subscribeResource: (uri, options) => Effect.asVoid(call("resources/subscribe", { uri }, options)),
    unsubscribeResource: (uri, options) => Effect.asVoid(call("resources/unsubscribe", { uri }, options)),
    listPrompts,
    prompts: ListPages.stream("prompts/list", (cursor) => listPrompts({ cursor }), ({ prompts }) => prompts, report),
    getPrompt: (name, args, options) =>
      call("prompts/get", args === undefined ? { name } : { name, arguments: args }, options),
    complete: (ref, argument, options) =>
      Effect.map(
        call(
          "completion/complete",
          options?.others === undefined ? { ref, argument } : { ref, argument, context: { arguments: options.others } },
          options
        ),
        ({ completion }) => completion
      ),
    setLoggingLevel: (level, options) => {
      const unknown = MethodCalls.unknownLevel(level)
      return unknown === undefined ? Effect.asVoid(call("logging/setLevel", { level }, options)) : Effect.fail(unknown)
    },
    // A function expression cannot have the overloads of the type. A call with the name of a method does not fail.
    notify:
      ((method: string | Extension.Notification<"client">, params?: JsonObject) =>
        typeof method === "string" ? notify(method, params) : extended.notify(method, params)) as ClientSessionService[
          "notify"
        ],
    rootsListChanged: Effect.suspend(() => refusal(ROOTS_CHANGED) ?? notify(ROOTS_CHANGED))
  }
}

const toolVerbs = (
  { call, report, tasks: era }: NegotiatedSession,
  { checkOutputs, timeout, tools, watch }: ToolCalls
): Pick<ClientSessionService, "listTools" | "tools" | "callTool" | "tasks"> => {
  const list = tools.list(call, report)
  const timeLeft = (began: number, options?: CallToolOptions) => TimeLeft.since(began, "tools/call", options, timeout)
  const check: RemoteTasks.Options["check"] = (name, options, left) => (result) => {
    if (!(options?.checkOutput ?? checkOutputs)) return Effect.succeed(result)
    const found = tools.find(name, list, left?.after ?? (() => Duration.toMillis(options?.timeout ?? timeout)))
    return OutputCheck.check(name, result, found, tools.unchecked, report)
  }
  const { call: callTask, ...tasks } = RemoteTasks.make({ era, watch, timeLeft, tools, list, check })
  return {
    listTools: (options) => tools.page(call, options),
    tools: list,
    callTool: (name, args, options) => {
      const params = RemoteTasks.toParams(name, args)
      const result = era.decides === undefined ? call("tools/call", params, options) : callTask(params, options)
      return options?.checkOutput ?? checkOutputs
        ? Effect.flatMap(
          Effect.clock,
          (clock) => Effect.flatMap(result, check(name, options, timeLeft(EffectInternals.millis(clock), options)))
        )
        : result
    },
    tasks
  }
}

const ROOTS_CHANGED = "notifications/roots/list_changed"

const page = (options: ListOptions | undefined) =>
  options?.cursor === undefined ? undefined : { cursor: options.cursor }
