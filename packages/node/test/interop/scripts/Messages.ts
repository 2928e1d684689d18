/**
 * What servers of 2026-07-28 send that deviate in messages, subscriptions and HTTP: what the official client 2.4 takes, and what a rule
 * forbids. They were found among 600 scripts.
 */
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib"
import { good, type Script } from "../ScriptedServers.js"
import { answer, done, type More, over, refuses, sends, text } from "./Make.js"

const D = "server/discover"
const C = "tools/call"
const notice = { jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data: "a" } }
const envelope: ReadonlyArray<Script> = [
  sends("envelope", "more members", [{ ...done, took: 5, id: "$id" }]),
  sends("envelope", "id of another, then the answer", [{ ...done, id: 4711 }, done]),
  sends("envelope", "id null error, then the answer", [{
    jsonrpc: "2.0",
    id: null,
    error: { code: -32700, message: "?" }
  }, done]),
  sends("envelope", "batch of one", [[done]]),
  sends("envelope", "batch of notification and answer", [[notice, done]]),
  sends("envelope", "batch of two answers", [[done, done]]),
  sends("envelope", "batch empty, then the answer", [[], done]),
  sends("envelope", "twice", [done, done]),
  sends("envelope", "a request first", [{ jsonrpc: "2.0", id: 1, method: "ping" }, done]),
  sends("envelope", "a sampling request first", [{
    jsonrpc: "2.0",
    id: 1,
    method: "sampling/createMessage",
    params: {}
  }, done]),
  sends("envelope", "an unknown request first", [{ jsonrpc: "2.0", id: 1, method: "x", params: {} }, done]),
  sends("envelope", "a text first", ["hello", done]),
  sends("envelope", "a number first", ["5", done]),
  sends("envelope", "null first", ["null", done]),
  sends("envelope", "an odd object first", ["{\"level\":\"info\"}", done]),
  sends("envelope", "an empty line first", ["", done]),
  sends("envelope", "CR", [text + "\r"]),
  sends("envelope", "BOM", ["\ufeff" + text]),
  sends("envelope", "spaces", ["  " + text + "  "]),
  sends("JSON", "__proto__ in the result", [
    text.replace("\"content\"", "\"__proto__\":{\"isError\":true},\"content\"")
  ]),
  sends("JSON", "__proto__ in structured", [
    text.replace("\"content\"", "\"structuredContent\":{\"__proto__\":{}},\"content\"")
  ]),
  sends("JSON", "constructor in structured", [
    text.replace("\"content\"", "\"structuredContent\":{\"constructor\":1},\"content\"")
  ]),
  sends("JSON", "duplicate keys", [text.replace("\"content\"", "\"content\":5,\"content\"")]),
  sends("JSON", "60 deep", [
    text.replace("\"content\"", `"structuredContent":${"[".repeat(55)}${"]".repeat(55)},"content"`)
  ]),
  sends("JSON", "70 deep", [
    text.replace("\"content\"", `"structuredContent":${"[".repeat(70)}${"]".repeat(70)},"content"`)
  ]),
  sends("JSON", "500 deep", [
    text.replace("\"content\"", `"structuredContent":${"[".repeat(500)}${"]".repeat(500)},"content"`)
  ]),
  sends("JSON", "lone surrogate", [text.replace("done", "\\ud800")]),
  sends("JSON", "NUL", [text.replace("done", "\\u0000")]),
  sends("JSON", "line separator", [text.replace("done", "\u2028\u2029")]),
  sends("JSON", "1e999", [text.replace("\"content\"", "\"structuredContent\":1e999,\"content\"")]),
  sends("JSON", "-0", [text.replace("\"content\"", "\"structuredContent\":-0,\"content\"")]),
  sends("JSON", "large integer", [
    text.replace("\"content\"", "\"structuredContent\":12345678901234567890,\"content\"")
  ])
]

