/**
 * Many messages at once: requests, notifications, answers, cancels, subscriptions. The server must answer a `ping` after these messages,
 * and their cost may grow only as their number does. `Values` has single messages that cost much.
 */
import { grows } from "../Growth.js"
import { call, flood, large, many, notification, type PeerAttack, range, request, wide } from "./Peer.js"

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
  flood("a cancel of initialize", 10_000, () => cancel("initialize")),
  flood(
    "progress of nothing",
    10_000,
    (n) => notification("notifications/progress", { progressToken: n, progress: n })
  ),
  flood(
    "progress that is not a number",
    10_000,
    () => notification("notifications/progress", { progressToken: {}, progress: "x" })
  ),
  flood("initialized", 10_000, () => notification("notifications/initialized")),
  flood("the roots have changed", 10_000, () => notification("notifications/roots/list_changed")),
  flood("a call of echo", 2000, (n) => call(n, "echo", { text: "a" })),
  flood("a call of an unknown tool", 2000, (n) => call(n, `tool${n}`)),
  flood("a list of tools", 2000, (n) => request(n, "tools/list")),
  flood("a cursor", 2000, (n) => request(n, "tools/list", { cursor: String(n) })),
  flood("a log level", 2000, (n) => request(n, "logging/setLevel", { level: n % 2 === 0 ? "debug" : "emergency" })),
  flood("an object that is not a message", 5000, (n) => JSON.stringify({ jsonrpc: "2.0", id: {}, n })),
  flood("text that is not JSON", 5000, (n) => `this is not a message ${n}`),
  flood("almost JSON", 5000, () => "{\"jsonrpc\":\"2.0\",}"),
  {
    ...flood("a subscription", 1100, (n) => request(n, "resources/subscribe", { uri: `test://files/${n}/parts/1` }), {
      isBounded: false,
      over: ["stdio", "memory"]
    }),
    expect: { last: "result", 1023: "result", 1024: "answer", 1099: "answer" }
  },
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
  flood("a call that never ends", 2000, (n) => call(n, "wait"), { over: ["stdio", "memory"] }),
  many(2000, (size) => ({
    name: "2,000 calls that never end, each cancelled",
    send: () => [...interleaved(size, (n) => call(n, "wait"), (n) => cancel(n)), request("last", "ping")]
  }), { expect: { last: "result", 0: "none" }, over: ["stdio", "memory", "sse"] }),
  many(10_000, (size) => ({
    name: "a call that is cancelled 10,000 times",
    send: () => [call(1, "wait"), ...range(size).map(() => cancel(1, "why not")), request("last", "ping")]
  }), { expect: { last: "result", 1: "none" }, over: ["stdio", "memory", "sse"] }),
  grows(90_000, (size) => ({
    name: "a cancel with 90,000 members as its reason",
    send: () => [call(1, "wait"), cancel(1, wide(size)), request("last", "ping")],
    expect: { last: "result" },
    over: ["stdio", "memory", "sse"]
  })),
  many(2000, (size) => ({
    name: "one id for 2,000 calls",
    send: () => [...range(size).map(() => call(1, "wait")), request("last", "ping")]
  }), { expect: { last: "result", 1: -32600 }, over: ["stdio", "memory"] }),
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
  large("4,000 logs of 1 KB", 4000, (times) => call(1, "flood", { times }), "result", { isBounded: true }),
  {
    name: "log floods on eight calls at once",
    send: () => range(8).map((n) => call(n, "flood", { times: 300 })),
    expect: { 0: "result", 7: "result" }
  },
  large("an answer of 8 MB", 8, (megabytes) => call(1, "big", { megabytes }), "result")
]
