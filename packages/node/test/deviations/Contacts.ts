/**
 * What servers do with the first request of a client that looks for their era, and the era in which the client speaks to them then.
 * `FirstContact` tests run the rows, and `scripts/pages/deviations.mjs` makes a page of them.
 */
import type { Duration } from "effect"
import type * as http from "node:http"

export interface PipeRow {
  readonly kind: string
  readonly does: string
  readonly era: "legacy" | "modern"
  /** How many processes are launched. Default: 1. */
  readonly launches?: number
  /** Where the default waits are too long for a test. */
  readonly timeouts?: Readonly<Record<string, Duration.DurationInput>>
}

const impatient = { "server/discover": "1 second" } as const
/** A slow server starts after the first of two such times, and before the second has passed. */
const slow = { "server/discover": "2 seconds" } as const

/** Servers on a pipe. `fixtures/firstContact.mjs` does what `kind` names. */
export const pipes: ReadonlyArray<PipeRow> = [
  { kind: "unknown-method", does: "refuses the probe as an unknown method", era: "legacy" },
  { kind: "invalid-params", does: "refuses the parameters of the probe", era: "legacy" },
  { kind: "server-error", does: "refuses the probe with a code of its own", era: "legacy" },
  { kind: "internal-error", does: "fails at the probe", era: "legacy" },
  { kind: "null-id", does: "refuses the probe without its id", era: "legacy" },
  { kind: "no-id", does: "refuses the probe without an id", era: "legacy" },
  { kind: "own-id", does: "refuses the probe under an id of its own", era: "legacy" },
  { kind: "no-message", does: "refuses the probe with JSON that is not a message", era: "legacy" },
  { kind: "text", does: "answers the probe with a text", era: "legacy", timeouts: impatient },
  { kind: "batch", does: "answers in a batch of one", era: "legacy" },
  { kind: "empty-result", does: "answers the probe with an empty result", era: "legacy" },
  { kind: "null-result", does: "answers the probe with null", era: "legacy" },
  { kind: "twice", does: "refuses the probe twice", era: "legacy" },
  { kind: "no-revisions", does: "refuses the revision and names none", era: "legacy" },
  { kind: "legacy-revisions", does: "describes itself, with legacy revisions only", era: "legacy" },
  { kind: "silent", does: "does not answer the probe", era: "legacy", timeouts: impatient },
  { kind: "banner", does: "greets its user on the pipe", era: "legacy" },
  {
    kind: "log",
    does: "writes to its log at once, and does not answer the probe",
    era: "legacy",
    timeouts: impatient
  },
  { kind: "slow-unknown-method", does: "starts slowly, and refuses the probe", era: "legacy", timeouts: slow },
  { kind: "exits", does: "exits at the probe", era: "legacy", launches: 2 },
  { kind: "crashes", does: "crashes at the probe", era: "legacy", launches: 2 },
  { kind: "locks", does: "exits at the probe, and frees its lock a little later", era: "legacy", launches: 2 },
  {
    kind: "slow-locks",
    does: "starts slowly, exits at the probe, and frees its lock a little later",
    era: "legacy",
    launches: 2,
    timeouts: slow
  },
  { kind: "closes-output", does: "closes its output at the probe, and exits later", era: "legacy", launches: 2 },
  {
    kind: "initialized-already",
    does: "initializes its upstream at the probe, and refuses to do so again",
    era: "legacy",
    launches: 2
  },
  { kind: "refuses-initialize", does: "refuses `initialize` after the probe", era: "legacy", launches: 2 },
  { kind: "took-for-initialize", does: "takes the probe for `initialize`", era: "legacy", launches: 2 },
  {
    kind: "took-and-deaf",
    does: "takes the probe for `initialize`, and does not answer another",
    era: "legacy",
    launches: 2,
    timeouts: impatient
  },
  { kind: "exits-at-initialize", does: "exits at `initialize` after the probe", era: "legacy", launches: 2 },
  {
    kind: "locks-at-initialize",
    does: "exits at `initialize` after the probe, and frees its lock a little later",
    era: "legacy",
    launches: 2
  },
  { kind: "deaf", does: "answers nothing after the probe", era: "legacy", launches: 2, timeouts: impatient },
  {
    kind: "slow-deaf",
    does: "starts slowly, and answers nothing after the probe",
    era: "legacy",
    launches: 2,
    timeouts: slow
  },
  { kind: "modern", does: "describes itself", era: "modern" },
  { kind: "modern-banner", does: "greets its user, and describes itself", era: "modern" },
  { kind: "slow-modern", does: "starts slowly, and describes itself", era: "modern", timeouts: slow }
]

export interface Exchange {
  readonly id: unknown
  readonly response: http.ServerResponse
  /** How many probes came before. */
  readonly before: number
}

