/**
 * What deviating servers of 2026-07-28 send, by kind: what the official client 2.4 takes, and what a rule forbids. Found among 600 scripts.
 */
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib"
import type { HttpAnswer, Script } from "./ScriptedServers.js"
import { good } from "./ScriptedServers.js"

type More = Pick<Script, "forbidden" | "isError" | "over">

const answer = (id: unknown, result: unknown) => ({ jsonrpc: "2.0", id, result })

/** A result of the method with members replaced; `undefined` leaves one out. */
const member = (kind: string, method: string, name: string, members: object, more: More = {}): Script => ({
  kind,
  name,
  method,
  sends: [answer("$id", { ...good[method], ...members })],
  ...more
})

const whole = (kind: string, method: string, name: string, result: unknown, more: More = {}): Script => ({
  kind,
  name,
  method,
  sends: [answer("$id", result)],
  ...more
})

const sends = (
  kind: string,
  name: string,
  messages: ReadonlyArray<unknown>,
  more: More = {},
  method = "tools/call"
): Script => ({
  kind,
  name,
  method,
  sends: messages,
  ...more
})

const over = (name: string, http: HttpAnswer, method = "tools/call", more: More = {}): Script => ({
  kind: "HTTP",
  name,
  method,
  http,
  over: "http",
  ...more
})

const refuses = (name: string, http: HttpAnswer): Script => over(name, http, "tools/call", { isError: true })

const failing = (name: string, error: unknown, method = "tools/call", more: More = {}): Script => ({
  kind: "errors",
  name,
  method,
  isError: true,
  sends: [{ jsonrpc: "2.0", id: "$id", error }],
  ...more
})

const D = "server/discover"
const done = answer("$id", good["tools/call"])
const text = JSON.stringify(done)
const name = "io.modelcontextprotocol/serverInfo"
const caps = (good[D] as any).capabilities

/** A client MUST treat a result as invalid whose type it does not know. */
const unknownType = { forbidden: "basic#responses" }

const discover: ReadonlyArray<Script> = [
  ...["supportedVersions", "capabilities", "resultType", "ttlMs", "cacheScope", "_meta"].flatMap((one) => [
    member("discover", D, `no ${one}`, { [one]: undefined }),
    member("discover", D, `null ${one}`, { [one]: null }),
    member("discover", D, `number ${one}`, { [one]: 5 }, one === "resultType" ? unknownType : {}),
    member("discover", D, `text ${one}`, { [one]: "2026-07-28" }, one === "resultType" ? unknownType : {})
  ]),
  member("discover", D, "more members", { more: true, protocolVersion: "2026-07-28" }),
  member("discover", D, "serverInfo at top", { serverInfo: { name: "a", version: "1" } }),
  member("discover", D, "unknown capability", { capabilities: { ...caps, mind: { reads: true } } }),
  member("discover", D, "tasks capability", { capabilities: { ...caps, tasks: { list: {} } } }),
  member("discover", D, "versions reversed", { supportedVersions: ["2024-11-05", "2025-11-25", "2026-07-28"] }),
  member("discover", D, "versions unknown too", { supportedVersions: ["DRAFT", "2099-01-01", "2026-07-28"] }),
  member("discover", D, "versions twice", { supportedVersions: ["2026-07-28", "2026-07-28"] }),
  member("discover", D, "serverInfo without version", { _meta: { [name]: { name: "a" } } }),
  member("discover", D, "serverInfo without name", { _meta: { [name]: { version: "1" } } }),
  member("discover", D, "serverInfo null", { _meta: { [name]: null } }),
  member("discover", D, "serverInfo text", { _meta: { [name]: "a" } }),
  member("discover", D, "serverInfo title number", { _meta: { [name]: { name: "a", version: "1", title: 5 } } }),
  member("discover", D, "serverInfo version number", { _meta: { [name]: { name: "a", version: 1 } } }),
  member("discover", D, "serverInfo icons text", { _meta: { [name]: { name: "a", version: "1", icons: "x" } } }),
  member("discover", D, "_meta odd key", { _meta: { "": 1, "a b": 2, "///": 3 } }),
  member("discover", D, "resultType unknown", { resultType: "later" }, unknownType),
  member("discover", D, "resultType Complete", { resultType: "Complete" }, unknownType),
  member("discover", D, "ttlMs float", { ttlMs: 1.5 }),
  member("discover", D, "ttlMs -1", { ttlMs: -1 }),
  member("discover", D, "cacheScope unknown", { cacheScope: "world" })
]

