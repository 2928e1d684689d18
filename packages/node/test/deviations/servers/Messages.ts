/**
 * Servers whose JSON-RPC deviates: errors, ids, and noise beside the messages.
 */
import type { ServerRow } from "../Row.js"
import { good, pipes, sends, value } from "./Sends.js"

const error = (value: unknown, more: object = {}) => ({ jsonrpc: "2.0", id: "$id", error: value, ...more })
const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels)
const decode = { fails: { _tag: "TransportError", reason: "Decode" }, reports: ["Malformed"] }

const errors: ReadonlyArray<ServerRow> = ([
  ["string-code", "sends the code \"-32601\" as a text", { code: "-32601", message: "no" }, "reads the number", {
    _tag: "MethodNotFound"
  }],
  ["word-code", "sends a word as the code", { code: "ENOENT", message: "no" }, "reads it as an internal error", {
    _tag: "InternalError",
    message: "no"
  }],
  ["no-code", "sends no code", { message: "no" }, "reads it as an internal error", {
    _tag: "InternalError",
    message: "no"
  }],
  ["null-code", "sends `code: null`", { code: null, message: "no" }, "reads it as an internal error", {
    _tag: "InternalError",
    message: "no"
  }],
  ["fraction-code", "sends the code 1.5", { code: 1.5, message: "no" }, "reads it as an internal error", {
    _tag: "InternalError",
    message: "no"
  }],
  ["no-message", "sends no message", { code: -32602 }, "reads it as an error without a message", {
    _tag: "InvalidParams",
    message: "without a message"
  }],
  ["null-message", "sends `message: null`", { code: -32602, message: null }, "reads it as an error without a message", {
    _tag: "InvalidParams",
    message: "without a message"
  }],
  [
    "object-message",
    "sends an object as the message",
    { code: -32602, message: { text: "no" } },
    "reads it as an error without a message",
    { _tag: "InvalidParams", message: "without a message" }
  ],
  ["empty", "sends `error: {}`", {}, "reads it as an internal error without a message", {
    _tag: "InternalError",
    message: "without a message"
  }],
  ["text", "sends a text in place of an error", "no such tool", "reads it as an internal error with this message", {
    _tag: "InternalError",
    message: "no such tool"
  }],
  [
    "unknown-code",
    "sends a code that no specification has",
    { code: 42, message: "no" },
    "fails with `PeerError` and the code",
    { _tag: "PeerError", code: 42 }
  ],
  [
    "positive-code",
    "sends the code of an HTTP status",
    { code: 404, message: "Not Found" },
    "fails with `PeerError` and the code",
    { _tag: "PeerError", code: 404 }
  ],
  [
    "old-not-found",
    "sends -32002 without the URI",
    { code: -32002, message: "gone" },
    "fails with `PeerError` and the code",
    { _tag: "PeerError", code: -32002 }
  ],
  [
    "url-shape",
    "sends -32042 without its URLs",
    { code: -32042, message: "open" },
    "fails with `PeerError` and the code",
    { _tag: "PeerError", code: -32042 }
  ]
] as const).map(([id, deviation, wrong, does, fails]) =>
  sends(`error-${id}`, deviation, [error(wrong)], does, { fails })
)

const answers: ReadonlyArray<ServerRow> = [
  sends("answer-late", "answers after the call has timed out", [good], "the call fails; the late answer is reported", {
    fails: { _tag: "RequestTimeout" },
    reports: ["UnknownResponse"]
  }, { ...pipes, isLate: true, rule: "basic/utilities/cancellation#timing-considerations" }),
  sends(
    "error-late",
    "refuses after the call has timed out",
    [error({ code: -32603, message: "no" })],
    "the call fails; the late answer is reported",
    {
      fails: { _tag: "RequestTimeout" },
      reports: ["UnknownResponse"]
    },
    { ...pipes, isLate: true, rule: "basic/utilities/cancellation#timing-considerations" }
  ),
  sends(
    "answer-error-null",
    "answers with a result and `error: null`",
    [{ ...good, error: null }],
    "`null` counts as absent",
    { value }
  ),
  sends(
    "answer-result-null",
    "answers with an error and `result: null`",
    [error({ code: -32602, message: "no" }, { result: null })],
    "`null` counts as absent",
    { fails: { _tag: "InvalidParams" } }
  ),
  sends(
    "answer-both",
    "answers with a result and an error",
    [error({ code: -32602, message: "no" }, { result: {} })],
    "the call fails: the two exclude each other",
    decode
  ),
  sends(
    "answer-neither",
    "answers `result: null` and `error: null`",
    [error(null, { result: null })],
    "the call fails",
    decode
  ),
  sends("answer-error-number", "answers with a number in place of an error", [error(5)], "the call fails", decode),
  sends(
    "answer-jsonrpc-absent",
    "leaves out `jsonrpc` in the answer",
    [{ id: "$id", result: value }],
    "the call fails",
    decode
  ),
  sends("answer-jsonrpc-1", "answers with `jsonrpc: \"1.0\"`", [{ ...good, jsonrpc: "1.0" }], "the call fails", decode),
  sends("answer-extra", "answers with members beside those of JSON-RPC", [{ ...good, took: 5 }], "ignores them", {
    value
  }),
  sends("answer-twice", "answers twice", [good, good], "takes the first, and reports the second", {
    value,
    reports: ["UnknownResponse"]
  }),
  sends(
    "answer-unknown",
    "answers a request that was never sent, before the call's answer",
    [{ ...good, id: 4711 }, good],
    "reports it, and waits for the answer",
    { value, reports: ["UnknownResponse"] }
  ),
  sends(
    "answer-error-no-id",
    "sends an error without an id before the answer",
    [{ jsonrpc: "2.0", error: { code: -32700, message: "?" } }, good],
    "reports it, and waits for the answer",
    { value, reports: ["UnattributedError"] }
  ),
  sends(
    "answer-error-id-null",
    "sends an error with `id: null` before the answer",
    [{ jsonrpc: "2.0", id: null, error: { code: -32700, message: "?" } }, good],
    "reports it, and waits for the answer",
    { value, reports: ["UnattributedError"] }
  ),
  sends(
    "answer-id-fraction",
    "answers the id 1.5 first",
    ["{\"jsonrpc\":\"2.0\",\"id\":1.5,\"result\":{}}", good],
    "reports it, and waits for the answer",
    { value, reports: ["Malformed"] }
  ),
  sends(
    "answer-echo-request",
    "sends the request back, as a terminal does",
    [{ jsonrpc: "2.0", id: "$id", method: "tools/call", params: {} }, good],
    "answers \"Method not found\", and waits for the answer",
    { value, replies: [{ error: { code: -32601 } }] }
  )
]

