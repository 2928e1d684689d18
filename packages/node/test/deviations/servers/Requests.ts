/**
 * Servers whose requests to the client deviate: forms, pages, sampling, roots.
 */
import type { ServerRow } from "../Row.js"

const done = { jsonrpc: "2.0", id: "$id", result: { content: [] } }

const asks = (
  id: string,
  method: string,
  deviation: string,
  params: unknown,
  does: string,
  reply: object,
  more: Partial<ServerRow> & { readonly reports?: ReadonlyArray<string>; readonly replyId?: unknown } = {}
): ServerRow => {
  const { replyId = 99, reports, ...rest } = more
  return {
    id,
    method,
    during: "tools/call",
    deviation,
    sends: [{ jsonrpc: "2.0", id: replyId, method, params }, done],
    does,
    expected: {
      value: { content: [] },
      replies: [{ id: replyId, ...reply }],
      ...(reports === undefined ? undefined : { reports })
    },
    ...rest
  }
}

const form = { type: "object", properties: { name: { type: "string" } }, required: ["name"] }
const text = { type: "text", text: "a" }
const sampling = { messages: [{ role: "user", content: text }], maxTokens: 10 }
const accepted = { result: { action: "accept", content: { name: "x" } } }
const sampled = { result: { model: "m" } }
const invalid = { error: { code: -32602 } }
const absent = "`null` counts as absent"
const refused = "-32602 with the place"

