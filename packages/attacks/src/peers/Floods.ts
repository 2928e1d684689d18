/**
 * Many messages at once: requests, notifications, answers, cancels, subscriptions. A `ping` after them is answered.
 * `Values` has single messages that cost much.
 */
import { call, flood, notification, type PeerAttack, range, request, wide } from "./Peer.js"

const cancel = (requestId: unknown, reason?: unknown): string =>
  notification("notifications/cancelled", { requestId, reason })

const interleaved = (count: number, ...messages: ReadonlyArray<(n: number) => string>): ReadonlyArray<string> =>
  range(count).flatMap((n) => messages.map((message) => message(n)))

export const attacks: ReadonlyArray<PeerAttack> = [
  flood("ping", 10_000, (n) => request(n, "ping")),
  flood("an unknown method", 10_000, (n) => request(n, `unknown/${n}`)),
  flood("an unknown notification", 10_000, (n) => notification(`notifications/${n}`)),
  flood("an answer to nothing", 10_000, (n) => JSON.stringify({ jsonrpc: "2.0", id: n, result: {} })),
  flood("an error for nothing", 10_000, () => JSON.stringify({ jsonrpc: "2.0", error: { code: 1, message: "no" } })),
  flood("a cancel of nothing", 10_000, (n) => cancel(n)),
  flood("a cancel without an id", 10_000, () => notification("notifications/cancelled", {})),
  flood("a cancel of initialize", 1000, () => cancel("initialize")),
  flood(
    "progress of nothing",
    10_000,
    (n) => notification("notifications/progress", { progressToken: n, progress: n })
  ),
  flood(
    "progress that is no number",
    1000,
    () => notification("notifications/progress", { progressToken: {}, progress: "x" })
  ),
  flood("initialized", 1000, () => notification("notifications/initialized")),
  flood("the roots have changed", 1000, () => notification("notifications/roots/list_changed")),
  flood("a call of echo", 1000, (n) => call(n, "echo", { text: "a" })),
  flood("a call of an unknown tool", 2000, (n) => call(n, `tool${n}`)),
  flood("a list of tools", 2000, (n) => request(n, "tools/list")),
  flood("a cursor", 2000, (n) => request(n, "tools/list", { cursor: String(n) })),
  flood("a log level", 2000, (n) => request(n, "logging/setLevel", { level: n % 2 === 0 ? "debug" : "emergency" })),
  flood("a message that is none", 5000, (n) => JSON.stringify({ jsonrpc: "2.0", id: {}, n })),
  flood("text that is no JSON", 5000, (n) => `this is no message ${n}`),
  flood("almost JSON", 5000, () => "{\"jsonrpc\":\"2.0\",}"),
  flood("a subscription", 1100, (n) => request(n, "resources/subscribe", { uri: `test://files/${n}/parts/1` }), {
    expect: { last: "result", 1023: "result", 1024: "answer", 1099: "answer" },
    over: ["stdio", "memory"]
  }),
  flood("a subscription to the same URI", 1100, (n) => request(n, "resources/subscribe", { uri: "test://note" })),
  flood(
    "an end of a subscription that is not there",
    1100,
    (n) => request(n, "resources/unsubscribe", { uri: `test://files/${n}/parts/1` })
  ),
  {
    name: "60 calls that never end, and a ping",
    send: () => [...range(60).map((n) => call(n, "wait")), request("last", "ping")],
    expect: { last: "result" }
  },
  {
    name: "100 calls that never end, and a ping",
    send: () => [...range(100).map((n) => call(n, "wait")), request("last", "ping")],
    expect: { last: "result" }
  },
  {
    name: "2,000 calls that never end, and a ping",
    send: (scale) => [...range(scale(2000)).map((n) => call(n, "wait")), request("last", "ping")],
    expect: { last: "result" },
    over: ["stdio", "memory"]
  },
  {
    name: "500 calls that never end, each cancelled",
    send: () => [...interleaved(500, (n) => call(n, "wait"), (n) => cancel(n)), request("last", "ping")],
    expect: { last: "result", 0: "none" },
    over: ["stdio", "memory", "sse"]
  },
  {
    name: "a call that is cancelled a thousand times",
    send: () => [call(1, "wait"), ...range(1000).map(() => cancel(1, "why not")), request("last", "ping")],
    expect: { last: "result", 1: "none" },
    over: ["stdio", "memory", "sse"]
  },
  {
    name: "a cancel with 90,000 members as its reason",
    send: () => [call(1, "wait"), cancel(1, wide(90_000)), request("last", "ping")],
    expect: { last: "result" },
    over: ["stdio", "memory", "sse"]
  },
  {
    name: "one id for a hundred calls",
    send: () => [...range(100).map(() => call(1, "wait")), request("last", "ping")],
    expect: { last: "result", 1: -32600 },
    over: ["stdio", "memory"]
  },
  {
    name: "one token for a hundred calls",
    send: () => [
      ...range(50).map((n) =>
        request(n, "tools/call", { name: "echo", arguments: { text: "a" }, _meta: { progressToken: 7 } })
      ),
      request("last", "ping")
    ],
    expect: { last: "result", 1: "result", 49: "result" }
  },
  {
    name: "the ids 1, \"1\", 1.0 and -1 at once",
    send: () => [call(1, "echo", { text: "a" }), call("1", "echo", { text: "b" }), call(-1, "echo", { text: "c" })],
    expect: { 1: "result", "-1": "result" }
  },
  {
    name: "a thousand logs of 1 KB",
    send: () => [call(1, "flood", { times: 1000 })],
    expect: { 1: "result" }
  },
  {
    name: "log floods on eight calls at once",
    send: () => range(8).map((n) => call(n, "flood", { times: 300 })),
    expect: { 0: "result", 7: "result" }
  },
  {
    name: "an answer of 5 MB",
    send: () => [call(1, "big", { megabytes: 5 })],
    expect: { 1: "result" }
  }
]
