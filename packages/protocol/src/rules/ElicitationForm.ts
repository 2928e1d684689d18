/**
 * What a form may ask beyond its shape, and which answers fit it: the rules that both sides keep, the client before it
 * sends an answer, the server before it believes one.
 *
 * How a form is shown is not known here; its shape is in `ElicitationSchema`.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#requested-schema
 * @since 0.1.0
 */
import * as Either from "effect/Either"
import type { ElicitContent, ElicitValue } from "../Elicitation.js"
import type { PrimitiveSchema, RequestedSchema } from "../ElicitationSchema.js"
import type { Place } from "../schema/Issue.js"
import * as TextFormat from "../schema/TextFormat.js"

/** The values that a field offers; `undefined` when anything may be filled in. */
const choices = (field: PrimitiveSchema): ReadonlyArray<string> | undefined => {
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
  const offered = choices(field)
  const found = Object.keys(field)
    .filter((key) => !always.has(key) && !allowed[field.type].has(key))
    .map((key) => `a form does not know "${key}"`)
  for (const [least, most] of bounds) {
    const [low, high] = [words[least], words[most]]
    if (typeof low === "number" && typeof high === "number" && low > high) found.push(`${least} is above ${most}`)
    if (least !== "minimum" && [low, high].some((bound) => typeof bound === "number" && bound < 0)) {
      found.push(`${least} and ${most} are not negative`)
    }
  }
  if (offered?.length === 0) found.push("there is nothing to choose from")
  if (new Set(offered).size < (offered?.length ?? 0)) found.push("a choice stands twice")
  if ("enumNames" in field && field.enumNames !== undefined && field.enumNames.length !== field.enum.length) {
    found.push("enumNames and enum differ in length")
  }
  const wrong = field.default === undefined ? undefined : unfit(field, field.default)
  return wrong === undefined ? found : [...found, `the default does not fit: ${wrong}`]
}

/**
 * What a form must not ask; empty when nothing is wrong. A path is the name of a field.
 *
 * @since 0.1.0
 * @category predicates
 */
export const problems = ({ properties, required = [] }: RequestedSchema): ReadonlyArray<Place> => [
  ...Object.entries(properties).flatMap(([path, field]) => problemsOf(field).map((message) => ({ path, message }))),
  ...required.filter((name) => !Object.hasOwn(properties, name)).map((path) => ({
    path,
    message: "is required and not asked"
  }))
]

/**
 * An answer with the defaults of the form where it has nothing.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#supported-schema-types
 * @since 0.1.0
 * @category combinators
 */
export const withDefaults = ({ properties }: RequestedSchema, content: ElicitContent = {}): ElicitContent =>
  Object.fromEntries([
    ...Object.entries(properties).flatMap(([name, field]) =>
      field.default === undefined || Object.hasOwn(content, name) ? [] : [[name, field.default] as const]
    ),
    ...Object.entries(content)
  ])

/** Why a value does not fit a field; `undefined` when it does. */
const unfit = (field: PrimitiveSchema, value: ElicitValue): string | undefined => {
  switch (field.type) {
    case "boolean":
      return typeof value === "boolean" ? undefined : "expected yes or no"
    case "number":
    case "integer":
      return unfitNumber(field, value)
    case "array":
      return unfitChoices(field, choices(field)!, value)
    case "string":
      return typeof value !== "string" ? "expected text" : unfitText(field, value)
  }
}

type Of<Type extends PrimitiveSchema["type"]> = Extract<PrimitiveSchema, { readonly type: Type }>

const unfitNumber = (
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

const unfitChoices = (
  { maxItems = Infinity, minItems = 0 }: Of<"array">,
  offered: ReadonlyArray<string>,
  value: ElicitValue
): string | undefined =>
  typeof value !== "object" || !value.every((one) => offered.includes(one))
    ? "expected some of the choices"
    : value.length < minItems
    ? `expected at least ${minItems} of the choices`
    : value.length > maxItems
    ? `expected at most ${maxItems} of the choices`
    : undefined

const unfitText = (field: Of<"string">, value: string): string | undefined => {
  const offered = choices(field)
  if (offered !== undefined) return offered.includes(value) ? undefined : "expected one of the choices"
  if ("oneOf" in field || "enum" in field) return undefined
  const { format, maxLength = Infinity, minLength = 0 } = field
  // Characters as people count them, as JSON Schema does.
  const length = maxLength === Infinity && minLength === 0 ? 0 : [...value].length
  return length < minLength
    ? `expected at least ${minLength} characters`
    : length > maxLength
    ? `expected at most ${maxLength} characters`
    : format !== undefined && !TextFormat.matches(format, value)
    ? `expected a text of the form "${format}"`
    : undefined
}

/**
 * An answer that fits a form, or where it does not. One text is as good as a list of one, because a peer that knows no
 * lists was asked for one; what was not asked stays, and nobody looks at it.
 *
 * @since 0.1.0
 * @category decoding
 */
export const check = (
  { properties, required = [] }: RequestedSchema,
  content: ElicitContent
): Either.Either<ElicitContent, ReadonlyArray<Place>> => {
  const lists = Object.entries(properties).filter(([name, { type }]) =>
    type === "array" && Object.hasOwn(content, name) && typeof content[name] === "string"
  )
  const answer = lists.length === 0
    ? content
    : { ...content, ...Object.fromEntries(lists.map(([name]) => [name, [content[name] as string]])) }
  const wrong = Object.entries(properties).flatMap(([path, field]) => {
    if (!Object.hasOwn(answer, path)) return required.includes(path) ? [{ path, message: "is missing" }] : []
    const message = unfit(field, answer[path]!)
    return message === undefined ? [] : [{ path, message }]
  })
  return wrong.length === 0 ? Either.right(answer) : Either.left(wrong)
}