const L = "tools/list"
const tool = (members: object) => ({ tools: [{ name: "t", inputSchema: { type: "object" }, ...members }] })
const lists: ReadonlyArray<Script> = [
  ...["tools/list", "resources/read"].flatMap((method) => [
    ...(method === "resources/read" ? [] : [null, "", 5, {}, true]).map((nextCursor) =>
      member("cursors", method, `nextCursor ${JSON.stringify(nextCursor)}`, { nextCursor })
    ),
    ...([null, [], 5, "x"] as const).map((_meta) =>
      member("_meta", method, `_meta ${JSON.stringify(_meta)}`, { _meta })
    ),
    member("_meta", method, "odd keys", { _meta: { "": 1, "a b": 2, "x/": 3, "modelcontextprotocol.io/x": 1 } }),
    member("_meta", method, "serverInfo 5", { _meta: { [name]: 5, more: 1 } }),
    member("more members", method, "more members", { more: { a: 1 }, total: 5 })
  ]),
  ...([undefined, null, {}, "x"] as const).map((tools) =>
    member("tools", L, `tools ${JSON.stringify(tools)}`, { tools })
  ),
  member(
    "tools",
    L,
    "$schema unknown",
    tool({ inputSchema: { type: "object", $schema: "https://odd.example/schema" } })
  ),
  member("tools", L, "properties array", tool({ inputSchema: { type: "object", properties: [] } })),
  member("tools", L, "required null", tool({ inputSchema: { type: "object", required: null } })),
  member("tools", L, "properties of true", tool({ inputSchema: { type: "object", properties: { a: true } } })),
  member(
    "tools",
    L,
    "$ref",
    tool({ inputSchema: { type: "object", properties: { a: { $ref: "https://x.example/y" } } } })
  ),
  member("tools", L, "outputSchema array type", tool({ outputSchema: { type: "array" } })),
  member("tools", L, "annotations more", tool({ annotations: { more: 5 } })),
  member("tools", L, "icons relative", tool({ icons: [{ src: "a.png" }] })),
  member("tools", L, "icons file:", tool({ icons: [{ src: "file:///a.png" }] })),
  member("tools", L, "execution", tool({ execution: { taskSupport: "required" } })),
  member("tools", L, "execution odd", tool({ execution: 5 })),
  member("tools", L, "name empty", tool({ name: "" })),
  member("tools", L, "name odd", tool({ name: "a b/ü" })),
  member("tools", L, "name long", tool({ name: "n".repeat(300) })),
  member("tools", L, "name twice", { tools: [...tool({}).tools, ...tool({}).tools] }),
  member(
    "tools",
    L,
    "x-mcp-header empty",
    tool({
      inputSchema: { type: "object", properties: { a: { type: "string", "x-mcp-header": "" } } }
    })
  ),
  member(
    "tools",
    L,
    "x-mcp-header on an object",
    tool({
      inputSchema: { type: "object", properties: { a: { type: "object", "x-mcp-header": "A" } } }
    })
  ),
  member(
    "tools",
    L,
    "x-mcp-header twice",
    tool({
      inputSchema: {
        type: "object",
        properties: { a: { type: "string", "x-mcp-header": "A" }, b: { type: "string", "x-mcp-header": "a" } }
      }
    })
  )
]

const C = "tools/call"
const block = (one: unknown) => ({ content: [one] })
const t = { type: "text", text: "a" }
const calls: ReadonlyArray<Script> = [
  ...([undefined, null, [], {}, "x", 5] as const).map((content) =>
    member("results", C, `content ${JSON.stringify(content)}`, { content })
  ),
  ...([null, "true", 1, 0, "", {}] as const).map((isError) =>
    member("results", C, `isError ${JSON.stringify(isError)}`, { isError })
  ),
  ...([null, [], [1], 5, "x", true] as const).map((structuredContent) =>
    member("results", C, `structuredContent ${JSON.stringify(structuredContent)}`, { structuredContent })
  ),
  member("results", C, "more members", { more: 1 }),
  member("results", C, "task", { task: { taskId: "1", status: "working" } }),
  member("results", C, "hints", { ttlMs: 1000, cacheScope: "public" }),
  ...([null, [], 5, "x"] as const).map((_meta) => member("_meta", C, `_meta ${JSON.stringify(_meta)}`, { _meta })),
  member("_meta", C, "odd keys", { _meta: { "": 1, "a b": 2, "x/": 3 } }),
  member("_meta", C, "serverInfo null", { _meta: { [name]: null } }),
  member("_meta", C, "serverInfo odd", { _meta: { [name]: { name: 5 } } }),
  member("_meta", C, "progressToken", { _meta: { progressToken: {} } }),
  member("_meta", C, "traceparent number", { _meta: { traceparent: 5 } }),
  member("_meta", C, "related-task odd", { _meta: { "io.modelcontextprotocol/related-task": 5 } }),
  member("blocks", C, "text with more", block({ ...t, more: 1 })),
  member("blocks", C, "image mime empty", block({ type: "image", data: "AA==", mimeType: "" })),
  member("blocks", C, "image unpadded", block({ type: "image", data: "AAE", mimeType: "image/png" })),
  member("blocks", C, "image with spaces", block({ type: "image", data: "AA A=\n", mimeType: "image/png" })),
  member("blocks", C, "image empty", block({ type: "image", data: "", mimeType: "image/png" })),
  member("blocks", C, "image odd bits", block({ type: "image", data: "AB==", mimeType: "image/png" })),
  member("blocks", C, "audio unpadded", block({ type: "audio", data: "AAE", mimeType: "audio/wav" })),
  member("blocks", C, "resource without mime", block({ type: "resource", resource: { uri: "memo://a", text: "a" } })),
  member("blocks", C, "resource uri relative", block({ type: "resource", resource: { uri: "a/b", text: "a" } })),
  member("blocks", C, "resource uri empty", block({ type: "resource", resource: { uri: "", text: "a" } })),
  member(
    "blocks",
    C,
    "resource both",
    block({ type: "resource", resource: { uri: "memo://a", text: "a", blob: "AA==" } })
  ),
  member(
    "blocks",
    C,
    "resource null blob",
    block({ type: "resource", resource: { uri: "memo://a", text: "a", blob: null } })
  ),
  member(
    "blocks",
    C,
    "resource null text",
    block({ type: "resource", resource: { uri: "memo://a", text: null, blob: "AA==" } })
  ),
  member("blocks", C, "link uri relative", block({ type: "resource_link", uri: "a b", name: "a" })),
  member("blocks", C, "link size float", block({ type: "resource_link", uri: "memo://a", name: "a", size: 1.5 })),
  member("blocks", C, "link size -1", block({ type: "resource_link", uri: "memo://a", name: "a", size: -1 }))
]

