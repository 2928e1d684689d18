/**
 * Clients whose text deviates: what is not JSON, how JSON is written, and batches.
 */
import type { ClientRow } from "../Row.js"
import { invalid, invalidWithoutId, sends, unreadable } from "./Sends.js"

const text: ReadonlyArray<ClientRow> = [
  sends("json-broken", "sends text that is not JSON", "{\"jsonrpc\":\"2.0\",", "-32700", [unreadable], { status: 400 }),
  sends(
    "json-comment",
    "writes a comment into the JSON",
    "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"} // hi",
    "-32700",
    [unreadable],
    { status: 400 }
  ),
  sends("json-single-quotes", "writes JSON with single quotes", "{'jsonrpc':'2.0','id':7,'method':'ping'}", "-32700", [
    unreadable
  ], { status: 400 }),
  sends(
    "json-nan",
    "writes `NaN` as a number",
    "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\",\"params\":{\"a\":NaN}}",
    "-32700",
    [unreadable],
    { status: 400 }
  ),
  sends(
    "json-trailing-comma",
    "writes a comma after the last member",
    "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\",}",
    "-32700",
    [unreadable],
    { status: 400 }
  ),
  sends("json-text", "sends a JSON text in place of a message", "\"ping\"", "-32600", [invalidWithoutId], {
    status: 400
  }),
  sends("json-number", "sends a number in place of a message", "5", "-32600", [invalidWithoutId], { status: 400 }),
  sends("json-null", "sends `null` in place of a message", "null", "-32600", [invalidWithoutId], { status: 400 }),
  sends("json-empty", "sends `{}`", "{}", "-32600", [invalidWithoutId], { status: 400 }),
  sends("json-bare-words", "sends a line of a log", "Listening on port 3000", "-32700", [unreadable], { status: 400 }),
  sends(
    "json-spaces",
    "writes spaces around the message",
    "  {\"jsonrpc\":\"2.0\",\"id\":\"$id\",\"method\":\"ping\"}\t ",
    "answers",
    [{ id: 7, result: {} }]
  ),
  sends(
    "json-bom",
    "begins with a byte order mark",
    "\uFEFF{\"jsonrpc\":\"2.0\",\"id\":\"$id\",\"method\":\"ping\"}",
    "answers; a mark is not a part of the text",
    [{ id: 7, result: {} }],
    { over: ["http"] }
  ),
  sends(
    "json-crlf",
    "ends lines with CR and LF",
    "{\"jsonrpc\":\"2.0\",\"id\":\"$id\",\"method\":\"ping\"}\r",
    "answers",
    [{ id: 7, result: {} }]
  ),
  sends(
    "json-blank-lines",
    "sends empty lines",
    "\n\n \r\n{\"jsonrpc\":\"2.0\",\"id\":\"$id\",\"method\":\"ping\"}\n\n",
    "answers; empty lines are ignored",
    [{ id: 7, result: {} }],
    { over: ["stdio"], rule: "basic/transports#stdio" }
  ),
  sends(
    "json-two-lines",
    "breaks a message into two lines",
    "{\"jsonrpc\":\"2.0\",\n\"id\":7,\"method\":\"ping\"}",
    "-32700 for each line",
    [unreadable, unreadable],
    { over: ["stdio"], rule: "basic/transports#stdio" }
  ),
  sends(
    "json-pretty-http",
    "writes JSON with line breaks",
    "{\n  \"jsonrpc\": \"2.0\",\n  \"id\": \"$id\",\n  \"method\": \"ping\"\n}\n",
    "answers",
    [{ id: 7, result: {} }],
    { over: ["memory", "http"] }
  ),
  sends(
    "json-escaped",
    "writes member names with escape sequences",
    "{\"jsonrpc\":\"2.0\",\"\\u0069d\":\"$id\",\"method\":\"p\\u0069ng\"}",
    "answers",
    [{ id: 7, result: {} }]
  ),
  sends(
    "json-proto",
    "names a member `__proto__`",
    "{\"jsonrpc\":\"2.0\",\"id\":\"$id\",\"method\":\"tools/call\",\"params\":{\"name\":\"echo\",\"arguments\":{\"__proto__\":{\"text\":\"a\"}}}}",
    "-32600: it could become a prototype",
    [invalid],
    { status: 400 }
  ),
  sends(
    "json-proto-escaped",
    "names a member `__proto__` with an escape sequence",
    "{\"jsonrpc\":\"2.0\",\"id\":\"$id\",\"method\":\"ping\",\"params\":{\"\\u005f_proto__\":1}}",
    "-32600: it could become a prototype",
    [invalid],
    { status: 400 }
  ),
  sends(
    "json-lone-surrogate",
    "sends half of a surrogate pair",
    "{\"jsonrpc\":\"2.0\",\"id\":\"$id\",\"method\":\"tools/call\",\"params\":{\"name\":\"echo\",\"arguments\":{\"text\":\"\\ud800\"}}}",
    "answers",
    [{ id: 7, result: { content: [{ type: "text" }] } }]
  ),
  sends(
    "message-extra",
    "writes members beside those of JSON-RPC",
    { jsonrpc: "2.0", id: "$id", method: "ping", extra: 1, auth: "x" },
    "ignores them",
    [{ id: 7, result: {} }]
  ),
  sends(
    "params-positional",
    "sends positional parameters",
    { jsonrpc: "2.0", id: "$id", method: "ping", params: [] },
    "-32602: no method of MCP has any",
    [{ id: 7, error: { code: -32602 } }],
    { status: 400 }
  )
]

