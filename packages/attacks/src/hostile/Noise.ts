/**
 * The hostile servers that send messages without a request of the client: lines that are not messages, notifications, requests and stray
 * answers during a call, and bytes before the first message. `Answers` has the servers whose answers are hostile.
 */
import { grows } from "../Growth.js"
import { members, notification, range, request, result, type ServerAttack } from "./Server.js"

const sentInCall = (
  name: string,
  texts: (id: string, params: any) => ReadonlyArray<string>,
  expect?: "ok" | "fails"
): ServerAttack => ({
  name: `during a call it sends ${name}`,
  on: { "tools/call": (id, params) => [...texts(id, params), result(id, "{\"content\":[]}")] },
  expect
})

const progress = (params: any, value: number): string =>
  notification(
    "notifications/progress",
    `{"progressToken":${JSON.stringify(params._meta?.progressToken ?? 0)},"progress":${value}}`
  )

/** Many texts during a call. The call succeeds, and the client keeps none of the texts. */
const floods: ReadonlyArray<
  readonly [name: string, count: number, text: (n: number, params: any) => string]
> = [
  ["lines of noise", 10_000, (n) => `log line ${n}`],
  ["lists that have changed", 10_000, () => notification("notifications/tools/list_changed", "{}")],
  ["unknown notifications", 10_000, (n) => notification(`notifications/${n}`, "{}")],
  ["logs", 10_000, () => notification("notifications/message", "{\"level\":\"info\",\"data\":\"x\"}")],
  ["steps of progress", 10_000, (n, params) => progress(params, n)],
  ["steps of progress that is always the same", 10_000, (_, params) => progress(params, 1)],
  ["pings", 4000, (n) => request(`"p${n}"`, "ping", "{}")],
  [
    "elicitations",
    4000,
    (n) =>
      request(
        `"e${n}"`,
        "elicitation/create",
        "{\"message\":\"?\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{}}}"
      )
  ],
  ["samplings", 4000, (n) => request(`"s${n}"`, "sampling/createMessage", "{\"messages\":[],\"maxTokens\":1}")],
  ["requests for roots", 4000, (n) => request(`"r${n}"`, "roots/list", "{}")],
  ["unknown requests", 4000, (n) => request(String(n), `unknown/${n}`, "{}")],
  ["requests under one id", 4000, () => request("1", "ping", "{}")],
  ["cancels", 10_000, (n) => notification("notifications/cancelled", `{"requestId":${n}}`)],
  ["answers to nothing", 10_000, (n) => result(`"x${n}"`, "{}")]
]

/** A page of a list that does not end. */
const page = (id: string, params: any): string =>
  result(id, `{"tools":[],"nextCursor":"${Number(params?.cursor ?? 0) + 1}"}`)

const changed = notification("notifications/tools/list_changed", "{}")

const noise: ReadonlyArray<ServerAttack> = [
  {
    name: "in each of 100 calls it says that its list of tools has changed, which does not end",
    on: {
      "tools/list": (id, params) => [page(id, params)],
      "tools/call": (id) => [changed, result(id, "{\"content\":[]}"), changed]
    },
    use: "calls",
    expect: "ok",
    // The calls, and few listings of 64 pages.
    atMost: 100 + 6 * 64
  },
  ...floods.map(([name, count, text]) =>
    grows(count, (size) => ({
      ...sentInCall(
        `${count.toLocaleString("en")} ${name}`,
        (_, params) => range(size).map((n) => text(n, params)),
        "ok"
      ),
      isBounded: true
    }))
  ),
  grows(90_000, (size) =>
    sentInCall(
      "a log of 90,000 members",
      () => [notification("notifications/message", `{"level":${members(size)},"data":1}`)],
      "ok"
    )),
  sentInCall("progress that goes back", (_, params) => [3, 2, 1e308, -1].map((n) => progress(params, n)), "ok"),
  grows(
    90_000,
    (size) =>
      sentInCall(
        "an elicitation of 90,000 members",
        () => [request("\"e\"", "elicitation/create", members(size))],
        "ok"
      )
  ),
  grows(10_000, (size) =>
    sentInCall(
      "a form of 10,000 fields",
      () => [
        request(
          "\"f\"",
          "elicitation/create",
          `{"message":"?","requestedSchema":{"type":"object","properties":{${
            range(size).map((n) => `"f${n}":{"type":"string"}`).join(",")
          }}}}`
        )
      ],
      "ok"
    )),
  grows(1_000_000, (size) => sentInCall("1,000,000 NUL bytes", () => ["\0".repeat(size)])),
  sentInCall("its own request back", (id, params) => [request(id, "tools/call", JSON.stringify(params))])
]

const bytes: ReadonlyArray<ServerAttack> = [
  { name: "a banner before everything", first: ["Welcome!", "\u001b[31mred\u001b[0m", "", "{not json}"], expect: "ok" },
  grows(100_000, (size) => ({
    name: "100,000 lines before everything",
    first: [Array(size).fill("noise").join("\n")],
    expect: "ok"
  })),
  grows(9_000_000, (size) => ({ name: "a line of 9 MB before everything", first: ["x".repeat(size)], expect: "ok" })),
  grows(30_000_000, (size) => ({ name: "a line of 30 MB before everything", first: ["x".repeat(size)], expect: "ok" })),
  { name: "a mark of the byte order", first: ["\ufeff"], expect: "ok" },
  {
    name: "lines that end with CR LF",
    on: { "tools/call": (id: string) => [result(id, "{\"content\":[]}") + "\r"] },
    expect: "ok"
  }
].map((attack) => ({ ...attack, over: ["stdio"] }) as ServerAttack)

export const attacks: ReadonlyArray<ServerAttack> = [...noise, ...bytes]
