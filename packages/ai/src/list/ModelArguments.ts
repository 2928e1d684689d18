/**
 * Makes the arguments of a call from the arguments that a model wrote: where the schema of the tool does not accept them, they are
 * mended, if there is one reading. `ToolList` does this before each call; `ArgumentRepair` of `@effect-mcp/core` mends. Arguments that
 * the schema does not name are logged, or refused. The server checks the result in any case.
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

/** Reads the arguments of calls of one tool. Fails with a sentence for the model. */
export const make = (
  { name, server, tool }: Named,
  { mendArguments = true, report, unknownArguments = "report" }: Options
): (args: JsonObject) => Effect.Effect<JsonObject, string> => {
  const subject = `tool ${quoted(tool.name)} of ${quoted(server)}`
  let parts: ReturnType<typeof prepare> | undefined
  return (args) =>
    Effect.suspend(() => {
      // Most tools of a list are never called.
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
    /** `undefined` for arguments that the schema accepts, that cannot be checked, or that have no reading that it accepts. */
    mend: (args: JsonObject): ArgumentRepair.Mended | undefined => {
      if ((errorsOf(args)?.length ?? 0) === 0) return undefined
      const mended = ArgumentRepair.mend(schema, args)
      return mended !== undefined && errorsOf(mended.value)?.length === 0 ? mended : undefined
    }
  }
}
