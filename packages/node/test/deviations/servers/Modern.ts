/**
 * Servers at 2026-07-28 that deviate: types of results, caching hints, input requests, requests of earlier revisions.
 */
import type { ServerRow } from "../Row.js"

const version = "2026-07-28"

const rounds = "basic/patterns/multi-round-trip-requests"
const caching = "server/utilities/caching"

const row = (
  id: string,
  method: string,
  deviation: string,
  result: unknown,
  does: string,
  expected: ServerRow["expected"],
  more: Partial<ServerRow> = {}
): ServerRow => ({ id: `modern-${id}`, version, method, deviation, result, does, expected, ...more })

const fails = (message: string) => ({ fails: { _tag: "TransportError", reason: "Decode", message } })

const tools = { tools: [{ name: "t", inputSchema: { type: "object" } }] }
const done = { content: [{ type: "text", text: "done" }] }

const question = {
  method: "elicitation/create",
  params: { mode: "form", message: "Who?", requestedSchema: { type: "object", properties: {} } }
}

const results: ReadonlyArray<ServerRow> = [
  row("untyped", "tools/call", "sends a result without a type", done, "reads it as complete", { value: done }, {
    rule: "basic#responses"
  }),
  row(
    "unknown-type",
    "tools/call",
    "sends a result of a type that the client does not know",
    { ...done, resultType: "later" },
    "fails with reason `Decode`",
    fails("does not know its \"resultType\""),
    { rule: "basic#responses" }
  ),
  row("no-hints", "tools/list", "sends no caching hints", { ...tools, resultType: "complete" }, "caches nothing", {
    value: tools
  }, { rule: caching }),
  row(
    "negative-hint",
    "tools/list",
    "sends `ttlMs: -1`",
    { ...tools, resultType: "complete", ttlMs: -1, cacheScope: "private" },
    "caches nothing",
    { value: tools },
    { rule: caching }
  ),
  row(
    "hint-text",
    "tools/list",
    "sends the caching hint as a text",
    { ...tools, resultType: "complete", ttlMs: "1000", cacheScope: "private" },
    "leaves the hint out, and caches nothing",
    { value: tools, reports: ["Mended"] },
    { rule: caching }
  ),
  row(
    "unknown-scope",
    "tools/list",
    "sends a scope that does not exist",
    { ...tools, resultType: "complete", ttlMs: 1000, cacheScope: "everyone" },
    "leaves the scope out",
    { value: tools, reports: ["Mended"] },
    { rule: caching }
  ),
  row(
    "nameless",
    "server/discover",
    "does not introduce itself",
    undefined,
    "names the server \"unknown\"",
    {
      value: {
        instructions: undefined,
        serverCapabilities: {},
        serverInfo: { name: "unknown", version: "unknown" },
        version
      }
    },
    { initialize: { _meta: undefined, capabilities: {} }, rule: "server/discover" }
  ),
  row(
    "named-by-text",
    "tools/call",
    "introduces itself by a text in `_meta`",
    { ...done, resultType: "complete", _meta: { "io.modelcontextprotocol/serverInfo": "deviating" } },
    "leaves `_meta` out",
    { value: done, reports: ["Mended"] },
    { rule: "basic#_meta" }
  ),
  row(
    "discover-named-by-text",
    "server/discover",
    "introduces itself by a text in `_meta` of its description",
    undefined,
    "names the server \"unknown\", and reports it",
    {
      value: {
        instructions: undefined,
        serverCapabilities: {},
        serverInfo: { name: "unknown", version: "unknown" },
        version
      },
      reports: ["Mended"]
    },
    {
      initialize: { _meta: { "io.modelcontextprotocol/serverInfo": "deviating" }, capabilities: {} },
      rule: "server/discover"
    }
  ),
  row(
    "resource-code",
    "resources/read",
    "answers -32002 for an unknown resource, as in earlier revisions",
    undefined,
    "fails with `ResourceNotFound`",
    { fails: { _tag: "ResourceNotFound" } },
    {
      sends: [{
        jsonrpc: "2.0",
        id: "$id",
        error: { code: -32002, message: "No such resource", data: { uri: "memo://note" } }
      }],
      rule: "server/resources#error-handling"
    }
  )
]

