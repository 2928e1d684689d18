/**
 * Requests of 2026-07-28 with hostile headers: missing, different from the body, repeated, too many, or of another revision.
 * `peers/Modern` has hostile bodies; `Sessions` has the floods of resumptions, which only older revisions have.
 */
import { envelope } from "../peers/Peer.js"
import { attack as legacy, type HttpAttack, type Parts } from "./Request.js"

const body = (method: string, params: object = {}, id: unknown = 1): string =>
  JSON.stringify({ jsonrpc: "2.0", id, method, params: { ...params, _meta: envelope() } })

const call = body("tools/call", { name: "echo", arguments: { text: "hello" } })

const headers = {
  "mcp-session-id": undefined,
  "mcp-protocol-version": "2026-07-28",
  "mcp-method": "tools/call",
  "mcp-name": "echo"
}

/** A valid call of `echo` by a modern client, with these parts replaced. */
const attack = (
  name: string,
  expect: string | ReadonlyArray<string>,
  parts: Parts = {},
  more: Partial<HttpAttack> = {}
): HttpAttack =>
  legacy(`modern: ${name}`, expect, { body: call, ...parts, headers: { ...headers, ...parts.headers } }, more)

const MISMATCH = { code: -32020 }

const get = { method: "GET", body: "", headers: { "content-length": undefined, "content-type": undefined } }

export const attacks: ReadonlyArray<HttpAttack> = [
  attack("as it must be", "200"),
  attack("no Mcp-Method", "400", { headers: { "mcp-method": undefined } }, MISMATCH),
  attack("another Mcp-Method", "400", { headers: { "mcp-method": "tools/list" } }, MISMATCH),
  attack("Mcp-Method in other case", "400", { headers: { "mcp-method": "Tools/Call" } }, MISMATCH),
  attack("an empty Mcp-Method", "400", { headers: { "mcp-method": "" } }, MISMATCH),
  attack("Mcp-Method twice", "400", { lines: ["mcp-method: tools/list"] }, MISMATCH),
  attack("an Mcp-Method of 8 KB", "400", { headers: { "mcp-method": "m".repeat(8000) } }, MISMATCH),
  attack("an Mcp-Method of 100 KB", "431", { headers: { "mcp-method": "m".repeat(100_000) } }),
  attack("no Mcp-Name", "400", { headers: { "mcp-name": undefined } }, MISMATCH),
  attack("another Mcp-Name", "400", { headers: { "mcp-name": "wait" } }, MISMATCH),
  attack("Mcp-Name twice", "400", { lines: ["mcp-name: wait"] }, MISMATCH),
  attack("Mcp-Name in base64", "200", { headers: { "mcp-name": "=?base64?ZWNobw==?=" } }),
  attack("Mcp-Name in base64 of another name", "400", { headers: { "mcp-name": "=?base64?d2FpdA==?=" } }, MISMATCH),
  attack("Mcp-Name in broken base64", "400", { headers: { "mcp-name": "=?base64?%%%?=" } }, MISMATCH),
  attack(
    "Mcp-Name in base64 of bytes that are not text",
    "400",
    { headers: { "mcp-name": "=?base64?/////w==?=" } },
    MISMATCH
  ),
  attack("Mcp-Name in base64 without an end", "400", { headers: { "mcp-name": "=?base64?ZWNobw==" } }, MISMATCH),
  attack("Mcp-Name in base64 of 8 KB", "400", { headers: { "mcp-name": `=?base64?${"A".repeat(8000)}?=` } }, MISMATCH),
  attack("Mcp-Name with high bytes", "400", { headers: { "mcp-name": "ech\u00f6" } }, MISMATCH),
  attack("Mcp-Name __proto__", "400", { headers: { "mcp-name": "__proto__" } }, MISMATCH),
  attack("no MCP-Protocol-Version", "400", { headers: { "mcp-protocol-version": undefined } }, MISMATCH),
  attack("the version of the other era in the header", "400", { headers: { "mcp-protocol-version": "2025-11-25" } }),
  attack("an unknown version in the header", "400", { headers: { "mcp-protocol-version": "2099-01-01" } }),
  attack("the version twice in one header", "400", { headers: { "mcp-protocol-version": "2026-07-28, 2026-07-28" } }),
  attack("an empty version in the header", "400", { headers: { "mcp-protocol-version": "" } }),
  attack("300 Mcp-Param headers", "200", { lines: Array.from({ length: 300 }, (_, n) => `mcp-param-p${n}: ${n}`) }),
  attack("3,000 Mcp-Param headers", ["200", "400", "431"], {
    lines: Array.from({ length: 3000 }, (_, n) => `mcp-param-p${n}: ${n}`)
  }),
  attack("an Mcp-Param for an argument that has no mark", "200", { lines: ["mcp-param-text: other"] }),
  attack("a session of the other era", "200", { headers: { "mcp-session-id": "unknown" } }),
  attack("a Last-Event-ID, although nothing can be resumed", "200", { headers: { "last-event-id": "unknown" } }),
  attack("GET", ["400", "405"], get),
  attack("DELETE", ["400", "405"], { ...get, method: "DELETE" }),
  attack("a batch", "400", { body: `[${call}]` }),
  attack("a response", "400", { body: "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}" }),
  attack("a notification", "202", {
    body: JSON.stringify({ jsonrpc: "2.0", method: "notifications/x", params: { _meta: envelope() } }),
    headers: { "mcp-method": "notifications/x", "mcp-name": undefined }
  }),
  attack("an id that is an object", "400", { body: body("tools/call", { name: "echo" }, {}) }),
  attack("two messages in one body", "400", { body: `${call}${call}` }),
  attack("an unknown method", "404", {
    body: body("x/y"),
    headers: { "mcp-method": "x/y", "mcp-name": undefined }
  }, { code: -32601 }),
  attack("initialize", ["400", "404"], {
    body: body("initialize"),
    headers: { "mcp-method": "initialize", "mcp-name": undefined }
  }),
  attack("ping", ["400", "404"], { body: body("ping"), headers: { "mcp-method": "ping", "mcp-name": undefined } })
]
