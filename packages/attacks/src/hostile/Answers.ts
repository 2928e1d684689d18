/**
 * The hostile servers whose answers are hostile: none, too large, too deep or too many; handshakes that lie; lists and schemas
 * that cost work. `Noise` has the servers that send messages without a request.
 */
import { error, initialized, range, request, result, type ServerAttack, wide } from "./Server.js"

const numbers = `[${"1,".repeat(400_000)}1]`
const tooMany = `[${"1,".repeat(1_100_000)}1]`
const deep = "[".repeat(5000) + "]".repeat(5000)
const long = "x".repeat(3_000_000)
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

const crowded = `{"tools":[${range(20_000).map((n) => `{"name":"t${n}","inputSchema":{"type":"object"}}`).join(",")}]`

/** The client has to look for the tool that it calls. */
const crowd: ServerAttack = {
  name: "pages of 20,000 tools that never end, without the tool that is called",
  on: {
    "tools/list": (id, params) => [result(id, `${crowded},"nextCursor":"${Number(params?.cursor ?? 0) + 1}"}`)]
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
  called("90,000 members", wide),
  called("400,000 numbers as content", `{"content":${numbers}}`),
  called("more values than a response may have", `{"content":${tooMany}}`, "fails"),
  called("5,000 levels", `{"content":${deep}}`, "fails"),
  called("__proto__", proto, "ok"),
  called("a text of 3 MB", `{"content":[{"type":"text","text":"${long}"}]}`, "ok"),
  called("blocks of unknown types", `{"content":[${"{\"type\":\"hologram\"},".repeat(10_000)}{"type":"x"}]}`),
  called("30,000 bad blocks", `{"content":[${"{\"type\":\"text\",\"text\":7},".repeat(30_000)}1]}`),
  called("content that is a text", `{"content":"hello"}`),
  called("an image that is no base64", `{"content":[{"type":"image","data":"%%%","mimeType":"image/png"}]}`),
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
  {
    name: "an error of 90,000 members",
    on: { "tools/call": (id) => [error(id, `{"code":1,"message":"x","data":${wide}}`)] },
    expect: "fails"
  },
  { name: "an error that is a text", on: { "tools/call": (id) => [error(id, "\"no\"")] }, expect: "fails" },
  {
    name: "an error without a code",
    on: { "tools/call": (id) => [error(id, "{\"message\":\"no\"}")] },
    expect: "fails"
  },
  {
    name: "an error whose message has 3 MB",
    on: { "tools/call": (id) => [error(id, `{"code":1,"message":"${long}"}`)] },
    expect: "fails"
  },
  { name: "no answer", on: { "tools/call": () => [] }, expect: "fails" },
  {
    name: "two answers",
    on: { "tools/call": (id) => [result(id, "{\"content\":[]}"), result(id, "{\"content\":[]}")] },
    expect: "ok"
  },
  {
    name: "a thousand answers",
    on: { "tools/call": (id) => range(1000).map(() => result(id, "{\"content\":[]}")) },
    expect: "ok"
  },
  { name: "an answer under a text as id", on: { "tools/call": (id) => [result(`"${id}"`, "{\"content\":[]}")] } },
  {
    name: "an answer under another id",
    on: { "tools/call": () => [result("99999", "{\"content\":[]}")] },
    expect: "fails"
  },
  {
    name: "an answer of 12 MB",
    on: { "tools/call": (id) => [result(id, `{"content":[{"type":"text","text":"${"y".repeat(12_000_000)}"}]}`)] },
    over: ["stdio", "http"]
  },
  { name: "a batch as an answer", on: { "tools/call": (id) => [`[${result(id, "{\"content\":[]}")}]`] } }
]

const handshakes: ReadonlyArray<ServerAttack> = [
  met("null", "null", "fails"),
  met("an unknown version", initialized("1999-01-01"), "fails"),
  met("a version of 3 MB", initialized(long), "fails"),
  met("the version __proto__", initialized("__proto__"), "fails"),
  met(
    "90,000 capabilities",
    `{"protocolVersion":"2025-11-25","capabilities":${wide},"serverInfo":{"name":"a","version":"1"}}`
  ),
  met(
    "an array as capabilities",
    "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":[],\"serverInfo\":{\"name\":\"a\",\"version\":\"1\"}}"
  ),
  met("no name", "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"serverInfo\":{}}"),
  met("instructions of 3 MB", initialized().replace("}}", `}},"instructions":"${long}"`).replace("}},\"i", "},\"i")),
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
  listed("90,000 members", `{"tools":[${wide}]}`),
  listed("20,000 bad tools", `{"tools":[${"{\"name\":7},".repeat(20_000)}1]}`),
  listed(
    "20,000 tools of one name",
    `{"tools":[${
      "{\"name\":\"a\",\"inputSchema\":{\"type\":\"object\"}},".repeat(19_999)
    }{"name":"a","inputSchema":{"type":"object"}}]}`
  ),
  listed("a name of 3 MB", `{"tools":[{"name":"${long}","inputSchema":{"type":"object"}}]}`),
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
  withSchema(
    "1,000 alternatives for 40,000 numbers",
    `{"type":"object","additionalProperties":{"type":"array","items":{"anyOf":[${
      range(1000).map((n) => `{"const":"c${n}"}`).join(",")
    }]}}}`,
    `{"a":[${"1,".repeat(40_000)}1]}`
  ),
  withSchema(
    "8,000 objects to choose from",
    `{"type":"object","additionalProperties":{"type":"array","items":{"enum":[${
      range(8000).map((n) => `{"n":${n}}`).join(",")
    }]}}}`,
    `{"a":[${"{\"n\":-1},".repeat(20_000)}1]}`
  ),
  withSchema(
    "3,000 parts",
    `{"type":"object","allOf":[${
      range(3000).map((n) => `{"properties":{"k${n}":{}}}`).join(",")
    }],"unevaluatedProperties":false}`,
    "{}"
  ),
  withSchema("a reference to itself", "{\"type\":\"object\",\"$ref\":\"#\"}", "{}"),
  withSchema(
    "references that double",
    `{"type":"object","$defs":{${
      range(25).map((n) => `"d${n}":{"allOf":[{"$ref":"#/$defs/d${n + 1}"},{"$ref":"#/$defs/d${n + 1}"}]}`).join(",")
    },"d25":{}},"$ref":"#/$defs/d0"}`,
    "{}"
  ),
  withSchema(
    "a pattern that backtracks",
    "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\",\"pattern\":\"^(a+)+$\"}}}",
    `{"a":"${"a".repeat(40)}!"}`
  ),
  withSchema(
    "a pattern that is none",
    "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\",\"pattern\":\"(\"}}}",
    "{\"a\":\"x\"}"
  ),
  withSchema("a remote reference", "{\"type\":\"object\",\"$ref\":\"http://169.254.169.254/latest\"}", "{}"),
  withSchema(
    "unique items, 20,000 of them",
    "{\"type\":\"object\",\"properties\":{\"a\":{\"uniqueItems\":true}}}",
    `{"a":[${range(20_000).map((n) => `{"n":${n}}`).join(",")}]}`
  ),
  withSchema("an unknown dialect", "{\"type\":\"object\",\"$schema\":\"http://example.com/x\"}", "{}"),
  withSchema("5,000 levels", "{\"type\":\"object\",\"not\":".repeat(50) + "{}" + "}".repeat(50), "{}")
]

export const attacks: ReadonlyArray<ServerAttack> = [
  ...answersToCalls,
  crowd,
  ...handshakes,
  ...lists,
  ...schemas
]