const prog = (params: object) => ({
  jsonrpc: "2.0",
  method: "notifications/progress",
  params: { progressToken: "$token", progress: 1, ...params }
})
const logs = (params: object | null) => ({
  jsonrpc: "2.0",
  method: "notifications/message",
  params: params === null ? null : { ...notice.params, ...params }
})
const said = (name: string, ...messages: ReadonlyArray<unknown>): Script =>
  sends("notifications", name, [...messages, done])
const notifications: ReadonlyArray<Script> = [
  said("progress", prog({})),
  said("progress token as text", JSON.stringify(prog({})).replace("\"$token\"", "\"\\u0024token\"")),
  said("progress without token", prog({ progressToken: undefined })),
  said("progress token null", prog({ progressToken: null })),
  said("progress going down", prog({ progress: 5 }), prog({ progress: 3 })),
  said("progress the same", prog({ progress: 5 }), prog({ progress: 5 })),
  said("progress null", prog({ progress: null })),
  said("progress text", prog({ progress: "1" })),
  said("progress missing", prog({ progress: undefined })),
  said("progress negative", prog({ progress: -1 })),
  said("progress total null", prog({ total: null })),
  said("progress total text", prog({ total: "5" })),
  said("progress total fewer", prog({ progress: 5, total: 1 })),
  said("progress message null", prog({ message: null })),
  said("progress message number", prog({ message: 5 })),
  said("progress more", prog({ more: 5 })),
  said("progress _meta null", prog({ _meta: null })),
  said("progress _meta text", prog({ _meta: "x" })),
  said("progress _meta subscription odd", prog({ _meta: { "io.modelcontextprotocol/subscriptionId": {} } })),
  said("log", logs({})),
  said("log level unknown", logs({ level: "warn" })),
  said("log level upper", logs({ level: "INFO" })),
  said("log level missing", logs({ level: undefined })),
  said("log data null", logs({ data: null })),
  said("log data missing", logs({ data: undefined })),
  said("log logger null", logs({ logger: null })),
  said("log logger number", logs({ logger: 5 })),
  said("log params null", logs(null)),
  said("log with id null", { ...notice, id: null }),
  said("log _meta null", logs({ _meta: null })),
  said("log _meta text", logs({ _meta: "x" })),
  said("log below the level", logs({ level: "debug" })),
  said("log with more", logs({ more: 1 })),
  said("log without jsonrpc", { ...notice, jsonrpc: undefined }),
  said("changed tools", { jsonrpc: "2.0", method: "notifications/tools/list_changed" }),
  said("changed tools params null", { jsonrpc: "2.0", method: "notifications/tools/list_changed", params: null }),
  said("changed tools params array", { jsonrpc: "2.0", method: "notifications/tools/list_changed", params: [] }),
  said("changed tools _meta null", {
    jsonrpc: "2.0",
    method: "notifications/tools/list_changed",
    params: { _meta: null }
  }),
  said("changed tools _meta text", {
    jsonrpc: "2.0",
    method: "notifications/tools/list_changed",
    params: { _meta: "x" }
  }),
  said("updated", { jsonrpc: "2.0", method: "notifications/resources/updated", params: { uri: "memo://note" } }),
  said("updated without uri", { jsonrpc: "2.0", method: "notifications/resources/updated", params: {} }),
  said("updated uri relative", { jsonrpc: "2.0", method: "notifications/resources/updated", params: { uri: "note" } }),
  said("updated with title", {
    jsonrpc: "2.0",
    method: "notifications/resources/updated",
    params: { uri: "memo://note", title: 5 }
  }),
  said("unknown", { jsonrpc: "2.0", method: "notifications/weather", params: { sun: true } }),
  said("unknown without params", { jsonrpc: "2.0", method: "weather" }),
  said("cancelled another", { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 99 } }),
  said("cancelled null", { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: null } }),
  said("cancelled without params", { jsonrpc: "2.0", method: "notifications/cancelled" }),
  said("cancelled the call itself", {
    jsonrpc: "2.0",
    method: "notifications/cancelled",
    params: { requestId: "$id" }
  }),
  said("initialized", { jsonrpc: "2.0", method: "notifications/initialized" }),
  said("acknowledged without a subscription", {
    jsonrpc: "2.0",
    method: "notifications/subscriptions/acknowledged",
    params: { notifications: {} }
  }),
  said("task status", { jsonrpc: "2.0", method: "notifications/tasks/status", params: { taskId: 5 } })
]

