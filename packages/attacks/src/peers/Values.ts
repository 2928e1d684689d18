/**
 * Hostile values in the parameters of every method, each a single request. The server refuses them without describing them.
 * `HostileClients` plays them.
 */
import { deep, one, type PeerAttack, request, wide } from "./Peer.js"

const values: ReadonlyArray<readonly [name: string, value: unknown]> = [
  ["an object of 90,000 members", wide(90_000)],
  ["an array of 90,000 numbers", Array(90_000).fill(1)],
  ["an array of 55 levels", deep(55)]
]

/** For each method, parameters with the value in the place of a text. */
const methods: ReadonlyArray<readonly [method: string, params: (value: unknown) => object]> = [
  ["tools/call", (name) => ({ name })],
  ["prompts/get", (name) => ({ name })],
  ["resources/read", (uri) => ({ uri })],
  ["resources/subscribe", (uri) => ({ uri })],
  ["resources/unsubscribe", (uri) => ({ uri })],
  ["logging/setLevel", (level) => ({ level })],
  ["completion/complete", (ref) => ({ ref, argument: { name: "name", value: "a" } })],
  ["tools/list", (cursor) => ({ cursor })]
]

const long = "x".repeat(3_000_000)

const template = { type: "ref/resource", uri: "test://files/{path}/parts/{id}" }

export const attacks: ReadonlyArray<PeerAttack> = [
  ...methods.flatMap(([method, params]) =>
    values.map(([name, value]) => one(`${method} with ${name}`, request(1, method, params(value)), -32602))
  ),
  one(
    "a mode of 90,000 members",
    request(1, "tools/call", { name: "choose", arguments: { mode: wide(90_000) } }),
    "answer"
  ),
  one("90,000 unknown arguments", request(1, "tools/call", { name: "echo", arguments: wide(90_000) }), "answer"),
  one(
    "a list of 30,000 bad elements",
    request(1, "tools/call", { name: "choose", arguments: { mode: "a", deep: Array(30_000).fill({ n: "x" }) } }),
    "answer"
  ),
  one(
    "3 MB for a pattern",
    request(1, "tools/call", { name: "choose", arguments: { mode: "a", pattern: long } }),
    "answer"
  ),
  one(
    "3 MB to complete",
    request(1, "completion/complete", {
      ref: { type: "ref/prompt", name: "greeting" },
      argument: { name: "name", value: long }
    }),
    "result"
  ),
  one(
    "a completion of an unknown argument",
    request(1, "completion/complete", {
      ref: { type: "ref/prompt", name: "greeting" },
      argument: { name: "__proto__", value: "" }
    }),
    -32602
  ),
  one(
    "a completion with 90,000 arguments",
    request(1, "completion/complete", {
      ref: { type: "ref/prompt", name: "greeting" },
      argument: { name: "name", value: "A" },
      context: { arguments: wide(45_000) }
    }),
    "answer"
  ),
  one(
    "a completion of a template by 3 MB",
    request(1, "completion/complete", { ref: template, argument: { name: "path", value: long } }),
    "result"
  ),
  one(
    "a completion of 3 MB of template",
    request(1, "completion/complete", {
      ref: { type: "ref/resource", uri: "{a}".repeat(1_000_000) },
      argument: { name: "a", value: "" }
    }),
    -32602
  ),
  one(
    "a URI that almost matches a template, often",
    request(1, "resources/read", { uri: "test://files/" + "a/parts/".repeat(300_000) }),
    "answer"
  ),
  one(
    "a URI of 3 MB of percent signs",
    request(1, "resources/read", { uri: "test://files/" + "%".repeat(3_000_000) + "/parts/1" }),
    "answer"
  ),
  one(
    "a URI of 3 MB of escapes",
    request(1, "resources/read", { uri: "test://files/" + "%41".repeat(1_000_000) + "/parts/1" }),
    "answer"
  ),
  one(
    "a URI with broken UTF-8 in its escapes",
    request(1, "resources/read", { uri: "test://files/%E0%A4%A/parts/%FF" }),
    "answer"
  ),
  one(
    "a URI that leaves its folder",
    request(1, "resources/read", { uri: "test://files/..%2f..%2fetc/parts/passwd" }),
    "answer"
  ),
  one(
    "a subscription to 3 MB",
    request(1, "resources/subscribe", { uri: "test://files/" + "a".repeat(3_000_000) + "/parts/1" }),
    "answer"
  ),
  one(
    "_meta of 90,000 members",
    request(1, "tools/call", { name: "echo", arguments: { text: "a" }, _meta: wide(90_000) }),
    "result"
  ),
  one(
    "a trace of 1 MB",
    request(1, "tools/call", { name: "echo", arguments: { text: "a" }, _meta: { traceparent: "0".repeat(1_000_000) } }),
    "result"
  ),
  one(
    "an object as a progress token",
    request(1, "tools/call", { name: "echo", arguments: { text: "a" }, _meta: { progressToken: {} } }),
    -32602
  ),
  one("null for every optional member", request(1, "tools/list", { cursor: null, _meta: null }), "answer"),
  one(
    "a prompt with 90,000 arguments",
    request(1, "prompts/get", { name: "greeting", arguments: wide(90_000) }),
    -32602
  ),
  one(
    "a prompt whose argument is a number",
    request(1, "prompts/get", { name: "greeting", arguments: { name: 7 } }),
    -32602
  ),
  one(
    "a prompt whose argument has 3 MB",
    request(1, "prompts/get", { name: "greeting", arguments: { name: long } }),
    "result"
  ),
  one("a task that is not there", request(1, "tasks/get", { taskId: long }), -32601),
  one("a method of the server", request(1, "sampling/createMessage", {}), -32601)
]
