/**
 * Hostile handshakes, batches, answers to requests of the server, and bytes that only a pipe carries.
 * `Floods` has many messages at once.
 */
import { call, notification, one, type PeerAttack, range, request, wide } from "./Peer.js"

const initialize = (params: object): string => request(1, "initialize", params)

const info = { name: "client", version: "1" }

const pipes = ["stdio", "memory"]

const answered = (
  name: string,
  answer: (id: unknown) => ReadonlyArray<unknown>,
  more: Partial<PeerAttack> = {}
): PeerAttack => ({
  name: `an elicitation is answered with ${name}`,
  send: () => [call(1, "elicit")],
  expect: { 1: "answer" },
  onRequest: ({ id }) => answer(id).map((one) => JSON.stringify(one)),
  ...more
})

const result = (id: unknown, value: unknown) => ({ jsonrpc: "2.0", id, result: value })

const handshakes: ReadonlyArray<PeerAttack> = [
  one("a call before initialize", call(1, "echo", { text: "a" }), -32602, { version: "none", over: pipes }),
  one("a call of an unknown method before initialize", request(1, "x/y"), -32601, { version: "none", over: pipes }),
  one("initialize with an array", request(1, "initialize", []), "answer", { version: "none", over: pipes }),
  one(
    "initialize with a version of 90,000 members",
    initialize({ protocolVersion: wide(90_000), capabilities: {}, clientInfo: info }),
    -32602,
    { version: "none", over: pipes }
  ),
  one(
    "initialize with 90,000 capabilities",
    initialize({ protocolVersion: "2025-11-25", capabilities: { experimental: wide(40_000) }, clientInfo: info }),
    "answer",
    { version: "none", over: pipes }
  ),
  one(
    "initialize by a client without a name",
    initialize({ protocolVersion: "2025-11-25", capabilities: {}, clientInfo: {} }),
    -32602,
    { version: "none", over: pipes }
  ),
  one(
    "initialize by a client whose name has 3 MB",
    initialize({
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "n".repeat(3_000_000), version: "1" }
    }),
    "answer",
    { version: "none", over: pipes }
  ),
  one(
    "initialize for a version of 3 MB",
    initialize({ protocolVersion: "9".repeat(3_000_000), capabilities: {}, clientInfo: info }),
    "answer",
    { version: "none", over: pipes }
  ),
  one(
    "a second initialize",
    initialize({ protocolVersion: "2024-11-05", capabilities: {}, clientInfo: info }),
    "answer",
    { over: pipes }
  ),
  {
    name: "a hundred handshakes at once",
    send: () =>
      range(100).map((n) =>
        request(n, "initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: info })
      ),
    expect: { 0: "result", 99: "answer" },
    version: "none",
    over: pipes
  }
]

const batch = (messages: ReadonlyArray<string>): string => `[${messages.join(",")}]`

const batches: ReadonlyArray<PeerAttack> = [
  {
    name: "a batch of 64 pings",
    send: () => [batch(range(64).map((n) => request(n, "ping")))],
    expect: { 0: "answer" },
    over: ["stdio", "memory", "http"],
    version: "2025-03-26"
  },
  {
    name: "a batch of 10,000 pings",
    send: () => [batch(range(10_000).map((n) => request(n, "ping"))), request("last", "ping")],
    expect: { last: "result" },
    version: "2025-03-26"
  },
  {
    name: "a batch of batches",
    send: () => [batch([batch([request(1, "ping")])]), request("last", "ping")],
    expect: { last: "result" },
    version: "2025-03-26"
  },
  {
    name: "a batch of nothing",
    send: () => ["[]", request("last", "ping")],
    expect: { last: "result" },
    version: "2025-03-26"
  },
  {
    name: "a batch of noise",
    send: () => ["[1,null,\"x\",{},[],true]", request("last", "ping")],
    expect: { last: "result" },
    version: "2025-03-26"
  },
  {
    name: "a batch with initialize",
    send: () => [batch([request(5, "initialize", {}), request(6, "ping")]), request("last", "ping")],
    expect: { last: "result" },
    version: "2025-03-26"
  },
  {
    name: "a batch of cancels",
    send: () => [
      batch(range(5000).map((n) => notification("notifications/cancelled", { requestId: n }))),
      request("last", "ping")
    ],
    expect: { last: "result" },
    version: "2025-03-26"
  },
  {
    name: "a batch where there are none",
    send: () => [batch([request(1, "ping")]), request("last", "ping")],
    expect: { last: "result", 1: "none" }
  }
]

