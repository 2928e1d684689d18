/**
 * The types with which a modern server asks its client for input. The server answers a request with a result of the type `input_required`.
 * This result contains input requests, and a `requestState` that the client cannot read, because the server encrypts it. The client then
 * sends its request again, with the responses to the input requests and the unchanged `requestState`. `server/modern/Questions` makes the
 * input requests, and `client/modern/InputRounds` answers them. A legacy server does not use these types: it sends JSON-RPC requests to the
 * client.
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

/** @category methods */
export const elicit = Method.request({
  name: "elicitation/create",
  from: "server",
  params: ElicitParams,
  result: ElicitResult,
  capability: "elicitation",
  since: "2025-06-18"
})

/** @category methods */
export const createMessage = Method.request({
  name: "sampling/createMessage",
  deprecated: Method.deprecatedFeature,
  from: "server",
  params: CreateMessageParams,
  result: CreateMessageResult,
  capability: "sampling"
})

/** @category methods */
export const listRoots = Method.request({
  name: "roots/list",
  deprecated: Method.deprecatedFeature,
  from: "server",
  params: Method.Empty,
  result: ListRootsResult,
  capability: "roots"
})

/**
 * The methods of input requests, by name. The table of `Methods` does not contain these methods.
 *
 * @category constants
 */
export const inputMethods = Method.table(elicit, createMessage, listRoots)

/** @category models */
export type InputRequest = typeof InputRequest.Type

/** @category schemas */
export const InputRequest = Schema.Union(
  Schema.Struct({ method: Schema.Literal(elicit.name), params: ElicitParams }),
  Schema.Struct({ method: Schema.Literal(createMessage.name), params: CreateMessageParams }),
  Schema.Struct({ method: Schema.Literal(listRoots.name), params: Schema.optional(Method.Empty) })
)

/** @category models */
export type InputResponse = typeof InputResponse.Type

/**
 * The response to an input request. The input request with the same key decides which of the three types the response has.
 *
 * @category schemas
 */
export const InputResponse = Schema.Union(ElicitResult, CreateMessageResult, ListRootsResult)

/** @category models */
export interface InputRequests extends Schema.Schema.Type<typeof InputRequests> {}

/** @category schemas */
export const InputRequests = Schema.Record({ key: Key, value: InputRequest })

/** @category models */
export interface InputResponses extends Schema.Schema.Type<typeof InputResponses> {}

/** @category schemas */
export const InputResponses = Schema.Record({ key: Key, value: InputResponse })

/**
 * The fields that a client adds when it sends a request again. The server ignores responses whose keys it does not know.
 *
 * @category constants
 */
export const retryFields: {
  readonly inputResponses: Schema.optional<Schema.Schema<InputResponses>>
  readonly requestState: Schema.optional<typeof Schema.String>
} = {
  inputResponses: Schema.optional(InputResponses),
  /** The `requestState` of the server, which the client returns unchanged. */
  requestState: Schema.optional(Schema.String)
}

/** @category models */
export interface InputRequiredResult extends Schema.Schema.Type<typeof InputRequiredResult> {}

/**
 * The result with which a server asks for input. The result has input requests under keys that the server has chosen, or a state that the
 * client sends back, or both.
 *
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

/**
 * The methods whose requests a server may answer with `input_required`.
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/multi-round-trip-requests#supported-requests
 * @category constants
 */
export const methods: ReadonlySet<string> = new Set(["tools/call", "prompts/get", "resources/read"])

/**
 * Makes the result with which a modern server asks the user to open URLs. A legacy server uses the error `UrlElicitationRequired` instead.
 * In the modern era elicitations have no ids, so the position of each elicitation makes its key: `url-0`, `url-1`.
 *
 * @category constructors
 */
export const ofUrlElicitations = (
  elicitations: ReadonlyArray<{ readonly message: string; readonly url: string }>
): InputRequiredResult => ({
  resultType: INPUT_REQUIRED,
  inputRequests: Object.fromEntries(
    elicitations.map((
      { message, url },
      i
    ) => [`url-${i}`, { method: elicit.name, params: { mode: "url", message, url } }])
  )
})