const noise: ReadonlyArray<ServerRow> = [
  sends(
    "noise-line",
    "prints a line of a log to standard output",
    ["Listening on port 3000", good],
    "reports it, answers nothing, and waits for the answer",
    { value, reports: ["Malformed"] },
    { over: ["stdio"], rule: "basic/transports#stdio" }
  ),
  sends(
    "noise-json",
    "prints JSON that is not a message",
    ["{\"level\":\"info\"}", good],
    "reports it, answers nothing, and waits for the answer",
    { value, reports: ["Malformed"] },
    { ...pipes, rule: "basic/transports#stdio" }
  ),
  sends("noise-number", "prints a number", ["42", good], "reports it, answers nothing, and waits for the answer", {
    value,
    reports: ["Malformed"]
  }, { ...pipes, rule: "basic/transports#stdio" }),
  sends(
    "noise-batch",
    "answers in a batch of one, which the revision does not have",
    [[good]],
    "reads the answer",
    { value },
    { revisions: "all but 2025-03-26" }
  ),
  sends(
    "noise-batch-of-two",
    "answers in a batch of two, which the revision does not have",
    [[good, { jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data: "x" } }]],
    "reads both messages",
    { value, logs: [{ level: "info", data: "x" }] },
    { revisions: "all but 2025-03-26" }
  ),
  sends(
    "noise-prototype",
    "names a member of its result `__proto__`",
    ["{\"jsonrpc\":\"2.0\",\"id\":\"$id\",\"result\":{\"content\":[],\"__proto__\":{\"isError\":true}}}"],
    "leaves the member out",
    { value },
    { over: ["stdio", "http"] }
  ),
  sends("noise-blank", "prints empty lines", ["", "  ", good], "ignores them", { value }, {
    over: ["stdio"],
    rule: "basic/transports#stdio"
  }),
  sends(
    "noise-crlf",
    "ends lines with CR and LF",
    ["{\"jsonrpc\":\"2.0\",\"id\":\"$id\",\"result\":{\"content\":[]}}\r"],
    "reads the message",
    { value },
    { over: ["stdio"], rule: "basic/transports#stdio" }
  ),
  sends(
    "noise-bom",
    "begins with a byte order mark",
    ["\uFEFF{\"jsonrpc\":\"2.0\",\"id\":\"$id\",\"result\":{\"content\":[]}}"],
    "reads the message",
    { value },
    { over: ["stdio", "http"] }
  ),
  sends(
    "noise-proto",
    "names a member `__proto__`",
    ["{\"jsonrpc\":\"2.0\",\"id\":\"$id\",\"result\":{\"content\":[],\"structuredContent\":{\"__proto__\":{}}}}"],
    "leaves the member out: it could become a prototype",
    { value: { content: [], structuredContent: {} } }
  ),
  sends(
    "noise-deep",
    "nests a result 70 levels deep",
    [`{"jsonrpc":"2.0","id":"$id","result":{"content":[],"structuredContent":{"a":${nested(70)}}}}`],
    "reads the answer: an answer may nest 512 levels deep",
    { value: { content: [], structuredContent: { a: JSON.parse(nested(70)) } } }
  ),
  sends(
    "noise-deeper",
    "nests a result 600 levels deep",
    [`{"jsonrpc":"2.0","id":"$id","result":{"content":[],"structuredContent":{"a":${nested(600)}}}}`],
    "the call fails: deeper than 512 levels",
    decode
  ),
  sends(
    "noise-duplicate",
    "writes the member `result` twice",
    ["{\"jsonrpc\":\"2.0\",\"id\":\"$id\",\"result\":{},\"result\":{\"content\":[]}}"],
    "reads the second, as JSON parsers do",
    { value }
  ),
  sends("batch-pipes", "answers in a batch", [[good]], "reads the answer", { value }, {
    ...pipes,
    version: "2025-03-26",
    revisions: "2025-03-26"
  }),
  sends("batch-http", "answers in a batch", [[good]], "reads the answer", { value }, {
    over: ["http"],
    version: "2025-03-26",
    revisions: "2025-03-26"
  })
]

export const rows: ReadonlyArray<ServerRow> = [...errors, ...answers, ...noise]
