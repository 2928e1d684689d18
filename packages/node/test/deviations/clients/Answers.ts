/**
 * Clients whose answers to the server deviate.
 */
import type { ClientRow } from "../Row.js"
import { sends } from "./Sends.js"

const answersOfClient: ReadonlyArray<ClientRow> = [
  sends(
    "answer-unasked",
    "answers a request that the server never sent",
    { jsonrpc: "2.0", id: 99, result: {} },
    "ignores it and reports it",
    []
  ),
  sends(
    "error-unasked",
    "sends an error without an id",
    { jsonrpc: "2.0", error: { code: 1, message: "?" } },
    "ignores it and reports it",
    []
  ),
  sends(
    "answer-both",
    "answers with a result and an error",
    { jsonrpc: "2.0", id: 99, result: {}, error: { code: 1, message: "" } },
    "reports it; an answer is not answered",
    [],
    { over: ["memory", "stdio"] }
  ),
  sends(
    "answer-id-null",
    "answers with `id: null`",
    { jsonrpc: "2.0", id: null, result: {} },
    "reports it; an answer is not answered",
    [],
    { over: ["memory", "stdio"] }
  )
]

const asks = (
  id: string,
  deviation: string,
  tool: "ask" | "roots" | "sample",
  reply: unknown,
  does: string,
  said: string,
  more: Partial<ClientRow> = {}
): ClientRow => ({
  id,
  method: { ask: "elicitation/create", roots: "roots/list", sample: "sampling/createMessage" }[tool],
  deviation,
  message: { jsonrpc: "2.0", id: "$id", method: "tools/call", params: { name: tool } },
  reply,
  does,
  expected: { answers: [{ id: 7, result: { content: [{ type: "text", text: said }] } }] },
  ...more
})

const result = (value: unknown) => ({ jsonrpc: "2.0", id: "$id", result: value })
const error = (value: unknown) => ({ jsonrpc: "2.0", id: "$id", error: value })

const asked: ReadonlyArray<ClientRow> = [
  asks(
    "ask-decline-null",
    "declines with `content: null`",
    "ask",
    result({ action: "decline", content: null }),
    "`null` counts as absent",
    "decline"
  ),
  asks(
    "ask-meta-null",
    "answers with `_meta: null`",
    "ask",
    result({ action: "cancel", _meta: null }),
    "`null` counts as absent",
    "cancel"
  ),
  asks(
    "ask-error-null",
    "answers with a result and `error: null`",
    "ask",
    { jsonrpc: "2.0", id: "$id", result: { action: "cancel" }, error: null },
    "`null` counts as absent",
    "cancel"
  ),
  asks(
    "ask-action-unknown",
    "answers with an action that does not exist",
    "ask",
    result({ action: "maybe" }),
    "the request of the handler fails",
    "failed: TransportError"
  ),
  asks(
    "ask-content-nested",
    "accepts with a nested value",
    "ask",
    result({ action: "accept", content: { name: { first: "x" } } }),
    "the request of the handler fails",
    "failed: TransportError",
    { rule: "client/elicitation" }
  ),
  asks(
    "ask-content-misfit",
    "accepts without a required value",
    "ask",
    result({ action: "accept", content: {} }),
    "the request of the handler fails",
    "failed: TransportError",
    { rule: "client/elicitation" }
  ),
  asks(
    "ask-result-null",
    "answers `result: null`",
    "ask",
    result(null),
    "the request of the handler fails",
    "failed: TransportError",
    { over: ["memory", "stdio"] }
  ),
  asks(
    "ask-id-text",
    "answers the id 1 as the text \"1\"",
    "roots",
    "{\"jsonrpc\":\"2.0\",\"id\":\"$id\",\"result\":{\"roots\":[]}}",
    "accepts: the two forms of an id count as one in answers",
    "0 roots"
  ),
  asks(
    "ask-error-text-code",
    "refuses with the code \"-32601\" as a text",
    "roots",
    error({ code: "-32601", message: "no" }),
    "reads the number",
    "failed: MethodNotFound"
  ),
  asks(
    "ask-error-no-code",
    "refuses without a code",
    "roots",
    error({ message: "no" }),
    "reads it as an internal error",
    "failed: InternalError"
  ),
  asks(
    "ask-error-no-message",
    "refuses without a message",
    "roots",
    error({ code: -32602 }),
    "reads it as an error without a message",
    "failed: InvalidParams"
  ),
  asks(
    "ask-error-text",
    "refuses with a text in place of an error",
    "roots",
    error("no"),
    "reads it as an internal error with this message",
    "failed: InternalError"
  ),
  asks(
    "ask-error-result-null",
    "refuses with `result: null` beside the error",
    "roots",
    { jsonrpc: "2.0", id: "$id", result: null, error: { code: -32601, message: "no" } },
    "`null` counts as absent",
    "failed: MethodNotFound"
  ),
  asks(
    "roots-name-null",
    "lists a root with `name: null`",
    "roots",
    result({ roots: [{ uri: "file:///a", name: null }] }),
    "`null` counts as absent",
    "1 roots"
  ),
  asks(
    "roots-bad-one",
    "lists a root without a URI",
    "roots",
    result({ roots: [{ uri: "file:///a" }, {}] }),
    "the request of the handler fails: a server leaves out nothing",
    "failed: TransportError"
  ),
  asks(
    "sample-stop-null",
    "samples with `stopReason: null`",
    "sample",
    result({ role: "assistant", model: "m", content: { type: "text", text: "x" }, stopReason: null }),
    "`null` counts as absent",
    "m"
  ),
  asks(
    "sample-no-model",
    "samples without the name of the model",
    "sample",
    result({ role: "assistant", content: { type: "text", text: "x" } }),
    "the request of the handler fails",
    "failed: TransportError"
  ),
  asks(
    "sample-content-unknown",
    "samples content of an unknown type",
    "sample",
    result({ role: "assistant", model: "m", content: { type: "video" } }),
    "the request of the handler fails",
    "failed: TransportError"
  )
]

export const rows: ReadonlyArray<ClientRow> = [...answersOfClient, ...asked]
