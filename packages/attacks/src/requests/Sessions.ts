/**
 * Requests that are hostile to sessions and their streams: ids, versions, event ids, the two endpoints of HTTP+SSE.
 * `peers` has whole conversations.
 */
import { grows } from "../Growth.js"
import { attack, echo, type HttpAttack, request } from "./Request.js"

const initialize = (version: string): string =>
  JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: { protocolVersion: version, capabilities: {}, clientInfo: { name: "a", version: "1" } }
  })

const ids: ReadonlyArray<string> = [
  "unknown",
  "00000000-0000-0000-0000-000000000000",
  "../../etc/passwd",
  "__proto__",
  "constructor",
  "toString",
  "*",
  "%00",
  "' or 1=1 --",
  "x".repeat(1000),
  "x".repeat(10_000),
  "\u00ff\u00fe",
  "\"quoted\"",
  "a, b",
  "0",
  "null"
]

const versions: ReadonlyArray<readonly [version: string, expect: string | ReadonlyArray<string>]> = [
  ["1900-01-01", "400"],
  ["2026-07-28", "400"],
  ["2024-11-05", ["200", "400"]],
  ["latest", "400"],
  ["", "400"],
  ["2025-11-25, 2025-11-25", "400"],
  ["__proto__", "400"],
  ["2".repeat(5000), "400"],
  ["2025-11-25\t", ["200", "400"]]
]

const lastIds: ReadonlyArray<string> = [
  "unknown",
  "0",
  "-1",
  "99999999999999999999",
  "1e308",
  "__proto__",
  "../1",
  "x".repeat(5000),
  "\u00ff",
  "0_0",
  "a:b:c",
  "NaN",
  "*"
]

const get = (id: string | undefined) => ({
  method: "GET",
  body: "",
  headers: { "content-length": undefined, "content-type": undefined, accept: "text/event-stream", "last-event-id": id }
})

export const attacks: ReadonlyArray<HttpAttack> = [
  ...ids.map((id) =>
    attack(`POST to session ${JSON.stringify(id.slice(0, 40))}`, ["400", "404"], { headers: { "mcp-session-id": id } })
  ),
  ...ids.slice(0, 8).map((id) =>
    attack(`DELETE of session ${JSON.stringify(id.slice(0, 40))}`, ["400", "404"], {
      method: "DELETE",
      body: "",
      headers: { "mcp-session-id": id }
    })
  ),
  ...ids.slice(0, 8).map((id) =>
    attack(`GET of session ${JSON.stringify(id.slice(0, 40))}`, ["400", "404"], {
      ...get(undefined),
      headers: { ...get(undefined).headers, "mcp-session-id": id }
    })
  ),
  attack("the session id with its case changed", ["404"], ({ session }) => ({
    headers: { "mcp-session-id": session === session.toUpperCase() ? session.toLowerCase() : session.toUpperCase() }
  })),
  attack("the session id without its last character", "404", ({ session }) => ({
    headers: { "mcp-session-id": session.slice(0, -1) }
  })),
  attack("the session id twice in one header", ["400", "404"], ({ session }) => ({
    headers: { "mcp-session-id": `${session}, ${session}` }
  })),
  attack("the session id in the query only", "400", ({ session }) => ({
    target: `/mcp?sessionId=${session}`,
    headers: { "mcp-session-id": undefined }
  })),
  attack("the session id in a cookie only", "400", ({ session }) => ({
    headers: { "mcp-session-id": undefined, cookie: `mcp-session-id=${session}` }
  })),
  attack("no session id", "400", { headers: { "mcp-session-id": undefined } }),
  attack("initialize in an open session", ["200", "400"], { body: initialize("2025-11-25") }),
  attack("initialize for version __proto__", "200", {
    headers: { "mcp-session-id": undefined },
    body: initialize("__proto__")
  }),
  grows(3_000_000, (size) =>
    attack("initialize for a version of 3 MB", ["200", "400"], {
      headers: { "mcp-session-id": undefined },
      body: initialize("v".repeat(size))
    })),
  attack("initialize without params", ["200", "400"], {
    headers: { "mcp-session-id": undefined },
    body: "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\"}"
  }, { code: -32602 }),
  attack("initialize as a notification", ["202", "400"], {
    headers: { "mcp-session-id": undefined },
    body: "{\"jsonrpc\":\"2.0\",\"method\":\"initialize\"}"
  }),
  attack("initialize in a batch", ["400"], {
    headers: { "mcp-session-id": undefined },
    body: `[${initialize("2025-03-26")}]`
  }),
  ...versions.map(([version, expect]) =>
    attack(`MCP-Protocol-Version ${JSON.stringify(version.slice(0, 40))}`, expect, {
      headers: { "mcp-protocol-version": version }
    })
  ),
  ...lastIds.map((id) => attack(`Last-Event-ID ${JSON.stringify(id.slice(0, 40))}`, ["400", "404"], get(id))),
  // All on one connection: the server reads the next request when it has answered the last.
  ...["0", "x".repeat(4000)].map((id) =>
    grows(200, (size): HttpAttack => ({
      name: `200 resumptions after ${id.slice(0, 10)}`,
      send: (context) => [Buffer.concat(Array.from({ length: size }, () => request(context, get(id))))],
      expect: [404, 400].map((status) => Array(size).fill(status).join(" "))
    }))
  ),
  attack("an empty Last-Event-ID", ["200", "400"], get("")),
  attack("GET that accepts JSON only", "406", {
    ...get(undefined),
    headers: { ...get(undefined).headers, accept: "application/json" }
  }),
  attack("GET with a body", ["200", "400"], {
    ...get(undefined),
    headers: { accept: "text/event-stream" },
    body: echo
  }),
  attack("POST to /sse", ["400", "404"], { target: "/sse" }),
  attack("POST to /sse with an unknown session", ["400", "404"], { target: "/sse?sessionId=unknown" }),
  attack("POST to /sse with the id of another transport", ["400", "404"], ({ session }) => ({
    target: `/sse?sessionId=${session}`
  })),
  attack("POST to /sse with two ids", ["400", "404"], { target: "/sse?sessionId=a&sessionId=b" }),
  attack("POST to /sse with a broken escape", ["400", "404"], { target: "/sse?sessionId=%E0%A4%A" }),
  attack("DELETE of /sse", "405", { target: "/sse", method: "DELETE", body: "" }),
  attack("a response that nothing waits for", "202", { body: "{\"jsonrpc\":\"2.0\",\"id\":77,\"result\":{}}" }),
  grows(3_000_000, (size) =>
    attack("a response under an id of 3 MB", "202", {
      body: `{"jsonrpc":"2.0","id":"${"i".repeat(size)}","result":{}}`
    })),
  attack("a cancel of a request that is not there", "202", {
    body: "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":99}}"
  }),
  attack("a cancel of initialize", "202", {
    body: "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":0}}"
  }),
  attack("a cancel without params", "202", { body: "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\"}" }),
  attack("progress for no request", "202", {
    body:
      "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":1,\"progress\":1e308}}"
  }),
  attack("an unknown notification", "202", { body: "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/__proto__\"}" })
]
