/**
 * Hostile servers of 2026-07-28: discoveries that lie, results of unknown types, rounds that never end, states that grow,
 * hints for caches that are no numbers, subscriptions of others. `Answers` and `Noise` have those of older revisions.
 */
import type { ServerAttack } from "./Server.js"
import { acknowledged, complete, discovered, error, notification, range, result, wide } from "./Server.js"

const long = "x".repeat(3_000_000)

const attack = (name: string, more: Omit<ServerAttack, "name" | "era">): ServerAttack => ({
  name: `modern: ${name}`,
  era: "modern",
  ...more
})

const met = (name: string, members: string, expect?: "ok" | "fails"): ServerAttack =>
  attack(`server/discover is answered with ${name}`, {
    on: { "server/discover": (id) => [result(id, members)], initialize: () => [] },
    use: "connect",
    expect
  })

const found = (more: string, ttlMs = "0"): string =>
  `{"resultType":"complete","ttlMs":${ttlMs},"cacheScope":"private",${discovered(more).slice(1)}`

const introduced = (info: string): string => found(`,"_meta":{"io.modelcontextprotocol/serverInfo":${info}}`)

const discoveries: ReadonlyArray<ServerAttack> = [
  met("null", "null"),
  met("a number", "7"),
  met("nothing in it", "{}"),
  met("90,000 members", wide),
  met("no revisions", "{\"supportedVersions\":[],\"capabilities\":{},\"resultType\":\"complete\"}", "fails"),
  met("90,000 revisions", `{"supportedVersions":[${range(90_000).map((n) => `"${n}"`).join(",")}],"capabilities":{}}`),
  met("a revision of 3 MB", `{"supportedVersions":["${long}"],"capabilities":{},"resultType":"complete"}`, "fails"),
  met("revisions that are a text", "{\"supportedVersions\":\"2026-07-28\",\"capabilities\":{}}"),
  met("capabilities that are a list", "{\"supportedVersions\":[\"2026-07-28\"],\"capabilities\":[]}"),
  met("90,000 capabilities", `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":${wide}}`),
  met("instructions of 3 MB", found(`,"instructions":"${long}"`), "ok"),
  met("instructions that are an object", found(`,"instructions":${wide}`)),
  met("a name of 3 MB", introduced(`{"name":"${long}","version":"1"}`), "ok"),
  met("a name with line breaks and colors", introduced("{\"name\":\"a\\n\\u001b[31mb\",\"version\":\"1\"}"), "ok"),
  met("a name that is an object", introduced(wide)),
  met("10,000 icons", introduced(`{"name":"a","version":"1","icons":[${"{\"src\":\"x\"},".repeat(9999)}{"src":"y"}]}`)),
  met(
    "an icon of 5 MB",
    introduced(`{"name":"a","version":"1","icons":[{"src":"data:image/png;base64,${"A".repeat(5_000_000)}"}]}`)
  ),
  met("90,000 members in _meta", found(`,"_meta":${wide}`)),
  met("__proto__ in _meta", found(",\"_meta\":{\"__proto__\":{\"polluted\":true}}")),
  met("a lifetime of 1e308", found("", "1e308"), "ok"),
  attack("it discovers one revision and refuses each call of it", {
    on: {
      "tools/list": (id) => [refusal(id)],
      "tools/call": (id) => [refusal(id)],
      "subscriptions/listen": (id) => [refusal(id)]
    },
    expect: "fails",
    atMost: 30
  }),
  attack("it refuses every revision and names the same one", {
    on: { "server/discover": (id) => [refusal(id)], initialize: () => [] },
    use: "connect",
    expect: "fails",
    atMost: 10
  }),
  attack("it answers discovery with two eras at once", {
    on: { "server/discover": (id) => [error(id, "{\"code\":-32601,\"message\":\"no\"}"), result(id, found(""))] },
    use: "connect"
  })
]

const refusal = (id: string): string =>
  error(
    id,
    "{\"code\":-32022,\"message\":\"no\",\"data\":{\"supported\":[\"2026-07-28\"],\"requested\":\"2026-07-28\"}}"
  )

