/**
 * Clients that write `null` where a member should be absent, and where it must not be.
 */
import type { ClientRow } from "../Row.js"

const request = (method: string, params: unknown) => ({ jsonrpc: "2.0", id: "$id", method, params })

const absent = "`null` counts as absent"

const accepted = (
  id: string,
  method: string,
  what: string,
  params: unknown,
  result: object,
  more: Partial<ClientRow> = {}
): ClientRow => ({
  id,
  method,
  deviation: `sends \`${what}\``,
  message: request(method, params),
  does: absent,
  expected: { answers: [{ id: 7, result }] },
  ...more
})

const refused = (id: string, method: string, what: string, params: unknown, does: string): ClientRow => ({
  id,
  method,
  deviation: `sends \`${what}\``,
  message: request(method, params),
  does,
  expected: { answers: [{ id: 7, error: { code: -32602 } }] }
})

const lists = [
  ["tools/list", { tools: [{}, {}, {}, {}, {}, {}, {}, {}, {}] }],
  ["resources/list", { resources: [{}] }],
  ["resources/templates/list", { resourceTemplates: [] }],
  ["prompts/list", { prompts: [{}] }]
] as const

const text = (value: string) => ({ content: [{ type: "text", text: value }] })

export const rows: ReadonlyArray<ClientRow> = [
  ...lists.flatMap(([method, result]) => [
    accepted(`${method}-params-null`, method, "params: null", null, result),
    accepted(`${method}-cursor-null`, method, "cursor: null", { cursor: null }, result),
    accepted(`${method}-cursor-empty`, method, "cursor: \"\"", { cursor: "" }, result, {
      does: "the empty cursor is none: the first page",
      rule: "server/utilities/pagination"
    })
  ]),
  accepted("ping-params-null", "ping", "params: null", null, {}),
  accepted("ping-meta-null", "ping", "_meta: null", { _meta: null }, {}),
  accepted("ping-token-null", "ping", "progressToken: null", { _meta: { progressToken: null } }, {}),
  accepted("call-arguments-null", "tools/call", "arguments: null", { name: "echo", arguments: null }, text("nothing")),
  accepted("call-meta-null", "tools/call", "_meta: null", { name: "echo", _meta: null }, text("nothing")),
  accepted("call-task-null", "tools/call", "task: null", { name: "echo", task: null }, text("nothing")),
  accepted(
    "call-token-null",
    "tools/call",
    "progressToken: null",
    { name: "steps", _meta: { progressToken: null } },
    text("done"),
    { does: "`null` is not a token: no progress is sent", rule: "basic/utilities/progress" }
  ),
  accepted("prompt-arguments-null", "prompts/get", "arguments: null", { name: "greet", arguments: null }, {
    messages: [{ content: { text: "Hello, you" } }]
  }),
  accepted(
    "complete-context-null",
    "completion/complete",
    "context: null",
    { ref: { type: "ref/prompt", name: "greet" }, argument: { name: "name", value: "" }, context: null },
    { completion: { values: ["Ada"] } }
  ),
  accepted(
    "complete-others-null",
    "completion/complete",
    "context: { arguments: null }",
    {
      ref: { type: "ref/prompt", name: "greet", title: null },
      argument: { name: "name", value: "" },
      context: { arguments: null }
    },
    { completion: { values: ["Ada"] } }
  ),
  accepted("level-meta-null", "logging/setLevel", "_meta: null", { level: "info", _meta: null }, {}),
  accepted("subscribe-meta-null", "resources/subscribe", "_meta: null", { uri: "memo://note", _meta: null }, {}),
  accepted("read-meta-null", "resources/read", "_meta: null", { uri: "memo://note", _meta: null }, {
    contents: [{ text: "a note" }]
  }),
  {
    id: "initialized-params-null",
    method: "notifications/initialized",
    deviation: "sends `params: null`",
    message: { jsonrpc: "2.0", method: "notifications/initialized", params: null },
    does: absent,
    expected: { answers: [] }
  },
  refused("call-name-null", "tools/call", "name: null", { name: null }, "-32602: the member is required"),
  refused("read-uri-null", "resources/read", "uri: null", { uri: null }, "-32602: the member is required"),
  refused("level-null", "logging/setLevel", "level: null", { level: null }, "-32602: the member is required"),
  refused(
    "prompt-argument-null",
    "prompts/get",
    "arguments: { name: null }",
    { name: "greet", arguments: { name: null } },
    "-32602: nothing is mended inside the arguments of a prompt"
  ),
  {
    id: "call-argument-null",
    method: "tools/call",
    deviation: "sends `arguments: { text: null }`",
    message: request("tools/call", { name: "echo", arguments: { text: null } }),
    does: "the argument is optional: `null` counts as absent",
    expected: { answers: [{ id: 7, result: text("nothing") }] }
  },
  {
    id: "call-required-argument-null",
    method: "tools/call",
    deviation: "sends `null` for a required argument",
    message: request("tools/call", { name: "add", arguments: { a: null, b: 2 } }),
    does: "a result with `isError`, which the model reads",
    expected: { answers: [{ id: 7, result: { isError: true } }] }
  },
  {
    id: "id-null",
    method: "any request",
    deviation: "sends `id: null`",
    message: { jsonrpc: "2.0", id: null, method: "ping" },
    does: "-32600 without an id: a request must have one",
    rule: "basic#requests",
    expected: { answers: [{ error: { code: -32600 } }], status: 400 }
  },
  {
    id: "method-null",
    method: "any request",
    deviation: "sends `method: null`",
    message: { jsonrpc: "2.0", id: "$id", method: null },
    does: "-32600: `method` must be a string",
    rule: "basic#requests",
    expected: { answers: [{ id: 7, error: { code: -32600 } }], status: 400 }
  }
]
