/**
 * Corrects and checks the arguments that a model has written, before `ToolList` calls the tool. When the schema of the tool does not accept
 * the arguments, but their meaning is clear, `ArgumentRepair` of `@effect-mcp/core` corrects the arguments. This module reports or refuses
 * arguments with names that the schema does not allow. The server checks the arguments again.
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
 * Makes a function that corrects and checks the arguments for one tool. When this module refuses the arguments, the function fails with a
 * sentence for the model.
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
     * Returns the corrected arguments. Returns `undefined` when the schema already accepts the arguments, when the schema cannot be used to
     * check them, or when it does not accept the corrected arguments either.
     */
    mend: (args: JsonObject): ArgumentRepair.Mended | undefined => {
      if ((errorsOf(args)?.length ?? 0) === 0) return undefined
      const mended = ArgumentRepair.mend(schema, args)
      return mended !== undefined && errorsOf(mended.value)?.length === 0 ? mended : undefined
    }
  }
}
