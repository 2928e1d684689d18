/**
 * One message of each method with every field that the vocabulary has, written by hand. The mutants are made from them,
 * and the tests of single modules change them.
 */
import { keys } from "@effect-mcp/core/protocol/Meta"

const _meta = { "com.example/trace": { id: 1 }, progressToken: "p-1" }
const icons = [{ src: "https://example.com/i.png", mimeType: "image/png", sizes: ["48x48", "any"], theme: "dark" }]
const annotations = { audience: ["user", "assistant"], priority: 0.5, lastModified: "2025-01-12T15:00:58Z" }
const named = { name: "search", title: "Search" }

export const text = { type: "text", text: "hello", annotations, _meta }
export const image = { type: "image", data: "aGk=", mimeType: "image/png", annotations, _meta }
export const audio = { type: "audio", data: "aGk=", mimeType: "audio/wav", annotations, _meta }
export const resource = {
  ...named,
  icons,
  uri: "file:///notes/a.md",
  description: "A note",
  mimeType: "text/markdown",
  size: 12,
  annotations,
  _meta
}
export const link = { type: "resource_link", ...resource }
export const textContents = { uri: "file:///notes/a.md", mimeType: "text/markdown", text: "# A", _meta }
export const blobContents = { uri: "file:///notes/a.png", mimeType: "image/png", blob: "aGk=", _meta }
export const embedded = { type: "resource", resource: textContents, annotations, _meta }
export const toolUse = { type: "tool_use", id: "u1", name: "search", input: { q: "x" }, _meta }
export const toolResult = {
  type: "tool_result",
  toolUseId: "u1",
  content: [text, link],
  structuredContent: { hits: 1 },
  isError: false,
  _meta
}
export const implementation = {
  ...named,
  icons,
  version: "1.0.0",
  description: "Searches",
  websiteUrl: "https://example.com"
}
export const clientCapabilities = {
  experimental: { x: {} },
  roots: { listChanged: true },
  sampling: { context: {}, tools: {} },
  elicitation: { form: {}, url: {} },
  tasks: { list: {}, cancel: {}, requests: { sampling: { createMessage: {} }, elicitation: { create: {} } } },
  extensions: { "com.example/x": { on: true } }
}
export const serverCapabilities = {
  experimental: { x: {} },
  logging: {},
  completions: {},
  prompts: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  tools: { listChanged: true },
  tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } },
  extensions: { "com.example/x": {} }
}
export const tool = {
  ...named,
  icons,
  description: "Searches notes",
  inputSchema: { $schema: "https://json-schema.org/draft/2020-12/schema", type: "object", properties: { q: {} } },
  outputSchema: { type: "object", properties: { hits: { type: "array" } }, required: ["hits"] },
  annotations: {
    title: "Search",
    readOnlyHint: true,
    destructiveHint: false,
    idempotentHint: true,
    openWorldHint: false
  },
  execution: { taskSupport: "optional" },
  _meta
}
export const prompt = {
  ...named,
  icons,
  description: "Greets",
  arguments: [{ ...named, description: "Who", required: true }],
  _meta
}
export const task = {
  taskId: "t1",
  status: "working",
  statusMessage: "half way",
  createdAt: "2025-11-25T10:00:00Z",
  lastUpdatedAt: "2025-11-25T10:01:00Z",
  ttl: 60_000,
  pollInterval: 500
}
const words = { title: "T", description: "D" }
export const requestedSchema = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  properties: {
    text: { type: "string", ...words, minLength: 1, maxLength: 9, format: "email", default: "a@b.c" },
    number: { type: "integer", ...words, minimum: 0, maximum: 9, default: 1 },
    yes: { type: "boolean", ...words, default: true },
    one: { type: "string", ...words, enum: ["a", "b"], enumNames: ["A", "B"], default: "a" },
    oneTitled: { type: "string", ...words, oneOf: [{ const: "a", title: "A" }], default: "a" },
    some: { type: "array", ...words, minItems: 0, maxItems: 1, items: { type: "string", enum: ["a"] }, default: ["a"] },
    someTitled: { type: "array", ...words, items: { anyOf: [{ const: "a", title: "A" }] }, default: ["a"] }
  },
  required: ["text"]
}
const wish = { task: { ttl: 1000 } }
const form = { ...wish, _meta, mode: "form", message: "Who?", requestedSchema }
const url = { ...wish, _meta, mode: "url", message: "Open", url: "https://example.com/x", elicitationId: "e1" }
const createMessage = {
  messages: [
    { role: "user", content: text, _meta },
    { role: "assistant", content: [image, audio, toolUse] },
    { role: "user", content: [toolResult] }
  ],
  modelPreferences: { hints: [{ name: "claude" }], costPriority: 0, speedPriority: 0.5, intelligencePriority: 1 },
  systemPrompt: "Be kind",
  includeContext: "none",
  temperature: 0.7,
  maxTokens: 100,
  stopSequences: ["END"],
  metadata: { any: 1 },
  tools: [tool],
  toolChoice: { mode: "auto" },
  ...wish,
  _meta
}
const createMessageResult = { role: "assistant", content: [text, toolUse], model: "m", stopReason: "toolUse", _meta }
const elicitResult = { action: "accept", content: { a: "x", n: 1, b: true, l: ["a"] }, _meta }
const rootsResult = { roots: [{ uri: "file:///notes", name: "Notes", _meta }], _meta }
const page = { nextCursor: "c2", _meta }
const bare = { _meta }
const cursor = { cursor: "c1", _meta }
const getTask = { taskId: "t1", _meta }

