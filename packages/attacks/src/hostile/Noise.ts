/**
 * The hostile servers that send messages without a request of the client: lines that are no messages, notifications, requests
 * and stray answers during a call, and bytes before the first message. `Answers` has those whose answers are hostile.
 */
import { notification, range, request, result, type ServerAttack, wide } from "./Server.js"

const sentInCall = (
  name: string,
  texts: (id: string, params: any) => ReadonlyArray<string>,
  expect?: "ok" | "fails"
): ServerAttack => ({
  name: `during a call it sends ${name}`,
  on: { "tools/call": (id, params) => [...texts(id, params), result(id, "{\"content\":[]}")] },
  expect
})

const noise: ReadonlyArray<ServerAttack> = [
  sentInCall("10,000 lines of noise", () => range(10_000).map((n) => `log line ${n}`), "ok"),
  sentInCall(
    "10,000 lists that have changed",
    () => range(10_000).map(() => notification("notifications/tools/list_changed", "{}")),
    "ok"
  ),
  sentInCall(
    "10,000 unknown notifications",
    () => range(10_000).map((n) => notification(`notifications/${n}`, "{}")),
    "ok"
  ),
  sentInCall(
    "10,000 logs",
    () => range(10_000).map(() => notification("notifications/message", "{\"level\":\"info\",\"data\":\"x\"}")),
    "ok"
  ),
  sentInCall(
    "a log of 90,000 members",
    () => [notification("notifications/message", `{"level":${wide},"data":1}`)],
    "ok"
  ),
  sentInCall(
    "10,000 steps of progress",
    (_, params) =>
      range(10_000).map((n) =>
        notification(
          "notifications/progress",
          `{"progressToken":${JSON.stringify(params._meta?.progressToken ?? 0)},"progress":${n}}`
        )
      ),
    "ok"
  ),
  sentInCall(
    "progress that goes back",
    (_, params) =>
      [3, 2, 1e308, -1].map((n) =>
        notification(
          "notifications/progress",
          `{"progressToken":${JSON.stringify(params._meta?.progressToken ?? 0)},"progress":${n}}`
        )
      ),
    "ok"
  ),
  sentInCall("1,000 pings", () => range(1000).map((n) => request(`"p${n}"`, "ping", "{}")), "ok"),
  sentInCall(
    "1,000 elicitations",
    () =>
      range(1000).map((n) =>
        request(
          `"e${n}"`,
          "elicitation/create",
          "{\"message\":\"?\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{}}}"
        )
      ),
    "ok"
  ),
  sentInCall("an elicitation of 90,000 members", () => [request("\"e\"", "elicitation/create", wide)], "ok"),
  sentInCall(
    "a form of 10,000 fields",
    () => [
      request(
        "\"f\"",
        "elicitation/create",
        `{"message":"?","requestedSchema":{"type":"object","properties":{${
          range(10_000).map((n) => `"f${n}":{"type":"string"}`).join(",")
        }}}}`
      )
    ],
    "ok"
  ),
  sentInCall(
    "1,000 samplings",
    () => range(1000).map((n) => request(`"s${n}"`, "sampling/createMessage", "{\"messages\":[],\"maxTokens\":1}")),
    "ok"
  ),
  sentInCall("1,000 requests for roots", () => range(1000).map((n) => request(`"r${n}"`, "roots/list", "{}")), "ok"),
  sentInCall("1,000 unknown requests", () => range(1000).map((n) => request(String(n), `unknown/${n}`, "{}")), "ok"),
  sentInCall("1,000 requests under one id", () => range(1000).map(() => request("1", "ping", "{}")), "ok"),
  sentInCall(
    "10,000 cancels",
    () => range(10_000).map((n) => notification("notifications/cancelled", `{"requestId":${n}}`)),
    "ok"
  ),
  sentInCall("10,000 answers to nothing", () => range(10_000).map((n) => result(`"x${n}"`, "{}")), "ok"),
  sentInCall("NUL bytes", () => ["\0".repeat(10_000)]),
  sentInCall("its own request back", (id, params) => [request(id, "tools/call", JSON.stringify(params))])
]

const bytes: ReadonlyArray<ServerAttack> = [
  { name: "a banner before everything", first: ["Welcome!", "\u001b[31mred\u001b[0m", "", "{not json}"], expect: "ok" },
  { name: "100,000 lines before everything", first: [Array(100_000).fill("noise").join("\n")], expect: "ok" },
  { name: "a line of 11 MB before everything", first: ["x".repeat(11_000_000)], expect: "ok" },
  { name: "a mark of the byte order", first: ["\ufeff"], expect: "ok" },
  {
    name: "lines that end with CR LF",
    on: { "tools/call": (id: string) => [result(id, "{\"content\":[]}") + "\r"] },
    expect: "ok"
  }
].map((attack) => ({ ...attack, over: ["stdio"] }) as ServerAttack)

export const attacks: ReadonlyArray<ServerAttack> = [...noise, ...bytes]
