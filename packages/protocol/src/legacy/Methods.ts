/**
 * Everything that may be said up to 2025-11-25: a table of contents. A method that is not here does not exist in the
 * legacy era.
 *
 * @since 0.1.0
 */
import * as Logging from "../Logging.js"
import * as Method from "../Method.js"
import * as Pagination from "../Pagination.js"
import * as Progress from "../Progress.js"
import * as Tools from "../Tools.js"
import * as Initialize from "./Initialize.js"

/**
 * @since 0.1.0
 * @category requests
 */
export const initialize = Method.request({
  name: "initialize",
  from: "client",
  params: Initialize.InitializeParams,
  result: Initialize.InitializeResult
})

/**
 * @since 0.1.0
 * @category requests
 */
export const ping = Method.request({ name: "ping", from: "both", params: Method.NoParams, result: Method.Empty })

/**
 * @since 0.1.0
 * @category requests
 */
export const listTools = Method.request({
  name: "tools/list",
  from: "client",
  params: Pagination.PaginatedParams,
  result: Tools.ListToolsResult,
  capability: "tools"
})

/**
 * @since 0.1.0
 * @category requests
 */
export const callTool = Method.request({
  name: "tools/call",
  from: "client",
  params: Tools.CallToolParams,
  result: Tools.CallToolResult,
  capability: "tools"
})

/**
 * @since 0.1.0
 * @category requests
 */
export const setLevel = Method.request({
  name: "logging/setLevel",
  from: "client",
  params: Logging.SetLevelParams,
  result: Method.Empty,
  capability: "logging"
})

/**
 * @since 0.1.0
 * @category notifications
 */
export const initialized = Method.notification({
  name: "notifications/initialized",
  from: "client",
  params: Method.NoParams
})

/**
 * @since 0.1.0
 * @category notifications
 */
export const cancelled = Method.notification({
  name: "notifications/cancelled",
  from: "both",
  params: Progress.CancelledParams
})

/**
 * @since 0.1.0
 * @category notifications
 */
export const progress = Method.notification({
  name: "notifications/progress",
  from: "both",
  params: Progress.ProgressParams
})

/**
 * @since 0.1.0
 * @category notifications
 */
export const message = Method.notification({
  name: "notifications/message",
  from: "server",
  params: Logging.LoggingMessage,
  capability: "logging"
})

/**
 * @since 0.1.0
 * @category notifications
 */
export const toolListChanged = Method.notification({
  name: "notifications/tools/list_changed",
  from: "server",
  params: Method.NoParams,
  capability: "tools.listChanged"
})

/**
 * Everything, by name.
 *
 * @since 0.1.0
 * @category table
 */
export const table = Method.table(
  initialize,
  ping,
  listTools,
  callTool,
  setLevel,
  initialized,
  cancelled,
  progress,
  message,
  toolListChanged
)
