/**
 * Checks the structured content of tool results against the output schemas that the server lists. The schemas are the
 * server's: a check that costs too much is given up and reported.
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as JsonSchemaValidator from "../../definition/schema/JsonSchemaValidator.js"
import { Diagnostic } from "../../jsonrpc/Diagnostic.js"
import { TransportError } from "../../jsonrpc/LocalError.js"
import type * as Tools from "../../protocol/Tools.js"
import type { Report } from "./Decoding.js"
import type { ServerTool, ServerToolsService } from "./ServerTools.js"

/** A tool without an output schema, a schema to check with, or why there is none. */
type OutputSchema = JsonSchemaValidator.Validate | "NoSchema" | { readonly reason: string }

const compiled = new WeakMap<ServerTool, OutputSchema>()

const schemaOf = (tool: ServerTool): OutputSchema => {
  const before = compiled.get(tool)
  if (before !== undefined) return before
  const made: OutputSchema = tool.outputSchema === undefined
    ? "NoSchema"
    : Either.getOrElse(JsonSchemaValidator.make(tool.outputSchema), (why) => ({ reason: `its output schema ${why}` }))
  compiled.set(tool, made)
  return made
}

/**
 * Gives the result of a tool. Fails with reason `Decode` when the result does not match the output schema of the tool, which `find`
 * looks for. A result that cannot be checked is accepted, and reported once for each tool.
 */
export const check = (
  name: string,
  result: Tools.CallToolResult,
  find: ReturnType<ServerToolsService["find"]>,
  unchecked: ServerToolsService["unchecked"],
  report: Report
): Effect.Effect<Tools.CallToolResult, TransportError> => {
  const accept = (reason: string): Effect.Effect<Tools.CallToolResult> =>
    Effect.suspend(() => {
      if (unchecked.has(name) || result.structuredContent === undefined) return Effect.succeed(result)
      unchecked.add(name)
      return Effect.as(report(Diagnostic.Unchecked({ subject: `The result of the tool "${name}"`, reason })), result)
    })
  const verify = (schema: OutputSchema): Effect.Effect<Tools.CallToolResult, TransportError> => {
    if (schema === "NoSchema") return Effect.succeed(result)
    if (typeof schema === "object") return accept(schema.reason)
    if (result.structuredContent === undefined) return Effect.fail(invalid(name, "it has no structured content"))
    return Either.match(schema(result.structuredContent), {
      onLeft: (why) => accept(`its output schema ${why}`),
      onRight: (errors) =>
        errors.length === 0 ? Effect.succeed(result) : Effect.fail(invalid(name, errors.map(sentence).join("; ")))
    })
  }
  return result.isError === true
    ? Effect.succeed(result)
    : Effect.flatMap(find, Either.match({ onLeft: accept, onRight: (tool) => verify(schemaOf(tool)) }))
}

const sentence = ({ message, path }: { readonly path: ReadonlyArray<PropertyKey>; readonly message: string }): string =>
  path.length === 0 ? message : `${path.map(String).join(".")}: ${message}`

const invalid = (name: string, why: string): TransportError =>
  new TransportError({
    reason: "Decode",
    message: `The result of the tool "${name}" does not match its output schema: ${why}`
  })
