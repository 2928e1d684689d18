/**
 * Clients at 2026-07-28 that deviate: envelopes, headers, methods of earlier revisions, input responses, subscriptions.
 */
import type { ClientRow } from "../Row.js"

const request = (method: string, params?: unknown) => ({ jsonrpc: "2.0", id: "$id", method, params })

const version = "2026-07-28"

const envelope = (members: object) => ({
  "io.modelcontextprotocol/protocolVersion": version,
  "io.modelcontextprotocol/clientCapabilities": {},
  ...members
})

const answers = (
  id: string,
  method: string,
  deviation: string,
  params: unknown,
  does: string,
  answer: object,
  more: Partial<ClientRow> = {}
): ClientRow => ({
  id: `modern-${id}`,
  version,
  method,
  deviation,
  message: request(method, params),
  does,
  ...more,
  expected: { answers: [{ id: 7, ...answer }], ...more.expected }
})

const error = (code: number) => ({ error: { code } })
const text = (value: string) => ({ result: { content: [{ type: "text", text: value }], resultType: "complete" } })
const refused = (code: number, status = 400) => ({
  expected: { answers: [{ id: 7, ...error(code) }], status }
})

const meta = "basic#_meta"
const transports = "basic/transports"
const mirrored = "basic/transports#custom-headers-from-tool-parameters"
const rounds = "basic/patterns/multi-round-trip-requests"

const envelopes: ReadonlyArray<ClientRow> = [
  answers(
    "nameless",
    "tools/call",
    "does not introduce itself",
    { name: "echo", _meta: envelope({}) },
    "answers: the name is optional",
    text("nothing"),
    { rule: meta }
  ),
  answers(
    "no-capabilities",
    "tools/call",
    "names its revision, but no capabilities",
    { name: "echo", _meta: { "io.modelcontextprotocol/protocolVersion": version } },
    "-32602",
    error(-32602),
    { rule: meta, ...refused(-32602) }
  ),
  answers(
    "name-without-version",
    "tools/call",
    "gives no version of itself",
    { name: "echo", _meta: envelope({ "io.modelcontextprotocol/clientInfo": { name: "c" } }) },
    "-32602",
    error(-32602),
    { rule: meta, ...refused(-32602) }
  ),
  answers(
    "unknown-capability",
    "tools/call",
    "declares capabilities that no revision has, and members of its own",
    {
      name: "echo",
      _meta: envelope({
        "io.modelcontextprotocol/clientCapabilities": { telepathy: { strong: true } },
        "example.com/trace": 1
      })
    },
    "answers; unknown capabilities mean nothing",
    text("nothing"),
    { rule: meta }
  ),
  answers(
    "unknown-level",
    "tools/call",
    "requests logs of a level that does not exist",
    { name: "echo", _meta: envelope({ "io.modelcontextprotocol/logLevel": "loud" }) },
    "-32602",
    error(-32602),
    { rule: meta, ...refused(-32602) }
  ),
  answers(
    "future",
    "tools/call",
    "requests a revision that the server does not know",
    { name: "echo", _meta: envelope({ "io.modelcontextprotocol/protocolVersion": "2099-01-01" }) },
    "-32022 with the revisions of the server",
    error(-32022),
    { rule: "basic/versioning", ...refused(-32022) }
  )
]

const pages: ReadonlyArray<ClientRow> = (
  ["tools", "resources", "resourceTemplates", "prompts"] as const
).flatMap((member) => {
  const method = member === "resourceTemplates" ? "resources/templates/list" : `${member}/list`
  const first = { result: { resultType: "complete" } }
  return [
    answers(`${member}-cursor-empty`, method, "sends `cursor: \"\"`", { cursor: "" }, "the first page", first, {
      rule: "server/utilities/pagination"
    }),
    answers(
      `${member}-cursor-nonsense`,
      method,
      "sends a cursor that the server never gave",
      { cursor: "not base64!" },
      "-32602",
      error(-32602),
      { rule: "server/utilities/pagination" }
    )
  ]
})

const accepts = (id: string, accept: string | null, deviation: string, type: string): ClientRow =>
  answers(
    `accept-${id}`,
    "tools/call",
    deviation,
    { name: "echo" },
    type === "application/json" ? "answers with JSON" : "answers with an event stream",
    text("nothing"),
    {
      rule: transports,
      over: ["http"],
      http: { headers: { accept } },
      expected: { answers: [{ id: 7, ...text("nothing") }], headers: { "content-type": type } }
    }
  )

const accepting: ReadonlyArray<ClientRow> = [
  accepts("json", "application/json", "accepts JSON only", "application/json"),
  accepts("events", "text/event-stream", "accepts event streams only", "text/event-stream"),
  accepts("any", "*/*", "accepts `*/*`", "application/json"),
  accepts("absent", null, "sends no `Accept`", "application/json"),
  answers("accept-html", "tools/call", "accepts HTML only", { name: "echo" }, "406", {}, {
    rule: transports,
    over: ["http"],
    http: { headers: { accept: "text/html" } },
    expected: { answers: [error(-32600)], status: 406 }
  })
]

