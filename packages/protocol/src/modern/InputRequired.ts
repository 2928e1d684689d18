/**
 * How a modern server asks: it answers a request with questions, and the client makes the request again with the answers.
 * The questions are those that a legacy server sends as requests, without an id.
 *
 * `requestState` is the server's, and opaque to everybody else; how it is sealed is not the business of this package.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/multi-round-trip-requests
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { ElicitParams, ElicitResult } from "../Elicitation.js"
import { Key } from "../Json.js"
import * as Method from "../Method.js"
import { ListRootsResult } from "../Roots.js"
import { CreateMessageParams, CreateMessageResult } from "../Sampling.js"
import * as Envelope from "./Envelope.js"
import { INPUT_REQUIRED } from "./ResultType.js"

/**
 * @since 0.1.0
 * @category questions
 */
export const elicit = Method.request({
  name: "elicitation/create",
  from: "server",
  params: ElicitParams,
  result: ElicitResult,
  capability: "elicitation",
  since: "2025-06-18"
})

/**
 * @since 0.1.0
 * @category questions
 */
export const createMessage = Method.request({
  name: "sampling/createMessage",
  from: "server",
  params: CreateMessageParams,
  result: CreateMessageResult,
  capability: "sampling"
})

/**
 * @since 0.1.0
 * @category questions
 */
export const listRoots = Method.request({
  name: "roots/list",
  from: "server",
  params: Method.Empty,
  result: ListRootsResult,
  capability: "roots"
})

/**
 * What may be asked, by name. None of these is a method: they are not in the table of `Methods`.
 *
 * @since 0.1.0
 * @category questions
 */
export const questions = Method.table(elicit, createMessage, listRoots)

/**
 * @since 0.1.0
 * @category models
 */
export type InputRequest = typeof InputRequest.Type

/**
 * @since 0.1.0
 * @category schemas
 */
export const InputRequest = Schema.Union(
  Schema.Struct({ method: Schema.Literal(elicit.name), params: ElicitParams }),
  Schema.Struct({ method: Schema.Literal(createMessage.name), params: CreateMessageParams }),
  Schema.Struct({ method: Schema.Literal(listRoots.name), params: Schema.optional(Method.Empty) })
)

/**
 * @since 0.1.0
 * @category models
 */
export type InputResponse = typeof InputResponse.Type

/**
 * An answer, of whatever kind: the question says which it must be.
 *
 * @since 0.1.0
 * @category schemas
 */
export const InputResponse = Schema.Union(ElicitResult, CreateMessageResult, ListRootsResult)

/**
 * @since 0.1.0
 * @category models
 */
export interface InputRequests extends Schema.Schema.Type<typeof InputRequests> {}

/**
 * @since 0.1.0
 * @category schemas
 */
export const InputRequests = Schema.Record({ key: Key, value: InputRequest })

/**
 * @since 0.1.0
 * @category models
 */
export interface InputResponses extends Schema.Schema.Type<typeof InputResponses> {}

/**
 * @since 0.1.0
 * @category schemas
 */
export const InputResponses = Schema.Record({ key: Key, value: InputResponse })

/**
 * The fields that a request has when it is made again. A server ignores answers to what it did not ask.
 *
 * @since 0.1.0
 * @category fields
 */
export const retry: {
  readonly inputResponses: Schema.optional<Schema.Schema<InputResponses>>
  readonly requestState: Schema.optional<typeof Schema.String>
} = {
  inputResponses: Schema.optional(InputResponses),
  /** As it was received, or not at all. */
  requestState: Schema.optional(Schema.String)
}

/**
 * @since 0.1.0
 * @category models
 */
export interface InputRequiredResult extends Schema.Schema.Type<typeof InputRequiredResult> {}

/**
 * Questions by the server's own keys, or a state to come back with, or both.
 *
 * @since 0.1.0
 * @category schemas
 */
export const InputRequiredResult = Schema.Struct({
  resultType: Schema.Literal(INPUT_REQUIRED),
  inputRequests: Schema.optional(InputRequests),
  requestState: Schema.optional(Schema.String),
  ...Envelope.result
}).pipe(
  Schema.filter(({ inputRequests, requestState }) =>
    inputRequests !== undefined || requestState !== undefined || "neither inputRequests nor requestState"
  )
)

const methods: ReadonlySet<string> = new Set(["tools/call", "prompts/get", "resources/read"])

/**
 * Whether a method may be answered with questions.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/multi-round-trip-requests#supported-requests
 * @since 0.1.0
 * @category predicates
 */
export const mayAsk = (method: string): boolean => methods.has(method)

/**
 * The questions of a legacy error that asks for pages to be opened, so that a handler that fails with it asks here, too.
 * Ids of pages are gone in this era: each is told by its place.
 *
 * @since 0.1.0
 * @category conversions
 */
export const ofPages = (
  pages: ReadonlyArray<{ readonly message: string; readonly url: string }>
): InputRequiredResult => ({
  resultType: INPUT_REQUIRED,
  inputRequests: Object.fromEntries(
    pages.map(({ message, url }, i) => [`url-${i}`, { method: elicit.name, params: { mode: "url", message, url } }])
  )
})