const R = "resources/read"
const contents = (members: object) => ({ contents: [{ uri: "memo://note", text: "a", ...members }] })
const res = (members: object) => ({ resources: [{ uri: "memo://note", name: "note", ...members }] })
const tpl = (members: object) => ({ resourceTemplates: [{ uriTemplate: "memo://{name}", name: "note", ...members }] })
const resources: ReadonlyArray<Script> = [
  ...([undefined, null, [], {}] as const).map((contents) =>
    member("resources", R, `contents ${JSON.stringify(contents)}`, { contents })
  ),
  member("resources", R, "uri of another", contents({ uri: "memo://other" })),
  member("resources", R, "uri relative", contents({ uri: "note" })),
  member("resources", R, "uri empty", contents({ uri: "" })),
  member("resources", R, "uri with spaces", contents({ uri: "memo://a b" })),
  member("resources", R, "uri path", contents({ uri: "/etc/motd" })),
  member("resources", R, "uri Windows", contents({ uri: "C:\\a" })),
  member("resources", R, "mimeType odd", contents({ mimeType: "text" })),
  member("resources", R, "both", contents({ blob: "AA==" })),
  member("resources", R, "blob unpadded", contents({ text: undefined, blob: "AAE" })),
  member("resources", R, "blob with lines", contents({ text: undefined, blob: "AAAA\nAAAA\n" })),
  member("resources", R, "blob null", contents({ blob: null })),
  member("resources", R, "annotations", contents({ annotations: 5, name: 5, title: null })),
  ...([undefined, null, {}] as const).map((resources) =>
    member("resources", "resources/list", `resources ${JSON.stringify(resources)}`, { resources })
  ),
  member("resources", "resources/list", "uri relative", res({ uri: "note" })),
  member("resources", "resources/list", "uri with spaces", res({ uri: "memo://a b" })),
  member("resources", "resources/list", "uri empty", res({ uri: "" })),
  member("resources", "resources/list", "size float", res({ size: 1.5 })),
  ...([undefined, null, {}] as const).map((resourceTemplates) =>
    member("resources", "resources/templates/list", `resourceTemplates ${JSON.stringify(resourceTemplates)}`, {
      resourceTemplates
    })
  ),
  member("resources", "resources/templates/list", "template open", tpl({ uriTemplate: "memo://{name" })),
  member("resources", "resources/templates/list", "template odd operator", tpl({ uriTemplate: "memo://{=name}" })),
  member("resources", "resources/templates/list", "template empty braces", tpl({ uriTemplate: "memo://{}" })),
  member("resources", "resources/templates/list", "template :param", tpl({ uriTemplate: "memo://:name" })),
  member("resources", "resources/templates/list", "template spaces", tpl({ uriTemplate: "memo://{ name }" })),
  member("resources", "resources/templates/list", "size", tpl({ size: "x" }))
]

const P = "prompts/get"
const msgs = (content: unknown, role: unknown = "user") => ({ messages: [{ role, content }] })
const prm = (members: object) => ({ prompts: [{ name: "p", ...members }] })
const prompts: ReadonlyArray<Script> = [
  ...([undefined, null, [], {}] as const).map((messages) =>
    member("prompts", P, `messages ${JSON.stringify(messages)}`, { messages })
  ),
  member("prompts", P, "content link", msgs({ type: "resource_link", uri: "memo://a", name: "a" })),
  member("prompts", P, "content unpadded image", msgs({ type: "image", data: "AAE", mimeType: "image/png" })),
  member("prompts", P, "message with more", { messages: [{ role: "user", content: t, name: 5, _meta: 5 }] }),
  ...([undefined, null, {}] as const).map((prompts) =>
    member("prompts", "prompts/list", `prompts ${JSON.stringify(prompts)}`, { prompts })
  ),
  member("prompts", "prompts/list", "name empty", prm({ name: "" })),
  member("prompts", "prompts/list", "argument title odd", prm({ arguments: [{ name: "a", title: 5, schema: {} }] }))
]

const K = "completion/complete"
const compl = (members: object) => ({ completion: { values: ["a"], ...members } })
const completion: ReadonlyArray<Script> = [
  ...([undefined, null, [], {}] as const).map((completion) =>
    member("completion", K, `completion ${JSON.stringify(completion)}`, { completion })
  ),
  member("completion", K, "total -1", compl({ total: -1 })),
  member("completion", K, "total fewer", compl({ total: 0 })),
  member("completion", K, "more", compl({ more: 5 }))
]

