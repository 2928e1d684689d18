/**
 * Clients whose JSON-RPC deviates: ids, versions, notifications.
 */
import type { ClientRow } from "../Row.js"
import { invalid, invalidWithoutId, sends } from "./Sends.js"

const ids: ReadonlyArray<ClientRow> = [
  ...([0, -1, 9007199254740991, "", "7", "a b", "é", "x".repeat(300)] as const).map((id) =>
    sends(
      `id-${JSON.stringify(id).slice(0, 20)}`,
      `uses the id \`${JSON.stringify(id).slice(0, 20)}\``,
      { jsonrpc: "2.0", id, method: "ping" },
      "answers under the same id",
      [{ id, result: {} }],
      { rule: "basic#requests" }
    )
  ),
  ...([1.5, true, {}, [1], 1e300] as const).map((id) =>
    sends(
      `id-${JSON.stringify(id)}`,
      `uses the id \`${JSON.stringify(id)}\``,
      { jsonrpc: "2.0", id, method: "ping" },
      "-32600 without an id: an id is a string or an integer",
      [invalidWithoutId],
      { status: 400, rule: "basic#requests" }
    )
  ),
  sends(
    "id-float",
    "writes the id 1 as `1.0`",
    "{\"jsonrpc\":\"2.0\",\"id\":1.0,\"method\":\"ping\"}",
    "answers under the id 1",
    [{ id: 1, result: {} }],
    { rule: "basic#requests" }
  ),
  sends(
    "id-twice",
    "writes the member `id` twice",
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":2,\"method\":\"ping\"}",
    "answers under the second, as JSON parsers read it",
    [{ id: 2, result: {} }]
  )
]

const versions: ReadonlyArray<ClientRow> = [
  ["jsonrpc-absent", "leaves out `jsonrpc`", { id: "$id", method: "ping" }],
  ["jsonrpc-1", "writes `jsonrpc: \"1.0\"`", { jsonrpc: "1.0", id: "$id", method: "ping" }],
  ["jsonrpc-number", "writes `jsonrpc: 2.0` as a number", "{\"jsonrpc\":2.0,\"id\":\"$id\",\"method\":\"ping\"}"],
  ["method-number", "writes `method: 5`", { jsonrpc: "2.0", id: "$id", method: 5 }],
  ["method-absent", "leaves out `method`", { jsonrpc: "2.0", id: "$id", params: {} }],
  ["params-text", "writes `params` as a text", { jsonrpc: "2.0", id: "$id", method: "ping", params: "x" }],
  ["params-number", "writes `params` as a number", { jsonrpc: "2.0", id: "$id", method: "ping", params: 0 }]
].map(([id, deviation, message]) =>
  sends(id as string, deviation as string, message, "-32600", [invalid], { status: 400 })
)

const notifications: ReadonlyArray<ClientRow> = [
  ["notification-unknown", "sends a notification that does not exist", "notifications/unknown", {}],
  ["notification-no-prefix", "sends a request without an id", "tools/list", {}],
  ["notification-server", "sends a notification that only servers send", "notifications/tools/list_changed", undefined],
  ["cancel-unknown", "cancels a request that is not in flight", "notifications/cancelled", { requestId: "never" }],
  ["cancel-no-id", "cancels without an id", "notifications/cancelled", {}],
  ["cancel-bad-id", "cancels the id `{}`", "notifications/cancelled", { requestId: {} }],
  ["progress-unknown", "reports progress that no request waits for", "notifications/progress", {
    progressToken: 99,
    progress: 1
  }],
  ["progress-text", "reports progress as a text", "notifications/progress", { progressToken: 1, progress: "half" }],
  ["roots-undeclared", "reports changed roots that it has not declared", "notifications/roots/list_changed", undefined]
].map(([id, deviation, method, params]) =>
  sends(
    id as string,
    deviation as string,
    { jsonrpc: "2.0", method, params },
    "ignores it; a notification has no answer",
    [],
    { rule: "basic#notifications" }
  )
)

export const rows: ReadonlyArray<ClientRow> = [...ids, ...versions, ...notifications]
