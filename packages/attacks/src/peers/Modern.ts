/**
 * Hostile clients of 2026-07-28: envelopes that lie, states that were forged, changed, sent twice or too late, rounds that
 * never end, subscriptions by the thousand. `requests/Modern` has what only the headers of HTTP can carry.
 */
import { setTimeout as sleep } from "node:timers/promises"
import { grows } from "../Growth.js"
import {
  call,
  deep,
  envelope,
  type Expected,
  many,
  modern,
  modernCall,
  notification,
  type PeerAttack,
  range,
  request,
  wide
} from "./Peer.js"

const pipes = ["stdio", "memory"]

/** One call of `echo`, whose envelope has these members. */
const meta = (
  name: string,
  members: Readonly<Record<string, unknown>>,
  expected: Expected,
  more?: Partial<PeerAttack>
) => whole(name, () => envelope(members), expected, more)

/** One call of `echo` with this `_meta`, which is made when the call is sent. */
const whole = (name: string, _meta: () => unknown, expected: Expected, more: Partial<PeerAttack> = {}): PeerAttack =>
  plain(
    name,
    () => [request(1, "tools/call", { name: "echo", arguments: { text: "a" }, _meta: _meta() })],
    { 1: expected },
    more
  )

const plain = (
  name: string,
  send: PeerAttack["send"],
  expect: PeerAttack["expect"],
  more: Partial<PeerAttack> = {}
): PeerAttack => ({ name: `modern: ${name}`, version: "none", send, expect, ...more })

/** Many messages, after which the server must answer one more. */
const flood = (
  name: string,
  count: number,
  message: (n: number) => string,
  more: Partial<PeerAttack> = {}
): PeerAttack =>
  many(count, (size) => ({
    name: `modern: ${count} times: ${name}`,
    send: () => [...range(size).map(message), modern("last", "server/discover")]
  }), { version: "none", ...more })

const envelopes: ReadonlyArray<PeerAttack> = [
  // A request that names no revision belongs to the legacy era, and its handshake is missing.
  whole("no envelope", () => undefined, "error"),
  whole("an envelope that is a list", () => [], "error"),
  grows(90_000, (size) => whole("an envelope of 90,000 members", () => ({ ...envelope(), ...wide(size) }), "answer")),
  grows(3000, (size) => whole("an envelope of 3,000 levels", () => ({ ...envelope(), deep: deep(size) }), "answer")),
  whole("an envelope named __proto__", () => (JSON.parse("{\"__proto__\":{\"polluted\":true}}")), "error"),
  meta("no capabilities", { clientCapabilities: undefined }, -32602),
  meta("capabilities that are a list", { clientCapabilities: [] }, -32602),
  grows(
    40_000,
    (size) => meta("capabilities of 40,000 extensions", { clientCapabilities: { extensions: wide(size) } }, "answer")
  ),
  meta("no name", { clientInfo: undefined }, "result"),
  grows(
    3_000_000,
    (size) => meta("a name of 3 MB", { clientInfo: { name: "n".repeat(size), version: "1" } }, "answer")
  ),
  grows(90_000, (size) => meta("a name of 90,000 members", { clientInfo: wide(size) }, -32602)),
  grows(
    40_000,
    (size) => meta("40,000 icons", { clientInfo: { name: "a", version: "1", icons: range(size).map(() => 7) } }, -32602)
  ),
  grows(90_000, (size) => meta("a version that is an object", { protocolVersion: wide(size) }, "error")),
  meta("the version 2099-01-01", { protocolVersion: "2099-01-01" }, "error"),
  meta("the version __proto__", { protocolVersion: "__proto__" }, "error"),
  grows(3_000_000, (size) => meta("a version of 3 MB", { protocolVersion: "v".repeat(size) }, "error")),
  meta("a version of the other era", { protocolVersion: "2025-06-18" }, "error", { over: pipes }),
  grows(90_000, (size) => meta("a log level of 90,000 members", { logLevel: wide(size) }, -32602)),
  grows(
    90_000,
    (size) => whole("a progress token of 90,000 members", () => ({ ...envelope(), progressToken: wide(size) }), -32602)
  ),
  grows(1_000_000, (size) =>
    whole(
      "a trace of 1 MB",
      () => ({ ...envelope(), traceparent: "0".repeat(size), baggage: "a=b,".repeat(size / 5) }),
      "result"
    ))
]

/** Sends the state of the first answer back with a change, and with answers to the questions of the server. */
const changed = (
  name: string,
  change: (state: string) => unknown,
  expected: Expected = -32602,
  more: Partial<PeerAttack> = {}
): PeerAttack =>
  plain(`a state that ${name}`, () => [modernCall(1, "elicit")], { 1: "result", 2: expected }, {
    onAnswer: ({ id, result }) =>
      id === 1
        ? [modernCall(2, "elicit", { requestState: change(result.requestState), inputResponses: accepted(result) })]
        : [],
    ...more
  })

