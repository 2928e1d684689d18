/**
 * Clients whose handshake deviates: revisions, capabilities, the facts about the client, and the order of messages.
 */
import type { ClientRow } from "../Row.js"

const facts = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "c", version: "1" } }

const initialize = (params: unknown) => ({ jsonrpc: "2.0", id: "$id", method: "initialize", params })

const begins = (
  id: string,
  deviation: string,
  params: unknown,
  does: string,
  answer: object,
  more: Partial<ClientRow> = {}
): ClientRow => ({
  id,
  method: "initialize",
  deviation,
  message: initialize(params),
  isFirst: true,
  does,
  rule: "basic/lifecycle#initialization",
  expected: { answers: [{ id: 7, ...answer }] },
  ...more
})

const agreesOn = (protocolVersion: string) => ({ result: { protocolVersion } })

const invalid = { error: { code: -32602 } }

const versions: ReadonlyArray<ClientRow> = [
  ["2024-10-07", "2024-11-05", "the name of 2024-11-05 before it was released"],
  ["2099-01-01", "2025-11-25", "a revision that the server does not know"],
  ["2025-11-25 ", "2025-11-25", "a revision with a space"],
  ["latest", "2025-11-25", "a word in place of a revision"],
  ["", "2025-11-25", "an empty revision"],
  ["1.0", "2025-11-25", "a number in place of a date"]
].map(([requested, answered, what]) =>
  begins(
    `initialize-version-${JSON.stringify(requested)}`,
    `requests ${what}: \`${JSON.stringify(requested)}\``,
    { ...facts, protocolVersion: requested },
    `answers ${answered}`,
    agreesOn(answered!),
    { rule: "basic/lifecycle#version-negotiation" }
  )
)