const asking: ReadonlyArray<ServerRow> = [
  row(
    "input-for-list",
    "tools/list",
    "requires input for a list",
    { resultType: "input_required", inputRequests: { who: question } },
    "fails with reason `Decode`",
    fails("a server must not ask for input for this method"),
    { rule: rounds }
  ),
  row(
    "input-of-nothing",
    "tools/call",
    "requires input, but neither asks nor sends a state",
    { resultType: "input_required" },
    "fails with reason `Decode`",
    fails("neither inputRequests nor requestState"),
    { rule: rounds }
  ),
  row(
    "input-unknown",
    "tools/call",
    "requires input of a kind that does not exist",
    { resultType: "input_required", inputRequests: { who: { method: "mind/read", params: {} } } },
    "fails with reason `Decode`",
    fails("is not valid"),
    { rule: rounds }
  ),
  row(
    "input-for-ever",
    "tools/call",
    "requires input again and again",
    { resultType: "input_required", inputRequests: { who: question } },
    "fails with `TooManyRounds` after 10 rounds",
    { fails: { _tag: "TooManyRounds" } },
    { rule: rounds }
  ),
  {
    id: "modern-request",
    version,
    method: "elicitation/create",
    deviation: "sends a request, as in earlier revisions",
    during: "tools/call",
    sends: [
      { jsonrpc: "2.0", id: 1, ...question },
      { jsonrpc: "2.0", id: "$id", result: { ...done, resultType: "complete" } }
    ],
    does: "does not answer: a client of this revision sends no responses",
    rule: "basic",
    expected: { value: done }
  },
  {
    id: "modern-progress-after",
    version,
    method: "notifications/progress",
    deviation: "sends progress after the result",
    during: "tools/call",
    sends: [
      { jsonrpc: "2.0", id: "$id", result: { ...done, resultType: "complete" } },
      { jsonrpc: "2.0", method: "notifications/progress", params: { progressToken: "$token", progress: 1 } }
    ],
    does: "ignores it",
    rule: "basic/utilities/progress",
    expected: { value: done }
  }
]

const text = { type: "text", text: "done" }
const complete = (members: object) => ({ ...done, resultType: "complete", ...members })
const listed = (members: object) => ({ ...tools, resultType: "complete", ttlMs: 0, cacheScope: "private", ...members })

const forgiven: ReadonlyArray<ServerRow> = [
  row(
    "null-cursor",
    "tools/list",
    "sends `nextCursor: null`",
    listed({ nextCursor: null }),
    "`null` counts as absent",
    {
      value: tools
    },
    { rule: "server/utilities/pagination" }
  ),
  row(
    "schema-untyped",
    "tools/list",
    "sends an input schema without a type",
    listed({ tools: [{ name: "t", inputSchema: { properties: {} } }] }),
    "reads it as the schema of an object",
    { value: { tools: [{ name: "t", inputSchema: { type: "object", properties: {} } }] }, reports: ["Mended"] },
    { rule: "server/tools#tool" }
  ),
  row(
    "block-unknown",
    "tools/call",
    "sends a kind of content that does not exist",
    complete({ content: [{ type: "video", data: "" }, text] }),
    "leaves it out",
    { value: done, reports: ["Mended"] },
    { rule: "server/tools#tool-result" }
  ),
  row(
    "no-content",
    "tools/call",
    "sends structured content only",
    { resultType: "complete", structuredContent: [1] },
    "reads the content as empty",
    { value: { content: [], structuredContent: [1] }, reports: ["Mended"] },
    { rule: "server/tools#tool-result" }
  ),
  row("null-error", "tools/call", "sends `isError: null`", complete({ isError: null }), "`null` counts as absent", {
    value: done
  }, { rule: "server/tools#tool-result" }),
  row(
    "value-null",
    "completion/complete",
    "sends `null` among the values",
    { resultType: "complete", completion: { values: ["a", null], total: "2" } },
    "leaves it out",
    { value: { values: ["a"] }, reports: ["Mended"] },
    { rule: "server/utilities/completion" }
  ),
  row(
    "discover-odd",
    "server/discover",
    "describes itself with `null` among its revisions, and a number as instructions",
    undefined,
    "leaves both out",
    {
      value: {
        instructions: undefined,
        serverCapabilities: {},
        serverInfo: { name: "deviating", version: "1" },
        version
      },
      reports: ["Mended"]
    },
    {
      initialize: { supportedVersions: [null, version], instructions: 5, capabilities: {} },
      rule: "server/discover"
    }
  )
]

const error = { code: -32602, message: "no" }
const answer = { jsonrpc: "2.0", id: "$id", result: complete({}) }
const refusal = { jsonrpc: "2.0", id: "$id", error }

/** The server answers a call with these messages. */
const sends = (
  id: string,
  deviation: string,
  messages: ReadonlyArray<unknown>,
  does: string,
  expected: ServerRow["expected"],
  more: Partial<ServerRow> = {}
): ServerRow => ({
  id: `modern-${id}`,
  version,
  method: "tools/call",
  deviation,
  sends: messages,
  does,
  rule: "basic#responses",
  expected,
  ...more
})