const accepted = ({ inputRequests }: any): object =>
  Object.fromEntries(Object.keys(inputRequests).map((key) => [key, { action: "accept", content: { name: "Ada" } }]))

const scrambled = (size: number): object => Object.fromEntries(range(size).map((n) => [`k${(n * 7919) % size}`, 0]))

const states: ReadonlyArray<PeerAttack> = [
  changed("is as it came", (state) => state, "result"),
  changed("was cut", (state) => state.slice(0, -4)),
  changed("has one letter changed", (state) => state.slice(0, 40) + (state[40] === "A" ? "B" : "A") + state.slice(41)),
  changed("is twice itself", (state) => state + state),
  changed("is not base64", (state) => `${state}%%%`),
  grows(3_000_000, (size) => changed("was filled with 3 MB", (state) => state + "A".repeat(size))),
  changed("is empty", () => ""),
  changed("is a number", () => 7),
  grows(90_000, (size) => changed("is an object of 90,000 members", () => wide(size))),
  changed("is absent", () => undefined, "answer"),
  plain("a state of another request", () => [modernCall(1, "elicit")], { 1: "result", 2: -32602 }, {
    onAnswer: ({ id, result }) =>
      id === 1
        ? [modernCall(2, "endless", { requestState: result.requestState, inputResponses: accepted(result) })]
        : []
  }),
  plain("a state that has expired", () => [modernCall(1, "elicit")], { 1: "result", 2: -32602 }, {
    // The victim seals states for four seconds.
    onAnswer: ({ id, result }) =>
      id === 1
        ? sleep(4100, [
          modernCall(2, "elicit", { requestState: result.requestState, inputResponses: accepted(result) })
        ])
        : [],
    over: ["memory"]
  }),
  plain("one state a hundred times", () => [modernCall("first", "elicit")], {
    first: "result",
    0: "result",
    99: "result"
  }, {
    onAnswer: ({ id, result }) =>
      id === "first"
        ? range(100).map((n) =>
          modernCall(n, "elicit", { requestState: result.requestState, inputResponses: accepted(result) })
        )
        : []
  }),
  // To check a state, the server needs all arguments in the order of their names.
  grows(90_000, (size) =>
    plain(
      "a forged state of 90,000 arguments in no order",
      () => [modernCall(1, "endless", { arguments: scrambled(size), requestState: "a.AAAA", inputResponses: {} })],
      { 1: -32602 }
    )),
  plain("rounds that never end", () => [modernCall(0, "endless")], {
    0: "result",
    9: "result",
    10: "error",
    11: "none"
  }, {
    onAnswer: ({ id, result }) =>
      result?.resultType === "input_required"
        ? [modernCall(id + 1, "endless", { requestState: result.requestState, inputResponses: accepted(result) })]
        : []
  }),
  plain("rounds that answer nothing", () => [modernCall(0, "endless")], { 0: "result", 10: "error", 11: "none" }, {
    onAnswer: ({ id, result }) =>
      result?.resultType === "input_required"
        ? [modernCall(id + 1, "endless", { requestState: result.requestState, inputResponses: {} })]
        : []
  }),
  grows(
    40_000,
    (size) =>
      plain("answers without a state", () => [modernCall(1, "elicit", { inputResponses: wide(size) })], { 1: "answer" })
  ),
  grows(90_000, (size) =>
    plain(
      "answers of 90,000 members",
      () => [modernCall(1, "elicit", { inputResponses: { a: { action: "accept", content: wide(size) } } })],
      { 1: "answer" }
    )),
  plain("answers that are a list", () => [modernCall(1, "elicit", { inputResponses: [] })], { 1: -32602 }),
  flood("a forged state", 500, (n) => modernCall(n, "elicit", { requestState: "A".repeat(10_000), inputResponses: {} }))
]

const listen = (id: unknown, notifications: unknown): string => modern(id, "subscriptions/listen", { notifications })

const uris = (count: number): ReadonlyArray<string> => range(count).map((n) => `test://files/${n}/parts/1`)

