/**
 * Converts a schema to the dialect of a model, or gives the reason why this is not possible. `ModelSchema`, `ToolList` and `SamplingPrompt`
 * call this module. Where the original schema has a reference, the converted schema has a copy of another schema. So converted schemas can
 * be large, and a server may list many tools. One budget therefore limits the total size of the converted schemas of a list. Each schema
 * has its own share of the budget, and other schemas cannot use this share. A small schema without references does not count against the
 * budget.
 *
 * `Inlining` replaces references, `ObjectRoot` makes the root an object, and `Walk` applies the rules of the dialect.
 */
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import * as Either from "effect/Either"
import { wellFormedJson } from "../text/ModelText.js"
import * as Dialects from "./Dialects.js"
import * as Inlining from "./Inlining.js"
import * as ObjectRoot from "./ObjectRoot.js"
import * as Walk from "./Walk.js"

export interface Converted {
  readonly schema: JsonObject
  readonly isStrict: boolean
  /**
   * The reason why a schema in the dialect `openai-strict` does not have the strict form. The reason completes a sentence that begins with
   * the name of the tool.
   */
  readonly notStrict?: string | undefined
}

/**
 * Converts a schema. `Left` is the reason why the dialect cannot describe the schema. The reason completes a sentence that begins with the
 * name of the tool.
 */
export const make = (
  inputSchema: JsonObject,
  dialect: Dialects.Dialect,
  budget: Inlining.Budget = Inlining.budget()
): Either.Either<Converted, string> =>
  Either.flatMap(attempt(() => convert(inputSchema, dialect, budget)), (converted) => converted)

/** Runs a conversion, which recurses into the schema. Gives `Left` when the schema is nested too deeply for the stack. */
export const attempt = <A>(read: () => A): Either.Either<A, string> =>
  Either.try({ try: read, catch: () => "has arguments whose schema is nested too deeply" })

const convert = (
  given: JsonObject,
  dialect: Dialects.Dialect,
  budget: Inlining.Budget
): Either.Either<Converted, string> => {
  const text = JSON.stringify(given)
  if (text.length > MAX_TEXT) return Either.left(TOO_LARGE)
  const inputSchema = wellFormedJson(given)
  const rules = Dialects.rulesOf(dialect, inputSchema)
  const isKept = rules.references === "all" ||
    (rules.references === "own definitions" && Inlining.isSelfContained(inputSchema) &&
      !ObjectRoot.hasConditions(inputSchema))
  const own = text.length <= MAX_SMALL && !REFERENCE.test(text) ? Inlining.budget() : budget
  const max = Inlining.allowed(own)
  const inlined = isKept ? inputSchema : Inlining.inline(inputSchema, own)
  if (inlined === undefined) return Either.left(max < Inlining.MAX_PARTS ? TOO_MUCH : TOO_LARGE)
  return walked(rules.hasConditions ? ObjectRoot.typed(inlined) : ObjectRoot.make(inlined), rules)
}

const walked = (root: JsonObject, rules: Dialects.Rules): Either.Either<Converted, string> => {
  const made = Walk.make(root, rules)
  if (Either.isRight(made)) return Either.right({ schema: made.right, isStrict: rules.subset?.isExact === true })
  return rules.otherwise === undefined
    ? Either.left(`has arguments that the model cannot take: ${made.left}`)
    : Either.map(walked(root, Dialects.rules[rules.otherwise]), (converted) => ({
      ...converted,
      notStrict: `has arguments without a strict form: ${made.left}`
    }))
}

const MAX_TEXT = 262_144

/** A schema without references and with at most this many characters does not count against the budget. */
const MAX_SMALL = 4096

const REFERENCE = /"\$(?:dynamicRef|recursiveRef|ref)"/

const TOO_LARGE =
  `has arguments whose schema is too large: more than ${MAX_TEXT} characters, or ${Inlining.MAX_PARTS} parts`

const TOO_MUCH =
  `has arguments whose schema is too large together with the schemas of other tools: more than ${Inlining.MAX_TOTAL} parts together`