export const rows: ReadonlyArray<ClientRow> = [
  ...versions,
  begins("initialize-no-version", "names no revision", { ...facts, protocolVersion: undefined }, "-32602", invalid),
  begins(
    "initialize-version-number",
    "names the revision as a number",
    { ...facts, protocolVersion: 20251125 },
    "-32602",
    invalid
  ),
  begins("initialize-no-params", "sends no parameters", undefined, "-32602", invalid),
  begins("initialize-no-info", "does not introduce itself", { ...facts, clientInfo: undefined }, "-32602", invalid),
  begins(
    "initialize-info-no-version",
    "gives no version of itself",
    { ...facts, clientInfo: { name: "c" } },
    "-32602: a server fills in nothing",
    invalid
  ),
  begins(
    "initialize-no-capabilities",
    "sends no capabilities",
    { ...facts, capabilities: undefined },
    "-32602",
    invalid
  ),
  begins(
    "initialize-capabilities-null",
    "sends `capabilities: null`",
    { ...facts, capabilities: null },
    "-32602: the member is required",
    invalid
  ),
  begins(
    "initialize-capability-true",
    "declares `sampling: true`",
    { ...facts, capabilities: { sampling: true } },
    "-32602: a server fills in nothing",
    invalid
  ),
  begins(
    "initialize-capability-null",
    "declares `sampling: null`",
    { ...facts, capabilities: { sampling: null, roots: { listChanged: null }, elicitation: null, experimental: null } },
    "`null` counts as absent: not declared",
    agreesOn("2025-11-25")
  ),
  begins(
    "initialize-capability-unknown",
    "declares capabilities that no revision has",
    { ...facts, capabilities: { telepathy: { strong: true } } },
    "accepts; unknown capabilities mean nothing",
    agreesOn("2025-11-25"),
    { rule: "basic/lifecycle#capability-negotiation" }
  ),
  begins(
    "initialize-info-null",
    "sends `title: null` and `icons: null`",
    { ...facts, clientInfo: { name: "c", version: "1", title: null, icons: null, websiteUrl: null } },
    "`null` counts as absent",
    agreesOn("2025-11-25")
  ),
  begins(
    "initialize-info-title",
    "sends a title that is not a text",
    { ...facts, clientInfo: { name: "c", version: "1", title: 5 } },
    "-32602: a server mends nothing but `null`",
    invalid
  ),
  begins(
    "initialize-info-extra",
    "introduces itself with more than the specification has",
    { ...facts, clientInfo: { name: "c", version: "1", vendor: { id: 1 } } },
    "accepts; unknown members are ignored",
    agreesOn("2025-11-25")
  ),
  begins(
    "initialize-newer-members",
    "at 2024-11-05, sends members that are newer",
    {
      ...facts,
      protocolVersion: "2024-11-05",
      capabilities: { elicitation: { url: {} }, sampling: { tools: {} } },
      clientInfo: { name: "c", version: "1", title: "C", icons: [{ src: "https://c/i.png" }] }
    },
    "accepts; a capability that the revision does not know means nothing",
    agreesOn("2024-11-05"),
    { revisions: "2024-11-05" }
  ),
  begins(
    "initialize-info-long",
    "introduces itself with 70,000 characters",
    { ...facts, clientInfo: { name: "c".repeat(70_000), version: "1" } },
    "-32602: what is stored with a session has a limit",
    invalid
  ),
  {
    id: "initialize-twice",
    method: "initialize",
    deviation: "initializes a second time",
    message: initialize(facts),
    over: ["memory", "stdio"],
    does: "accepts: a new client, with a session of its own",
    rule: "basic/lifecycle#initialization",
    expected: { answers: [{ id: 7, result: { protocolVersion: "2025-11-25" } }] }
  },
  {
    id: "initialize-twice-http",
    method: "initialize",
    deviation: "initializes its session a second time",
    message: initialize(facts),
    over: ["http"],
    does: "-32600",
    rule: "basic/lifecycle#initialization",
    expected: { answers: [{ error: { code: -32600 } }] }
  },
  {
    id: "early-call",
    method: "tools/list",
    deviation: "sends a request before `initialize`",
    message: { jsonrpc: "2.0", id: "$id", method: "tools/list" },
    isFirst: true,
    over: ["memory", "stdio"],
    does: "-32602: sent before `initialize`",
    rule: "basic/lifecycle#initialization",
    expected: { answers: [{ id: 7, error: { code: -32602 } }] }
  },
  {
    id: "early-call-http",
    method: "tools/list",
    deviation: "sends a request without a session",
    message: { jsonrpc: "2.0", id: "$id", method: "tools/list" },
    isFirst: true,
    over: ["http"],
    does: "400: `Mcp-Session-Id` is missing",
    rule: "basic/transports#session-management",
    expected: { answers: [{ error: { code: -32600 } }], status: 400 }
  },
  {
    id: "early-ping",
    method: "ping",
    deviation: "pings before `initialize`",
    message: { jsonrpc: "2.0", id: "$id", method: "ping" },
    isFirst: true,
    over: ["memory", "stdio"],
    does: "answers",
    rule: "basic/lifecycle#initialization",
    expected: { answers: [{ id: 7, result: {} }] }
  },
  {
    id: "initialized-twice",
    method: "notifications/initialized",
    deviation: "sends `notifications/initialized` twice",
    message: { jsonrpc: "2.0", method: "notifications/initialized" },
    does: "ignores the second",
    expected: { answers: [] }
  },
  {
    id: "initialized-request",
    method: "notifications/initialized",
    deviation: "sends the notification with an id, as a request",
    message: { jsonrpc: "2.0", id: "$id", method: "notifications/initialized" },
    does: "-32601: it is not a request",
    rule: "basic#notifications",
    expected: { answers: [{ id: 7, error: { code: -32601 } }] }
  },
  {
    id: "shutdown",
    method: "shutdown",
    deviation: "ends with `shutdown`, as the language server protocol does",
    message: { jsonrpc: "2.0", id: "$id", method: "shutdown" },
    does: "-32601",
    rule: "basic/lifecycle#shutdown",
    expected: { answers: [{ id: 7, error: { code: -32601 } }] }
  }
]
