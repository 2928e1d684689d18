/**
 * Servers whose HTTP deviates: status codes, headers, bodies and event streams.
 */
import type { HttpResponse, ServerRow } from "../Row.js"

const answer = "{\"jsonrpc\":\"2.0\",\"id\":\"$id\",\"result\":{\"content\":[]}}"
const value = { content: [] }
const json = { "content-type": "application/json" }
const stream = { "content-type": "text/event-stream" }

const responds = (
  id: string,
  deviation: string,
  http: HttpResponse,
  does: string,
  expected: ServerRow["expected"],
  more: Partial<ServerRow> = {}
): ServerRow => ({
  id,
  method: "tools/call",
  deviation,
  http,
  over: ["http"],
  does,
  rule: "basic/transports#sending-messages-to-the-server",
  expected,
  ...more
})

const reads = { value }
const fails = { fails: { _tag: "TransportError" } }
const events = (body: string): HttpResponse => ({ headers: stream, body })

const session = (id: string, deviation: string, session: string, does: string): ServerRow => ({
  id,
  method: "initialize",
  during: "tools/call",
  deviation,
  session,
  sends: [{ jsonrpc: "2.0", id: "$id", result: value }],
  over: ["http"],
  does,
  rule: "basic/transports#session-management",
  expected: reads
})

const accepts = (id: string, deviation: string, accepts: HttpResponse, does: string): ServerRow => ({
  id,
  method: "notifications/initialized",
  during: "tools/call",
  deviation,
  accepts,
  sends: [{ jsonrpc: "2.0", id: "$id", result: value }],
  over: ["http"],
  does,
  rule: "basic/transports#sending-messages-to-the-server",
  expected: reads
})

const accepted = "takes it as accepted"

