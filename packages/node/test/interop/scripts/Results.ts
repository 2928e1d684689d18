/**
 * What servers of 2026-07-28 answer that deviate in a result: what the official client 2.4 takes, and what a rule forbids. They
 * were found among 600 scripts.
 */
import { good, type Script } from "../ScriptedServers.js"
import { answer, failing, member, type More, serverInfo, whole } from "./Make.js"

const D = "server/discover"
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
  member("discover", D, "serverInfo without version", { _meta: { [serverInfo]: { name: "a" } } }),
  member("discover", D, "serverInfo without name", { _meta: { [serverInfo]: { version: "1" } } }),
  member("discover", D, "serverInfo null", { _meta: { [serverInfo]: null } }),
  member("discover", D, "serverInfo text", { _meta: { [serverInfo]: "a" } }),
  member("discover", D, "serverInfo title number", { _meta: { [serverInfo]: { name: "a", version: "1", title: 5 } } }),
  member("discover", D, "serverInfo version number", { _meta: { [serverInfo]: { name: "a", version: 1 } } }),
  member("discover", D, "serverInfo icons text", { _meta: { [serverInfo]: { name: "a", version: "1", icons: "x" } } }),
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
    member("_meta", method, "serverInfo 5", { _meta: { [serverInfo]: 5, more: 1 } }),
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
  member("_meta", C, "serverInfo null", { _meta: { [serverInfo]: null } }),
  member("_meta", C, "serverInfo odd", { _meta: { [serverInfo]: { name: 5 } } }),
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
  }, { forbidden: "client/elicitation#safe-url-handling" }),
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

export const scripts: ReadonlyArray<Script> = [
  ...discover,
  ...lists,
  ...calls,
  ...resources,
  ...prompts,
  ...completion,
  ...rounds,
  ...errors,
  ...outputs
]
