/**
 * A schema in the dialect of a model, or why it has none there. Schemas repeat what they refer to, and a server lists many tools: one
 * budget bounds the schemas of a list together, but for small ones without references. Each has a share that no other can take.
 */
import type { JsonObject } from "@effect-mcp/protocol/Json"
import * as Either from "effect/Either"
import { quoted, wellFormedJson } from "../text/ModelText.js"
import * as Gemini from "./Gemini.js"
import * as Inlining from "./Inlining.js"
import * as ObjectRoot from "./ObjectRoot.js"
import * as Parts from "./Parts.js"
import * as Strict from "./Strict.js"

type Dialect = "json-schema" | "openai" | "openai-strict" | "anthropic" | "gemini"

export interface Converted {
  readonly schema: JsonObject
  readonly isStrict: boolean
}

/** Left: the end of a sentence whose subject is the tool. */
export const make = (
  inputSchema: JsonObject,
  dialect: Dialect,
  budget: Inlining.Budget = Inlining.budget()
): Either.Either<Converted, string> =>
  Either.flatMap(attempt(() => convert(inputSchema, dialect, budget)), (converted) => converted)

/** Schemas are read recursively: one that is nested too deeply needs more stack than there is. */
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
  const inlined = isComplete ? Parts.omit(inputSchema, "$schema") : Inlining.inline(inputSchema, own)
  if (inlined === undefined) return Either.left(max < Inlining.MAX_PARTS ? TOO_MUCH : TOO_LARGE)
  const plain = ObjectRoot.make(inlined)
  if (dialect === "gemini") return loose(Gemini.make(plain))
  if (dialect === "anthropic") {
    const bad = [...Parts.properties(plain).keys()].find((name) => !/^[a-zA-Z0-9_.-]{1,64}$/.test(name))
    return bad === undefined ? loose(plain) : Either.left(`has an argument that the model cannot name: ${quoted(bad)}`)
  }
  const strict = dialect === "openai-strict" ? Strict.make(plain) : undefined
  return strict === undefined ? loose(Strict.withItems(plain)) : Either.right({ schema: strict, isStrict: true })
}

const MAX_TEXT = 262_144

/** In characters: a schema without references that is no longer costs little, and other schemas take none of its budget. */
const MAX_SMALL = 4096

const REFERENCE = /"\$(?:dynamicRef|recursiveRef|ref)"/

const TOO_LARGE =
  `has arguments whose schema is too large: more than ${MAX_TEXT} characters, or ${Inlining.MAX_PARTS} parts`

const TOO_MUCH =
  `has arguments whose schema is too large beside those of other tools: more than ${Inlining.MAX_TOTAL} parts together`

const loose = (schema: JsonObject): Either.Either<Converted, string> => Either.right({ schema, isStrict: false })