const called = (name: string, value: string, expect?: "ok" | "fails"): ServerAttack =>
  attack(`a call is answered with ${name}`, { on: { "tools/call": (id) => [result(id, value)] }, expect })

const required = (members: string): string => `{"resultType":"input_required"${members}}`

const form = "{\"method\":\"elicitation/create\",\"params\":{\"mode\":\"form\",\"message\":\"?\",\"requestedSchema\":" +
  "{\"type\":\"object\",\"properties\":{}}}}"

/** The size of the state that the client sends back, doubled. */
const grown = (params: any): string =>
  `"${"s".repeat(Math.min(2 * (params.requestState?.length ?? 500_000), 8_000_000))}"`

const results: ReadonlyArray<ServerAttack> = [
  called("no type", "{\"content\":[]}"),
  called("an unknown type", "{\"resultType\":\"hologram\",\"content\":[]}", "fails"),
  called("a type that is a number", "{\"resultType\":7,\"content\":[]}", "fails"),
  called("a type of 3 MB", `{"resultType":"${long}","content":[]}`, "fails"),
  called("a type of 90,000 members", `{"resultType":${wide},"content":[]}`, "fails"),
  called("a stamp of 90,000 members", `{"resultType":"complete","content":[],"_meta":${wide}}`, "ok"),
  called("rounds that ask nothing, for ever", required(",\"requestState\":\"s\""), "fails"),
  called("rounds that ask for ever", required(`,"requestState":"s","inputRequests":{"a":${form}}`), "fails"),
  called("rounds without a state and questions", required("")),
  called("a state that is a number", required(",\"requestState\":7")),
  called("a state of 90,000 members", required(`,"requestState":${wide}`)),
  called("10,000 questions", required(`,"inputRequests":{${range(10_000).map((n) => `"q${n}":${form}`).join(",")}}`)),
  called(
    "a question of an unknown method",
    required(",\"inputRequests\":{\"a\":{\"method\":\"x/y\",\"params\":{}}}"),
    "fails"
  ),
  called("questions that are numbers", required(`,"inputRequests":${wide}`), "fails"),
  called("a question named __proto__", required(`,"inputRequests":{"__proto__":${form}}`), "fails"),
  called(
    "a form of 10,000 fields",
    required(
      `,"inputRequests":{"a":{"method":"elicitation/create","params":{"mode":"form","message":"?","requestedSchema":` +
        `{"type":"object","properties":{${range(10_000).map((n) => `"f${n}":{"type":"string"}`).join(",")}}}}}}`
    )
  ),
  attack("a state grows from round to round", {
    on: { "tools/call": (id, params) => [result(id, required(`,"requestState":${grown(params)}`))] },
    expect: "fails"
  }),
  attack("a list requires input", {
    on: { "tools/list": (id) => [result(id, required(""))] },
    use: "list",
    expect: "fails"
  })
]

const listed = (name: string, members: string, ttlMs?: string, expect?: "ok" | "fails"): ServerAttack =>
  attack(`a list of tools has ${name}`, {
    on: { "tools/list": (id) => [complete(id, members, ttlMs)] },
    use: "list",
    expect
  })

const pages = (name: string, cursor: (params: any) => string, ttlMs = "0"): ServerAttack =>
  attack(`pages that never end, ${name}`, {
    on: { "tools/list": (id, params) => [complete(id, `,"tools":[],"nextCursor":${cursor(params)}`, ttlMs)] },
    use: "list"
  })

const tools = ",\"tools\":[{\"name\":\"echo\",\"inputSchema\":{\"type\":\"object\"}}]"

const marked = (properties: string): string =>
  `,"tools":[{"name":"echo","inputSchema":{"type":"object","properties":{${properties}}}}]`