export type Refuse = (exchange: Exchange) => void

export const json = (
  response: http.ServerResponse,
  status: number,
  body: unknown,
  headers: http.OutgoingHttpHeaders = {}
) => void response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body))

const failed =
  (status: number, code: number, message: string, id?: unknown, data?: unknown): Refuse => ({ id: own, response }) =>
    json(response, status, { jsonrpc: "2.0", id: id === undefined ? own : id, error: { code, message, data } })

const reply =
  (status: number, body = "", type = "text/plain", headers: http.OutgoingHttpHeaders = {}): Refuse => ({ response }) =>
    void response.writeHead(status, body === "" ? headers : { "content-type": type, ...headers }).end(body)

const events = (text: string): Refuse => reply(200, text, "text/event-stream")

const described = (response: http.ServerResponse, id: unknown) => {
  const cache = { ttlMs: 0, cacheScope: "public" }
  const capabilities = { tools: {} }
  json(response, 200, {
    jsonrpc: "2.0",
    id,
    result: { resultType: "complete", supportedVersions: ["2026-07-28"], capabilities, ...cache }
  })
}

/** What a legacy server at a URL does with the probe. */
const legacy: Readonly<Record<string, Refuse>> = {
  "400 without a body": reply(400),
  "400 with text": reply(400, "Bad Request"),
  "400 and -32000": failed(400, -32000, "Bad Request: Server not initialized", null),
  "400 and -32600 under an id of its own": failed(400, -32600, "Bad Request: Missing session ID", "server-error"),
  "400 and -32022 without revisions": failed(400, -32022, "Unsupported protocol version"),
  "400 and JSON that is cut off": reply(400, "{\"jsonrpc\":", "application/json"),
  "401 without a challenge": reply(401),
  "401 with a challenge": reply(401, "", "", { "www-authenticate": "Bearer" }),
  "403 without a challenge": failed(403, -32000, "Forbidden"),
  "404 without a body": reply(404),
  "404 and -32001": failed(404, -32001, "Session not found", null),
  "405": reply(405),
  "406": failed(406, -32000, "Not Acceptable", null),
  "409": reply(409),
  "415": reply(415, "Unsupported Media Type"),
  "422": reply(422, "{\"detail\":[]}", "application/json"),
  "429": reply(429),
  "429 that asks for a second": reply(429, "", "", { "retry-after": "1" }),
  "500": reply(500),
  "500 and -32603": failed(500, -32603, "Cannot read properties of undefined (reading 'transport')"),
  "501": reply(501),
  "502 with a page": reply(502, "<p>Bad gateway</p>", "text/html"),
  "503": failed(503, -32000, "Service Unavailable", null),
  "504": reply(504),
  "302 to another place": reply(302, "", "", { location: "https://login.example.test/" }),
  "a reset": ({ response }) => void response.socket?.resetAndDestroy(),
  "the end of the connection": ({ response }) => void response.socket?.end(),
  "a body that is cut off": ({ response }) => {
    response.writeHead(200, { "content-type": "application/json", "content-length": "100" }).write("{\"jsonrpc\"")
    setImmediate(() => response.destroy())
  },
  "silence": () => {},
  "200 and -32601": failed(200, -32601, "Method not found"),
  "200 and an error without id": failed(200, -32600, "Invalid Request", null),
  "200 and a batch of one error": ({ id, response }) =>
    json(response, 200, [{ jsonrpc: "2.0", id, error: { code: -32601, message: "Method not found" } }]),
  "200 and an empty result": ({ id, response }) => json(response, 200, { jsonrpc: "2.0", id, result: {} }),
  "200 with a page": reply(200, "<p>Welcome</p>", "text/html"),
  "200 without a body": reply(200),
  "202": reply(202),
  "204": reply(204),
  "a stream with an error": ({ id, response }) =>
    events(`data: {"jsonrpc":"2.0","id":${String(id)},"error":{"code":-32601,"message":"No"}}\n\n`)({
      id,
      response,
      before: 0
    }),
  "a stream that ends": events(": nothing\n\n"),
  "a stream with text": events("data: error\n\n")
}

/** What a modern server at a URL does with the probe, or with the first probe. */
const modern: Readonly<Record<string, Refuse>> = {
  "its description": ({ id, response }) => described(response, id),
  "503 while it starts": ({ before, id, response }) =>
    before === 0 ? void response.writeHead(503).end() : described(response, id),
  "503 that asks for a second": ({ before, id, response }) =>
    before === 0 ? void response.writeHead(503, { "retry-after": "1" }).end() : described(response, id),
  "silence while it starts": ({ before, id, response }) => before === 0 ? undefined : described(response, id)
}

/** Servers at a URL, by era and by what the probe meets. */
export const urls = { legacy, modern } as const
