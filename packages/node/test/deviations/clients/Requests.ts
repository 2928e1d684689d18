/**
 * Clients whose requests deviate: names, parameters, arguments, cursors, levels.
 */
import type { ClientRow } from "../Row.js"

const request = (method: string, params?: unknown) => ({ jsonrpc: "2.0", id: "$id", method, params })

const answers = (
  id: string,
  method: string,
  deviation: string,
  params: unknown,
  does: string,
  answer: object,
  more: Partial<ClientRow> = {}
): ClientRow => ({
  id,
  method,
  deviation,
  message: request(method, params),
  does,
  expected: { answers: [{ id: 7, ...answer }] },
  ...more
})

const error = (code: number) => ({ error: { code } })
const isError = { result: { isError: true } }
const text = (value: string) => ({ result: { content: [{ type: "text", text: value }] } })
const tools = { rule: "server/tools#error-handling" }

const level = (what: string, value: unknown): ClientRow =>
  answers(
    `level-${what}`,
    "logging/setLevel",
    `sets the level ${JSON.stringify(value)}`,
    { level: value },
    "-32602",
    error(-32602),
    {
      rule: "server/utilities/logging#log-levels"
    }
  )

const cursor = (what: string, value: unknown): ClientRow =>
  answers(
    `cursor-${what}`,
    "tools/list",
    `sends a cursor that the server never gave: \`${JSON.stringify(value)}\``,
    { cursor: value },
    "-32602",
    error(-32602),
    {
      rule: "server/utilities/pagination#error-handling"
    }
  )

