/**
 * Hostile values in the parameters of every method, each in a single request. A server that refuses such a value must not spend time on a
 * description of the value. `HostileClients` plays these attacks.
 */
import { deep, large, one, type PeerAttack, request, wide } from "./Peer.js"

const values: ReadonlyArray<readonly [name: string, size: number, value: (size: number) => unknown]> = [
  ["an object of 90,000 members", 90_000, wide],
  ["an array of 90,000 numbers", 90_000, (size) => Array(size).fill(1)],
  ["an array of 55 levels", 55, deep]
]

/** For each method, parameters with the value in the place of a string. */
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

const template = { type: "ref/resource", uri: "test://files/{path}/parts/{id}" }

export const attacks: ReadonlyArray<PeerAttack> = [
  ...methods.flatMap(([method, params]) =>
    values.map(([name, size, value]) =>
      large(`${method} with ${name}`, size, (size) => request(1, method, params(value(size))), -32602)
    )
  ),
  large(
    "a mode of 90,000 members",
    90_000,
    (size) => request(1, "tools/call", { name: "choose", arguments: { mode: wide(size) } }),
    "answer"
  ),
  large(
    "90,000 unknown arguments",
    90_000,
    (size) => request(1, "tools/call", { name: "echo", arguments: wide(size) }),
    "answer"
  ),
  large(
    "a list of 30,000 bad elements",
    30_000,
    (size) =>
      request(1, "tools/call", { name: "choose", arguments: { mode: "a", deep: Array(size).fill({ n: "x" }) } }),
    "answer"
  ),
  large(
    "3 MB for a pattern",
    3_000_000,
    (size) => request(1, "tools/call", { name: "choose", arguments: { mode: "a", pattern: "x".repeat(size) } }),
    "answer"
  ),
  large(
    "3 MB to complete",
    3_000_000,
    (size) =>
      request(1, "completion/complete", {
        ref: { type: "ref/prompt", name: "greeting" },
        argument: { name: "name", value: "x".repeat(size) }
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
  large(
    "a completion with 45,000 arguments",
    45_000,
    (size) =>
      request(1, "completion/complete", {
        ref: { type: "ref/prompt", name: "greeting" },
        argument: { name: "name", value: "A" },
        context: { arguments: wide(size) }
      }),
    "answer"
  ),
  large(
    "a completion of a template by 3 MB",
    3_000_000,
    (size) => request(1, "completion/complete", { ref: template, argument: { name: "path", value: "x".repeat(size) } }),
    "result"
  ),
  large(
    "a completion of 3 MB of template",
    1_000_000,
    (size) =>
      request(1, "completion/complete", {
        ref: { type: "ref/resource", uri: "{a}".repeat(size) },
        argument: { name: "a", value: "" }
      }),
    -32602
  ),
  large(
    "a URI that almost matches a template, often",
    300_000,
    (size) => request(1, "resources/read", { uri: "test://files/" + "a/parts/".repeat(size) }),
    "answer"
  ),
  large(
    "a URI of 3 MB of percent signs",
    3_000_000,
    (size) => request(1, "resources/read", { uri: "test://files/" + "%".repeat(size) + "/parts/1" }),
    "answer"
  ),
  large(
    "a URI of 3 MB of escapes",
    1_000_000,
    (size) => request(1, "resources/read", { uri: "test://files/" + "%41".repeat(size) + "/parts/1" }),
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
  large(
    "a subscription to 3 MB",
    3_000_000,
    (size) => request(1, "resources/subscribe", { uri: "test://files/" + "a".repeat(size) + "/parts/1" }),
    "answer"
  ),
  large(
    "_meta of 90,000 members",
    90_000,
    (size) => request(1, "tools/call", { name: "echo", arguments: { text: "a" }, _meta: wide(size) }),
    "result"
  ),
  large(
    "a trace of 1 MB",
    1_000_000,
    (size) =>
      request(1, "tools/call", { name: "echo", arguments: { text: "a" }, _meta: { traceparent: "0".repeat(size) } }),
    "result"
  ),
  one(
    "an object as a progress token",
    request(1, "tools/call", { name: "echo", arguments: { text: "a" }, _meta: { progressToken: {} } }),
    -32602
  ),
  one("null for every optional member", request(1, "tools/list", { cursor: null, _meta: null }), "answer"),
  large(
    "a prompt with 90,000 arguments",
    90_000,
    (size) => request(1, "prompts/get", { name: "greeting", arguments: wide(size) }),
    -32602
  ),
  one(
    "a prompt whose argument is a number",
    request(1, "prompts/get", { name: "greeting", arguments: { name: 7 } }),
    -32602
  ),
  large(
    "a prompt whose argument has 3 MB",
    3_000_000,
    (size) => request(1, "prompts/get", { name: "greeting", arguments: { name: "x".repeat(size) } }),
    "result"
  ),
  large("a task that is not there", 3_000_000, (size) => request(1, "tasks/get", { taskId: "x".repeat(size) }), -32601),
  one("a method of the server", request(1, "sampling/createMessage", {}), -32601)
]