export const rows: ReadonlyArray<ServerRow> = [
  session("http-session-long", "gives out a session's id of 2,000 characters", "s".repeat(2000), "sends it back"),
  session("http-session-empty", "gives out an empty session's id", "", "takes it as none"),
  session("http-session-space", "gives out a session's id with a space", "a b", "sends it back"),
  accepts(
    "http-accept-200",
    "answers a notification with 200 and no body",
    { status: 200, headers: {}, body: "" },
    accepted
  ),
  accepts("http-accept-204", "answers a notification with 204", { status: 204, headers: {}, body: "" }, accepted),
  accepts("http-accept-202-text", "answers a notification with 202 and a text", {
    status: 202,
    headers: { "content-type": "text/plain" },
    body: "Accepted"
  }, accepted),
  accepts("http-accept-202-json", "answers a notification with 202 and JSON", {
    status: 202,
    headers: json,
    body: "{\"ok\":true}"
  }, accepted),
  accepts("http-accept-200-null", "answers a notification with 200 and `null`", {
    status: 200,
    headers: json,
    body: "null"
  }, accepted),
  responds(
    "http-gzip",
    "compresses the answer",
    { headers: { ...json, "content-encoding": "gzip" }, body: answer, isGzip: true },
    "reads the answer",
    reads
  ),
  responds(
    "http-gzip-stream",
    "compresses the stream",
    { headers: { ...stream, "content-encoding": "gzip" }, body: `data: ${answer}\n\n`, isGzip: true },
    "reads the answer",
    reads
  ),
  responds(
    "http-json-charset",
    "answers `application/json; charset=utf-8`",
    { headers: { "content-type": "application/json; charset=utf-8" }, body: answer },
    "reads the answer",
    reads
  ),
  responds(
    "http-json-upper",
    "writes the media type in capitals",
    { headers: { "content-type": "Application/JSON" }, body: answer },
    "reads the answer",
    reads
  ),
  responds(
    "http-json-spaces",
    "writes line breaks around the answer",
    { headers: json, body: `\r\n${answer}\r\n` },
    "reads the answer",
    reads
  ),
  responds(
    "http-json-bom",
    "begins the body with a byte order mark",
    { headers: json, body: `\uFEFF${answer}` },
    "reads the answer",
    reads
  ),
  responds("http-type-absent", "answers without a media type", { headers: {}, body: answer }, "the call fails", fails),
  responds(
    "http-type-text",
    "answers JSON as `text/plain`",
    { headers: { "content-type": "text/plain" }, body: answer },
    "the call fails",
    fails
  ),
  responds(
    "http-type-html",
    "answers with a page",
    { headers: { "content-type": "text/html" }, body: "<html>" },
    "the call fails",
    fails
  ),
  responds(
    "http-202",
    "answers a request with 202 and no body",
    { status: 202, headers: {}, body: "" },
    "the call fails: no answer will come",
    fails
  ),
  responds(
    "http-202-body",
    "answers a request with 202 and the answer",
    { status: 202, headers: json, body: answer },
    "reads the answer",
    reads
  ),
  responds("http-201", "answers with 201", { status: 201, headers: json, body: answer }, "reads the answer", reads),
  responds(
    "http-204",
    "answers a request with 204",
    { status: 204, headers: {}, body: "" },
    "the call fails: no answer will come",
    fails
  ),
  responds(
    "http-200-empty",
    "answers with 200 and an empty body",
    { headers: json, body: "" },
    "the call fails",
    fails
  ),
  responds(
    "http-200-broken",
    "answers with JSON that is cut off",
    { headers: json, body: answer.slice(0, 20) },
    "the call fails",
    fails
  ),
  responds(
    "http-200-other",
    "answers another request",
    { headers: json, body: answer.replace("\"$id\"", "4711") },
    "the call fails",
    { ...fails, reports: ["UnknownResponse"] }
  ),
  responds(
    "http-400-error",
    "answers 400 with a JSON-RPC error under the id",
    {
      status: 400,
      headers: json,
      body: "{\"jsonrpc\":\"2.0\",\"id\":\"$id\",\"error\":{\"code\":-32602,\"message\":\"no\"}}"
    },
    "the call fails with the JSON-RPC error",
    { fails: { _tag: "InvalidParams" } }
  ),
  responds(
    "http-400-text",
    "answers 400 with a text",
    { status: 400, headers: { "content-type": "text/plain" }, body: "no" },
    "the call fails, and its error has the status",
    { fails: { _tag: "TransportError", message: "400" } }
  ),
  responds(
    "http-401",
    "answers 401",
    { status: 401, headers: {}, body: "" },
    "the call fails, and its error has the status",
    { fails: { _tag: "TransportError", message: "401" } }
  ),
  responds(
    "http-500",
    "answers 500 with a page",
    { status: 500, headers: { "content-type": "text/html" }, body: "<html>" },
    "the call fails, and its error has the status",
    { fails: { _tag: "TransportError", message: "500" } }
  ),
  responds(
    "http-500-answer",
    "answers 500 with a result",
    { status: 500, headers: json, body: answer },
    "reads the answer",
    reads
  ),
  responds(
    "http-503",
    "answers 503",
    { status: 503, headers: { "retry-after": "1" }, body: "" },
    "the call fails, and its error has the status",
    { fails: { _tag: "TransportError", message: "503" } }
  ),
  responds(
    "sse-cr",
    "ends the lines of a stream with CR",
    events(`event: message\rdata: ${answer}\r\r`),
    "reads the answer",
    reads
  ),
  responds(
    "sse-crlf",
    "ends the lines of a stream with CR and LF",
    events(`event: message\r\ndata: ${answer}\r\n\r\n`),
    "reads the answer",
    reads
  ),
  responds(
    "sse-comment",
    "sends comments",
    events(`: hello\n\n:\n\ndata: ${answer}\n\n: bye\n\n`),
    "ignores them",
    reads
  ),
  responds(
    "sse-no-space",
    "writes no space after the colon",
    events(`event:message\ndata:${answer}\n\n`),
    "reads the answer",
    reads
  ),
  responds("sse-no-type", "writes no event type", events(`data: ${answer}\n\n`), "reads the answer", reads),
  responds(
    "sse-type-empty",
    "writes an empty event type",
    events(`event:\ndata: ${answer}\n\n`),
    "reads the answer",
    reads
  ),
  responds(
    "sse-type-other",
    "sends events of other types",
    events(`event: heartbeat\ndata: 1\n\nevent: message\ndata: ${answer}\n\n`),
    "ignores them",
    reads
  ),
  responds(
    "sse-retry",
    "sends `retry` and fields that do not exist",
    events(`retry: 5\nfoo: bar\nid: 1\ndata: ${answer}\n\n`),
    "reads the answer",
    reads
  ),
  responds(
    "sse-retry-bad",
    "sends `retry: soon`",
    events(`retry: soon\ndata: ${answer}\n\n`),
    "ignores the field",
    reads
  ),
  responds(
    "sse-empty-data",
    "begins with an event without data",
    events(`id: 1\ndata:\n\ndata: ${answer}\n\n`),
    "ignores it",
    reads
  ),
  responds(
    "sse-split",
    "writes an answer in two lines of data",
    events(`data: ${answer.slice(0, 17)}\ndata: ${answer.slice(17)}\n\n`),
    "joins them and reads the answer",
    reads
  ),
  responds(
    "sse-bom",
    "begins the stream with a byte order mark",
    events(`\uFEFFdata: ${answer}\n\n`),
    "reads the answer",
    reads
  ),
  responds(
    "sse-charset",
    "writes a charset after the media type",
    { headers: { "content-type": "text/event-stream; charset=utf-8" }, body: `data: ${answer}\n\n` },
    "reads the answer",
    reads
  ),
  responds(
    "sse-noise",
    "sends an event that is not JSON",
    events(`data: ping\n\ndata: ${answer}\n\n`),
    "reports it, and reads the answer",
    { value, reports: ["Malformed"] }
  ),
  responds(
    "sse-no-blank",
    "ends the stream without an empty line after the answer",
    events(`data: ${answer}\n`),
    "the call fails: an event that is not complete is none",
    fails
  ),
  responds("sse-no-answer", "ends the stream without an answer", events(": nothing\n\n"), "the call fails", fails),
  responds(
    "sse-after",
    "sends messages after the answer",
    events(`data: ${answer}\n\ndata: {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n\n`),
    "reads the answer",
    { value, changes: ["tools"] }
  )
]
