/**
 * Encodes a question as an input request of revision 2026-07-28, and decodes the client's response. The rounds of a request (`Questions`)
 * and tasks (`TaskWire`) use this module. They decide when to ask a question, and under which key.
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Capabilities from "../../protocol/Capabilities.js"
import * as Issue from "../../protocol/Issue.js"
import type { JsonObject } from "../../protocol/Json.js"
import * as McpError from "../../protocol/McpError.js"
import type * as Method from "../../protocol/Method.js"
import * as InputRequired from "../../protocol/modern/InputRequired.js"
import type { ModernVersion } from "../../protocol/Version.js"
import type { Question } from "../Ask.js"
import * as QuestionCapability from "../runtime/QuestionCapability.js"

const methods = {
  elicit: InputRequired.elicit,
  sample: InputRequired.createMessage,
  roots: InputRequired.listRoots
} as const

type AnyMethod = Method.Request<string, JsonObject, unknown>

export const methodOf = ({ kind }: Question<any>): AnyMethod => methods[kind] as unknown as AnyMethod

/** Gives the reason why a client cannot get the question; `undefined` when the client can get it. */
export const refusal = (
  question: Question<any>,
  capabilities: Capabilities.ClientCapabilities
): McpError.McpError | undefined => {
  const missing = Capabilities.missing(capabilities, question.requires)
  if (missing !== undefined) return new McpError.MissingClientCapability({ required: missing })
  return question.problem === undefined
    ? undefined
    : new McpError.InternalError({ message: `"${methodOf(question).name}" cannot be sent: ${question.problem}` })
}

/** Gives the parameters of the question for a client with this revision and these capabilities. */
export const narrow = (
  method: Method.Request,
  client: { readonly version: ModernVersion; readonly clientCapabilities: Capabilities.ClientCapabilities },
  given: JsonObject
): JsonObject => {
  // Revision 2026-07-28 has no ids of elicitations.
  const { elicitationId: _, ...params } = method.narrowParams(client.version)(given) as JsonObject
  return QuestionCapability.withoutContext(method.name, params, client)
}

/** Decodes the answer from the client's response with this key. */
export const answer = (key: string, question: Question<any>, given: unknown): Effect.Effect<any, McpError.McpError> => {
  const method = methodOf(question)
  const invalid = (why: string) =>
    new McpError.InvalidParams({
      message: `Invalid params: the response "${key}" is not an answer to "${method.name}": ${why}`
    })
  const result = method.decodeResult(given as JsonObject)
  return Either.isLeft(result)
    ? Effect.fail(invalid(Issue.sentence(result.left.issue)))
    : Effect.mapError(question.decode(result.right), invalid)
}