export const rows: ReadonlyArray<ClientRow> = [
  answers(
    "call-unknown",
    "tools/call",
    "calls a tool that does not exist",
    { name: "no" },
    "-32602",
    error(-32602),
    tools
  ),
  answers(
    "call-unknown-proto",
    "tools/call",
    "calls a tool named `toString`",
    { name: "toString" },
    "-32602",
    error(-32602),
    tools
  ),
  answers("call-no-name", "tools/call", "calls a tool without a name", {}, "-32602", error(-32602), tools),
  answers("call-no-params", "tools/call", "sends no parameters", undefined, "-32602", error(-32602), tools),
  answers(
    "call-arguments-list",
    "tools/call",
    "sends `arguments: [1, 2]`",
    { name: "add", arguments: [1, 2] },
    "-32602: arguments have names",
    error(-32602),
    tools
  ),
  answers(
    "call-arguments-text",
    "tools/call",
    "sends `arguments` as JSON text",
    { name: "add", arguments: "{\"a\":1,\"b\":2}" },
    "-32602: arguments are an object",
    error(-32602),
    tools
  ),
  answers(
    "call-arguments-absent",
    "tools/call",
    "leaves out `arguments`, although the tool has required ones",
    { name: "add" },
    "a result with `isError`, which the model reads",
    isError,
    tools
  ),
  answers(
    "call-arguments-wrong",
    "tools/call",
    "sends an argument of a wrong type",
    { name: "add", arguments: { a: "one", b: 2 } },
    "a result with `isError`, which the model reads",
    isError,
    tools
  ),
  answers(
    "call-arguments-mended",
    "tools/call",
    "sends numbers as texts",
    { name: "add", arguments: { a: "1", b: "-2" } },
    "reads the numbers, and reports it: the schema of the tool allows one reading",
    text("-1"),
    tools
  ),
  answers(
    "call-arguments-odd-number",
    "tools/call",
    "sends a number as a text that no number is written as",
    { name: "add", arguments: { a: "01", b: 2 } },
    "a result with `isError`, which the model reads",
    isError,
    tools
  ),
  ...(["2024-11-05", "2025-03-26", "2025-06-18"] as const).map((version) =>
    answers(
      `call-arguments-wrong-${version}`,
      "tools/call",
      `at ${version}, sends an argument of a wrong type`,
      { name: "add", arguments: { a: "one", b: 2 } },
      "a result with `isError`, which the model reads",
      isError,
      {
        ...tools,
        version,
        revisions: version
      }
    )
  ),
  answers(
    "call-arguments-extra",
    "tools/call",
    "sends an argument that the tool does not have",
    { name: "echo", arguments: { text: "a", more: 1 } },
    "ignores it, and reports its name; an option refuses the call",
    text("a"),
    tools
  ),
  answers(
    "call-arguments-proto-name",
    "tools/call",
    "sends arguments named like members of every object",
    { name: "echo", arguments: { text: "a", constructor: 1, toString: 2 } },
    "ignores them",
    text("a")
  ),
  answers(
    "call-die",
    "tools/call",
    "calls a tool whose handler has a bug",
    { name: "die" },
    "a result with `isError` and \"Internal error\"; the operator gets the cause",
    { result: { isError: true, content: [{ type: "text", text: "Internal error" }] } }
  ),
  answers(
    "call-task",
    "tools/call",
    "requests a task that the tool does not support",
    { name: "echo", task: { ttl: 1000 } },
    "answers with the result: the server has no tasks, and ignores the member",
    text("nothing"),
    { rule: "basic/utilities/tasks" }
  ),
  answers(
    "read-unknown",
    "resources/read",
    "reads a resource that does not exist",
    { uri: "memo://no" },
    "-32002 with the URI",
    { error: { code: -32002, data: { uri: "memo://no" } } },
    { rule: "server/resources#error-handling" }
  ),
  answers(
    "read-relative",
    "resources/read",
    "reads a URI that is none",
    { uri: "../../etc/passwd" },
    "-32002: no resource has this URI",
    error(-32002),
    { rule: "server/resources#error-handling" }
  ),
  answers("read-number", "resources/read", "reads a URI that is a number", { uri: 5 }, "-32602", error(-32602)),
  answers(
    "prompt-unknown",
    "prompts/get",
    "gets a prompt that does not exist",
    { name: "no" },
    "-32602",
    error(-32602),
    { rule: "server/prompts#error-handling" }
  ),
  answers(
    "prompt-argument-number",
    "prompts/get",
    "sends an argument of a prompt as a number",
    { name: "greet", arguments: { name: 5 } },
    "-32602: arguments of prompts are strings",
    error(-32602),
    { rule: "server/prompts#error-handling" }
  ),
  answers(
    "prompt-argument-extra",
    "prompts/get",
    "sends an argument that the prompt does not have",
    { name: "greet", arguments: { age: "5" } },
    "ignores it",
    { result: { messages: [{ role: "user" }] } }
  ),
  answers(
    "complete-unknown-type",
    "completion/complete",
    "completes a reference of an unknown type",
    { ref: { type: "ref/tool", name: "x" }, argument: { name: "a", value: "" } },
    "-32602",
    error(-32602),
    { rule: "server/utilities/completion" }
  ),
  answers(
    "complete-hostile-type",
    "completion/complete",
    "writes an object that cannot become a text where the type of a reference belongs",
    { ref: { type: { toString: 1, valueOf: 1 } }, argument: { name: "a", value: "" } },
    "-32602",
    error(-32602)
  ),
  answers(
    "complete-unknown-argument",
    "completion/complete",
    "completes an argument that does not exist",
    { ref: { type: "ref/prompt", name: "greet" }, argument: { name: "no", value: "" } },
    "-32602",
    error(-32602),
    { rule: "server/utilities/completion" }
  ),
  answers(
    "complete-number",
    "completion/complete",
    "completes a value that is a number",
    { ref: { type: "ref/prompt", name: "greet" }, argument: { name: "name", value: 5 } },
    "-32602",
    error(-32602)
  ),
  answers(
    "subscribe-unknown",
    "resources/subscribe",
    "subscribes to a resource that does not exist",
    { uri: "memo://no" },
    "-32002",
    error(-32002),
    { rule: "server/resources#subscriptions" }
  ),
  answers(
    "unsubscribe-never",
    "resources/unsubscribe",
    "ends a subscription that it never began",
    { uri: "memo://note" },
    "answers: nothing is left to end",
    { result: {} },
    { rule: "server/resources#subscriptions" }
  ),
  level("unknown", "loud"),
  level("upper", "INFO"),
  level("warn", "warn"),
  level("number", 4),
  cursor("number-text", "2"),
  cursor("nonsense", "not base64!"),
  cursor("number", 2),
  cursor("object", { page: 2 }),
  answers(
    "token-object",
    "tools/call",
    "sends a progress token that is an object",
    { name: "echo", _meta: { progressToken: {} } },
    "-32602: a token is a string or an integer",
    error(-32602),
    { rule: "basic/utilities/progress#progress-flow" }
  ),
  answers(
    "token-fraction",
    "tools/call",
    "sends the progress token 1.5",
    { name: "echo", _meta: { progressToken: 1.5 } },
    "-32602: a token is a string or an integer",
    error(-32602),
    { rule: "basic/utilities/progress#progress-flow" }
  ),
  answers("meta-list", "tools/list", "sends `_meta: []`", { _meta: [] }, "-32602: `_meta` is an object", error(-32602)),
  answers(
    "meta-unknown",
    "tools/list",
    "sends keys in `_meta` that break the rules of names",
    { _meta: { "a b/": 1, "": 2 } },
    "ignores them",
    { result: { tools: [{}, {}, {}, {}, {}, {}, {}, {}, {}] } },
    { rule: "basic#_meta" }
  ),
  answers(
    "params-extra",
    "tools/list",
    "sends parameters that the method does not have",
    { limit: 5, offset: 10 },
    "ignores them",
    { result: { tools: [{}, {}, {}, {}, {}, {}, {}, {}, {}] } }
  ),
  answers("method-unknown", "tools/delete", "calls a method that does not exist", {}, "-32601", error(-32601)),
  answers("method-empty", "", "calls a method with an empty name", {}, "-32601", error(-32601)),
  answers("method-case", "Tools/List", "writes a method in capitals", {}, "-32601", error(-32601)),
  answers("method-proto", "__proto__", "calls a method named `__proto__`", {}, "-32601", error(-32601)),
  answers(
    "method-other-side",
    "sampling/createMessage",
    "sends a request that only servers send",
    { messages: [], maxTokens: 1 },
    "-32601",
    error(-32601)
  ),
  answers(
    "method-modern",
    "server/discover",
    "sends a method of 2026-07-28 in a conversation of an older revision",
    {},
    "-32601",
    error(-32601)
  ),
  answers(
    "tasks-undeclared",
    "tasks/list",
    "lists tasks, which the server has not declared",
    {},
    "-32601",
    error(-32601),
    { rule: "basic/utilities/tasks", revisions: "2025-11-25" }
  ),
  answers(
    "params-deep",
    "ping",
    "nests parameters 70 levels deep",
    JSON.parse("[".repeat(68) + "]".repeat(68)) as unknown,
    "-32600: deeper than 64 levels",
    { error: { code: -32600 } },
    {
      message: `{"jsonrpc":"2.0","id":"$id","method":"ping","params":{"a":${"[".repeat(70)}${"]".repeat(70)}}}`,
      expected: { answers: [{ id: 7, error: { code: -32600 } }], status: 400 }
    }
  )
]
