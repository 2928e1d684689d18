/**
 * The types and functions with which `SchemaKeywords` makes the checks of JSON Schema keywords. The types describe a check and its run.
 * Some functions combine checks and note which members were evaluated. Other functions read the value of a keyword, or make the text with
 * which two values are compared. `SchemaKeywords` has the keywords, `JsonSchemaValidator` runs their checks, and `RawTool` says with
 * `Trust` who has written a schema.
 */
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import * as JsonText from "../../jsonrpc/runtime/JsonText.js"
import type { JsonObject } from "../../protocol/Json.js"
import { shortened } from "../text/Quoted.js"
import type { SchemaError } from "./ExternalSchema.js"
import * as LinearPattern from "./LinearPattern.js"
import type { Budget } from "./WorkBudget.js"

export type Draft = "2020-12" | "2019-09" | "draft-07"

/** The members of one object, or the items of one array, that keywords have evaluated. The `unevaluated…` keywords check the rest. */
export interface Evaluated {
  readonly properties: Set<string>
  readonly items: Set<number>
}

/** The run of a check: its budget, its errors, and the path in the value. */
export interface Run {
  readonly budget: Budget
  readonly path: Array<string>
  /** Adds an error at the current path. */
  readonly fail: (message: string) => false
  readonly errors: Array<SchemaError>
}

export type Check = (value: unknown, run: Run, evaluated: Evaluated | undefined) => boolean

/** How far the author of a schema is trusted. */
export interface Trust {
  /** Whether the application has written the schema. Otherwise a peer has written it. */
  readonly isOfApplication: boolean
  /**
   * How regular expressions run. `linear`: with `LinearPattern`, in time linear in the length of the text; a schema with certain
   * expressions is refused. `native`: on JavaScript's engine, which can need exponential time.
   */
  readonly patterns: "linear" | "native"
  /** Whether `format` is checked. Otherwise it has no effect. */
  readonly formats: boolean
}

/** The input from which a keyword makes its check: the schema that has the keyword, and the checks of other schemas. */
export interface Source {
  /** The budget for reading the schema. */
  readonly budget: Budget
  readonly schema: JsonObject
  readonly draft: Draft
  readonly trust: Trust
  readonly compile: (schema: unknown) => Check
}

/** Makes the check of a keyword from the keyword's value. Throws `Invalid` for a value that the keyword cannot have. */
export type Keyword = (value: any, source: Source) => Check

/** Why a schema cannot be used. The message is the end of a sentence whose subject is the schema. */
export class Invalid extends Error {
  /** The place in the schema. */
  readonly path: Array<PropertyKey> = []
}

/** Runs `read`. When it throws an `Invalid`, adds a step to the path of the `Invalid`. */
export const within = <A>(step: PropertyKey, read: () => A): A =>
  Either.getOrThrowWith(
    Either.try({ try: read, catch: (cause) => cause }),
    (cause) => {
      if (cause instanceof Invalid) cause.path.unshift(step)
      return cause
    }
  )

/** The check of a keyword that accepts every value. */
export const nothing: Check = () => true

export const all = (checks: ReadonlyArray<Check>): Check => (value, run, evaluated) => {
  let valid = true
  for (const check of checks) valid = check(value, run, evaluated) && valid
  return valid
}

/** Runs a check one level deeper in the value. */
export const inside = (check: Check, value: unknown, key: string | number, run: Run): boolean => {
  run.path.push(String(key))
  const valid = check(value, run, undefined)
  run.path.pop()
  return valid
}

/** Runs a check. When the check fails, its errors and the members and items that it has evaluated do not count. */
export const attempt = (check: Check, value: unknown, run: Run, evaluated: Evaluated | undefined): boolean => {
  run.budget.spend(2)
  const before = run.errors.length
  const own = evaluated && { properties: new Set<string>(), items: new Set<number>() }
  const valid = check(value, run, own)
  if (!valid) run.errors.length = before
  else if (own !== undefined) merge(own, evaluated!, run.budget)
  return valid
}

/** Adds the members and items that a part has evaluated to the members and items that the whole has evaluated. */
export const merge = (part: Evaluated, whole: Evaluated, budget: Budget): void => {
  budget.spend(3 * (part.properties.size + part.items.size))
  for (const name of part.properties) whole.properties.add(name)
  for (const index of part.items) whole.items.add(index)
}

export const mark = <A>(evaluated: Set<A> | undefined, one: A, budget: Budget): void => {
  if (evaluated === undefined) return
  budget.spend(2)
  evaluated.add(one)
}

export const isObject = (value: unknown): value is Record<string, unknown> => Predicate.isRecord(value)

/** Makes a function that reads the value of a keyword. This function throws an error that says what the value must be. */
export const expect = <A>(is: (value: unknown) => value is A, what: string) => (value: unknown): A => {
  if (is(value)) return value
  throw new Invalid(`must be ${what}`)
}
export const count = expect((value): value is number => Number.isInteger(value) && Number(value) >= 0, "a whole number")
export const number = expect(Predicate.isNumber, "a number")
export const positive = expect((value): value is number => Predicate.isNumber(value) && value > 0, "a number above 0")
export const text = expect(Predicate.isString, "a string")
export const texts = expect(
  (value): value is ReadonlyArray<string> => Array.isArray(value) && value.every(Predicate.isString),
  "an array of strings"
)
export const list = expect((value): value is ReadonlyArray<unknown> => Array.isArray(value), "an array")
export const record = expect(isObject, "an object")
export const schemas = (value: unknown, { compile }: Source): ReadonlyArray<Check> =>
  list(value).map((schema, n) => within(n, () => compile(schema)))
export const checksOf = (value: unknown, { compile }: Source): ReadonlyMap<string, Check> =>
  new Map(Object.entries(record(value)).map(([key, schema]) => [key, within(key, () => compile(schema))]))

/** Compiles a regular expression, with the engine that `trust` chooses. */
export const pattern = (source: string, { budget, trust }: Source): LinearPattern.LinearPattern => {
  const advice = trust.isOfApplication && trust.patterns === "linear"
    ? "; the option `patterns: \"native\"` may accept it"
    : ""
  return Either.getOrThrowWith(
    trust.patterns === "linear" ? LinearPattern.make(source, budget) : LinearPattern.native(source),
    (why) => new Invalid(`has the regular expression ${JsonText.stringify(shortened(source))}, which ${why}${advice}`)
  )
}

/** Compiles the regular expressions of `patternProperties`, in the schema of the keyword. */
export const patternsOf = (source: Source): ReadonlyArray<LinearPattern.LinearPattern> => {
  const { patternProperties } = source.schema
  return patternProperties === undefined
    ? []
    : Object.keys(record(patternProperties)).map((expression) => pattern(expression, source))
}

/**
 * Returns a text that is the same for equal JSON values, whatever the order of their members. `enum`, `const` and `uniqueItems` compare
 * these texts, which costs less than comparing each pair of values. Each value and its text take steps from the budget.
 */
export const canonicalText = (value: unknown, budget: Budget): string => {
  budget.spend(4)
  if (Array.isArray(value)) return `[${value.map((item) => canonicalText(item, budget)).join()}]`
  if (isObject(value)) {
    const members = Object.keys(value).sort().map((key) =>
      `${JsonText.stringify(key)}:${canonicalText(value[key], budget)}`
    )
    return `{${members.join()}}`
  }
  // JSON would write `null` for Infinity. A parser makes Infinity from 1e999.
  const json = typeof value === "number" ? String(value) : String(JsonText.stringify(value))
  budget.spend(json.length / 8)
  return json
}
