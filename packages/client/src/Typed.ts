/**
 * A definition as functions: one for each tool, under its own name. Arguments are encoded, results and declared failures
 * decoded, by the schemas that the server keeps.
 *
 * @since 0.1.0
 */
import type * as Definition from "@effect-mcp/definition/Definition"
import type * as Tool from "@effect-mcp/definition/Tool"
import * as Issue from "@effect-mcp/protocol/Issue"
import { InvalidParams } from "@effect-mcp/protocol/McpError"
import type * as Tools from "@effect-mcp/protocol/Tools"
import * as Effect from "effect/Effect"
import type { ClientError } from "./ClientError.js"
import { invalidResult, ToolError } from "./ClientError.js"
import type { CallOptions, ClientSessionService } from "./ClientSession.js"

/**
 * What a call of a tool gives: its success, or the whole result of a tool that declares none.
 *
 * @since 0.1.0
 * @category models
 */
export type Gives<T> = [Tool.Tool.Success<T>] extends [void] ? Tools.CallToolResult : Tool.Tool.Success<T>

/**
 * A tool as a function. It fails with the tool's declared failure, with `ToolError` when the tool failed otherwise, and
 * like any call.
 *
 * @since 0.1.0
 * @category models
 */
export type Call<T> = {} extends Tool.Tool.Arguments<T> ? (
    args?: Tool.Tool.Arguments<T>,
    options?: CallOptions
  ) => Effect.Effect<Gives<T>, Tool.Tool.Failure<T> | ToolError | ClientError>
  : (
    args: Tool.Tool.Arguments<T>,
    options?: CallOptions
  ) => Effect.Effect<Gives<T>, Tool.Tool.Failure<T> | ToolError | ClientError>

/**
 * @since 0.1.0
 * @category models
 */
export type Typed<D extends Definition.Definition.Any> = {
  readonly [T in Definition.Definition.Tools<D> as T["name"]]: Call<T>
}

/**
 * @since 0.1.0
 * @category constructors
 */
export const make = <D extends Definition.Definition.Any>(session: ClientSessionService, definition: D): Typed<D> =>
  Object.fromEntries(
    [...definition.tools].map(([name, tool]) => [name, call(session, tool)])
  ) as Typed<D>

const call = (session: ClientSessionService, { codec, name }: Tool.Tool.Any) => {
  const badArguments = (issue: Parameters<typeof Issue.sentence>[0]) =>
    new InvalidParams({ message: `Invalid arguments for tool "${name}": ${Issue.sentence(issue)}` })
  const badResult = (issue: Parameters<typeof Issue.sentence>[0]) => invalidResult(`the tool "${name}"`, issue)
  const read = (result: Tools.CallToolResult) =>
    result.isError === true
      ? Effect.matchEffect(codec.decodeFailure(result), {
        onFailure: () => Effect.fail(new ToolError({ tool: name, result })),
        onSuccess: (failure) => Effect.fail(failure)
      })
      : Effect.mapError(codec.decodeSuccess(result), badResult)
  return (args: unknown, options?: CallOptions) =>
    Effect.flatMap(
      Effect.mapError(codec.encodeArguments(args), badArguments),
      (encoded) => Effect.flatMap(session.callTool(name, encoded, options), read)
    )
}
