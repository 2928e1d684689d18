/**
 * Hostile servers of 2026-07-28: discoveries that lie, results of unknown types, rounds that never end, states that grow, hints for caches
 * that are not numbers, subscriptions of others. `Answers` and `Noise` have the servers of older revisions.
 */
import { grows } from "../Growth.js"
import {
  acknowledged,
  complete,
  discovered,
  error,
  members,
  notification,
  range,
  result,
  type ServerAttack,
  wide
} from "./Server.js"

const long = (length: number): string => "x".repeat(length)

const attack = (name: string, more: Omit<ServerAttack, "name" | "era">): ServerAttack => ({
  name: `modern: ${name}`,
  era: "modern",
  ...more
})

const met = (name: string, text: string, expect?: "ok" | "fails"): ServerAttack =>
  attack(`server/discover is answered with ${name}`, {
    on: { "server/discover": (id) => [result(id, text)], initialize: () => [] },
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
  grows(90_000, (size) => met("90,000 members", members(size))),
  met("no revisions", "{\"supportedVersions\":[],\"capabilities\":{},\"resultType\":\"complete\"}", "fails"),
  grows(
    90_000,
    (size) =>
      met("90,000 revisions", `{"supportedVersions":[${range(size).map((n) => `"${n}"`).join(",")}],"capabilities":{}}`)
  ),
  grows(
    3_000_000,
    (size) =>
      met(
        "a revision of 3 MB",
        `{"supportedVersions":["${long(size)}"],"capabilities":{},"resultType":"complete"}`,
        "fails"
      )
  ),
  met("revisions that are a text", "{\"supportedVersions\":\"2026-07-28\",\"capabilities\":{}}"),
  met("capabilities that are a list", "{\"supportedVersions\":[\"2026-07-28\"],\"capabilities\":[]}"),
  grows(
    90_000,
    (size) =>
      met(
        "90,000 capabilities",
        `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":${members(size)}}`
      )
  ),
  grows(
    3_000_000,
    (size) => met("instructions of 3 MB", found(`,"instructions":"${long(size)}"`), "ok")
  ),
  grows(
    90_000,
    (size) => met("instructions that are an object", found(`,"instructions":${members(size)}`))
  ),
  grows(
    3_000_000,
    (size) => met("a name of 3 MB", introduced(`{"name":"${long(size)}","version":"1"}`), "ok")
  ),
  met("a name with line breaks and colors", introduced("{\"name\":\"a\\n\\u001b[31mb\",\"version\":\"1\"}"), "ok"),
  grows(90_000, (size) => met("a name that is an object", introduced(members(size)))),
  grows(30_000, (size) =>
    met(
      "30,000 icons",
      introduced(`{"name":"a","version":"1","icons":[${"{\"src\":\"x\"},".repeat(size)}{"src":"y"}]}`)
    )),
  grows(5_000_000, (size) =>
    met(
      "an icon of 5 MB",
      introduced(`{"name":"a","version":"1","icons":[{"src":"data:image/png;base64,${"A".repeat(size)}"}]}`)
    )),
  grows(90_000, (size) => met("90,000 members in _meta", found(`,"_meta":${members(size)}`))),
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

const required = (more: string): string => `{"resultType":"input_required"${more}}`

const form = "{\"method\":\"elicitation/create\",\"params\":{\"mode\":\"form\",\"message\":\"?\",\"requestedSchema\":" +
  "{\"type\":\"object\",\"properties\":{}}}}"

/** A state that is twice as long as the state that the client has sent back, and at most `most` characters long. */
const grown = (params: any, most: number): string =>
  `"${"s".repeat(Math.min(2 * (params.requestState?.length ?? most / 16), most))}"`

const results: ReadonlyArray<ServerAttack> = [
  called("no type", "{\"content\":[]}"),
  called("an unknown type", "{\"resultType\":\"hologram\",\"content\":[]}", "fails"),
  called("a type that is a number", "{\"resultType\":7,\"content\":[]}", "fails"),
  grows(3_000_000, (size) => called("a type of 3 MB", `{"resultType":"${long(size)}","content":[]}`, "fails")),
  grows(90_000, (size) => called("a type of 90,000 members", `{"resultType":${members(size)},"content":[]}`, "fails")),
  grows(
    90_000,
    (size) =>
      called("a stamp of 90,000 members", `{"resultType":"complete","content":[],"_meta":${members(size)}}`, "ok")
  ),
  called("rounds that ask nothing, for ever", required(",\"requestState\":\"s\""), "fails"),
  called("rounds that ask for ever", required(`,"requestState":"s","inputRequests":{"a":${form}}`), "fails"),
  called("rounds without a state and questions", required("")),
  called("a state that is a number", required(",\"requestState\":7")),
  grows(90_000, (size) => called("a state of 90,000 members", required(`,"requestState":${members(size)}`))),
  grows(
    10_000,
    (size) =>
      called("10,000 questions", required(`,"inputRequests":{${range(size).map((n) => `"q${n}":${form}`).join(",")}}`))
  ),
  called(
    "a question of an unknown method",
    required(",\"inputRequests\":{\"a\":{\"method\":\"x/y\",\"params\":{}}}"),
    "fails"
  ),
  grows(90_000, (size) => called("questions that are numbers", required(`,"inputRequests":${members(size)}`), "fails")),
  called("a question named __proto__", required(`,"inputRequests":{"__proto__":${form}}`), "fails"),
  grows(10_000, (size) =>
    called(
      "a form of 10,000 fields",
      required(
        `,"inputRequests":{"a":{"method":"elicitation/create","params":{"mode":"form","message":"?","requestedSchema":` +
          `{"type":"object","properties":{${range(size).map((n) => `"f${n}":{"type":"string"}`).join(",")}}}}}}`
      )
    )),
  grows(8_000_000, (size) =>
    attack("a state grows from round to round", {
      on: { "tools/call": (id, params) => [result(id, required(`,"requestState":${grown(params, size)}`))] },
      expect: "fails"
    })),
  attack("a list requires input", {
    on: { "tools/list": (id) => [result(id, required(""))] },
    use: "list",
    expect: "fails"
  })
]

const listed = (name: string, text: string, ttlMs?: string, expect?: "ok" | "fails"): ServerAttack =>
  attack(`a list of tools has ${name}`, {
    on: { "tools/list": (id) => [complete(id, text, ttlMs)] },
    use: "list",
    expect
  })

const pages = (name: string, cursor: (params: any) => string, ttlMs = "0"): ServerAttack =>
  attack(`pages that never end, ${name}`, {
    on: { "tools/list": (id, params) => [complete(id, `,"tools":[],"nextCursor":${cursor(params)}`, ttlMs)] },
    use: "list"
  })

/** A page of 200 tools. */
const crowd = `,"tools":[${range(200).map((n) => `{"name":"t${n}","inputSchema":{"type":"object"}}`).join(",")}]`

const tools = ",\"tools\":[{\"name\":\"echo\",\"inputSchema\":{\"type\":\"object\"}}]"

const marked = (properties: string): string =>
  `,"tools":[{"name":"echo","inputSchema":{"type":"object","properties":{${properties}}}}]`

const lists: ReadonlyArray<ServerAttack> = [
  ...["-1", "1e308", "1e999", "-1e308", "0.5", "\"NaN\"", "null", wide].map((ttlMs) =>
    listed(`the lifetime ${ttlMs.slice(0, 10)}`, tools, ttlMs)
  ),
  listed("an unknown scope", `${tools},"cacheScope":"everybody"`),
  grows(90_000, (size) => listed("a scope of 90,000 members", `${tools},"cacheScope":${members(size)}`)),
  grows(20_000, (size) =>
    listed(
      "20,000 tools that live for ever",
      `,"tools":[${range(size).map((n) => `{"name":"t${n}","inputSchema":{"type":"object"}}`).join(",")}]`,
      "9007199254740991",
      "ok"
    )),
  grows(60, (size) =>
    attack("a chain of 60 pages, for caches", {
      on: {
        "tools/list": (id, params) => {
          const page = Number(params?.cursor ?? 0) + 1
          return [complete(id, `${crowd}${page < size ? `,"nextCursor":"${page}"` : ""}`, "1e9")]
        }
      },
      use: "all",
      expect: "ok"
    })),
  pages("each with a new cursor", (params) => JSON.stringify(String(Number(params?.cursor ?? 0) + 1))),
  pages(
    "each with a new cursor, for caches",
    (params) => JSON.stringify(String(Number(params?.cursor ?? 0) + 1)),
    "1e9"
  ),
  pages("each with the same cursor", () => "\"again\""),
  pages("each with an empty cursor", () => "\"\""),
  grows(30_000, (size) =>
    listed(
      "30,000 icons",
      ",\"tools\":[{\"name\":\"a\",\"inputSchema\":{\"type\":\"object\"},\"icons\":[" +
        "{\"src\":\"x\"},".repeat(size) + "{\"src\":\"y\"}]}]"
    )),
  grows(20_000, (size) =>
    listed(
      "arguments that are marked for 20,000 headers",
      marked(range(size).map((n) => `"p${n}":{"type":"string","x-mcp-header":"P${n}"}`).join(","))
    )),
  listed(
    "an argument that is marked for a header with a line break",
    marked(
      "\"p\":{\"type\":\"string\",\"x-mcp-header\":\"a\\r\\nauthorization: stolen\"}"
    )
  ),
  grows(3_000_000, (size) =>
    listed(
      "an argument that is marked for a header of 3 MB",
      marked(`"p":{"type":"string","x-mcp-header":"${long(size)}"}`)
    ))
]

const subscribed = (id: string): string => `"_meta":{"io.modelcontextprotocol/subscriptionId":${id}}`

const filter = "{\"toolsListChanged\":true}"

const listening = (
  name: string,
  texts: (id: string, params: any) => ReadonlyArray<string>,
  more: Partial<ServerAttack> = {}
): ServerAttack =>
  attack(`a subscription is answered with ${name}`, {
    on: { "subscriptions/listen": texts },
    expect: "ok",
    isBounded: true,
    ...more
  })

const changed = (id: string): string => notification("notifications/tools/list_changed", `{${subscribed(id)}}`)

const subscriptions: ReadonlyArray<ServerAttack> = [
  listening("nothing", () => []),
  listening("nothing, and the client waits for it", () => [], { use: "subscribe", expect: "fails" }),
  listening("two acknowledgements", (id) => [acknowledged(id, filter), acknowledged(id, filter)]),
  grows(
    10_000,
    (size) => listening("10,000 acknowledgements", (id) => range(size).map(() => acknowledged(id, filter)))
  ),
  listening("the acknowledgement of another", () => [acknowledged("\"foreign\"", filter)]),
  grows(90_000, (size) =>
    listening("an acknowledgement of 90,000 members", (id) => [acknowledged(id, members(size))], {
      isBounded: false
    })),
  listening("an acknowledgement that is a list", (id) => [acknowledged(id, "[]")]),
  grows(
    10_000,
    (size) => listening("10,000 changes", (id) => [acknowledged(id, filter), ...range(size).map(() => changed(id))])
  ),
  grows(10_000, (size) =>
    listening("10,000 changes of another", (id) => [
      acknowledged(id, filter),
      ...range(size).map((n) => changed(`"f${n}"`))
    ])),
  grows(10_000, (size) =>
    listening("10,000 updates of resources that the client did not name", (id) => [
      acknowledged(id, filter),
      ...range(size).map((n) =>
        notification("notifications/resources/updated", `{"uri":"test://${n}",${subscribed(id)}}`)
      )
    ])),
  listening("a result at once", (id) => [complete(id)], { use: "stay", atMost: 20 }),
  listening("an acknowledgement and its end at once", (id) => [acknowledged(id, filter), complete(id)], {
    use: "stay",
    atMost: 20
  }),
  listening("an error at once", (id) => [error(id, "{\"code\":-32603,\"message\":\"no\"}")], {
    use: "stay",
    atMost: 20
  }),
  grows(10_000, (size) =>
    listening("10,000 cancellations of others", (id) => [
      acknowledged(id, filter),
      ...range(size).map((n) => notification("notifications/cancelled", `{"requestId":"f${n}",${subscribed(id)}}`))
    ])),
  grows(10_000, (size) =>
    listening("10,000 requests, which no server of this era may send", (id) => [
      acknowledged(id, filter),
      ...range(size).map((n) => `{"jsonrpc":"2.0","id":"r${n}","method":"sampling/createMessage","params":{}}`)
    ]))
]

export const attacks: ReadonlyArray<ServerAttack> = [...discoveries, ...results, ...lists, ...subscriptions]