const subscriptions: ReadonlyArray<PeerAttack> = [
  plain("a filter of 1,025 resources", () => [listen(1, { resourceSubscriptions: uris(1025) })], { 1: -32602 }),
  grows(
    90_000,
    (size) =>
      plain("a filter of 90,000 resources", () => [listen(1, { resourceSubscriptions: uris(size) })], { 1: -32602 })
  ),
  grows(
    90_000,
    (size) =>
      plain("a filter of 90,000 members", () => [listen(1, wide(size)), modern("last", "server/discover")], {
        last: "result"
      })
  ),
  plain("a filter that is a list", () => [listen(1, [])], { 1: -32602 }),
  plain("no filter", () => [listen(1, undefined)], { 1: -32602 }),
  grows(
    90_000,
    (size) => plain("flags that are objects", () => [listen(1, { toolsListChanged: wide(size) })], { 1: -32602 })
  ),
  grows(3_000_000, (size) =>
    plain(
      "a resource of 3 MB",
      () => [
        listen(1, { resourceSubscriptions: [`test://${"u".repeat(size)}`] }),
        modern("last", "server/discover")
      ],
      { last: "result" }
    )),
  grows(1000, (size) =>
    plain("one resource 1,000 times", () => [
      listen(1, { resourceSubscriptions: range(size).map(() => "test://note") }),
      modern("last", "server/discover")
    ], { last: "result" })),
  grows(1000, (size) =>
    plain(
      "a filter of 1,000 resources",
      () => [
        listen(1, { resourceSubscriptions: uris(size) }),
        modern("last", "server/discover")
      ],
      { last: "result" }
    )),
  flood("a subscription", 1000, (n) => listen(n, { toolsListChanged: true, resourceSubscriptions: uris(20) })),
  plain(
    "one subscription more than a client may have",
    () => [...range(70).map((n) => listen(n, { toolsListChanged: true })), modern("last", "server/discover")],
    { last: "result", 64: "error", 69: "error" },
    { over: pipes }
  ),
  grows(2000, (size) =>
    plain(
      "2,000 subscriptions, each cancelled",
      () => [
        ...range(size).flatMap((n) => [
          listen(n, { toolsListChanged: true }),
          notification("notifications/cancelled", { requestId: n, _meta: envelope() })
        ]),
        modern("last", "server/discover")
      ],
      { last: "result", 0: "none" },
      { over: pipes }
    )),
  grows(2000, (size) =>
    plain(
      "one id for 2,000 subscriptions",
      () => [...range(size).map(() => listen(1, { toolsListChanged: true })), modern("last", "server/discover")],
      { last: "result", 1: "error" },
      { over: pipes }
    ))
]

const floods: ReadonlyArray<PeerAttack> = [
  flood("server/discover", 5000, (n) => modern(n, "server/discover")),
  flood("a call of echo", 1000, (n) => modern(n, "tools/call", { name: "echo", arguments: { text: "a" } })),
  flood("a list of tools", 2000, (n) => modern(n, "tools/list")),
  flood("an unknown method", 5000, (n) => modern(n, `unknown/${n}`)),
  flood("an unknown notification", 5000, (n) => notification(`notifications/${n}`, { _meta: envelope() })),
  flood(
    "a cancel of nothing",
    5000,
    (n) => notification("notifications/cancelled", { requestId: `x${n}`, _meta: envelope() })
  ),
  flood(
    "another revision for each message",
    5000,
    (n) => modern(n, "tools/list", {}, envelope({ protocolVersion: `2${n}` }))
  ),
  flood("a method of the other era", 5000, (n) => modern(n, "logging/setLevel", { level: "info" })),
  flood(
    "an answer to nothing",
    2000,
    (n) => JSON.stringify({ jsonrpc: "2.0", id: `n${n}`, result: { resultType: "complete" } })
  ),
  plain(
    "both eras in turn on one pipe",
    () => [
      ...range(200).flatMap((n) => [
        modern(`m${n}`, "tools/call", { name: "echo", arguments: { text: "a" } }),
        call(`l${n}`, "echo", { text: "a" })
      ]),
      modern("last", "server/discover")
    ],
    { last: "result", m0: "result", m199: "result", l0: "error", l199: "error" },
    { over: pipes }
  ),
  plain(
    "a handshake whose ids a modern request uses, too",
    () => [
      request(1, "initialize", {
        protocolVersion: "2025-11-25",
        capabilities: {},
        clientInfo: { name: "client", version: "1" }
      }),
      ...range(100).map(() => modern(1, "server/discover")),
      modern("last", "server/discover")
    ],
    { last: "result" },
    { over: pipes }
  ),
  plain(
    "60 calls that never end, with one progress token",
    () => [
      ...range(60).map((n) =>
        modern(n, "tools/call", { name: "wait", arguments: {} }, {
          ...envelope({ logLevel: "debug" }),
          progressToken: 7
        })
      ),
      modern("last", "server/discover")
    ],
    { last: "result" }
  )
]

/** The attacks of several messages. */
export const conversations: ReadonlyArray<PeerAttack> = [...states, ...subscriptions, ...floods]

export const attacks: ReadonlyArray<PeerAttack> = [...envelopes, ...conversations]
