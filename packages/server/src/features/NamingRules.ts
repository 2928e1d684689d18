/**
 * Logs a warning for each name in a definition that breaks a rule of the specification: the name of a tool, and the keys
 * of `_meta`. The definition is registered all the same, because most clients accept such names.
 * The rules are in `ToolName` and `MetaKey` of `@effect-mcp/protocol`.
 */
import type { JsonObject } from "@effect-mcp/protocol/Json"
import * as MetaKey from "@effect-mcp/protocol/unstable/MetaKey"
import * as ToolName from "@effect-mcp/protocol/unstable/ToolName"
import * as Effect from "effect/Effect"

export const warn = (
  kind: "tool" | "resource" | "resource template" | "prompt",
  { _meta, name }: { readonly name: string; readonly _meta?: JsonObject | undefined }
): Effect.Effect<void> => {
  const ofName = kind === "tool" ? ToolName.problem(name) : undefined
  const problems = [
    ...(ofName === undefined ? [] : [ofName]),
    ...Object.keys(_meta ?? {}).flatMap((key) => {
      const problem = MetaKey.problem(key)
      return problem === undefined ? [] : [`_meta "${key}": ${problem}`]
    })
  ]
  return Effect.forEach(problems, (problem) => Effect.logWarning(`The ${kind} "${name}": ${problem}`), {
    discard: true
  })
}