const lists: ReadonlyArray<ServerAttack> = [
  ...["-1", "1e308", "1e999", "-1e308", "0.5", "\"NaN\"", "null", wide].map((ttlMs) =>
    listed(`the lifetime ${ttlMs.slice(0, 10)}`, tools, ttlMs)
  ),
  listed("an unknown scope", `${tools},"cacheScope":"everybody"`),
  listed("a scope of 90,000 members", `${tools},"cacheScope":${wide}`),
  listed(
    "20,000 tools that live for ever",
    `,"tools":[${range(20_000).map((n) => `{"name":"t${n}","inputSchema":{"type":"object"}}`).join(",")}]`,
    "9007199254740991",
    "ok"
  ),
  pages("each with a new cursor", (params) => JSON.stringify(String(Number(params?.cursor ?? 0) + 1))),
  pages(
    "each with a new cursor, for caches",
    (params) => JSON.stringify(String(Number(params?.cursor ?? 0) + 1)),
    "1e9"
  ),
  pages("each with the same cursor", () => "\"again\""),
  pages("each with an empty cursor", () => "\"\""),
  listed(
    "10,000 icons",
    ",\"tools\":[{\"name\":\"a\",\"inputSchema\":{\"type\":\"object\"},\"icons\":[" +
      "{\"src\":\"x\"},".repeat(9999) + "{\"src\":\"y\"}]}]"
  ),
  listed(
    "arguments that are marked for 5,000 headers",
    marked(range(5000).map((n) => `"p${n}":{"type":"string","x-mcp-header":"P${n}"}`).join(","))
  ),
  listed(
    "an argument that is marked for a header with a line break",
    marked(
      "\"p\":{\"type\":\"string\",\"x-mcp-header\":\"a\\r\\nauthorization: stolen\"}"
    )
  ),
  listed("an argument that is marked for a header of 3 MB", marked(`"p":{"type":"string","x-mcp-header":"${long}"}`))
]

const subscribed = (id: string): string => `"_meta":{"io.modelcontextprotocol/subscriptionId":${id}}`

const filter = "{\"toolsListChanged\":true}"

const listening = (
  name: string,
  texts: (id: string, params: any) => ReadonlyArray<string>,
  more: Partial<ServerAttack> = {}
): ServerAttack =>
  attack(`a subscription is answered with ${name}`, { on: { "subscriptions/listen": texts }, expect: "ok", ...more })

const changed = (id: string): string => notification("notifications/tools/list_changed", `{${subscribed(id)}}`)

const subscriptions: ReadonlyArray<ServerAttack> = [
  listening("nothing", () => []),
  listening("nothing, and the client waits for it", () => [], { use: "subscribe", expect: "fails" }),
  listening("two acknowledgements", (id) => [acknowledged(id, filter), acknowledged(id, filter)]),
  listening("10,000 acknowledgements", (id) => range(10_000).map(() => acknowledged(id, filter))),
  listening("the acknowledgement of another", () => [acknowledged("\"foreign\"", filter)]),
  listening("an acknowledgement of 90,000 members", (id) => [acknowledged(id, wide)]),
  listening("an acknowledgement that is a list", (id) => [acknowledged(id, "[]")]),
  listening("10,000 changes", (id) => [acknowledged(id, filter), ...range(10_000).map(() => changed(id))]),
  listening("10,000 changes of another", (id) => [
    acknowledged(id, filter),
    ...range(10_000).map((n) => changed(`"f${n}"`))
  ]),
  listening("10,000 updates of resources that it did not name", (id) => [
    acknowledged(id, filter),
    ...range(10_000).map((n) =>
      notification("notifications/resources/updated", `{"uri":"test://${n}",${subscribed(id)}}`)
    )
  ]),
  listening("a result at once", (id) => [complete(id)], { use: "stay", atMost: 20 }),
  listening("an acknowledgement and its end at once", (id) => [acknowledged(id, filter), complete(id)], {
    use: "stay",
    atMost: 20
  }),
  listening("an error at once", (id) => [error(id, "{\"code\":-32603,\"message\":\"no\"}")], {
    use: "stay",
    atMost: 20
  }),
  listening("1,000 cancellations of others", (id) => [
    acknowledged(id, filter),
    ...range(1000).map((n) => notification("notifications/cancelled", `{"requestId":"f${n}",${subscribed(id)}}`))
  ]),
  listening("1,000 requests, which no server of this era may send", (id) => [
    acknowledged(id, filter),
    ...range(1000).map((n) => `{"jsonrpc":"2.0","id":"r${n}","method":"sampling/createMessage","params":{}}`)
  ])
]

export const attacks: ReadonlyArray<ServerAttack> = [...discoveries, ...results, ...lists, ...subscriptions]
