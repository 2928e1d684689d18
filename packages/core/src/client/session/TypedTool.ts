/**
 * Encodes the arguments of a tool and reads its results by the schemas of its definition. `Client.of` uses this module to call tools, and
 * `TasksClient` to start tools as tasks.
 */
import * as Effect from "effect/Effect"
import type * as Tool from "../../definition/Tool.js"
import * as Issue from "../../protocol/Issue.js"
import type { JsonObject } from "../../protocol/Json.js"
import { InvalidParams, type ParseIssue } from "../../protocol/McpError.js"
import type * as Tools from "../../protocol/Tools.js"
import { invalidResult, ToolError } from "../ClientError.js"

export const invalidArguments = (what: string) => (issue: ParseIssue): InvalidParams =>
  new InvalidParams({ message: `Invalid arguments for ${what}: ${Issue.sentence(issue)}` })

export const encode = ({ codec, name }: Tool.Tool.Any, args: unknown): Effect.Effect<JsonObject, InvalidParams> =>
  Effect.mapError(codec.encodeArguments(args), invalidArguments(`tool "${name}"`))

/**
 * Reads a result. When the result has `isError`, fails with the declared failure of the tool, or with `ToolError` if it is another failure.
 */
export const reader = ({ codec, name }: Tool.Tool.Any) => (result: Tools.CallToolResult): Effect.Effect<any, any> =>
  result.isError === true
    ? Effect.matchEffect(codec.decodeFailure(result), {
      onFailure: () => Effect.fail(new ToolError({ tool: name, result })),
      onSuccess: (failure) => Effect.fail(failure)
    })
    : Effect.mapError(codec.decodeSuccess(result), (issue) => invalidResult(`the tool "${name}"`, issue))
