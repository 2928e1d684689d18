/**
 * Servers whose notifications deviate.
 */
import type { ServerRow } from "../Row.js"
import { good, pipes, sends, value } from "./Sends.js"

const note = (method: unknown, params?: unknown, more: object = {}) => ({ jsonrpc: "2.0", method, params, ...more })

export const rows: ReadonlyArray<ServerRow> = [
  sends(
    "note-unknown",
    "sends a notification that does not exist",
    [note("notifications/weather", { sun: true }), good],
    "ignores it",
    { value },
    { rule: "basic#notifications" }
  ),
  sends(
    "note-with-id",
    "sends a notification with an id",
    [note("notifications/tools/list_changed", undefined, { id: 9 }), good],
    "-32601: it is not a request",
    { value, replies: [{ id: 9, error: { code: -32601 } }] },
    { rule: "basic#notifications" }
  ),
  sends(
    "note-id-null",
    "sends a notification with `id: null`",
    [note("notifications/message", { level: "info", data: 1 }, { id: null }), good],
    "reports it; a client never answers what has no id",
    { value, reports: ["Malformed"] },
    { rule: "basic#notifications", over: ["http"] }
  ),
  sends(
    "note-changed-null",
    "sends `params: null` with a changed list",
    [note("notifications/tools/list_changed", null), good],
    "`null` counts as absent",
    { value, changes: ["tools"] }
  ),
  sends(
    "log-null",
    "logs with `logger: null`",
    [note("notifications/message", { level: "info", data: "a", logger: null }), good],
    "`null` counts as absent",
    { value, logs: [{ level: "info", data: "a" }] }
  ),
  sends(
    "log-logger",
    "logs with a number as the logger",
    [note("notifications/message", { level: "info", data: "a", logger: 5 }), good],
    "leaves it out, and reports it",
    { value, logs: [{ level: "info", data: "a" }], reports: ["Mended"] }
  ),
  sends(
    "log-data-null",
    "logs `null`",
    [note("notifications/message", { level: "info", data: null }), good],
    "accepts: any JSON may be logged",
    { value, logs: [{ level: "info", data: null }] },
    { rule: "server/utilities/logging" }
  ),
  sends(
    "log-level",
    "logs at a level that does not exist",
    [note("notifications/message", { level: "warn", data: "a" }), good],
    "drops the message, and reports it",
    { value, reports: ["Malformed"] },
    { rule: "server/utilities/logging#log-levels" }
  ),
  sends(
    "log-no-data",
    "logs nothing",
    [note("notifications/message", { level: "info" }), good],
    "drops the message, and reports it",
    { value, reports: ["Malformed"] },
    { rule: "server/utilities/logging" }
  ),
  sends(
    "log-no-params",
    "logs without parameters",
    [note("notifications/message"), good],
    "drops the message, and reports it",
    { value, reports: ["Malformed"] },
    { rule: "server/utilities/logging" }
  ),
  sends(
    "update-null",
    "reports an update with `_meta: null`",
    [note("notifications/resources/updated", { uri: "memo://note", _meta: null }), good],
    "`null` counts as absent",
    { value, updates: ["memo://note"] }
  ),
  sends(
    "update-no-uri",
    "reports an update without a URI",
    [note("notifications/resources/updated", {}), good],
    "drops it, and reports it",
    { value, reports: ["Malformed"] },
    { rule: "server/resources#subscriptions" }
  ),
  sends(
    "update-unsubscribed",
    "reports an update of a resource that the client has not subscribed to",
    [note("notifications/resources/updated", { uri: "memo://other" }), good],
    "gives it to the application",
    { value, updates: ["memo://other"] }
  ),
  sends(
    "note-positional",
    "sends positional parameters",
    [note("notifications/message", [1]), good],
    "drops the message, and reports it",
    { value, reports: ["Malformed"] }
  ),
  sends(
    "progress-token-text",
    "reports progress under the token as a text",
    [note("notifications/progress", { progressToken: "$token", progress: 1 }), good],
    "gives it to the call",
    { value, progress: [{ progress: 1 }] },
    { rule: "basic/utilities/progress" }
  ),
  sends(
    "progress-null",
    "reports progress with `total: null` and `message: null`",
    [note("notifications/progress", { progressToken: "$token", progress: 1, total: null, message: null }), good],
    "`null` counts as absent",
    { value, progress: [{ progress: 1 }] },
    { rule: "basic/utilities/progress" }
  ),
  sends(
    "progress-message",
    "reports progress with a number as the message",
    [note("notifications/progress", { progressToken: "$token", progress: 1, message: 5 }), good],
    "leaves the message out",
    { value, progress: [{ progress: 1 }] },
    { rule: "basic/utilities/progress" }
  ),
  sends(
    "progress-unknown",
    "reports progress under a token that was never given out",
    [note("notifications/progress", { progressToken: "never", progress: 1 }), good],
    "ignores it",
    { value },
    { rule: "basic/utilities/progress" }
  ),
  sends(
    "progress-late",
    "reports progress after the answer",
    [good, note("notifications/progress", { progressToken: "$token", progress: 1 })],
    "ignores it",
    { value },
    { rule: "basic/utilities/progress", ...pipes }
  ),
  sends(
    "cancel-unknown",
    "cancels a request that is not in flight",
    [note("notifications/cancelled", { requestId: 99 }), good],
    "ignores it",
    { value },
    { rule: "basic/utilities/cancellation" }
  ),
  sends(
    "cancel-null",
    "cancels `requestId: null`",
    [note("notifications/cancelled", { requestId: null }), good],
    "ignores it",
    { value },
    { rule: "basic/utilities/cancellation" }
  )
]
