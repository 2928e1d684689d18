/**
 * Repairs arguments that a tool does not accept, when the JSON Schema that clients get for the tool allows only one way to read them. A
 * text that contains JSON becomes the array or the object that the schema requires. A text such as "5" or "true" becomes the number or the
 * boolean that the schema requires. `null` in an optional member is left out.
 *
 * This module evaluates only the keywords that say of which type a value is and which branch of a union is meant. It does not check other
 * keywords, so the callers (`server/features/ToolArguments`, and `ModelArguments` of package `ai`) decode the repaired arguments again.
 */
import * as Arr from "effect/Array"
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import * as JsonText from "../../jsonrpc/runtime/JsonText.js"
import type { JsonObject } from "../../protocol/Json.js"
import * as IssueText from "../../protocol/schema/IssueText.js"
import * as SchemaPointer from "./SchemaPointer.js"
import * as WorkBudget from "./WorkBudget.js"

/** `steps`: how much work one call may do. `depth`: how deep schemas may nest. `places`: how many of the repaired places are named. */
export const limits = { steps: 1_000_000, depth: 250, places: 10 } as const

/** A repaired value, with the number of repaired places, and the first of these places. The places do not contain values. */
export interface Mended<out A = JsonObject> {
  readonly value: A
  readonly count: number
  readonly places: ReadonlyArray<{ readonly path: string; readonly message: string }>
}

/**
 * Returns a repaired copy of the arguments. The copy keeps members that the schema does not name. Returns `undefined` when there is nothing
 * to repair, when a part cannot be repaired or can be repaired in several ways, and when the work exceeds the limits.
 */
export const mend = (schema: JsonObject, args: unknown): Mended | undefined => {
  const mended = isObject(args) ? mendAll(schema, args, "arguments", true) : undefined
  return mended !== undefined && isObject(mended.value) ? { ...mended, value: mended.value } : undefined
}

/**
 * Returns the structured content of a result without null in optional members. Many servers send null in a member that has no value.
 * Nothing else is repaired. Returns `undefined` in the cases in which `mend` returns `undefined`.
 */
export const withoutNulls = (schema: JsonObject, content: unknown): Mended<unknown> | undefined =>
  mendAll(schema, content, "structuredContent", false)

const mendAll = (
  schema: JsonObject,
  given: unknown,
  name: string,
  readsTexts: boolean
): Mended<unknown> | undefined => {
  const walk: Walk = {
    root: schema,
    readsTexts,
    budget: WorkBudget.make(limits.steps),
    path: [],
    places: [],
    depth: 0,
    values: JsonText.MAX_NODES
  }
  const value = Either.getOrElse(
    Either.try({ try: () => fix(walk, schema, given), catch: (cause) => cause }),
    (cause) => {
      if (cause instanceof WorkBudget.OverBudget) return unfit
      throw cause
    }
  )
  const { places } = walk
  if (value === unfit || places.length === 0) return undefined
  return {
    value,
    count: places.length,
    places: places.slice(0, limits.places).map(({ message, path }) => ({
      path: IssueText.pathText([name, ...path]),
      message
    }))
  }
}

/** The result for a value that cannot be repaired. */
const unfit: unique symbol = Symbol.for("@effect-mcp/core/definition/ArgumentRepair/unfit")

interface Place {
  readonly path: ReadonlyArray<string | number>
  readonly message: string
}

interface Walk {
  /** The schema of the arguments. Local references lead to parts of this schema. */
  readonly root: JsonObject
  /** Whether a text may be read as another value. */
  readonly readsTexts: boolean
  readonly budget: WorkBudget.Budget
  /** The path to the value that is visited now. */
  readonly path: Array<string | number>
  /** The places that were repaired so far. */
  readonly places: Array<Place>
  /** How many schemas are visited now, each inside of the one before. */
  depth: number
  /** How many more values may be read from texts. */
  values: number
}