const methods: ReadonlyArray<ClientRow> = [
  ...[
    answers("ping", "ping", "pings", {}, "-32601: the revision has no pings", error(-32601), refused(-32601, 404)),
    answers(
      "subscribe",
      "resources/subscribe",
      "subscribes to a resource by a method of earlier revisions",
      { uri: "memo://note" },
      "-32601",
      error(-32601),
      refused(-32601, 404)
    ),
    answers(
      "set-level",
      "logging/setLevel",
      "sets the log level by a method of earlier revisions",
      { level: "info" },
      "-32601",
      error(-32601),
      refused(-32601, 404)
    )
  ],
  {
    id: "modern-initialized",
    version,
    method: "notifications/initialized",
    deviation: "notifies that it is initialized, without a handshake",
    message: { jsonrpc: "2.0", method: "notifications/initialized" },
    does: "ignores it",
    // Without a session, a server that keeps sessions does not know the sender.
    over: ["memory", "stdio"],
    expected: { answers: [] }
  },
  {
    id: "modern-cancelled",
    version,
    method: "notifications/cancelled",
    deviation:
      "cancels a request that does not exist, as the official SDK 2.4 does over HTTP when it ends a subscription",
    message: { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: "listen:0" } },
    does: "ignores it",
    rule: "basic/patterns/cancellation",
    expected: { answers: [] }
  },
  answers(
    "resource-unknown",
    "resources/read",
    "reads a resource that does not exist",
    { uri: "memo://no" },
    "-32602: the code -32002 belongs to earlier revisions",
    error(-32602),
    { rule: "server/resources#error-handling" }
  )
]

const asked: ReadonlyArray<ClientRow> = [
  answers(
    "response-unasked",
    "tools/call",
    "sends a response to an input request that the server never sent",
    { name: "echo", inputResponses: { nobody: { action: "accept", content: {} } } },
    "ignores it",
    text("nothing"),
    { rule: rounds }
  ),
  answers(
    "response-list",
    "tools/call",
    "sends the input responses as a list",
    { name: "echo", inputResponses: [] },
    "-32602",
    error(-32602),
    { rule: rounds }
  ),
  answers(
    "state-made-up",
    "tools/call",
    "sends a state that the server never gave",
    { name: "roots", requestState: "made up" },
    "-32602: the state is not sealed by this server",
    error(-32602),
    { rule: rounds }
  ),
  answers(
    "state-null",
    "tools/call",
    "sends `requestState: null` and `inputResponses: null`",
    { name: "echo", requestState: null, inputResponses: null },
    "`null` counts as absent",
    text("nothing"),
    { rule: rounds }
  ),
  answers(
    "listen-without-filter",
    "subscriptions/listen",
    "opens a subscription without a filter",
    {},
    "-32602",
    error(-32602),
    { rule: "basic/utilities/subscriptions" }
  )
]

const http = (
  id: string,
  deviation: string,
  headers: Readonly<Record<string, string | null>>,
  does: string,
  isAccepted: boolean,
  params: unknown = { name: "echo" },
  rule = transports
): ClientRow =>
  answers(id, "tools/call", deviation, params, does, isAccepted ? { result: {} } : error(-32020), {
    rule,
    over: ["http"],
    http: { headers },
    ...(isAccepted ? {} : refused(-32020))
  })

const headers: ReadonlyArray<ClientRow> = [
  http("no-version", "sends no `MCP-Protocol-Version`", { "mcp-protocol-version": null }, "-32020", false),
  http(
    "other-version",
    "names another revision in its headers than in its body",
    { "mcp-protocol-version": "2025-11-25" },
    "-32020",
    false
  ),
  http("no-method", "sends no `Mcp-Method`", { "mcp-method": null }, "-32020", false),
  http("method-case", "sends `Mcp-Method` in capitals", { "mcp-method": "TOOLS/CALL" }, "-32020", false),
  http("no-name", "sends no `Mcp-Name`", { "mcp-name": null }, "-32020", false),
  http("name-encoded", "encodes a name that needs no encoding", { "mcp-name": "=?base64?ZWNobw==?=" }, "answers", true),
  http("name-broken", "sends a name in base64 that is not valid", { "mcp-name": "=?base64?ZWNobw?=" }, "-32020", false),
  http("session", "sends the id of a session", { "mcp-session-id": "s-1" }, "ignores it: there are none", true),
  http("last-event", "asks for events after one", { "last-event-id": "e-1" }, "ignores it: nothing is resumed", true),
  http(
    "param-missing",
    "does not repeat a marked argument in its headers",
    {},
    "-32020",
    false,
    { name: "route", arguments: { region: "eu" } },
    mirrored
  ),
  http(
    "param-empty",
    "encodes an empty argument, as the official SDK 2.4 does",
    { "mcp-param-region": "=?base64??=" },
    "answers: it is the same value",
    true,
    { name: "route", arguments: { region: "" } },
    mirrored
  ),
  http(
    "param-other",
    "repeats another value than that of the argument",
    { "mcp-param-region": "us" },
    "-32020",
    false,
    { name: "route", arguments: { region: "eu" } },
    mirrored
  ),
  http(
    "param-unknown",
    "sends a header for an argument that the tool does not have",
    { "mcp-param-colour": "red" },
    "ignores it",
    true,
    { name: "echo" },
    mirrored
  )
]

export const rows: ReadonlyArray<ClientRow> = [
  ...envelopes,
  ...pages,
  ...accepting,
  ...methods,
  ...asked,
  ...headers
]