const sub = "io.modelcontextprotocol/subscriptionId"
const acks = (filter: unknown, meta: unknown = { [sub]: "$id" }) => ({
  jsonrpc: "2.0",
  method: "notifications/subscriptions/acknowledged",
  params: { notifications: filter, ...(meta === undefined ? {} : { _meta: meta }) }
})
const wanted = { resourceSubscriptions: ["memo://note"] }
const every = { ...wanted, toolsListChanged: true, resourcesListChanged: true, promptsListChanged: true }
const listens = (name: string, messages: ReadonlyArray<unknown>, more: More = {}): Script =>
  sends("subscriptions", name, messages, more, "subscriptions/listen")
const updated = (meta?: unknown) => ({
  jsonrpc: "2.0",
  method: "notifications/tools/list_changed",
  params: { ...(meta === undefined ? {} : { _meta: meta }) }
})
const subscriptions: ReadonlyArray<Script> = [
  listens("proper", [acks(every), updated({ [sub]: "$id" })]),
  listens("ack without id", [acks(every, undefined)]),
  listens("ack filter null", [acks(null)]),
  listens("ack filter missing", [acks(undefined)]),
  listens("ack filter empty", [acks({})]),
  listens("ack filter array", [acks([])]),
  listens("ack flags text", [acks({ ...every, toolsListChanged: "true" })]),
  listens("ack flags null", [acks({ ...every, toolsListChanged: null, promptsListChanged: null })]),
  listens("ack flags false", [acks({ ...wanted, toolsListChanged: false })]),
  listens("ack flags only of lists", [acks({ toolsListChanged: true })]),
  listens("ack filter with unknown", [acks({ ...every, weather: true })]),
  listens("ack uris true", [acks({ ...every, resourceSubscriptions: true })]),
  listens("ack uris null", [acks({ ...every, resourceSubscriptions: null })]),
  listens("ack uris others", [acks({ ...every, resourceSubscriptions: ["memo://other"] })]),
  listens("ack uris normalized", [acks({ ...every, resourceSubscriptions: ["memo://note/"] })]),
  listens("ack uris relative too", [acks({ ...every, resourceSubscriptions: ["memo://note", "x y"] })]),
  listens("ack twice", [acks(every), acks(every)]),
  listens("ack with more", [{ ...acks(every), params: { ...acks(every).params, more: 1 } }]),
  listens("notification before the ack", [updated({ [sub]: "$id" }), acks(every)]),
  listens("notification without id", [acks(every), updated()]),
  listens("notification id of another", [acks(every), updated({ [sub]: 4711 })]),
  listens("notification id as text", [
    acks(every),
    JSON.stringify(updated({ [sub]: "$id" })).replace("\"$id\"", "\"\\u0024id\"")
  ]),
  listens("notification unknown", [
    acks(every),
    { jsonrpc: "2.0", method: "notifications/weather", params: {} },
    updated({ [sub]: "$id" })
  ]),
  listens("notification not asked for", [acks(every), {
    jsonrpc: "2.0",
    method: "notifications/tools/list_changed",
    params: { _meta: { [sub]: "$id" } }
  }]),
  listens("result right after the ack", [
    acks(every),
    answer("$id", { resultType: "complete", _meta: { [sub]: "$id" } })
  ]),
  listens("result without a type after the ack", [acks(every), answer("$id", {})])
]