const question = {
  method: "elicitation/create",
  params: {
    mode: "form",
    message: "Who?",
    requestedSchema: { type: "object", properties: { name: { type: "string" } } }
  }
}
const ask = (params: object) => ({ inputRequests: { who: { ...question, params: { ...question.params, ...params } } } })
const asks = (name: string, members: object, more: More = {}, method = C): Script =>
  whole("input required", method, name, { resultType: "input_required", ...members }, more)
const prop = (schema: unknown) => ask({ requestedSchema: { type: "object", properties: { name: schema } } })
const sampling = (members: object) => ({
  inputRequests: {
    llm: {
      method: "sampling/createMessage",
      params: { messages: [{ role: "user", content: t }], maxTokens: 10, ...members }
    }
  }
})
const rounds: ReadonlyArray<Script> = [
  asks("proper", ask({})),
  asks("proper, prompt", ask({}), {}, P),
  asks("proper, resource", ask({}), {}, R),
  asks("of a list", ask({}), { forbidden: "basic/patterns/multi-round-trip-requests" }, L),
  asks("of a completion", ask({}), { forbidden: "basic/patterns/multi-round-trip-requests" }, K),
  asks("empty requests, state", { inputRequests: {}, requestState: "s" }),
  asks("null requests, state", { inputRequests: null, requestState: "s" }),
  asks("state only", { requestState: "s" }),
  asks("state empty", { ...ask({}), requestState: "" }),
  asks("state null", { ...ask({}), requestState: null }),
  asks("state object", { ...ask({}), requestState: { a: 1 } }),
  asks("state number", { ...ask({}), requestState: 5 }),
  asks("state array", { ...ask({}), requestState: [1] }),
  asks("empty key", { inputRequests: { "": question } }),
  asks("request with JSON-RPC members", { inputRequests: { who: { jsonrpc: "2.0", id: 1, ...question } } }),
  asks("request with more", { inputRequests: { who: { ...question, more: 1 } } }),
  asks("with ttl", { ...ask({}), ttlMs: 5, cacheScope: "public" }),
  asks("with content", { ...ask({}), content: [] }),
  asks("without mode", ask({ mode: undefined })),
  asks("schema empty", ask({ requestedSchema: {} })),
  asks("schema $schema", ask({ requestedSchema: { $schema: "x", type: "object", properties: {} } })),
  asks(
    "schema additionalProperties",
    ask({ requestedSchema: { type: "object", properties: {}, additionalProperties: false } })
  ),
  asks("property pattern", prop({ type: "string", pattern: "^x" })),
  asks("property enumNames fewer", prop({ type: "string", enum: ["x", "y"], enumNames: ["X"] })),
  asks("property oneOf without title", prop({ type: "string", oneOf: [{ const: "x" }] })),
  asks(
    "property enum of numbers",
    ask({ requestedSchema: { type: "object", properties: { age: { type: "number", enum: [1, 2] } } } })
  ),
  asks("task", ask({ task: { ttl: 5 } })),
  asks("url", {
    inputRequests: {
      who: { method: "elicitation/create", params: { mode: "url", message: "x", url: "https://a.example" } }
    }
  }),
  asks("url with elicitationId", {
    inputRequests: {
      who: {
        method: "elicitation/create",
        params: { mode: "url", message: "x", url: "https://a.example", elicitationId: "1" }
      }
    }
  }),
  asks("url with id number", {
    inputRequests: {
      who: {
        method: "elicitation/create",
        params: { mode: "url", message: "x", url: "https://a.example", elicitationId: 1 }
      }
    }
  }),
  asks("url javascript", {
    inputRequests: { who: { method: "elicitation/create", params: { mode: "url", message: "x", url: "javascript:1" } } }
  }),
  asks("roots", { inputRequests: { r: { method: "roots/list" } } }),
  asks("roots params null", { inputRequests: { r: { method: "roots/list", params: null } } }),
  asks("roots params more", { inputRequests: { r: { method: "roots/list", params: { a: 1, _meta: 5 } } } }),
  asks("sampling", sampling({})),
  asks("sampling temperature 5", sampling({ temperature: 5 })),
  asks("sampling content array", sampling({ messages: [{ role: "user", content: [t] }] })),
  asks("sampling no messages", sampling({ messages: [] })),
  asks("sampling includeContext thisServer", sampling({ includeContext: "thisServer" })),
  asks("sampling tools", sampling({ tools: [{ name: "t", inputSchema: { type: "object" } }] }), {
    forbidden: "client/sampling#tools-in-sampling"
  }),
  asks(
    "sampling image unpadded",
    sampling({ messages: [{ role: "user", content: { type: "image", data: "AAE", mimeType: "image/png" } }] })
  )
]

/** Errors count as taken when the application gets the server's error. */
const errors: ReadonlyArray<Script> = [
  failing("proper", { code: -32602, message: "no" }),
  failing("code 0", { code: 0, message: "no" }),
  failing("code 404", { code: 404, message: "no" }),
  failing("message empty", { code: -32602, message: "" }),
  failing("data null", { code: -32602, message: "no", data: null }),
  failing("data odd", { code: -32602, message: "no", data: [1, "x"] }),
  failing("more members", { code: -32602, message: "no", name: "Error", stack: "x" }),
  failing("-32022 without data", { code: -32022, message: "no" }),
  failing("-32022 odd data", { code: -32022, message: "no", data: { supported: "x" } }),
  failing("-32021 without data", { code: -32021, message: "no" }),
  failing("-32021 odd data", { code: -32021, message: "no", data: { requiredCapabilities: [] } }),
  failing("-32020 without data", { code: -32020, message: "no" }),
  failing("-32042 without data", { code: -32042, message: "no" }),
  failing("-32042 odd data", { code: -32042, message: "no", data: { elicitations: 5 } }),
  failing("-32002", { code: -32002, message: "no" }, R),
  failing("-32002 odd data", { code: -32002, message: "no", data: 5 }, R),
  failing("-32602 with uri", { code: -32602, message: "no", data: { uri: 5 } }, R)
]

