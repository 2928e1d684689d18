/**
 * Clients whose HTTP deviates: methods, paths and headers.
 */
import type { ClientRow, HttpRequest } from "../Row.js"

const ping = { jsonrpc: "2.0", id: "$id", method: "ping" }
const pong = [{ id: 7, result: {} }]

const requests = (
  id: string,
  deviation: string,
  http: HttpRequest,
  does: string,
  expected: Partial<ClientRow["expected"]>,
  more: Partial<ClientRow> = {}
): ClientRow => ({
  id,
  method: http.method ?? "POST",
  deviation,
  message: ping,
  http,
  over: ["http"],
  does,
  rule: "basic/transports#streamable-http",
  expected: { answers: [], ...expected },
  ...more
})

const headers = (values: NonNullable<HttpRequest["headers"]>): HttpRequest => ({ headers: values })
const answered = { answers: pong }
const refused = (status: number) => ({ answers: [{ error: {} }], status })
const session = { rule: "basic/transports#session-management" }
const version = { rule: "basic/transports#protocol-version-header" }

export const rows: ReadonlyArray<ClientRow> = [
  requests(
    "http-type-charset",
    "sends `Content-Type: application/json; charset=utf-8`",
    headers({ "content-type": "application/json; charset=utf-8" }),
    "answers",
    answered
  ),
  requests(
    "http-type-upper",
    "writes the media type in capitals",
    headers({ "content-type": "APPLICATION/JSON; CHARSET=UTF-8" }),
    "answers",
    answered
  ),
  requests(
    "http-type-quoted",
    "quotes the charset",
    headers({ "content-type": "application/json;charset=\"utf-8\"" }),
    "answers",
    answered
  ),
  requests(
    "http-type-latin",
    "sends another charset",
    headers({ "content-type": "application/json; charset=iso-8859-1" }),
    "415",
    refused(415)
  ),
  requests(
    "http-type-text",
    "sends `Content-Type: text/plain`",
    headers({ "content-type": "text/plain" }),
    "415",
    refused(415)
  ),
  requests("http-type-absent", "sends no `Content-Type`", headers({ "content-type": null }), "415", refused(415)),
  requests(
    "http-accept-json",
    "accepts JSON only",
    headers({ accept: "application/json" }),
    "answers with JSON",
    { ...answered, headers: { "content-type": "application/json" } }
  ),
  requests(
    "http-accept-events",
    "accepts event streams only",
    headers({ accept: "text/event-stream" }),
    "answers with an event stream",
    { ...answered, headers: { "content-type": "text/event-stream" } }
  ),
  requests("http-accept-absent", "sends no `Accept`", headers({ accept: null }), "answers", answered),
  requests("http-accept-any", "accepts `*/*`", headers({ accept: "*/*" }), "answers", answered),
  requests(
    "http-accept-upper",
    "writes `Accept` in capitals and with weights",
    headers({ accept: "TEXT/EVENT-STREAM;q=0.5, Application/JSON;q=0.9" }),
    "answers",
    answered
  ),
  requests("http-accept-html", "accepts HTML only", headers({ accept: "text/html" }), "406", refused(406)),
  requests("http-path-slash", "adds a slash to the path", { path: "/mcp/" }, "answers", answered),
  requests(
    "http-path-query",
    "adds a query to the path",
    { path: "/mcp?key=1" },
    "answers; the query means nothing",
    answered
  ),
  requests("http-path-other", "sends to another path", { path: "/other" }, "404", refused(404)),
  requests("http-path-upper", "writes the path in capitals", { path: "/MCP" }, "404", refused(404)),
  requests("http-method-put", "sends PUT", { method: "PUT" }, "405 with `Allow`", refused(405)),
  requests("http-method-patch", "sends PATCH", { method: "PATCH" }, "405 with `Allow`", refused(405)),
  requests(
    "http-session-absent",
    "leaves out the session's id",
    headers({ "mcp-session-id": null }),
    "400",
    refused(400),
    session
  ),
  requests(
    "http-session-unknown",
    "sends a session's id that was never given out",
    headers({ "mcp-session-id": "nope" }),
    "404: the client begins a new session",
    refused(404),
    session
  ),
  requests(
    "http-session-empty",
    "sends an empty session's id",
    headers({ "mcp-session-id": "" }),
    "400: an empty id counts as none",
    refused(400),
    { ...session, expected: { answers: [{ error: {} }], status: 400 } }
  ),
  requests(
    "http-session-upper",
    "writes the header's name in capitals",
    headers({ "mcp-session-id": null, "MCP-SESSION-ID": "$session" }),
    "answers",
    answered,
    session
  ),
  requests(
    "http-version-absent",
    "leaves out `MCP-Protocol-Version`",
    headers({ "mcp-protocol-version": null }),
    "answers; the session knows its revision",
    answered,
    version
  ),
  requests(
    "http-version-same",
    "sends the session's revision",
    headers({ "mcp-protocol-version": "2025-11-25" }),
    "answers",
    answered,
    version
  ),
  requests(
    "http-version-other",
    "sends another revision than the session's",
    headers({ "mcp-protocol-version": "2025-06-18" }),
    "answers in the session's revision, as other servers do",
    answered,
    version
  ),
  requests(
    "http-version-unknown",
    "sends a revision that does not exist",
    headers({ "mcp-protocol-version": "1999-01-01" }),
    "400",
    refused(400),
    version
  ),
  requests(
    "http-version-word",
    "sends a word as the revision",
    headers({ "mcp-protocol-version": "latest" }),
    "400",
    refused(400),
    version
  ),
  requests(
    "http-host",
    "names another host",
    headers({ host: "evil.example" }),
    "403: the address of this machine was given another name",
    refused(403),
    { rule: "basic/transports#security-warning" }
  ),
  requests(
    "http-origin",
    "comes from a page of another origin",
    headers({ origin: "https://evil.example" }),
    "403",
    refused(403),
    { rule: "basic/transports#security-warning" }
  ),
  requests("http-origin-null", "comes from the origin `null`", headers({ origin: "null" }), "403", refused(403), {
    rule: "basic/transports#security-warning"
  }),
  requests("http-encoding", "compresses the body", headers({ "content-encoding": "gzip" }), "415", refused(415)),
  requests(
    "http-encoding-identity",
    "says that the body is not compressed",
    headers({ "content-encoding": "identity" }),
    "answers",
    answered
  ),
  requests(
    "http-body-empty",
    "sends an empty body",
    {},
    "400",
    { answers: [{ error: { code: -32700 } }], status: 400 },
    { message: "" }
  ),
  requests(
    "http-body-form",
    "sends a form",
    headers({ "content-type": "application/x-www-form-urlencoded" }),
    "415",
    refused(415),
    { message: "a=1" }
  ),
  requests(
    "http-get-no-accept",
    "opens a stream without accepting one",
    { method: "GET", headers: { accept: "application/json" } },
    "406",
    refused(406)
  ),
  requests(
    "http-get-event-unknown",
    "resumes after an event that never was",
    { method: "GET", headers: { "last-event-id": "nope" } },
    "opens a stream: without an `EventStore` nothing can be resumed",
    { status: 200 },
    { rule: "basic/transports#resumability-and-redelivery" }
  ),
  requests(
    "http-delete-no-session",
    "ends no session",
    { method: "DELETE", headers: { "mcp-session-id": null } },
    "400",
    refused(400),
    session
  ),
  requests(
    "http-delete-unknown",
    "ends a session that never was",
    { method: "DELETE", headers: { "mcp-session-id": "nope" } },
    "404",
    refused(404),
    session
  ),
  requests(
    "http-initialize-version",
    "sends the header with `initialize`, with a revision that does not exist",
    headers({ "mcp-protocol-version": "1999-01-01" }),
    "answers: `initialize` names the revision itself",
    { answers: [{ id: 7, result: { protocolVersion: "2025-11-25" } }] },
    {
      ...version,
      isFirst: true,
      message: {
        jsonrpc: "2.0",
        id: "$id",
        method: "initialize",
        params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "c", version: "1" } }
      }
    }
  )
]