const json = { "content-type": "application/json" }
const sse = { "content-type": "text/event-stream" }
const event = `data: ${text}\n\n`
const no = JSON.stringify({ jsonrpc: "2.0", id: "$id", error: { code: -32602, message: "no" } })
const latin1 = (body: string) => Buffer.from(body, "latin1")

/** Messages MUST be encoded in UTF-8. */
const notUtf8 = { forbidden: "basic/transports" }

const http: ReadonlyArray<Script> = [
  ...[
    "application/json;charset=utf-8",
    "Application/JSON",
    "application/json ; charset=\"UTF-8\"",
    "application/json; profile=x",
    "text/json",
    "application/problem+json",
    "application/vnd.api+json",
    "text/plain",
    "text/html",
    "application/octet-stream",
    "application/json, application/json",
    "",
    "*/*",
    "application/json-rpc",
    "application/jsonrequest"
  ].map((type) => over(`JSON as ${type}`, { headers: { "content-type": type }, body: text })),
  ...["text/event-stream;charset=utf-8", "Text/Event-Stream", "text/event-stream; charset=utf-16"].map((type) =>
    over(`SSE as ${type}`, { headers: { "content-type": type }, body: event })
  ),
  over("SSE with CR LF", { headers: sse, body: event.replaceAll("\n", "\r\n") }),
  over("SSE with a BOM", { headers: sse, body: "\ufeff" + event }),
  over("SSE with comments", { headers: sse, body: `: hello\n\n:\n${event}` }),
  over("SSE with ids", { headers: sse, body: `id: 1\n${event}` }),
  over("SSE with an id of NUL", { headers: sse, body: `id: a\0b\n${event}` }),
  over("SSE with retry", { headers: sse, body: `retry: 5\n${event}` }),
  over("SSE with retry odd", { headers: sse, body: `retry: soon\n${event}` }),
  over("SSE event message", { headers: sse, body: `event: message\n${event}` }),
  over("SSE event other, then the answer", { headers: sse, body: `event: ping\ndata: {}\n\n${event}` }),
  over("SSE event error, then the answer", { headers: sse, body: `event: error\ndata: x\n\n${event}` }),
  over("SSE event endpoint, then the answer", { headers: sse, body: `event: endpoint\ndata: /mcp\n\n${event}` }),
  over("SSE empty event name", { headers: sse, body: `event:\n${event}` }),
  over("SSE without a space", { headers: sse, body: `data:${text}\n\n` }),
  over("SSE two spaces", { headers: sse, body: `data:  ${text}\n\n` }),
  over("SSE data in lines", { headers: sse, body: `data: ${text.replace(",", ",\ndata: ")}\n\n` }),
  over("SSE data empty first", { headers: sse, body: `data: \n\n${event}` }),
  over("SSE data ping first", { headers: sse, body: `data: ping\n\n${event}` }),
  over("SSE data [DONE] after", { headers: sse, body: `${event}data: [DONE]\n\n` }),
  over("SSE unknown field", { headers: sse, body: `foo: bar\n${event}` }),
  over("SSE field without colon", { headers: sse, body: `data\nfoo\n\n${event}` }),
  over("SSE stays open after", { headers: sse, body: event, isOpen: true }),
  ...[201, 202, 203, 206, 299].map((status) => over(`status ${status} with the answer`, { status, body: text })),
  over("status 201 with SSE", { status: 201, headers: sse, body: event }),
  over("status 200 batch", { status: 200, headers: json, body: `[${text}]` }),
  over("status 200 JSON with BOM", { headers: json, body: "\ufeff" + text }),
  over("status 200 JSON with lines", { headers: json, body: `\n\n${JSON.stringify(done, null, 2)}\n` }),
  refuses("status 200 with error", { body: no }),
  ...[400, 401, 403, 404, 409, 422, 429, 500, 501, 503].map((status) =>
    refuses(`status ${status} with an error`, { status, body: no })
  ),
  refuses("status 400 with an error of no type", { status: 400, headers: {}, body: no }),
  refuses("status 400 with an error as text", { status: 400, headers: { "content-type": "text/plain" }, body: no }),
  over("discover: SSE", { headers: sse, body: `data: ${JSON.stringify(answer("$id", good[D]))}\n\n` }, D),
  over("discover: SSE with a log first", {
    headers: sse,
    body: `data: ${JSON.stringify(notice)}\n\ndata: ${JSON.stringify(answer("$id", good[D]))}\n\n`
  }, D),
  over("discover: batch", { body: `[${JSON.stringify(answer("$id", good[D]))}]` }, D),
  over("discover: status 201", { status: 201, body: JSON.stringify(answer("$id", good[D])) }, D),
  over("discover: with a session", {
    headers: { ...json, "mcp-session-id": "x" },
    body: JSON.stringify(answer("$id", good[D]))
  }, D),
  over("gzip", { headers: { ...json, "content-encoding": "gzip" }, body: text, encode: gzipSync }),
  over("GZIP upper", { headers: { ...json, "content-encoding": "GZIP" }, body: text, encode: gzipSync }),
  over("x-gzip", { headers: { ...json, "content-encoding": "x-gzip" }, body: text, encode: gzipSync }),
  over("deflate", { headers: { ...json, "content-encoding": "deflate" }, body: text, encode: deflateSync }),
  over("deflate raw", { headers: { ...json, "content-encoding": "deflate" }, body: text, encode: deflateRawSync }),
  over("br", { headers: { ...json, "content-encoding": "br" }, body: text, encode: brotliCompressSync }),
  over("identity", { headers: { ...json, "content-encoding": "identity" }, body: text }),
  over("utf-8 encoding", { headers: { ...json, "content-encoding": "utf-8" }, body: text }),
  over("aws-chunked", { headers: { ...json, "content-encoding": "aws-chunked" }, body: text }),
  over("gzip SSE", { headers: { ...sse, "content-encoding": "gzip" }, body: event, encode: gzipSync }),
  over(
    "Latin-1",
    {
      headers: { "content-type": "application/json; charset=iso-8859-1" },
      body: text.replace("done", "é"),
      encode: latin1
    }
  ),
  over("bad UTF-8", { headers: json, body: text.replace("done", "é"), encode: latin1 }, C, notUtf8),
  over("bad UTF-8, SSE", { headers: sse, body: event.replace("done", "é"), encode: latin1 }),
  ...[301, 302, 303, 307, 308].map((status) =>
    over(`redirect ${status}`, { status, headers: { location: "/other" }, body: "" })
  ),
  over("redirect 307 to a slash", { status: 307, headers: { location: "/mcp/" }, body: "" }),
  over("set-cookie", { headers: { ...json, "set-cookie": "a=b" }, body: text }),
  over("a session in the answer", { headers: { ...json, "mcp-session-id": "x" }, body: text }),
  over("another revision in the answer", { headers: { ...json, "mcp-protocol-version": "2025-11-25" }, body: text }),
  over("SSE answer of another id, then the answer", { headers: sse, body: event.replace("\"$id\"", "4711") + event }),
  over("SSE malformed JSON, then the answer", { headers: sse, body: "data: {\n\n" + event }),
  over("SSE large comment", { headers: sse, body: ":" + "x".repeat(100_000) + "\n\n" + event }),
  over("SSE tabs", { headers: sse, body: "data:\t" + text + "\n\n" }),
  over("SSE upper field", { headers: sse, body: "DATA: " + text + "\n\n" + event }),
  over("SSE three blank lines", { headers: sse, body: "\n\n\n" + event })
]

export const scripts: ReadonlyArray<Script> = [...envelope, ...notifications, ...subscriptions, ...http]