const listed = (name: string, outputSchema: unknown, members: object, more: More = {}): Script => ({
  kind: "outputs",
  name,
  method: C,
  listed: { ...good[L], tools: [{ name: "t", inputSchema: { type: "object" }, outputSchema }] },
  sends: [answer("$id", { ...good[C], ...members })],
  ...more
})
const object = { type: "object", properties: { a: { type: "string" } }, required: ["a"] }
const outputs: ReadonlyArray<Script> = [
  listed("fits", object, { structuredContent: { a: "x" } }),
  listed("more members", object, { structuredContent: { a: "x", b: 1 } }),
  listed("missing, an error", object, { isError: true }),
  listed("wrong, an error", object, { isError: true, structuredContent: { a: 1 } }),
  listed("schema array", { type: "array" }, { structuredContent: [1] }),
  listed("schema empty", {}, { structuredContent: 5 }),
  listed("schema unknown format", { type: "object", properties: { a: { type: "string", format: "weird" } } }, {
    structuredContent: { a: "x" }
  }),
  listed("schema draft-07", { $schema: "http://json-schema.org/draft-07/schema#", ...object }, {
    structuredContent: { a: "x" }
  }),
  listed("schema unknown keyword", { ...object, weird: 5 }, { structuredContent: { a: "x" } }),
  listed("schema nullable", { type: "object", properties: { a: { type: "string", nullable: true } } }, {
    structuredContent: { a: null }
  }, { forbidden: "server/tools#output-schema" })
]

const notice = { jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data: "a" } }
const envelope: ReadonlyArray<Script> = [
  sends("envelope", "more members", [{ ...done, took: 5, id: "$id" }]),
  sends("envelope", "id of another, then the answer", [{ ...done, id: 4711 }, done]),
  sends("envelope", "id null error, then the answer", [{
    jsonrpc: "2.0",
    id: null,
    error: { code: -32700, message: "?" }
  }, done]),
  sends("envelope", "batch of one", [[done]]),
  sends("envelope", "batch of notification and answer", [[notice, done]]),
  sends("envelope", "batch of two answers", [[done, done]]),
  sends("envelope", "batch empty, then the answer", [[], done]),
  sends("envelope", "twice", [done, done]),
  sends("envelope", "a request first", [{ jsonrpc: "2.0", id: 1, method: "ping" }, done]),
  sends("envelope", "a sampling request first", [{
    jsonrpc: "2.0",
    id: 1,
    method: "sampling/createMessage",
    params: {}
  }, done]),
  sends("envelope", "an unknown request first", [{ jsonrpc: "2.0", id: 1, method: "x", params: {} }, done]),
  sends("envelope", "a text first", ["hello", done]),
  sends("envelope", "a number first", ["5", done]),
  sends("envelope", "null first", ["null", done]),
  sends("envelope", "an odd object first", ["{\"level\":\"info\"}", done]),
  sends("envelope", "an empty line first", ["", done]),
  sends("envelope", "CR", [text + "\r"]),
  sends("envelope", "BOM", ["\ufeff" + text]),
  sends("envelope", "spaces", ["  " + text + "  "]),
  sends("JSON", "__proto__ in the result", [
    text.replace("\"content\"", "\"__proto__\":{\"isError\":true},\"content\"")
  ]),
  sends("JSON", "__proto__ in structured", [
    text.replace("\"content\"", "\"structuredContent\":{\"__proto__\":{}},\"content\"")
  ]),
  sends("JSON", "constructor in structured", [
    text.replace("\"content\"", "\"structuredContent\":{\"constructor\":1},\"content\"")
  ]),
  sends("JSON", "duplicate keys", [text.replace("\"content\"", "\"content\":5,\"content\"")]),
  sends("JSON", "60 deep", [
    text.replace("\"content\"", `"structuredContent":${"[".repeat(55)}${"]".repeat(55)},"content"`)
  ]),
  sends("JSON", "70 deep", [
    text.replace("\"content\"", `"structuredContent":${"[".repeat(70)}${"]".repeat(70)},"content"`)
  ]),
  sends("JSON", "500 deep", [
    text.replace("\"content\"", `"structuredContent":${"[".repeat(500)}${"]".repeat(500)},"content"`)
  ]),
  sends("JSON", "lone surrogate", [text.replace("done", "\\ud800")]),
  sends("JSON", "NUL", [text.replace("done", "\\u0000")]),
  sends("JSON", "line separator", [text.replace("done", "\u2028\u2029")]),
  sends("JSON", "1e999", [text.replace("\"content\"", "\"structuredContent\":1e999,\"content\"")]),
  sends("JSON", "-0", [text.replace("\"content\"", "\"structuredContent\":-0,\"content\"")]),
  sends("JSON", "large integer", [
    text.replace("\"content\"", "\"structuredContent\":12345678901234567890,\"content\"")
  ])
]

