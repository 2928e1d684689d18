/**
 * Checks the structured content of results of tools against the output schemas that the server lists (`ServerTools`), for `Verbs`. The
 * schemas come from the server, so the check stops and is reported when it would cost too much. `null` in an optional member counts as
 * absent.
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as ArgumentRepair from "../../definition/schema/ArgumentRepair.js"
import * as JsonSchemaValidator from "../../definition/schema/JsonSchemaValidator.js"
import { Diagnostic } from "../../jsonrpc/Diagnostic.js"
import { TransportError } from "../../jsonrpc/LocalError.js"
import type { JsonObject } from "../../protocol/Json.js"
import type * as Tools from "../../protocol/Tools.js"
import type { Report } from "./Decoding.js"
import type { ServerTool, ServerToolsService } from "./ServerTools.js"

/**
 * The schema with which a result is checked, `NoSchema` for a tool without an output schema, or the reason why the schema cannot be used.
 */
type OutputSchema =
  | { readonly schema: JsonObject; readonly validate: JsonSchemaValidator.Validate }
  | "NoSchema"
  | { readonly reason: string }

const compiled = new WeakMap<ServerTool, OutputSchema>()

const schemaOf = (tool: ServerTool): OutputSchema => {
  const before = compiled.get(tool)
  if (before !== undefined) return before
  const { outputSchema: schema } = tool
  const made: OutputSchema = schema === undefined
    ? "NoSchema"
    : Either.match(JsonSchemaValidator.make(schema), {
      onLeft: (why) => ({ reason: `its output schema ${why}` }),
      onRight: (validate) => ({ schema, validate })
    })
  compiled.set(tool, made)
  return made
}

/**
 * Checks the result of a tool. Returns the result without `null` in optional members whose schema does not allow `null`. Fails with reason
 * `Decode` when the result does not match the output schema of the tool. `find` looks for the tool. A result that cannot be checked is
 * accepted, and reported once for each tool.
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
  /** Returns the result without `null` in optional members, if the schema accepts the result then; otherwise `undefined`. */
  const withoutNulls = ({ schema, validate }: Exclude<OutputSchema, string | { readonly reason: string }>) => {
    const mended = ArgumentRepair.withoutNulls(schema, result.structuredContent)
    if (mended === undefined || Either.getOrUndefined(validate(mended.value))?.length !== 0) return undefined
    const { count, places, value } = mended
    const subject = `the result of the tool "${name}"`
    return Effect.as(report(Diagnostic.Mended({ method: "tools/call", subject, count, places })), {
      ...result,
      structuredContent: value as Tools.CallToolResult["structuredContent"]
    })
  }
  const verify = (found: OutputSchema): Effect.Effect<Tools.CallToolResult, TransportError> => {
    if (found === "NoSchema") return Effect.succeed(result)
    if ("reason" in found) return accept(found.reason)
    const { validate } = found
    if (result.structuredContent === undefined) return Effect.fail(invalid(name, "it has no structured content"))
    return Either.match(validate(result.structuredContent), {
      onLeft: (why) => accept(`its output schema ${why}`),
      onRight: (errors) =>
        errors.length === 0
          ? Effect.succeed(result)
          : withoutNulls(found) ?? Effect.fail(invalid(name, errors.map(sentence).join("; ")))
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
