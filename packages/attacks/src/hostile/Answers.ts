/**
 * The hostile servers whose answers are hostile: missing, too large, too deep or too many; handshakes that lie; lists and schemas
 * that cost work. `Noise` has the servers that send messages without a request.
 */
import { grows } from "../Growth.js"
import { error, initialized, members, range, request, result, type ServerAttack } from "./Server.js"

const numbers = (count: number): string => `[${"1,".repeat(count)}1]`
const deep = (levels: number): string => "[".repeat(levels) + "]".repeat(levels)
const long = (length: number): string => "x".repeat(length)
const proto = "{\"__proto__\":{\"polluted\":true},\"content\":[]}"

/** An answer to the call. */
const called = (name: string, value: string, expect?: "ok" | "fails"): ServerAttack => ({
  name: `a call is answered with ${name}`,
  on: { "tools/call": (id) => [result(id, value)] },
  expect
})

const listed = (name: string, value: string, expect?: "ok" | "fails"): ServerAttack => ({
  name: `a list of tools has ${name}`,
  on: { "tools/list": (id) => [result(id, value)] },
  use: "list",
  expect
})

const met = (name: string, value: string, expect?: "ok" | "fails"): ServerAttack => ({
  name: `initialize is answered with ${name}`,
  on: { initialize: (id) => [result(id, value)] },
  use: "connect",
  expect
})

const tool = (more: string): string => `{"tools":[{"name":"echo","inputSchema":{"type":"object"}${more}}]}`

const withSchema = (name: string, schema: string, value: string): ServerAttack => ({
  name: `an output schema with ${name}`,
  on: {
    "tools/list": (id) => [result(id, tool(`,"outputSchema":${schema}`))],
    "tools/call": (id) => [result(id, `{"content":[],"structuredContent":${value}}`)]
  }
})

const pages = (name: string, cursor: (params: any) => string): ServerAttack => ({
  name: `pages that never end, ${name}`,
  on: { "tools/list": (id, params) => [result(id, `{"tools":[],"nextCursor":${cursor(params)}}`)] },
  use: "list"
})

const crowded = (count: number): string =>
  `{"tools":[${range(count).map((n) => `{"name":"t${n}","inputSchema":{"type":"object"}}`).join(",")}]`

/** A list with this number of pages. (A client takes 64 pages at most.) */
const chain = (count: number, tools: string): ServerAttack => ({
  name: "a chain of 60 pages of 200 tools",
  on: {
    "tools/list": (id, params) => {
      const page = Number(params?.cursor ?? 0) + 1
      return [result(id, `${tools}${page < count ? `,"nextCursor":"${page}"` : ""}}`)]
    }
  },
  use: "all",
  expect: "ok"
})

const crowdedPage = crowded(20_000)

/** The client has to look for the tool that it calls. */
const crowd: ServerAttack = {
  name: "pages of 20,000 tools that never end, without the tool that is called",
  on: {
    "tools/list": (id, params) => [result(id, `${crowdedPage},"nextCursor":"${Number(params?.cursor ?? 0) + 1}"}`)]
  },
  expect: "ok",
  // Seven pages hold more than a whole list may.
  atMost: 16
}