/** Returns the repaired value. Returns the same value if the schema accepts the value, or if this module does not understand the schema. */
const fix = (walk: Walk, schema: unknown, value: unknown): unknown => {
  walk.budget.spend(2)
  if (schema === false) return unfit
  if (!isObject(schema) || (schema !== walk.root && SchemaPointer.isResource(schema))) return value
  if (walk.depth >= limits.depth) throw new WorkBudget.OverBudget("it is nested too deeply")
  walk.depth++
  const fixed = byAll(walk, schema, value)
  walk.depth--
  return fixed
}

/** Applies all parts of a schema, one after the other. */
const byAll = (walk: Walk, schema: JsonObject, given: unknown): unknown => {
  let value = given
  if (typeof schema.$ref === "string") {
    walk.budget.spend(schema.$ref.length / 2)
    value = fix(walk, SchemaPointer.find(walk.root, schema.$ref), value)
  }
  if (value !== unfit) value = byOwn(walk, schema, value)
  for (const one of listOf(schema.allOf)) if (value !== unfit) value = fix(walk, one, value)
  for (const branches of [schema.anyOf, schema.oneOf]) {
    if (value !== unfit && Array.isArray(branches)) value = byOne(walk, branches, value)
  }
  // A later part of the schema has read the text as an object, so the earlier parts must check the object, too.
  return typeof given === "string" && typeof value === "object" ? byAll(walk, schema, value) : value
}

/**
 * Returns the same value if a branch accepts it. Otherwise, if exactly one branch can read the value, returns the value as this branch
 * reads it.
 */
const byOne = (walk: Walk, branches: ReadonlyArray<unknown>, value: unknown): unknown => {
  const before = walk.places.length
  const found: Array<{ readonly fixed: unknown; readonly places: ReadonlyArray<Place> }> = []
  for (const branch of branches) {
    const fixed = fix(walk, branch, value)
    const places = walk.places.splice(before)
    if (fixed === unfit) continue
    if (places.length === 0) return value
    found.push({ fixed, places })
  }
  const [one, other] = found
  if (one === undefined || other !== undefined) return unfit
  for (const place of one.places) walk.places.push(place)
  return one.fixed
}

/** Applies the keywords of the schema itself. */
const byOwn = (walk: Walk, schema: JsonObject, given: unknown): unknown => {
  const value = byType(walk, schema, given)
  return Array.isArray(value)
    ? byItems(walk, schema, value)
    : isObject(value)
    ? byMembers(walk, schema, value)
    : value
}

const byType = (walk: Walk, schema: JsonObject, given: unknown): unknown => {
  walk.budget.spend(listOf(schema.enum).length / 4)
  if (accepts(schema, given)) return given
  const value = walk.readsTexts && typeof given === "string" ? read(walk, given) : unfit
  if (value === unfit || !accepts(schema, value)) return unfit
  note(walk, `is a text, read as ${nouns[kindOf(value)]}`)
  return value
}

/** Returns the boolean, number, array or object that a text contains as JSON; `unfit` when the text contains no such value. */
const read = (walk: Walk, text: string): unknown => {
  walk.budget.spend(text.length / 8)
  if (text === "true" || text === "false") return text === "true"
  if (text.length <= MAX_NUMBER) {
    const number = Number(text)
    const isExact = Number.isInteger(number) ? Number.isSafeInteger(number) : Number.isFinite(number)
    if (isExact && String(number) === text) return number
  }
  return json.test(text) ? parse(walk, text) : unfit
}

/** Returns the array or the object in a text, if it is within the limits that it would have outside of the text. */
const parse = (walk: Walk, text: string): unknown => {
  const depth = JsonText.MAX_DEPTH - OUTSIDE - walk.path.length
  if (depth <= 0 || JsonText.holdsMoreThan(text, walk.values)) return unfit
  const value = JsonText.parse(text, depth)
  if (value instanceof JsonText.Refused) return unfit
  walk.values -= countOf(value)
  return walk.values < 0 ? unfit : value
}