type Parts = readonly [params: Readonly<Record<string, unknown>>, result?: Readonly<Record<string, unknown>>]

/** Parameters and result of each legacy method. */
export const legacy: Readonly<Record<string, Parts>> = {
  "initialize": [
    { protocolVersion: "2025-11-25", capabilities: clientCapabilities, clientInfo: implementation, _meta },
    {
      protocolVersion: "2025-11-25",
      capabilities: serverCapabilities,
      serverInfo: implementation,
      instructions: "Ask",
      _meta
    }
  ],
  "ping": [bare, bare],
  "tools/list": [cursor, { tools: [tool], ...page }],
  "tools/call": [
    { name: "search", arguments: { q: "x" }, ...wish, _meta },
    { content: [text, image, audio, link, embedded], structuredContent: { hits: [] }, isError: false, _meta }
  ],
  "resources/list": [cursor, { resources: [resource], ...page }],
  "resources/templates/list": [cursor, {
    resourceTemplates: [{
      ...named,
      icons,
      uriTemplate: "n://{id}",
      description: "N",
      mimeType: "a/b",
      annotations,
      _meta
    }],
    ...page
  }],
  "resources/read": [{ uri: "file:///notes/a.md", _meta }, { contents: [textContents, blobContents], _meta }],
  "resources/subscribe": [{ uri: "file:///notes/a.md", _meta }, bare],
  "resources/unsubscribe": [{ uri: "file:///notes/a.md", _meta }, bare],
  "prompts/list": [cursor, { prompts: [prompt], ...page }],
  "prompts/get": [
    { name: "greet", arguments: { who: "Ada" }, _meta },
    {
      description: "Greets",
      messages: [{ role: "user", content: text }, { role: "assistant", content: embedded }],
      _meta
    }
  ],
  "completion/complete": [
    {
      ref: { type: "ref/prompt", ...named },
      argument: { name: "who", value: "A" },
      context: { arguments: { a: "b" } },
      _meta
    },
    { completion: { values: ["Ada"], total: 2, hasMore: true }, _meta }
  ],
  "logging/setLevel": [{ level: "info", _meta }, bare],
  "sampling/createMessage": [createMessage, createMessageResult],
  "roots/list": [bare, rootsResult],
  "elicitation/create": [form, elicitResult],
  "tasks/get": [getTask, { ...task, _meta }],
  "tasks/result": [getTask, { content: [text], _meta }],
  "tasks/list": [cursor, { tasks: [task], ...page }],
  "tasks/cancel": [getTask, { ...task, status: "cancelled", _meta }],
  "notifications/initialized": [bare],
  "notifications/cancelled": [{ requestId: 1, reason: "late", _meta }],
  "notifications/progress": [{ progressToken: "p-1", progress: 1.5, total: 3, message: "half", _meta }],
  "notifications/message": [{ level: "error", logger: "db", data: { any: [1] }, _meta }],
  "notifications/tools/list_changed": [bare],
  "notifications/resources/list_changed": [bare],
  "notifications/resources/updated": [{ uri: "file:///notes/a.md", _meta }],
  "notifications/prompts/list_changed": [bare],
  "notifications/roots/list_changed": [bare],
  "notifications/elicitation/complete": [{ elicitationId: "e1", _meta }],
  "notifications/tasks/status": [{ ...task, _meta }]
}

