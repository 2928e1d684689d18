/**
 * Converts a schema to the dialect of a model, or says why it cannot. A converted schema repeats the schemas that it refers to, and a
 * server may list many tools, so one budget bounds the size of all schemas of a list. Each schema has a share of the budget that other
 * schemas cannot take. A small schema without references needs no budget.
 *
 * `Inlining` replaces references, `ObjectRoot` makes the root an object, `OpenAiStrict` and `Gemini` have their dialects.
 */
import type { JsonObject } from "@effect-mcp/protocol/Json"
import * as Either from "effect/Either"
import { quoted, wellFormedJson } from "../text/ModelText.js"
import * as Gemini from "./Gemini.js"
import * as Inlining from "./Inlining.js"
import * as Keywords from "./Keywords.js"
import * as ObjectRoot from "./ObjectRoot.js"
import * as OpenAiStrict from "./OpenAiStrict.js"
import * as SchemaParts from "./SchemaParts.js"

type Dialect = "json-schema" | "openai" | "openai-strict" | "anthropic" | "gemini"

export interface Converted {
  readonly schema: JsonObject
  readonly isStrict: boolean
}

/** Left: why the schema has no form in the dialect, as the end of a sentence whose subject is the tool. */
export const make = (
  inputSchema: JsonObject,
  dialect: Dialect,
  budget: Inlining.Budget = Inlining.budget()
): Either.Either<Converted, string> =>
  Either.flatMap(attempt(() => convert(inputSchema, dialect, budget)), (converted) => converted)

/** Runs a conversion, which recurses into the schema. Left for a schema that is nested too deeply for the stack. */
export const attempt = <A>(read: () => A): Either.Either<A, string> =>
  Either.try({ try: read, catch: () => "has arguments whose schema is nested too deeply" })

const convert = (
  given: JsonObject,
  dialect: Dialect,
  budget: Inlining.Budget
): Either.Either<Converted, string> => {
  const text = JSON.stringify(given)
  if (text.length > MAX_TEXT) return Either.left(TOO_LARGE)
  const inputSchema = wellFormedJson(given)
  if (dialect === "json-schema") return loose(inputSchema)
  const isComplete = dialect === "anthropic" && Inlining.isSelfContained(inputSchema) &&
    !ObjectRoot.hasConditions(inputSchema)
  const own = text.length <= MAX_SMALL && !REFERENCE.test(text) ? Inlining.budget() : budget
  const max = Inlining.allowed(own)
  const inlined = isComplete ? SchemaParts.omit(inputSchema, "$schema") : Inlining.inline(inputSchema, own)
  if (inlined === undefined) return Either.left(max < Inlining.MAX_PARTS ? TOO_MUCH : TOO_LARGE)
  const plain = ObjectRoot.make(inlined)
  if (dialect === "gemini") return loose(Gemini.make(plain))
  if (dialect === "anthropic") {
    const bad = [...Keywords.properties(plain).keys()].find((name) => !/^[a-zA-Z0-9_.-]{1,64}$/.test(name))
    return bad === undefined ? loose(plain) : Either.left(`has an argument that the model cannot name: ${quoted(bad)}`)
  }
  const strict = dialect === "openai-strict" ? OpenAiStrict.make(plain) : undefined
  return strict === undefined ? loose(OpenAiStrict.withItems(plain)) : Either.right({ schema: strict, isStrict: true })
}

const MAX_TEXT = 262_144

/** The length in characters up to which a schema without references needs no share of the budget. */
const MAX_SMALL = 4096

const REFERENCE = /"\$(?:dynamicRef|recursiveRef|ref)"/

const TOO_LARGE =
  `has arguments whose schema is too large: more than ${MAX_TEXT} characters, or ${Inlining.MAX_PARTS} parts`

const TOO_MUCH =
  `has arguments whose schema is too large beside those of other tools: more than ${Inlining.MAX_TOTAL} parts together`

const loose = (schema: JsonObject): Either.Either<Converted, string> => Either.right({ schema, isStrict: false })