const answersToCalls: ReadonlyArray<ServerAttack> = [
  called("null", "null"),
  called("a number", "7"),
  called("an array", "[]"),
  called("nothing in it", "{}"),
  grows(90_000, (size) => called("90,000 members", members(size))),
  grows(400_000, (size) => called("400,000 numbers as content", `{"content":${numbers(size)}}`)),
  grows(4_400_000, (size) => called("more values than a response may have", `{"content":${numbers(size)}}`, "fails")),
  grows(5000, (size) => called("5,000 levels", `{"content":${deep(size)}}`, "fails")),
  grows(1_000_000, (size) => called("1,000,000 levels", `{"content":${deep(size)}}`, "fails")),
  called("__proto__", proto, "ok"),
  grows(3_000_000, (size) => called("a text of 3 MB", `{"content":[{"type":"text","text":"${long(size)}"}]}`, "ok")),
  grows(
    30_000,
    (size) =>
      called("30,000 blocks of unknown types", `{"content":[${"{\"type\":\"hologram\"},".repeat(size)}{"type":"x"}]}`)
  ),
  grows(
    30_000,
    (size) => called("30,000 bad blocks", `{"content":[${"{\"type\":\"text\",\"text\":7},".repeat(size)}1]}`)
  ),
  grows(
    30_000,
    (size) =>
      called(
        "30,000 blocks",
        `{"content":[${"{\"type\":\"text\",\"text\":\"a\"},".repeat(size)}{"type":"text","text":"a"}]}`,
        "ok"
      )
  ),
  called("content that is a text", `{"content":"hello"}`),
  called("an image that is not base64", `{"content":[{"type":"image","data":"%%%","mimeType":"image/png"}]}`),
  called("lone surrogates", "{\"content\":[{\"type\":\"text\",\"text\":\"\\ud800\\udc00\\ud800\"}]}", "ok"),
  called(
    "a resource link to nowhere",
    "{\"content\":[{\"type\":\"resource_link\",\"uri\":\"\\u0000\",\"name\":\"\"}]}"
  ),
  called("the number 1e308", "{\"content\":[],\"structuredContent\":{\"n\":1e308,\"m\":1e999}}"),
  {
    name: "an answer without result and error",
    on: { "tools/call": (id) => [`{"jsonrpc":"2.0","id":${id}}`] },
    expect: "fails"
  },
  {
    name: "an answer with both",
    on: {
      "tools/call": (id) => [`{"jsonrpc":"2.0","id":${id},"result":{"content":[]},"error":{"code":1,"message":"x"}}`]
    }
  },
  grows(90_000, (size) => ({
    name: "an error of 90,000 members",
    on: { "tools/call": (id) => [error(id, `{"code":1,"message":"x","data":${members(size)}}`)] },
    expect: "fails"
  })),
  { name: "an error that is a text", on: { "tools/call": (id) => [error(id, "\"no\"")] }, expect: "fails" },
  {
    name: "an error without a code",
    on: { "tools/call": (id) => [error(id, "{\"message\":\"no\"}")] },
    expect: "fails"
  },
  grows(3_000_000, (size) => ({
    name: "an error whose message has 3 MB",
    on: { "tools/call": (id) => [error(id, `{"code":1,"message":"${long(size)}"}`)] },
    expect: "fails"
  })),
  { name: "no answer", on: { "tools/call": () => [] }, expect: "fails" },
  {
    name: "two answers",
    on: { "tools/call": (id) => [result(id, "{\"content\":[]}"), result(id, "{\"content\":[]}")] },
    expect: "ok"
  },
  grows(10_000, (size) => ({
    name: "10,000 answers",
    on: { "tools/call": (id) => range(size).map(() => result(id, "{\"content\":[]}")) },
    expect: "ok"
  })),
  { name: "an answer under a text as id", on: { "tools/call": (id) => [result(`"${id}"`, "{\"content\":[]}")] } },
  {
    name: "an answer under another id",
    on: { "tools/call": () => [result("99999", "{\"content\":[]}")] },
    expect: "fails"
  },
  ...[9_000_000, 36_000_000].map((length) =>
    grows(length, (size): ServerAttack => ({
      name: `an answer of ${length / 1_000_000} MB`,
      on: { "tools/call": (id) => [result(id, `{"content":[{"type":"text","text":"${"y".repeat(size)}"}]}`)] },
      over: ["stdio", "http"]
    }))
  ),
  { name: "a batch as an answer", on: { "tools/call": (id) => [`[${result(id, "{\"content\":[]}")}]`] } }
]

const handshakes: ReadonlyArray<ServerAttack> = [
  met("null", "null", "fails"),
  met("an unknown version", initialized("1999-01-01"), "fails"),
  grows(3_000_000, (size) => met("a version of 3 MB", initialized(long(size)), "fails")),
  met("the version __proto__", initialized("__proto__"), "fails"),
  grows(90_000, (size) =>
    met(
      "90,000 capabilities",
      `{"protocolVersion":"2025-11-25","capabilities":${members(size)},"serverInfo":{"name":"a","version":"1"}}`
    )),
  met(
    "an array as capabilities",
    "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":[],\"serverInfo\":{\"name\":\"a\",\"version\":\"1\"}}"
  ),
  met("no name", "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"serverInfo\":{}}"),
  grows(3_000_000, (size) =>
    met(
      "instructions of 3 MB",
      initialized().replace("}}", `}},"instructions":"${long(size)}"`).replace("}},\"i", "},\"i")
    )),
  { name: "no handshake", on: { initialize: () => [] }, use: "connect", expect: "fails" },
  {
    name: "an error for initialize",
    on: { initialize: (id) => [error(id, "{\"code\":-32603,\"message\":\"no\"}")] },
    use: "connect",
    expect: "fails"
  },
  {
    name: "initialize is answered with initialize",
    on: { initialize: (id) => [request(id, "initialize", "{}"), result(id, initialized())] },
    use: "connect"
  }
]

