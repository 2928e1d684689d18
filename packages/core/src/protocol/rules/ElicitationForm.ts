/**
 * Checks the rules of forms that the JSON Schema of a form cannot express: which forms a server may send, and which answers fit a form. The
 * client checks its answer before it sends the answer (`client/session/FeatureAnswers`). The server checks each answer that it receives
 * (`definition/Form`). `ElicitationSchema` has the types of a form.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#requested-schema
 */
import * as Either from "effect/Either"
import type { ElicitContent, ElicitValue } from "../Elicitation.js"
import type { PrimitiveSchema, RequestedSchema } from "../ElicitationSchema.js"
import type { Place } from "../Issue.js"
import * as TextFormat from "../schema/TextFormat.js"

/** Returns the values from which the user chooses; `undefined` when the field is not a choice. */
const enumValues = (field: PrimitiveSchema): ReadonlyArray<string> | undefined => {
  if ("oneOf" in field) return field.oneOf.map((one) => one.const)
  if ("enum" in field) return field.enum
  if (field.type !== "array") return undefined
  return "anyOf" in field.items ? field.items.anyOf.map((one) => one.const) : field.items.enum
}

const allowed: Record<PrimitiveSchema["type"], ReadonlySet<string>> = {
  string: new Set(["minLength", "maxLength", "format", "pattern", "enum", "enumNames", "oneOf"]),
  number: new Set(["minimum", "maximum"]),
  integer: new Set(["minimum", "maximum"]),
  boolean: new Set(),
  array: new Set(["minItems", "maxItems", "items"])
}

const always: ReadonlySet<string> = new Set(["type", "title", "description", "default"])

const bounds = [["minLength", "maxLength"], ["minimum", "maximum"], ["minItems", "maxItems"]] as const

const problemsOf = (field: PrimitiveSchema): ReadonlyArray<string> => {
  const words = field as { readonly [key: string]: unknown }
  const offered = enumValues(field)
  const found = Object.keys(field)
    .filter((key) => !always.has(key) && !allowed[field.type].has(key))
    .map((key) => `a form does not support "${key}"`)
  for (const [least, most] of bounds) {
    const [low, high] = [words[least], words[most]]
    if (typeof low === "number" && typeof high === "number" && low > high) found.push(`${least} is above ${most}`)
    if (least !== "minimum" && [low, high].some((bound) => typeof bound === "number" && bound < 0)) {
      found.push(`${least} and ${most} must not be negative`)
    }
  }
  if (offered?.length === 0) found.push("there are no choices")
  if (new Set(offered).size < (offered?.length ?? 0)) found.push("two choices are equal")
  if ("enumNames" in field && field.enumNames !== undefined && field.enumNames.length !== field.enum.length) {
    found.push("enumNames and enum differ in length")
  }
  const wrong = field.default === undefined ? undefined : problemOf(field, field.default)
  return wrong === undefined ? found : [...found, `the default does not fit: ${wrong}`]
}

/** Returns the rules that a form breaks, each with the path of its field; an empty array when the form breaks no rule. */
export const problems = ({ properties, required = [] }: RequestedSchema): ReadonlyArray<Place> => [
  ...Object.entries(properties).flatMap(([path, field]) => problemsOf(field).map((message) => ({ path, message }))),
  ...required.filter((name) => !Object.hasOwn(properties, name)).map((path) => ({
    path,
    message: "is required and is not a field of the form"
  }))
]

/**
 * Returns an answer in which each missing field has the default of the form, if the form has a default for the field.
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#supported-schema-types
 */
export const withDefaults = ({ properties }: RequestedSchema, content: ElicitContent = {}): ElicitContent => {
  const lacking = Object.entries(properties).flatMap(([name, field]) =>
    field.default === undefined || Object.hasOwn(content, name) ? [] : [[name, field.default] as const]
  )
  // The answer is copied only when it lacks a field with a default, because an answer may have many fields that the form does not have.
  return lacking.length === 0 ? content : { ...content, ...Object.fromEntries(lacking) }
}

