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
    fails("this method may not require input"),
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

export const rows: ReadonlyArray<ServerRow> = [...results, ...asking]