const prog = (params: object) => ({
  jsonrpc: "2.0",
  method: "notifications/progress",
  params: { progressToken: "$token", progress: 1, ...params }
})
const logs = (params: object | null) => ({
  jsonrpc: "2.0",
  method: "notifications/message",
  params: params === null ? null : { ...notice.params, ...params }
})
const said = (name: string, ...messages: ReadonlyArray<unknown>): Script =>
  sends("notifications", name, [...messages, done])
const notifications: ReadonlyArray<Script> = [
  said("progress", prog({})),
  said("progress token as text", JSON.stringify(prog({})).replace("\"$token\"", "\"\\u0024token\"")),
  said("progress without token", prog({ progressToken: undefined })),
  said("progress token null", prog({ progressToken: null })),
  said("progress going down", prog({ progress: 5 }), prog({ progress: 3 })),
  said("progress the same", prog({ progress: 5 }), prog({ progress: 5 })),
  said("progress null", prog({ progress: null })),
  said("progress text", prog({ progress: "1" })),
  said("progress missing", prog({ progress: undefined })),
  said("progress negative", prog({ progress: -1 })),
  said("progress total null", prog({ total: null })),
  said("progress total text", prog({ total: "5" })),
  said("progress total fewer", prog({ progress: 5, total: 1 })),
  said("progress message null", prog({ message: null })),
  said("progress message number", prog({ message: 5 })),
  said("progress more", prog({ more: 5 })),
  said("progress _meta null", prog({ _meta: null })),
  said("progress _meta text", prog({ _meta: "x" })),
  said("progress _meta subscription odd", prog({ _meta: { "io.modelcontextprotocol/subscriptionId": {} } })),
  said("log", logs({})),
  said("log level unknown", logs({ level: "warn" })),
  said("log level upper", logs({ level: "INFO" })),
  said("log level missing", logs({ level: undefined })),
  said("log data null", logs({ data: null })),
  said("log data missing", logs({ data: undefined })),
  said("log logger null", logs({ logger: null })),
  said("log logger number", logs({ logger: 5 })),
  said("log params null", logs(null)),
  said("log with id null", { ...notice, id: null }),
  said("log _meta null", logs({ _meta: null })),
  said("log _meta text", logs({ _meta: "x" })),
  said("log below the level", logs({ level: "debug" })),
  said("log with more", logs({ more: 1 })),
  said("log without jsonrpc", { ...notice, jsonrpc: undefined }),
  said("changed tools", { jsonrpc: "2.0", method: "notifications/tools/list_changed" }),
  said("changed tools params null", { jsonrpc: "2.0", method: "notifications/tools/list_changed", params: null }),
  said("changed tools params array", { jsonrpc: "2.0", method: "notifications/tools/list_changed", params: [] }),
  said("changed tools _meta null", {
    jsonrpc: "2.0",
    method: "notifications/tools/list_changed",
    params: { _meta: null }
  }),
  said("changed tools _meta text", {
    jsonrpc: "2.0",
    method: "notifications/tools/list_changed",
    params: { _meta: "x" }
  }),
  said("updated", { jsonrpc: "2.0", method: "notifications/resources/updated", params: { uri: "memo://note" } }),
  said("updated without uri", { jsonrpc: "2.0", method: "notifications/resources/updated", params: {} }),
  said("updated uri relative", { jsonrpc: "2.0", method: "notifications/resources/updated", params: { uri: "note" } }),
  said("updated with title", {
    jsonrpc: "2.0",
    method: "notifications/resources/updated",
    params: { uri: "memo://note", title: 5 }
  }),
  said("unknown", { jsonrpc: "2.0", method: "notifications/weather", params: { sun: true } }),
  said("unknown without params", { jsonrpc: "2.0", method: "weather" }),
  said("cancelled another", { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 99 } }),
  said("cancelled null", { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: null } }),
  said("cancelled without params", { jsonrpc: "2.0", method: "notifications/cancelled" }),
  said("cancelled the call itself", {
    jsonrpc: "2.0",
    method: "notifications/cancelled",
    params: { requestId: "$id" }
  }),
  said("initialized", { jsonrpc: "2.0", method: "notifications/initialized" }),
  said("acknowledged without a subscription", {
    jsonrpc: "2.0",
    method: "notifications/subscriptions/acknowledged",
    params: { notifications: {} }
  }),
  said("task status", { jsonrpc: "2.0", method: "notifications/tasks/status", params: { taskId: 5 } })
]

const sub = "io.modelcontextprotocol/subscriptionId"
const acks = (filter: unknown, meta: unknown = { [sub]: "$id" }) => ({
  jsonrpc: "2.0",
  method: "notifications/subscriptions/acknowledged",
  params: { notifications: filter, ...(meta === undefined ? {} : { _meta: meta }) }
})
const wanted = { resourceSubscriptions: ["memo://note"] }
const every = { ...wanted, toolsListChanged: true, resourcesListChanged: true, promptsListChanged: true }
const listens = (name: string, messages: ReadonlyArray<unknown>, more: More = {}): Script =>
  sends("subscriptions", name, messages, more, "subscriptions/listen")
