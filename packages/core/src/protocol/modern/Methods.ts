/**
 * The methods of the modern era, and a table of all these methods. A method that is not in the table does not exist with revision
 * 2026-07-28 or later. A modern server sends no JSON-RPC requests. `InputRequired` has the input requests that a modern server may send in
 * results.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as Completion from "../Completion.js"
import * as Logging from "../Logging.js"
import * as Meta from "../Meta.js"
import * as Method from "../Method.js"
import * as Pagination from "../Pagination.js"
import * as Progress from "../Progress.js"
import * as Prompts from "../Prompts.js"
import * as Resources from "../Resources.js"
import * as Tools from "../Tools.js"
import * as Caching from "./Caching.js"
import * as Discover from "./Discover.js"
import * as Envelope from "./Envelope.js"
import * as InputRequired from "./InputRequired.js"
import * as ResultType from "./ResultType.js"
import * as Subscriptions from "./Subscriptions.js"

type Fields = Schema.Struct.Fields

type Over<Old extends Fields, More extends Fields> = {
  readonly [Name in keyof Old | keyof More]: Name extends keyof More ? More[Name]
    : Name extends keyof Old ? Old[Name]
    : never
}

// Makes a type of the modern era from a type of both eras: the envelope replaces the open `_meta`, and results have a `resultType`. The
// type is made on its first use, because a process that serves only one legacy client never needs the type.
const over = <Old extends Fields, More extends Fields>({ fields }: { readonly fields: Old }, more: More) =>
  // TypeScript types the spread of two type parameters as their intersection, but the later field replaces the earlier one.
  Schema.suspend(() => Schema.Struct({ ...fields, ...more } as Over<Old, More>))

const resultFields = { ...ResultType.complete, ...Envelope.result }
const cacheableFields = { ...Caching.hintFields, ...resultFields }
const retryFields = { ...InputRequired.retryFields, ...Envelope.request }

// The core of the modern era has no tasks. A modern server ignores the member `task`.
const { task: _, ...callToolFields } = Tools.CallToolParams.fields

const paginated = over(Pagination.PaginatedParams, Envelope.request)

/** A request for a list in pages. */
const list = <const Name extends string, Result>(name: Name, capability: string, result: Schema.Schema<Result>) =>
  Method.request({ name, from: "client", params: paginated, result, capability })

const noParams = Schema.Struct(Envelope.notification)

/** The notification that a list of the server has changed. */
const listChanged = <const Name extends string>(name: Name, capability: string) =>
  Method.notification({ name, from: "server", params: noParams, capability })

/** @category methods */
export const discover = Method.request({
  name: "server/discover",
  from: "client",
  params: Schema.Struct(Envelope.request),
  result: Discover.DiscoverResult,
  since: "2026-07-28"
})

/** @category methods */
export const listTools = list("tools/list", "tools", over(Tools.ListToolsResult, cacheableFields))

/** @category methods */
export const callTool = Method.request({
  name: "tools/call",
  from: "client",
  params: over({ fields: callToolFields }, retryFields),
  result: over(Tools.CallToolResult, resultFields),
  capability: "tools"
})

/** @category methods */
export const listResources = list("resources/list", "resources", over(Resources.ListResourcesResult, cacheableFields))

/** @category methods */
export const listResourceTemplates = list(
  "resources/templates/list",
  "resources",
  over(Resources.ListResourceTemplatesResult, cacheableFields)
)

/** @category methods */
export const readResource = Method.request({
  name: "resources/read",
  from: "client",
  params: over(Resources.ReadResourceParams, retryFields),
  result: over(Resources.ReadResourceResult, cacheableFields),
  capability: "resources"
})

/** @category methods */
export const listPrompts = list("prompts/list", "prompts", over(Prompts.ListPromptsResult, cacheableFields))

/** @category methods */
export const getPrompt = Method.request({
  name: "prompts/get",
  from: "client",
  params: over(Prompts.GetPromptParams, retryFields),
  result: over(Prompts.GetPromptResult, resultFields),
  capability: "prompts"
})

/** @category methods */
export const complete = Method.request({
  name: "completion/complete",
  from: "client",
  params: over(Completion.CompleteParams, Envelope.request),
  result: over(Completion.CompleteResult, resultFields),
  capability: "completions"
})

/** @category methods */
export const listen = Method.request({
  name: "subscriptions/listen",
  from: "client",
  params: Subscriptions.ListenParams,
  result: Subscriptions.ListenResult,
  since: "2026-07-28"
})

/**
 * Cancels a request on stdio. Over HTTP the sender closes the stream instead.
 *
 * @category methods
 */
export const cancelled = Method.notification({
  name: "notifications/cancelled",
  from: "both",
  params: over(Progress.CancelledParams, { requestId: Meta.RequestId, ...Envelope.notification })
})

/** @category methods */
export const progress = Method.notification({
  name: "notifications/progress",
  from: "server",
  params: over(Progress.ProgressParams, Envelope.notification)
})

/** @category methods */
export const message = Method.notification({
  name: "notifications/message",
  deprecated: Method.deprecatedFeature,
  from: "server",
  params: over(Logging.LoggingMessage, Envelope.notification),
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
  params: over(Resources.ResourceUpdated, Envelope.notification),
  capability: "resources.subscribe"
})

/** @category methods */
export const promptListChanged = listChanged("notifications/prompts/list_changed", "prompts.listChanged")

/** @category methods */
export const acknowledged = Method.notification({
  name: "notifications/subscriptions/acknowledged",
  from: "server",
  params: Subscriptions.Acknowledged,
  since: "2026-07-28"
})

/**
 * All methods of the modern era, by name.
 *
 * @category constants
 */
export const table = Method.table(
  discover,
  listTools,
  callTool,
  listResources,
  listResourceTemplates,
  readResource,
  listPrompts,
  getPrompt,
  complete,
  listen,
  cancelled,
  progress,
  message,
  toolListChanged,
  resourceListChanged,
  resourceUpdated,
  promptListChanged,
  acknowledged
)