/** Returns the reason why a value does not fit a field; `undefined` when the value fits. */
const problemOf = (field: PrimitiveSchema, value: ElicitValue): string | undefined => {
  switch (field.type) {
    case "boolean":
      return typeof value === "boolean" ? undefined : "expected yes or no"
    case "number":
    case "integer":
      return numberProblem(field, value)
    case "array":
      return listProblem(field, new Set(enumValues(field)), value)
    case "string":
      return typeof value !== "string" ? "expected text" : textProblem(field, value)
  }
}

type Of<Type extends PrimitiveSchema["type"]> = Extract<PrimitiveSchema, { readonly type: Type }>

const numberProblem = (
  { maximum = Infinity, minimum = -Infinity, type }: Extract<PrimitiveSchema, { readonly minimum?: unknown }>,
  value: ElicitValue
): string | undefined =>
  typeof value !== "number" || !Number.isFinite(value) || (type === "integer" && !Number.isInteger(value))
    ? `expected ${type === "integer" ? "an integer" : "a number"}`
    : value < minimum
    ? `expected at least ${minimum}`
    : value > maximum
    ? `expected at most ${maximum}`
    : undefined

const listProblem = (
  { maxItems = Infinity, minItems = 0 }: Of<"array">,
  offered: ReadonlySet<string>,
  value: ElicitValue
): string | undefined =>
  typeof value !== "object" || !value.every((one) => offered.has(one))
    ? "expected some of the choices"
    : value.length < minItems
    ? `expected at least ${minItems} of the choices`
    : value.length > maxItems
    ? `expected at most ${maxItems} of the choices`
    : undefined

const textProblem = (field: Of<"string">, value: string): string | undefined => {
  const offered = enumValues(field)
  if (offered !== undefined) return offered.includes(value) ? undefined : "expected one of the choices"
  if ("oneOf" in field || "enum" in field) return undefined
  const { format, maxLength = Infinity, minLength = 0 } = field
  const length = maxLength === Infinity && minLength === 0 ? 0 : charactersOf(value)
  return length < minLength
    ? `expected at least ${minLength} characters`
    : length > maxLength
    ? `expected at most ${maxLength} characters`
    : format !== undefined && !TextFormat.matches(format, value)
    ? `expected a string of the form "${format}"`
    : undefined
}

/** Counts the characters of a text, as JSON Schema does. The length of a JavaScript string counts some characters twice. */
const charactersOf = (text: string): number => {
  let count = 0
  for (const _ of text) count++
  return count
}

/**
 * Checks an answer. Right: the answer, if the answer fits the form. Left: the fields that do not fit. A field may allow several choices. A
 * peer of revision 2025-06-18 receives this field as a choice of one string, so `check` also accepts a single string for this field, and
 * converts it to a list. Values for fields that the form does not have stay in the answer and are not checked.
 */
export const check = (
  { properties, required }: RequestedSchema,
  content: ElicitContent
): Either.Either<ElicitContent, ReadonlyArray<Place>> => {
  const mustHave = new Set(required)
  const lists = Object.entries(properties).filter(([name, { type }]) =>
    type === "array" && Object.hasOwn(content, name) && typeof content[name] === "string"
  )
  const answer = lists.length === 0
    ? content
    : { ...content, ...Object.fromEntries(lists.map(([name]) => [name, [content[name] as string]])) }
  const wrong = Object.entries(properties).flatMap(([path, field]) => {
    if (!Object.hasOwn(answer, path)) return mustHave.has(path) ? [{ path, message: "is missing" }] : []
    const message = problemOf(field, answer[path]!)
    return message === undefined ? [] : [{ path, message }]
  })
  return wrong.length === 0 ? Either.right(answer) : Either.left(wrong)
}
