/**
 * The handler of an extension's request as a feature runs it: with parameters and a result as they are on the wire. `Features`
 * has what the application writes.
 */
import * as SchemaParser from "@effect-mcp/definition/unstable/SchemaParser"
import type * as Extension from "@effect-mcp/protocol/Extension"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import type { McpError } from "@effect-mcp/protocol/McpError"
import { ofIssue } from "@effect-mcp/protocol/McpError"
import * as Issue from "@effect-mcp/protocol/unstable/Issue"
import * as Effect from "effect/Effect"
import * as ParseResult from "effect/ParseResult"

/** Decodes the parameters, and encodes the answer. Dies when the answer is not a result of the method. */
export const bySchemas = <R>(
  { name, params, result }: Extension.Request,
  handler: (params: any) => Effect.Effect<any, McpError, R>
): (params: JsonObject | undefined) => Effect.Effect<JsonObject, McpError, R> => {
  const decode = SchemaParser.decodeUnknown(params)
  const encode = ParseResult.encodeUnknown(result)
  return (params) =>
    Effect.mapError(decode(params ?? {}), (issue) => ofIssue(issue)).pipe(
      Effect.flatMap(handler),
      Effect.flatMap((answer) =>
        Effect.catchAll(encode(answer), (issue) =>
          Effect.dieMessage(`The answer to "${name}" is not a result of the method: ${Issue.sentence(issue)}`))
      )
    )
}
