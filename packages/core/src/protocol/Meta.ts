/**
 * `_meta`: the object for additional data that any message may have. This module has the keys that the specification defines. Other keys
 * stay unchanged when a message is decoded or encoded. `rules/MetaKey` says which keys are valid and which are reserved. `modern/Envelope`
 * says which keys each modern request must have.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic#_meta
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { JsonObject } from "./Json.js"
import { harmless } from "./schema/Mendable.js"

/**
 * The keys that the specification defines.
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#_meta
 * @category constants
 */
export const keys = {
  /** In a request of any revision: the token that the progress notifications of this request contain. */
  progressToken: "progressToken",
  /** In a modern request: the protocol revision of the request. */
  protocolVersion: "io.modelcontextprotocol/protocolVersion",
  /** In a modern request: the capabilities of the client. */
  clientCapabilities: "io.modelcontextprotocol/clientCapabilities",
  /** In a modern request: the name and version of the client. */
  clientInfo: "io.modelcontextprotocol/clientInfo",
  /** In a modern request: the least severe log level that the client wants. Without this key, the client wants no log messages. */
  logLevel: "io.modelcontextprotocol/logLevel",
  /** In a modern result: the name and version of the server. */
  serverInfo: "io.modelcontextprotocol/serverInfo",
  /** In a modern notification of a subscription: the id of the request that opened the subscription. */
  subscriptionId: "io.modelcontextprotocol/subscriptionId",
  /** In a message about a task of revision 2025-11-25: the id of the task. */
  relatedTask: "io.modelcontextprotocol/related-task",
  /** In the result that creates a task of revision 2025-11-25: text that the model can read at once. */
  modelImmediateResponse: "io.modelcontextprotocol/model-immediate-response",
  traceparent: "traceparent",
  tracestate: "tracestate",
  baggage: "baggage"
} as const

/**
 * The id of a request, or a progress token.
 *
 * @category schemas
 */
export const RequestId: Schema.Union<[typeof Schema.String, typeof Schema.Int]> = Schema.Union(
  Schema.String,
  Schema.Int
)

/** @category models */
export interface Meta extends JsonObject {}

/** @category schemas */
export const Meta: Schema.Schema<Meta> = JsonObject

/**
 * `_meta` of a request.
 *
 * @category models
 */
export interface RequestMeta extends Meta {
  readonly progressToken?: string | number | undefined
}

/** @category schemas */
export const RequestMeta: Schema.Schema<RequestMeta> = Schema.Struct(
  { progressToken: harmless(Schema.optional(RequestId)) },
  { key: Schema.String, value: Schema.Unknown }
).annotations({
  arbitrary: () => (fc) => fc.record({ progressToken: fc.oneof(fc.string(), fc.integer()) }, { requiredKeys: [] })
})

/**
 * The `_meta` field of requests.
 *
 * @category constants
 */
export const request: { readonly _meta: Schema.optional<Schema.Schema<RequestMeta>> } = {
  _meta: harmless(Schema.optional(RequestMeta))
}

/**
 * The `_meta` field of notifications, of results and of most types.
 *
 * @category constants
 */
export const any: { readonly _meta: Schema.optional<Schema.Schema<Meta>> } = { _meta: harmless(Schema.optional(Meta)) }