const byItems = (walk: Walk, schema: JsonObject, given: ReadonlyArray<unknown>): unknown => {
  const { additionalItems, items, prefixItems } = schema
  // Up to draft 2019-09, an array in `items` has the schemas of the first items.
  const [first, rest] = Array.isArray(items) ? [items, additionalItems] : [listOf(prefixItems), items]
  const fixed: Array<unknown> = []
  for (const [n, item] of given.entries()) {
    const value = within(walk, n, () => fix(walk, n < first.length ? first[n] : rest, item))
    if (value === unfit) return unfit
    fixed.push(value)
  }
  return fixed.every((value, n) => value === given[n]) ? given : fixed
}

const byMembers = (walk: Walk, schema: JsonObject, given: JsonObject): unknown => {
  const properties = isObject(schema.properties) ? schema.properties : {}
  walk.budget.spend(listOf(schema.required).length)
  const required = new Set(listOf(schema.required))
  for (const name of required) if (!Object.hasOwn(given, String(name))) return unfit
  // This module does not check which names a pattern matches.
  const rest = schema.patternProperties === undefined ? schema.additionalProperties : undefined
  const fixed: Array<readonly [string, unknown]> = []
  let isSame = true
  for (const [name, member] of Object.entries(given)) {
    const isNamed = Object.hasOwn(properties, name)
    const value = within(walk, name, () => {
      const value = fix(walk, isNamed ? properties[name] : rest, member)
      if (value !== unfit || member !== null || !isNamed || required.has(name)) return value
      note(walk, "is null, left out")
      return undefined
    })
    if (value === unfit) return unfit
    if (value !== member) isSame = false
    if (value !== undefined) fixed.push([name, value])
  }
  return isSame ? given : Object.fromEntries(fixed)
}

const within = (walk: Walk, step: string | number, visit: () => unknown): unknown => {
  walk.path.push(step)
  const value = visit()
  walk.path.pop()
  return value
}

const note = ({ budget, path, places }: Walk, message: string): void => {
  budget.spend(path.length)
  places.push({ path: [...path], message })
}

/** How many characters a number may have. No number is written as a longer text. */
const MAX_NUMBER = 32

/** How many objects of a message are around the arguments: the message itself, and its `params`. */
const OUTSIDE = 2

const json = /^\s*[[{]/

const isObject = (u: unknown): u is JsonObject => Predicate.isRecord(u)

const listOf = (u: unknown): ReadonlyArray<unknown> => Array.isArray(u) ? u : []

type Kind = keyof typeof nouns

const nouns = {
  null: "null",
  boolean: "a boolean",
  number: "a number",
  string: "a text",
  array: "an array",
  object: "an object"
} as const

const kindOf = (value: unknown): Kind =>
  value === null ? "null" : Array.isArray(value) ? "array" : typeof value as Exclude<Kind, "null" | "array">

/** Whether the value has a type that the schema names, and is one of the values that the schema lists. */
const accepts = ({ const: only, enum: listed, type }: JsonObject, value: unknown): boolean =>
  (type === undefined || Arr.ensure(type).some((one) => isOf(one, value))) &&
  (only === undefined || isLike(only, value)) &&
  (!Array.isArray(listed) || listed.some((one) => isLike(one, value)))

/** Whether a value has a type. A type that JSON Schema does not know accepts every value. */
const isOf = (type: unknown, value: unknown): boolean =>
  type === "integer"
    ? Number.isInteger(value)
    : type === kindOf(value) || !(typeof type === "string" && Object.hasOwn(nouns, type))

/** Whether two values are equal. An array counts as equal to every other array, and an object to every other object. */
const isLike = (listed: unknown, value: unknown): boolean =>
  listed === value || (typeof value === "object" && value !== null && kindOf(listed) === kindOf(value))

/** Counts how many values a value contains, itself included. */
const countOf = (value: unknown): number =>
  typeof value === "object" && value !== null
    ? Object.values(value).reduce<number>((count, inner) => count + countOf(inner), 1)
    : 1
