/**
 * The methods of the legacy era, and a table of all these methods. A method that is not in the table does not exist in any revision up to
 * 2025-11-25. `TaskMethods` defines the methods of tasks.
 *
 * @since 0.1.0
 */
import type * as Schema from "effect/Schema"
import * as Completion from "../Completion.js"
import * as Elicitation from "../Elicitation.js"
import * as Logging from "../Logging.js"
import * as Method from "../Method.js"
import * as Pagination from "../Pagination.js"
import * as Progress from "../Progress.js"
import * as Prompts from "../Prompts.js"
import * as Resources from "../Resources.js"
import * as Roots from "../Roots.js"
import * as EmptyCursor from "../rules/EmptyCursor.js"
import * as Sampling from "../Sampling.js"
import * as Tools from "../Tools.js"
import * as Initialize from "./Initialize.js"
import { SubscribeParams } from "./Subscriptions.js"
import * as TaskMethods from "./TaskMethods.js"
import { ElicitationComplete, ElicitParams } from "./UrlElicitation.js"

/** A request for a list in pages. */
const list = <const Name extends string, Result>(name: Name, capability: string, result: Schema.Schema<Result>) =>
  EmptyCursor.isAbsent(Method.request({ name, from: "client", params: Pagination.PaginatedParams, result, capability }))

/** The notification that a list of the server has changed. */
const listChanged = <const Name extends string>(name: Name, capability: string) =>
  Method.notification({ name, from: "server", params: Method.Empty, capability })

/** @category methods */
export const initialize = Method.request({
  name: "initialize",
  from: "client",
  params: Initialize.InitializeParams,
  result: Initialize.InitializeResult,
  until: "2025-11-25"
})

/** @category methods */
export const ping = Method.request({
  name: "ping",
  from: "both",
  params: Method.NoParams,
  result: Method.Empty,
  until: "2025-11-25"
})

/** @category methods */
export const listTools = list("tools/list", "tools", Tools.ListToolsResult)

/** @category methods */
export const callTool = Method.request({
  name: "tools/call",
  from: "client",
  params: Tools.CallToolParams,
  result: Tools.CallToolResult,
  capability: "tools"
})

/** @category methods */
export const listResources = list("resources/list", "resources", Resources.ListResourcesResult)

/** @category methods */
export const listResourceTemplates = list(
  "resources/templates/list",
  "resources",
  Resources.ListResourceTemplatesResult
)

/** @category methods */
export const readResource = Method.request({
  name: "resources/read",
  from: "client",
  params: Resources.ReadResourceParams,
  result: Resources.ReadResourceResult,
  capability: "resources"
})

/** @category methods */
export const subscribe = Method.request({
  name: "resources/subscribe",
  from: "client",
  params: SubscribeParams,
  result: Method.Empty,
  capability: "resources.subscribe",
  until: "2025-11-25"
})

/** @category methods */
export const unsubscribe = Method.request({
  name: "resources/unsubscribe",
  from: "client",
  params: SubscribeParams,
  result: Method.Empty,
  capability: "resources.subscribe",
  until: "2025-11-25"
})

/** @category methods */
export const listPrompts = list("prompts/list", "prompts", Prompts.ListPromptsResult)

/** @category methods */
export const getPrompt = Method.request({
  name: "prompts/get",
  from: "client",
  params: Prompts.GetPromptParams,
  result: Prompts.GetPromptResult,
  capability: "prompts"
})

/** @category methods */
export const complete = Method.request({
  name: "completion/complete",
  from: "client",
  params: Completion.CompleteParams,
  result: Completion.CompleteResult,
  capability: "completions",
  gatedSince: "2025-03-26"
})

/** @category methods */
export const setLevel = Method.request({
  name: "logging/setLevel",
  deprecated: Method.deprecatedFeature,
  from: "client",
  params: Logging.SetLevelParams,
  result: Method.Empty,
  capability: "logging",
  until: "2025-11-25"
})

/** @category methods */
export const createMessage = Method.request({
  name: "sampling/createMessage",
  deprecated: Method.deprecatedFeature,
  from: "server",
  params: Sampling.CreateMessageParams,
  result: Sampling.CreateMessageResult,
  capability: "sampling",
  until: "2025-11-25"
})

/** @category methods */
export const listRoots = Method.request({
  name: "roots/list",
  deprecated: Method.deprecatedFeature,
  from: "server",
  params: Method.NoParams,
  result: Roots.ListRootsResult,
  capability: "roots",
  until: "2025-11-25"
})

/** @category methods */
export const elicit = Method.request({
  name: "elicitation/create",
  from: "server",
  params: ElicitParams,
  result: Elicitation.ElicitResult,
  capability: "elicitation",
  since: "2025-06-18",
  until: "2025-11-25"
})

/** @category methods */
export const initialized = Method.notification({
  name: "notifications/initialized",
  from: "client",
  params: Method.Empty,
  until: "2025-11-25"
})

/** @category methods */
export const cancelled = Method.notification({
  name: "notifications/cancelled",
  from: "both",
  params: Progress.CancelledParams
})

/** @category methods */
export const progress = Method.notification({
  name: "notifications/progress",
  from: "both",
  params: Progress.ProgressParams
})

/** @category methods */
export const message = Method.notification({
  name: "notifications/message",
  deprecated: Method.deprecatedFeature,
  from: "server",
  params: Logging.LoggingMessage,
  capability: "logging"
})

/** @category methods */
export const toolListChanged = listChanged("notifications/tools/list_changed", "tools.listChanged")

/** @category methods */
export const resourceListChanged = listChanged("notifications/resources/list_changed", "resources.listChanged")

/** @category methods */
export const resourceUpdated = Method.notification({
  name: "notifications/resources/updated",
  from: "server",
  params: Resources.ResourceUpdated,
  capability: "resources.subscribe"
})

/** @category methods */
export const promptListChanged = listChanged("notifications/prompts/list_changed", "prompts.listChanged")

/** @category methods */
export const rootsListChanged = Method.notification({
  name: "notifications/roots/list_changed",
  deprecated: Method.deprecatedFeature,
  from: "client",
  params: Method.Empty,
  capability: "roots.listChanged",
  until: "2025-11-25"
})

/** @category methods */
export const elicitationComplete = Method.notification({
  name: "notifications/elicitation/complete",
  from: "server",
  params: ElicitationComplete,
  capability: "elicitation.url",
  declaredBy: "receiver",
  since: "2025-11-25",
  until: "2025-11-25"
})

/**
 * All methods of the legacy era, by name.
 *
 * @category constants
 */
export const table = Method.table(
  initialize,
  ping,
  listTools,
  callTool,
  listResources,
  listResourceTemplates,
  readResource,
  subscribe,
  unsubscribe,
  listPrompts,
  getPrompt,
  complete,
  setLevel,
  createMessage,
  listRoots,
  elicit,
  TaskMethods.getTask,
  TaskMethods.getTaskPayload,
  TaskMethods.listTasks,
  TaskMethods.cancelTask,
  initialized,
  cancelled,
  progress,
  message,
  toolListChanged,
  resourceListChanged,
  resourceUpdated,
  promptListChanged,
  rootsListChanged,
  elicitationComplete,
  TaskMethods.taskStatus
)
