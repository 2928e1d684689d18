/**
 * Makes the arguments of a call from the arguments that a model has written. When the schema of the tool does not accept the arguments and
 * their meaning is clear, `ArgumentRepair` of `@effect-mcp/core` corrects the arguments. Arguments that the schema does not name are logged
 * or refused. `ToolList` calls this module before each call. In any case the server checks the arguments that it gets.
 */
import { Diagnostic } from "@effect-mcp/core/Diagnostic"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import * as ArgumentNames from "@effect-mcp/core/unstable/definition/ArgumentNames"
import * as ArgumentRepair from "@effect-mcp/core/unstable/definition/ArgumentRepair"
import * as JsonSchemaValidator from "@effect-mcp/core/unstable/definition/JsonSchemaValidator"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { quoted } from "../text/ModelText.js"

export interface Options {
  readonly mendArguments?: boolean | undefined
  readonly unknownArguments?: "accept" | "report" | "refuse" | undefined
  readonly report: (diagnostic: Diagnostic) => Effect.Effect<void>
}

interface Named {
  /** The name that the model uses. */
  readonly name: string
  readonly server: string
  readonly tool: { readonly name: string; readonly inputSchema: JsonObject }
}

/**
 * Makes a function that reads the arguments of calls of one tool. When the arguments are refused, the function fails with a sentence for
 * the model.
 */
export const make = (
  { name, server, tool }: Named,
  { mendArguments = true, report, unknownArguments = "report" }: Options
): (args: JsonObject) => Effect.Effect<JsonObject, string> => {
  const subject = `tool ${quoted(tool.name)} of ${quoted(server)}`
  let parts: ReturnType<typeof prepare> | undefined
  return (args) =>
    Effect.suspend(() => {
      // The schema is prepared at the first call, because most tools of a list are never called.
      const { mend, unknownOf } = parts ??= prepare(tool.inputSchema)
      const unknown = unknownArguments === "accept" ? undefined : unknownOf(args)
      const reported = unknown === undefined
        ? Effect.void
        : report(Diagnostic.UnknownArguments({ subject, ...unknown }))
      if (unknown !== undefined && unknownArguments === "refuse") {
        const refusal = `The arguments of ${quoted(name)} were refused: ${ArgumentNames.sentence(unknown)}`
        return Effect.zipRight(reported, Effect.fail(refusal))
      }
      const mended = mendArguments ? mend(args) : undefined
      if (mended === undefined) return Effect.as(reported, args)
      const { count, places, value } = mended
      return Effect.as(
        Effect.zipRight(reported, report(Diagnostic.Mended({ method: "tools/call", subject, count, places }))),
        value
      )
    })
}

const prepare = (schema: JsonObject) => {
  const validate = Either.getOrUndefined(JsonSchemaValidator.make(schema))
  const errorsOf = (args: JsonObject) => validate && Either.getOrUndefined(validate(args))
  return {
    unknownOf: ArgumentNames.make(schema),
    /**
     * Returns the corrected arguments; `undefined` when the schema already accepts the arguments, when they cannot be checked, or when no
     * correction is accepted.
     */
    mend: (args: JsonObject): ArgumentRepair.Mended | undefined => {
      if ((errorsOf(args)?.length ?? 0) === 0) return undefined
      const mended = ArgumentRepair.mend(schema, args)
      return mended !== undefined && errorsOf(mended.value)?.length === 0 ? mended : undefined
    }
  }
}