const lists: ReadonlyArray<ServerAttack> = [
  listed("null", "{\"tools\":null}"),
  listed("a number", "{\"tools\":7}"),
  grows(90_000, (size) => listed("90,000 members", `{"tools":[${members(size)}]}`)),
  grows(20_000, (size) => listed("20,000 bad tools", `{"tools":[${"{\"name\":7},".repeat(size)}1]}`)),
  grows(20_000, (size) =>
    listed(
      "20,000 tools of one name",
      `{"tools":[${
        "{\"name\":\"a\",\"inputSchema\":{\"type\":\"object\"}},".repeat(size)
      }{"name":"a","inputSchema":{"type":"object"}}]}`
    )),
  grows(20_000, (size) => listed("20,000 tools", `${crowded(size)}}`, "ok")),
  grows(60, (size) => chain(size, crowded(200))),
  grows(
    3_000_000,
    (size) => listed("a name of 3 MB", `{"tools":[{"name":"${long(size)}","inputSchema":{"type":"object"}}]}`)
  ),
  listed(
    "the names of an object",
    "{\"tools\":[{\"name\":\"__proto__\",\"inputSchema\":{\"type\":\"object\"}},{\"name\":\"constructor\",\"inputSchema\":{\"type\":\"object\"}}]}"
  ),
  listed("a schema that is true", "{\"tools\":[{\"name\":\"a\",\"inputSchema\":true}]}"),
  pages("each with a new cursor", (params) => JSON.stringify(String(Number(params?.cursor ?? 0) + 1))),
  pages("each with the same cursor", () => "\"again\""),
  pages(
    "with a cursor of 100 KB",
    (params) => JSON.stringify("c".repeat(100_000) + String(params?.cursor?.length ?? 0))
  )
]

const schemas: ReadonlyArray<ServerAttack> = [
  // Schema and value grow at the same time: what a check may cost is limited all the same.
  grows(40_000, (size) =>
    withSchema(
      "1,000 alternatives for 40,000 numbers",
      `{"type":"object","additionalProperties":{"type":"array","items":{"anyOf":[${
        range(size / 40).map((n) => `{"const":"c${n}"}`).join(",")
      }]}}}`,
      `{"a":[${"1,".repeat(size)}1]}`
    )),
  grows(20_000, (size) =>
    withSchema(
      "8,000 objects to choose from",
      `{"type":"object","additionalProperties":{"type":"array","items":{"enum":[${
        range(size / 2.5).map((n) => `{"n":${n}}`).join(",")
      }]}}}`,
      `{"a":[${"{\"n\":-1},".repeat(size)}1]}`
    )),
  grows(3000, (size) =>
    withSchema(
      "3,000 parts",
      `{"type":"object","allOf":[${
        range(size).map((n) => `{"properties":{"k${n}":{}}}`).join(",")
      }],"unevaluatedProperties":false}`,
      "{}"
    )),
  withSchema("a reference to itself", "{\"type\":\"object\",\"$ref\":\"#\"}", "{}"),
  grows(100, (size) =>
    withSchema(
      "references that double",
      `{"type":"object","$defs":{${
        range(size).map((n) => `"d${n}":{"allOf":[{"$ref":"#/$defs/d${n + 1}"},{"$ref":"#/$defs/d${n + 1}"}]}`).join(
          ","
        )
      },"d${size}":{}},"$ref":"#/$defs/d0"}`,
      "{}"
    )),
  grows(100_000, (size) =>
    withSchema(
      "a pattern that backtracks",
      "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\",\"pattern\":\"^(a+)+$\"}}}",
      `{"a":"${"a".repeat(size)}!"}`
    )),
  withSchema(
    "a pattern that is not a regular expression",
    "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\",\"pattern\":\"(\"}}}",
    "{\"a\":\"x\"}"
  ),
  withSchema("a remote reference", "{\"type\":\"object\",\"$ref\":\"http://169.254.169.254/latest\"}", "{}"),
  grows(20_000, (size) =>
    withSchema(
      "unique items, 20,000 of them",
      "{\"type\":\"object\",\"properties\":{\"a\":{\"uniqueItems\":true}}}",
      `{"a":[${range(size).map((n) => `{"n":${n}}`).join(",")}]}`
    )),
  withSchema("an unknown dialect", "{\"type\":\"object\",\"$schema\":\"http://example.com/x\"}", "{}"),
  grows(
    5000,
    (size) => withSchema("5,000 levels", "{\"type\":\"object\",\"not\":".repeat(size) + "{}" + "}".repeat(size), "{}")
  ),
  grows(20_000, (size) =>
    withSchema(
      "20,000 properties",
      `{"type":"object","properties":{${range(size).map((n) => `"k${n}":{"type":"number"}`).join(",")}}}`,
      members(size)
    ))
]

export const attacks: ReadonlyArray<ServerAttack> = [
  ...answersToCalls,
  crowd,
  ...handshakes,
  ...lists,
  ...schemas
]