const messages: ReadonlyArray<ServerRow> = [
  sends(
    "batch",
    "answers in a batch, which the revision does not have",
    [[{ jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data: "x" } }, answer]],
    "reads both messages",
    { value: done, logs: [{ level: "info", data: "x" }] }
  ),
  sends(
    "code-text",
    "sends the code of an error as a text",
    [{ ...refusal, error: { ...error, code: "-32602" } }],
    "reads the number",
    { fails: { _tag: "InvalidParams" } }
  ),
  sends(
    "error-text",
    "sends a text in place of an error",
    [{ ...refusal, error: "no" }],
    "reads it as an internal error",
    { fails: { _tag: "InternalError", message: "no" } }
  ),
  sends(
    "version-code",
    "refuses the revision of a call and names no other",
    [
      { ...refusal, error: { code: -32022, message: "no" } }
    ],
    "fails with the error",
    { fails: { _tag: "PeerError", code: -32022 } }
  ),
  sends(
    "progress-back",
    "reports less progress than before, and a text as the total",
    [
      { jsonrpc: "2.0", method: "notifications/progress", params: { progressToken: "$token", progress: 5 } },
      {
        jsonrpc: "2.0",
        method: "notifications/progress",
        params: { progressToken: "$token", progress: 3, total: "9" }
      },
      answer
    ],
    "gives both to the call, without the total",
    { value: done, progress: [{ progress: 5 }, { progress: 3 }] },
    { rule: "basic/utilities/progress" }
  ),
  sends(
    "meta-text",
    "sends a text as the `_meta` of a notification",
    [{ jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data: "x", _meta: "y" } }, answer],
    "leaves it out",
    { value: done, logs: [{ level: "info", data: "x" }], reports: ["Mended"] },
    { rule: "basic#_meta" }
  )
]

const acknowledged = (notifications: unknown) => ({
  jsonrpc: "2.0",
  method: "notifications/subscriptions/acknowledged",
  params: { notifications, _meta: { "io.modelcontextprotocol/subscriptionId": "$id" } }
})

const closed = {
  jsonrpc: "2.0",
  id: "$id",
  result: { resultType: "complete", _meta: { "io.modelcontextprotocol/subscriptionId": "$id" } }
}

const subscriptions: ReadonlyArray<ServerRow> = ([
  ["filter-flag", "acknowledges a subscription with a text as a flag", { toolsListChanged: "true" }],
  ["filter-list", "acknowledges a subscription with a list in place of a filter", []],
  ["filter-missing", "acknowledges a subscription without a filter", undefined]
] as const).map(([id, deviation, filter]) =>
  sends(id, deviation, [acknowledged(filter), closed], "reads that it announces nothing, and reports it", {
    reports: ["Mended"]
  }, { method: "subscriptions/listen", rule: "basic/utilities/subscriptions" })
)

/** The server answers a call with this response. */
const http = (
  id: string,
  deviation: string,
  response: NonNullable<ServerRow["http"]>,
  does: string,
  expected: ServerRow["expected"] = { value: done }
): ServerRow => ({
  id: `modern-${id}`,
  version,
  method: "tools/call",
  deviation,
  http: response,
  over: ["http"],
  does,
  rule: "basic/transports#streamable-http",
  expected
})

const body = JSON.stringify(answer)
const sse = { "content-type": "text/event-stream" }
const reads = "reads the answer"
const refused = JSON.stringify(refusal)

const responses: ReadonlyArray<ServerRow> = [
  http(
    "status-text",
    "refuses with 400, and writes the error as `text/plain`",
    {
      status: 400,
      headers: { "content-type": "text/plain" },
      body: refused
    },
    "reads the error",
    { fails: { _tag: "InvalidParams" } }
  ),
  http(
    "status-untyped",
    "refuses with 400, and writes the error without a type",
    { status: 400, headers: {}, body: refused },
    "reads the error",
    { fails: { _tag: "InvalidParams" } }
  ),
  http("status-500", "refuses with 500, and writes the error", { status: 500, body: refused }, "reads the error", {
    fails: { _tag: "InvalidParams" }
  }),
  http("status-202", "answers with 202", { status: 202, body }, reads),
  http("upper-type", "writes the media type in capitals, with a parameter", {
    headers: { "content-type": "Application/JSON; charset=\"UTF-8\"" },
    body
  }, reads),
  http("stream-cr", "ends the lines of events with CR", { headers: sse, body: `data: ${body}\r\r` }, reads),
  http("stream-odd", "begins a stream with a byte order mark, comments, ids and a time to wait", {
    headers: sse,
    body: `\uFEFF: hello\n\nid: 1\nretry: soon\nevent: response\ndata: ${body}\n\n`
  }, reads),
  http("stream-lines", "writes the answer in two lines of an event, after an empty event", {
    headers: sse,
    body: `data:\n\ndata: ${body.replace(",", ",\ndata: ")}\n\n`
  }, reads),
  http("stream-batch", "writes the answer on a stream as a batch", { headers: sse, body: `data: [${body}]\n\n` }, reads)
]

export const rows: ReadonlyArray<ServerRow> = [
  ...results,
  ...asking,
  ...forgiven,
  ...messages,
  ...subscriptions,
  ...responses
]
