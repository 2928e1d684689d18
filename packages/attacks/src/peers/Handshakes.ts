/**
 * Hostile handshakes, batches, answers to requests of the server, and bytes that only a pipe carries.
 * `Floods` has many messages at once.
 */
import { grows } from "../Growth.js"
import { call, flood, large, many, notification, one, type PeerAttack, range, request, wide } from "./Peer.js"

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
  large(
    "initialize with a version of 90,000 members",
    90_000,
    (size) => initialize({ protocolVersion: wide(size), capabilities: {}, clientInfo: info }),
    -32602,
    { version: "none", over: pipes }
  ),
  large(
    "initialize with 40,000 capabilities",
    40_000,
    (size) =>
      initialize({ protocolVersion: "2025-11-25", capabilities: { experimental: wide(size) }, clientInfo: info }),
    "answer",
    { version: "none", over: pipes }
  ),
  one(
    "initialize by a client without a name",
    initialize({ protocolVersion: "2025-11-25", capabilities: {}, clientInfo: {} }),
    -32602,
    { version: "none", over: pipes }
  ),
  large(
    "initialize by a client whose name has 3 MB",
    3_000_000,
    (size) =>
      initialize({
        protocolVersion: "2025-11-25",
        capabilities: {},
        clientInfo: { name: "n".repeat(size), version: "1" }
      }),
    "answer",
    { version: "none", over: pipes }
  ),
  large(
    "initialize for a version of 3 MB",
    3_000_000,
    (size) => initialize({ protocolVersion: "9".repeat(size), capabilities: {}, clientInfo: info }),
    "answer",
    { version: "none", over: pipes }
  ),
  one(
    "a second initialize",
    initialize({ protocolVersion: "2024-11-05", capabilities: {}, clientInfo: info }),
    "answer",
    { over: pipes }
  ),
  many(4000, (size) => ({
    name: "4,000 handshakes at once",
    send: () =>
      range(size).map((n) =>
        request(n, "initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: info })
      ),
    expect: { 0: "result", [size - 1]: "answer" }
  }), { version: "none", over: pipes })
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
  grows(10_000, (size) => ({
    name: "a batch of 10,000 pings",
    send: () => [batch(range(size).map((n) => request(n, "ping"))), request("last", "ping")],
    expect: { last: "result" },
    version: "2025-03-26"
  })),
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
  grows(5000, (size) => ({
    name: "a batch of 5,000 cancels",
    send: () => [
      batch(range(size).map((n) => notification("notifications/cancelled", { requestId: n }))),
      request("last", "ping")
    ],
    expect: { last: "result" },
    version: "2025-03-26"
  })),
  {
    name: "a batch at a revision without batches",
    send: () => [batch([request(1, "ping")]), request("last", "ping")],
    expect: { last: "result", 1: "none" }
  }
]

const answers: ReadonlyArray<PeerAttack> = [
  answered("null", (id) => [result(id, null)]),
  answered("an empty object", (id) => [result(id, {})]),
  answered("an unknown action", (id) => [result(id, { action: "explode" })]),
  grows(
    90_000,
    (size) => answered("90,000 members", (id) => [result(id, { action: "accept", content: wide(size) })])
  ),
  answered("a form that does not fit", (id) => [result(id, { action: "accept", content: { name: 7 } })]),
  grows(3_000_000, (size) =>
    answered(
      "a name of 3 MB",
      (id) => [result(id, { action: "accept", content: { name: "n".repeat(size) } })]
    )),
  grows(90_000, (size) =>
    answered(
      "an error of 90,000 members",
      (id) => [{ jsonrpc: "2.0", id, error: { code: 1, message: "no", data: wide(size) } }]
    )),
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
  flood("a line of spaces", 20_000, () => " \t "),
  ...([
    ["500,000 empty lines", 500_000, (size) => "\n".repeat(size)],
    ["1,000,000 NUL bytes", 1_000_000, (size) => "\0".repeat(size)],
    ["a line of 9 MB", 9_000_000, (size) => "x".repeat(size)],
    ["a line of 30 MB", 30_000_000, (size) => "x".repeat(size)],
    ["a message of 30 MB", 30_000_000, (size) => call(2, "echo", { text: "x".repeat(size) })],
    ["lines of noise in bursts", 20_000, (size) => "x\n".repeat(size)],
    // Each burst ends in the middle of a message.
    ["10,000 messages in pieces that end anywhere", 10_000, (size) => `${request(2, "ping")}\n`.repeat(size)]
  ] as ReadonlyArray<readonly [name: string, size: number, text: (size: number) => string]>).map(
    ([name, size, text]) =>
      grows(size, (size) => ({
        name,
        send: () => [text(size), request(1, "ping")],
        expect: { 1: "result" }
      }))
  ),
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