/** A URL to open in place of a form. */
export const elicitUrl = url

const envelope = {
  [keys.protocolVersion]: "2026-07-28",
  [keys.clientCapabilities]: clientCapabilities,
  [keys.clientInfo]: implementation,
  [keys.logLevel]: "info",
  ..._meta
}
const result = { resultType: "complete", _meta: { [keys.serverInfo]: implementation, ..._meta } }
const hints = { ttlMs: 1000, cacheScope: "public" }
const notificationMeta = { _meta: { [keys.subscriptionId]: 7, "com.example/x": 1 } }
const filter = {
  toolsListChanged: true,
  promptsListChanged: true,
  resourcesListChanged: false,
  resourceSubscriptions: ["file:///notes/"]
}
const { task: _, ...modernForm } = form
const { task: __, ...modernCreateMessage } = createMessage
export const inputRequests = {
  who: { method: "elicitation/create", params: modernForm },
  model: { method: "sampling/createMessage", params: modernCreateMessage },
  where: { method: "roots/list", params: {} }
}
export const inputResponses = { who: elicitResult, model: createMessageResult, where: rootsResult }
const again = { inputResponses, requestState: "s1" }

const modernized = (method: string, more: object = {}, kept: object = {}): Parts => {
  const [{ task: _, ...params }, answer] = legacy[method]!
  return [{ ...params, ...more, _meta: envelope }, { ...answer, ...kept, ...result }]
}

const notification = (method: string): Parts => [{ ...legacy[method]![0], ...notificationMeta }]

/** Parameters and result of each modern method. */
export const modern: Readonly<Record<string, Parts>> = {
  "server/discover": [{ _meta: envelope }, {
    supportedVersions: ["2026-07-28"],
    capabilities: serverCapabilities,
    instructions: "Ask",
    ...hints,
    ...result
  }],
  "tools/list": modernized("tools/list", {}, hints),
  "tools/call": modernized("tools/call", again),
  "resources/list": modernized("resources/list", {}, hints),
  "resources/templates/list": modernized("resources/templates/list", {}, hints),
  "resources/read": modernized("resources/read", again, hints),
  "prompts/list": modernized("prompts/list", {}, hints),
  "prompts/get": modernized("prompts/get", again),
  "completion/complete": modernized("completion/complete"),
  "subscriptions/listen": [
    { notifications: filter, _meta: envelope },
    { ...result, _meta: { ...notificationMeta._meta, ...result._meta } }
  ],
  "notifications/cancelled": notification("notifications/cancelled"),
  "notifications/progress": notification("notifications/progress"),
  "notifications/message": notification("notifications/message"),
  "notifications/tools/list_changed": [notificationMeta],
  "notifications/resources/list_changed": [notificationMeta],
  "notifications/resources/updated": notification("notifications/resources/updated"),
  "notifications/prompts/list_changed": [notificationMeta],
  "notifications/subscriptions/acknowledged": [{ notifications: filter, ...notificationMeta }]
}