const updated = (meta?: unknown) => ({
  jsonrpc: "2.0",
  method: "notifications/tools/list_changed",
  params: { ...(meta === undefined ? {} : { _meta: meta }) }
})
const subscriptions: ReadonlyArray<Script> = [
  listens("proper", [acks(every), updated({ [sub]: "$id" })]),
  listens("ack without id", [acks(every, undefined)]),
  listens("ack filter null", [acks(null)]),
  listens("ack filter missing", [acks(undefined)]),
  listens("ack filter empty", [acks({})]),
  listens("ack filter array", [acks([])]),
  listens("ack flags text", [acks({ ...every, toolsListChanged: "true" })]),
  listens("ack flags null", [acks({ ...every, toolsListChanged: null, promptsListChanged: null })]),
  listens("ack flags false", [acks({ ...wanted, toolsListChanged: false })]),
  listens("ack flags only of lists", [acks({ toolsListChanged: true })]),
  listens("ack filter with unknown", [acks({ ...every, weather: true })]),
  listens("ack uris true", [acks({ ...every, resourceSubscriptions: true })]),
  listens("ack uris null", [acks({ ...every, resourceSubscriptions: null })]),
  listens("ack uris others", [acks({ ...every, resourceSubscriptions: ["memo://other"] })]),
  listens("ack uris normalized", [acks({ ...every, resourceSubscriptions: ["memo://note/"] })]),
  listens("ack uris relative too", [acks({ ...every, resourceSubscriptions: ["memo://note", "x y"] })]),
  listens("ack twice", [acks(every), acks(every)]),
  listens("ack with more", [{ ...acks(every), params: { ...acks(every).params, more: 1 } }]),
  listens("notification before the ack", [updated({ [sub]: "$id" }), acks(every)]),
  listens("notification without id", [acks(every), updated()]),
  listens("notification id of another", [acks(every), updated({ [sub]: 4711 })]),
  listens("notification id as text", [
    acks(every),
    JSON.stringify(updated({ [sub]: "$id" })).replace("\"$id\"", "\"\\u0024id\"")
  ]),
  listens("notification unknown", [
    acks(every),
    { jsonrpc: "2.0", method: "notifications/weather", params: {} },
    updated({ [sub]: "$id" })
  ]),
  listens("notification not asked for", [acks(every), {
    jsonrpc: "2.0",
    method: "notifications/tools/list_changed",
    params: { _meta: { [sub]: "$id" } }
  }]),
  listens("result right after the ack", [
    acks(every),
    answer("$id", { resultType: "complete", _meta: { [sub]: "$id" } })
  ]),
  listens("result without a type after the ack", [acks(every), answer("$id", {})])
]

const json = { "content-type": "application/json" }
const sse = { "content-type": "text/event-stream" }
const event = `data: ${text}\n\n`
const no = JSON.stringify({ jsonrpc: "2.0", id: "$id", error: { code: -32602, message: "no" } })
const latin1 = (body: string) => Buffer.from(body, "latin1")

/** Messages MUST be encoded in UTF-8. */
const notUtf8 = { forbidden: "basic/transports" }