const hold = "{\"jsonrpc\":\"2.0\",\"id\":\"$id\",\"method\":\"tools/call\",\"params\":{\"name\":\"hold\"}}"
const second = "{\"jsonrpc\":\"2.0\",\"id\":\"$id\",\"method\":\"ping\"}"

const twice: ReadonlyArray<ClientRow> = [
  sends(
    "id-in-flight",
    "uses an id again while its request is in flight",
    `${hold}\n${second}`,
    "-32600 for the second; the first goes on",
    [invalid],
    { over: ["stdio"], rule: "basic#requests" }
  ),
  sends("id-again", "uses an id again after its request was answered", `${second}\n${second}`, "answers both", [{
    id: 7,
    result: {}
  }, { id: 7, result: {} }], { over: ["stdio"], rule: "basic#requests" }),
  sends(
    "cancel-answered",
    "cancels a request under the id that was answered",
    `${second}\n{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"$id"}}`,
    "ignores it",
    [{ id: 7, result: {} }],
    { over: ["stdio"], rule: "basic/utilities/cancellation" }
  )
]

const batch = [{ jsonrpc: "2.0", id: "$id", method: "ping" }]

const batches: ReadonlyArray<ClientRow> = [
  sends("batch", "sends a batch, which the revision does not have", batch, "-32600", [invalidWithoutId], {
    status: 400,
    revisions: "all but 2025-03-26"
  }),
  sends("batch-empty", "sends an empty batch", [], "-32600", [invalidWithoutId], {
    status: 400,
    version: "2025-03-26",
    revisions: "2025-03-26"
  }),
  sends("batch-in-batch", "puts a batch into a batch", [batch], "-32600", [invalidWithoutId], {
    version: "2025-03-26",
    revisions: "2025-03-26"
  }),
  sends("batch-of-one", "sends a batch of one", batch, "answers", [{ id: 7, result: {} }], {
    version: "2025-03-26",
    revisions: "2025-03-26"
  }),
  sends(
    "batch-half",
    "sends a batch of which one element is not a message",
    [...batch, 5],
    "answers the message, and -32600 for the other",
    [{ id: 7, result: {} }, { error: { code: -32600 } }],
    { version: "2025-03-26", revisions: "2025-03-26" }
  )
]

export const rows: ReadonlyArray<ClientRow> = [...text, ...twice, ...batches]
