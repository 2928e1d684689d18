/**
 * `_meta`: what travels beside the content of any message, open to everybody. The keys that the specification reserves
 * are named here; all others are kept as they come. Which names a key may have is said in `MetaKey`; what a modern
 * request must carry, in `modern/Envelope`.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic#_meta
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { JsonObject } from "./Json.js"

/**
 * The keys of `_meta` that the specification gives a meaning, by what they hold.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#_meta
 * @since 0.1.0
 * @category constants
 */
export const keys = {
  /** Of a request that asks for progress: the token that the notifications name. Every revision. */
  progressToken: "progressToken",
  /** Of a modern request: its revision. */
  protocolVersion: "io.modelcontextprotocol/protocolVersion",
  /** Of a modern request: what the client can do. */
  clientCapabilities: "io.modelcontextprotocol/clientCapabilities",
  /** Of a modern request: who the client is. */
  clientInfo: "io.modelcontextprotocol/clientInfo",
  /** Of a modern request: from which level on it wants to hear logs; without it, none. */
  logLevel: "io.modelcontextprotocol/logLevel",
  /** Of a modern result: who the server is. */
  serverInfo: "io.modelcontextprotocol/serverInfo",
  /** Of all that a modern subscription tells: the id of the request that opened it. */
  subscriptionId: "io.modelcontextprotocol/subscriptionId",
  /** Of what belongs to a task of 2025-11-25. */
  relatedTask: "io.modelcontextprotocol/related-task",
  /** Of a task's creation in 2025-11-25: what the model may be told meanwhile. */
  modelImmediateResponse: "io.modelcontextprotocol/model-immediate-response",
  /** W3C Trace Context. */
  traceparent: "traceparent",
  /** W3C Trace Context. */
  tracestate: "tracestate",
  /** W3C Baggage. */
  baggage: "baggage"
} as const

/**
 * A string or an integer that names a request or its progress.
 *
 * @since 0.1.0
 * @category schemas
 */
export const RequestId: Schema.Union<[typeof Schema.String, typeof Schema.Int]> = Schema.Union(
  Schema.String,
  Schema.Int
)

/**
 * @since 0.1.0
 * @category models
 */
export interface Meta extends JsonObject {}

/**
 * @since 0.1.0
 * @category schemas
 */
export const Meta: Schema.Schema<Meta> = JsonObject

/**
 * `_meta` of a request: it may ask for progress, under a token of the sender's.
 *
 * @since 0.1.0
 * @category models
 */
export interface RequestMeta extends Meta {
  readonly progressToken?: string | number | undefined
}

/**
 * @since 0.1.0
 * @category schemas
 */
export const RequestMeta: Schema.Schema<RequestMeta> = Schema.Struct(
  { progressToken: Schema.optional(RequestId) },
  { key: Schema.String, value: Schema.Unknown }
).annotations({
  arbitrary: () => (fc) => fc.record({ progressToken: fc.oneof(fc.string(), fc.integer()) }, { requiredKeys: [] })
})

/**
 * The field that every request has for it.
 *
 * @since 0.1.0
 * @category fields
 */
export const request: { readonly _meta: Schema.optional<Schema.Schema<RequestMeta>> } = {
  _meta: Schema.optional(RequestMeta)
}

/**
 * The field that notifications, results and most types have for it.
 *
 * @since 0.1.0
 * @category fields
 */
export const any: { readonly _meta: Schema.optional<Schema.Schema<Meta>> } = { _meta: Schema.optional(Meta) }