const http: ReadonlyArray<Script> = [
  ...[
    "application/json;charset=utf-8",
    "Application/JSON",
    "application/json ; charset=\"UTF-8\"",
    "application/json; profile=x",
    "text/json",
    "application/problem+json",
    "application/vnd.api+json",
    "text/plain",
    "text/html",
    "application/octet-stream",
    "application/json, application/json",
    "",
    "*/*",
    "application/json-rpc",
    "application/jsonrequest"
  ].map((type) => over(`JSON as ${type}`, { headers: { "content-type": type }, body: text })),
  ...["text/event-stream;charset=utf-8", "Text/Event-Stream", "text/event-stream; charset=utf-16"].map((type) =>
    over(`SSE as ${type}`, { headers: { "content-type": type }, body: event })
  ),
  over("SSE with CR LF", { headers: sse, body: event.replaceAll("\n", "\r\n") }),
  over("SSE with a BOM", { headers: sse, body: "\ufeff" + event }),
  over("SSE with comments", { headers: sse, body: `: hello\n\n:\n${event}` }),
  over("SSE with ids", { headers: sse, body: `id: 1\n${event}` }),
  over("SSE with an id of NUL", { headers: sse, body: `id: a\0b\n${event}` }),
  over("SSE with retry", { headers: sse, body: `retry: 5\n${event}` }),
  over("SSE with retry odd", { headers: sse, body: `retry: soon\n${event}` }),
  over("SSE event message", { headers: sse, body: `event: message\n${event}` }),
  over("SSE event other, then the answer", { headers: sse, body: `event: ping\ndata: {}\n\n${event}` }),
  over("SSE event error, then the answer", { headers: sse, body: `event: error\ndata: x\n\n${event}` }),
  over("SSE event endpoint, then the answer", { headers: sse, body: `event: endpoint\ndata: /mcp\n\n${event}` }),
  over("SSE empty event name", { headers: sse, body: `event:\n${event}` }),
  over("SSE without a space", { headers: sse, body: `data:${text}\n\n` }),
  over("SSE two spaces", { headers: sse, body: `data:  ${text}\n\n` }),
  over("SSE data in lines", { headers: sse, body: `data: ${text.replace(",", ",\ndata: ")}\n\n` }),
  over("SSE data empty first", { headers: sse, body: `data: \n\n${event}` }),
  over("SSE data ping first", { headers: sse, body: `data: ping\n\n${event}` }),
  over("SSE data [DONE] after", { headers: sse, body: `${event}data: [DONE]\n\n` }),
  over("SSE unknown field", { headers: sse, body: `foo: bar\n${event}` }),
  over("SSE field without colon", { headers: sse, body: `data\nfoo\n\n${event}` }),
  over("SSE stays open after", { headers: sse, body: event, isOpen: true }),
  ...[201, 202, 203, 206, 299].map((status) => over(`status ${status} with the answer`, { status, body: text })),
  over("status 201 with SSE", { status: 201, headers: sse, body: event }),
  over("status 200 batch", { status: 200, headers: json, body: `[${text}]` }),
  over("status 200 JSON with BOM", { headers: json, body: "\ufeff" + text }),
  over("status 200 JSON with lines", { headers: json, body: `\n\n${JSON.stringify(done, null, 2)}\n` }),
  refuses("status 200 with error", { body: no }),
  ...[400, 401, 403, 404, 409, 422, 429, 500, 501, 503].map((status) =>
    refuses(`status ${status} with an error`, { status, body: no })
  ),
  refuses("status 400 with an error of no type", { status: 400, headers: {}, body: no }),
  refuses("status 400 with an error as text", { status: 400, headers: { "content-type": "text/plain" }, body: no }),
  over("discover: SSE", { headers: sse, body: `data: ${JSON.stringify(answer("$id", good[D]))}\n\n` }, D),
  over("discover: SSE with a log first", {
    headers: sse,
    body: `data: ${JSON.stringify(notice)}\n\ndata: ${JSON.stringify(answer("$id", good[D]))}\n\n`
  }, D),
  over("discover: batch", { body: `[${JSON.stringify(answer("$id", good[D]))}]` }, D),
  over("discover: status 201", { status: 201, body: JSON.stringify(answer("$id", good[D])) }, D),
  over("discover: with a session", {
    headers: { ...json, "mcp-session-id": "x" },
    body: JSON.stringify(answer("$id", good[D]))
  }, D),
  over("gzip", { headers: { ...json, "content-encoding": "gzip" }, body: text, encode: gzipSync }),
  over("GZIP upper", { headers: { ...json, "content-encoding": "GZIP" }, body: text, encode: gzipSync }),
  over("x-gzip", { headers: { ...json, "content-encoding": "x-gzip" }, body: text, encode: gzipSync }),
  over("deflate", { headers: { ...json, "content-encoding": "deflate" }, body: text, encode: deflateSync }),
  over("deflate raw", { headers: { ...json, "content-encoding": "deflate" }, body: text, encode: deflateRawSync }),
  over("br", { headers: { ...json, "content-encoding": "br" }, body: text, encode: brotliCompressSync }),
  over("identity", { headers: { ...json, "content-encoding": "identity" }, body: text }),
  over("utf-8 encoding", { headers: { ...json, "content-encoding": "utf-8" }, body: text }),
  over("aws-chunked", { headers: { ...json, "content-encoding": "aws-chunked" }, body: text }),
  over("gzip SSE", { headers: { ...sse, "content-encoding": "gzip" }, body: event, encode: gzipSync }),
  over(
    "Latin-1",
    {
      headers: { "content-type": "application/json; charset=iso-8859-1" },
      body: text.replace("done", "é"),
      encode: latin1
    },
    C,
    notUtf8
  ),
  over("bad UTF-8", { headers: json, body: text.replace("done", "é"), encode: latin1 }, C, notUtf8),
  over("bad UTF-8, SSE", { headers: sse, body: event.replace("done", "é"), encode: latin1 }),
  ...[301, 302, 303, 307, 308].map((status) =>
    over(`redirect ${status}`, { status, headers: { location: "/other" }, body: "" })
  ),
  over("redirect 307 to a slash", { status: 307, headers: { location: "/mcp/" }, body: "" }),
  over("set-cookie", { headers: { ...json, "set-cookie": "a=b" }, body: text }),
  over("a session in the answer", { headers: { ...json, "mcp-session-id": "x" }, body: text }),
  over("another revision in the answer", { headers: { ...json, "mcp-protocol-version": "2025-11-25" }, body: text }),
  over("SSE answer of another id, then the answer", { headers: sse, body: event.replace("\"$id\"", "4711") + event }),
  over("SSE malformed JSON, then the answer", { headers: sse, body: "data: {\n\n" + event }),
  over("SSE large comment", { headers: sse, body: ":" + "x".repeat(100_000) + "\n\n" + event }),
  over("SSE tabs", { headers: sse, body: "data:\t" + text + "\n\n" }),
  over("SSE upper field", { headers: sse, body: "DATA: " + text + "\n\n" + event }),
  over("SSE three blank lines", { headers: sse, body: "\n\n\n" + event })
]

export const scripts: ReadonlyArray<Script> = [
  ...discover,
  ...lists,
  ...calls,
  ...resources,
  ...prompts,
  ...completion,
  ...rounds,
  ...errors,
  ...outputs,
  ...envelope,
  ...notifications,
  ...subscriptions,
  ...http
]