const answers: ReadonlyArray<PeerAttack> = [
  answered("null", (id) => [result(id, null)]),
  answered("an empty object", (id) => [result(id, {})]),
  answered("an unknown action", (id) => [result(id, { action: "explode" })]),
  answered("90,000 members", (id) => [result(id, { action: "accept", content: wide(90_000) })]),
  answered("a form that does not fit", (id) => [result(id, { action: "accept", content: { name: 7 } })]),
  answered("a name of 3 MB", (id) => [result(id, { action: "accept", content: { name: "n".repeat(3_000_000) } })]),
  answered(
    "an error of 90,000 members",
    (id) => [{ jsonrpc: "2.0", id, error: { code: 1, message: "no", data: wide(90_000) } }]
  ),
  answered("an error whose code is a text", (id) => [{ jsonrpc: "2.0", id, error: { code: "x", message: 7 } }]),
  answered("an error without a message", (id) => [{ jsonrpc: "2.0", id, error: {} }]),
  answered("a result and an error", (id) => [{ jsonrpc: "2.0", id, result: {}, error: { code: 1, message: "x" } }]),
  answered("neither result nor error", (id) => [{ jsonrpc: "2.0", id }]),
  answered(
    "an accept, twice",
    (id) => [result(id, { action: "accept", content: { name: "a" } }), result(id, { action: "decline" })]
  ),
  answered("the id as a text", (id) => [result(String(id), { action: "accept", content: { name: "a" } })])
]

const bytes: ReadonlyArray<PeerAttack> = [
  { name: "lines that end with CR LF", send: () => [request(1, "ping") + "\r"], expect: { 1: "result" } },
  {
    name: "lines of spaces",
    send: () => [...range(1000).map(() => " \t "), request(1, "ping")],
    expect: { 1: "result" }
  },
  { name: "empty lines", send: () => ["\n".repeat(100_000), request(1, "ping")], expect: { 1: "result" } },
  { name: "NUL bytes", send: () => ["\0".repeat(100_000), request(1, "ping")], expect: { 1: "result" } },
  { name: "a line of 11 MB", send: () => ["x".repeat(11_000_000), request(1, "ping")], expect: { 1: "result" } },
  {
    name: "a message of 11 MB",
    send: () => [call(2, "echo", { text: "x".repeat(11_000_000) }), request(1, "ping")],
    expect: { 1: "result" }
  },
  {
    name: "a message with line separators of Unicode",
    send: () => [call(1, "echo", { text: "\u2028\u2029\u0085" })],
    expect: { 1: "result" }
  },
  {
    name: "a request of an HTTP client",
    send: () => ["POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\n\r", request(1, "ping")],
    expect: { 1: "result" }
  },
  {
    name: "headers of a language server",
    send: () => ["Content-Length: 40\r\n\r", request(1, "ping")],
    expect: { 1: "result" }
  },
  {
    name: "two messages on a line",
    send: () => [request(2, "ping") + request(3, "ping"), request(1, "ping")],
    expect: { 1: "result", 2: "none" }
  },
  {
    name: "a message over two lines",
    send: () => ["{\"jsonrpc\":\"2.0\",", "\"id\":2,\"method\":\"ping\"}", request(1, "ping")],
    expect: { 1: "result", 2: "none" }
  }
].map((attack) => ({ ...attack, over: ["stdio"] }) as PeerAttack)

export const attacks: ReadonlyArray<PeerAttack> = [...handshakes, ...batches, ...answers, ...bytes]