export const rows: ReadonlyArray<ServerRow> = [
  asks(
    "elicit-mode-null",
    "elicitation/create",
    "sends `mode: null`",
    { mode: null, message: "Who?", requestedSchema: form },
    absent,
    accepted
  ),
  asks(
    "elicit-meta-null",
    "elicitation/create",
    "sends `_meta: null`",
    { message: "Who?", requestedSchema: form, _meta: null },
    absent,
    accepted
  ),
  asks(
    "elicit-task-null",
    "elicitation/create",
    "sends `task: null`",
    { message: "Who?", requestedSchema: form, task: null },
    absent,
    accepted
  ),
  asks(
    "elicit-meta-text",
    "elicitation/create",
    "sends `_meta: \"x\"`",
    { message: "Who?", requestedSchema: form, _meta: "x" },
    "leaves it out, and reports it",
    accepted,
    { reports: ["Mended"] }
  ),
  asks(
    "elicit-mode-unknown",
    "elicitation/create",
    "sends a mode that does not exist",
    { mode: "voice", message: "Who?", requestedSchema: form },
    refused,
    invalid,
    { rule: "client/elicitation" }
  ),
  asks("elicit-no-message", "elicitation/create", "sends no message", { requestedSchema: form }, refused, invalid, {
    rule: "client/elicitation"
  }),
  asks("elicit-no-schema", "elicitation/create", "sends no schema", { message: "Who?" }, refused, invalid, {
    rule: "client/elicitation"
  }),
  asks(
    "elicit-nested",
    "elicitation/create",
    "requests a nested object",
    { message: "Who?", requestedSchema: { type: "object", properties: { a: { type: "object", properties: {} } } } },
    refused,
    invalid,
    { rule: "client/elicitation#requested-schema" }
  ),
  asks(
    "elicit-schema-null",
    "elicitation/create",
    "writes `title: null` inside the schema",
    { message: "Who?", requestedSchema: { ...form, properties: { name: { type: "string", title: null } } } },
    "-32602: nothing is mended in a schema",
    invalid,
    { rule: "client/elicitation#requested-schema" }
  ),
  asks(
    "elicit-format",
    "elicitation/create",
    "requests a format that does not exist",
    { message: "Who?", requestedSchema: { ...form, properties: { name: { type: "string", format: "colour" } } } },
    refused,
    invalid,
    { rule: "client/elicitation#requested-schema" }
  ),
  asks(
    "elicit-url-no-id",
    "elicitation/create",
    "opens a page without an id",
    { mode: "url", message: "Open", url: "https://a/" },
    refused,
    invalid,
    { rule: "client/elicitation#url-mode-elicitation-requests", revisions: "2025-11-25" }
  ),
  asks("elicit-no-params", "elicitation/create", "sends no parameters", undefined, refused, invalid),
  asks(
    "sample-null",
    "sampling/createMessage",
    "sends `null` for every optional member",
    {
      ...sampling,
      systemPrompt: null,
      modelPreferences: null,
      temperature: null,
      stopSequences: null,
      includeContext: null,
      metadata: null,
      tools: null,
      toolChoice: null,
      _meta: null
    },
    absent,
    sampled
  ),
  asks(
    "sample-hints-null",
    "sampling/createMessage",
    "sends `hints: null`",
    { ...sampling, modelPreferences: { hints: null, costPriority: null } },
    absent,
    sampled
  ),
  asks(
    "sample-annotations",
    "sampling/createMessage",
    "annotates content with a priority of 7",
    { ...sampling, messages: [{ role: "user", content: { ...text, annotations: { priority: 7 } } }] },
    "leaves the priority out, and reports it",
    sampled,
    { reports: ["Mended"] }
  ),
  asks(
    "sample-content-unknown",
    "sampling/createMessage",
    "sends a message with content of an unknown type",
    { ...sampling, messages: [...sampling.messages, { role: "user", content: { type: "video" } }] },
    "-32602: a message of sampling is never left out",
    invalid,
    { rule: "client/sampling" }
  ),
  asks(
    "sample-role",
    "sampling/createMessage",
    "sends a message of the role `system`",
    { ...sampling, messages: [{ role: "system", content: text }] },
    refused,
    invalid,
    { rule: "client/sampling" }
  ),
  asks(
    "sample-no-tokens",
    "sampling/createMessage",
    "sends no `maxTokens`",
    { messages: sampling.messages },
    refused,
    invalid,
    { rule: "client/sampling" }
  ),
  asks(
    "sample-messages-null",
    "sampling/createMessage",
    "sends `messages: null`",
    { messages: null, maxTokens: 1 },
    refused,
    invalid,
    { rule: "client/sampling" }
  ),
  asks(
    "sample-temperature",
    "sampling/createMessage",
    "sends the temperature as a text",
    { ...sampling, temperature: "hot" },
    "-32602: the member changes the result",
    invalid,
    { rule: "client/sampling" }
  ),
  asks(
    "sample-tools-undeclared",
    "sampling/createMessage",
    "sends tools, which the client has not declared",
    { ...sampling, tools: [{ name: "a", inputSchema: { type: "object" } }] },
    "-32602: this client does not support tools in sampling",
    invalid,
    { rule: "client/sampling#capabilities", revisions: "2025-11-25" }
  ),
  asks("roots-params-null", "roots/list", "sends `params: null`", null, absent, {
    result: { roots: [{ uri: "file:///work" }] }
  }),
  asks("roots-meta-null", "roots/list", "sends `_meta: null`", { _meta: null }, absent, {
    result: { roots: [{ uri: "file:///work" }] }
  }),
  asks("roots-meta-text", "roots/list", "sends `_meta: 5`", { _meta: 5 }, "leaves it out, and reports it", {
    result: { roots: [{ uri: "file:///work" }] }
  }, { reports: ["Mended"] }),
  asks(
    "roots-token-null",
    "roots/list",
    "sends `progressToken: null`",
    { _meta: { progressToken: null } },
    "`null` is not a token",
    { result: { roots: [{ uri: "file:///work" }] } }
  ),
  asks("ping-token", "ping", "sends the id as a text", undefined, "answers under the same id", { result: {} }, {
    replyId: "a b"
  }),
  asks("ping-id-zero", "ping", "uses the id 0", undefined, "answers under the same id", { result: {} }, { replyId: 0 }),
  asks("ping-id-empty", "ping", "uses an empty id", undefined, "answers under the same id", { result: {} }, {
    replyId: ""
  }),
  asks("client-unknown", "weather/get", "sends a request that does not exist", {}, "-32601", {
    error: { code: -32601 }
  }),
  asks("client-other-side", "tools/list", "sends a request that only clients send", {}, "-32601", {
    error: { code: -32601 }
  }),
  asks("client-tasks", "tasks/list", "lists tasks, which the client has not declared", {}, "-32601", {
    error: { code: -32601 }
  }, { rule: "basic/utilities/tasks" }),
  asks(
    "elicit-too-old",
    "elicitation/create",
    "elicits at 2024-11-05, which does not have it",
    { message: "Who?", requestedSchema: form },
    "-32601",
    { error: { code: -32601 } },
    {
      version: "2024-11-05",
      revisions: "2024-11-05 and 2025-03-26"
    }
  )
]
