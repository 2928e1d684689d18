/**
 * The keywords of JSON Schema (draft 2020-12, 2019-09 and draft-07), each as a function from its value in a schema to the
 * check that it makes. Those for values of any type, numbers and strings are here, the others in `ArrayKeywords` and
 * `ObjectKeywords`. `JsonSchemaValidator` runs the checks and resolves the references.
 *
 * A check spends from the budget for all that it visits, whatever the schema and the value are.
 */
import * as Json from "@effect-mcp/jsonrpc/unstable/Json"
import * as Predicate from "effect/Predicate"
import { shortened } from "../text/Quoted.js"
import { lists } from "./ArrayKeywords.js"
import { records } from "./ObjectKeywords.js"
import type { Check, Keyword, Source } from "./SchemaCheck.js"
import * as SchemaCheck from "./SchemaCheck.js"
import {
  all,
  attempt,
  checksOf,
  count,
  expect,
  isObject,
  list,
  nothing,
  number,
  pattern,
  positive,
  schemas,
  text
} from "./SchemaCheck.js"
import * as SchemaFormat from "./SchemaFormat.js"

// ---- values of any type

const types: Readonly<Record<string, (value: unknown) => boolean>> = {
  null: Predicate.isNull,
  boolean: Predicate.isBoolean,
  number: Predicate.isNumber,
  integer: Number.isInteger,
  string: Predicate.isString,
  array: Array.isArray,
  object: isObject
}

const isTypes = expect(
  (value): value is ReadonlyArray<string> =>
    Array.isArray(value) && value.length > 0 && value.every((name) => Object.hasOwn(types, name)),
  `one of ${Object.keys(types).join(", ")}, or an array of these`
)

const oneOfValues = (values: ReadonlyArray<unknown>, message: string, { budget }: Source): Check => {
  const known = new Set(values.map((value) => SchemaCheck.canonicalText(value, budget)))
  return (value, run) => known.has(SchemaCheck.canonicalText(value, run.budget)) || run.fail(message)
}

/** The values in a message: not all of many, and not all of a long one. */
const listed = (values: ReadonlyArray<unknown>): string => {
  const first = values.slice(0, 20).map((value) => shortened(String(Json.stringify(value)))).join(", ")
  return values.length > 20 ? `${first} and ${values.length - 20} others` : first
}

/**
 * The schemas of the application are all compiled, so that a mistake is found in one to which no reference leads, too; those of
 * a peer when a reference leads to them.
 */
const definitions: Keyword = (given, source) => {
  if (source.trust.isOfApplication) checksOf(given, source)
  return nothing
}

const any: Readonly<Record<string, Keyword>> = {
  type: (value) => {
    const names = isTypes(Array.isArray(value) ? value : [value])
    const is = names.map((name) => types[name]!)
    return (value, run) => is.some((is) => is(value)) || run.fail(`must be ${names.join(" or ")}`)
  },
  enum: (values, source) => oneOfValues(list(values), `must be one of ${listed(values)}`, source),
  const: (value, source) => oneOfValues([value], `must be ${listed([value])}`, source),
  allOf: (value, source) => all(schemas(value, source)),
  anyOf: (value, source) => {
    const checks = schemas(value, source)
    return (value, run, evaluated) => {
      let valid = false
      for (const check of checks) {
        if (attempt(check, value, run, evaluated)) valid = true
        // Which others match matters only to `unevaluated…`.
        if (valid && evaluated === undefined) return true
      }
      return valid || run.fail("must match a schema of anyOf")
    }
  },
  oneOf: (value, source) => {
    const checks = schemas(value, source)
    return (value, run, evaluated) => {
      let matches = 0
      for (const check of checks) if (attempt(check, value, run, evaluated)) matches++
      return matches === 1 || run.fail(`must match one schema of oneOf; it matches ${matches}`)
    }
  },
  not: (value, { compile }) => {
    const check = compile(value)
    return (value, run) => !attempt(check, value, run, undefined) || run.fail("must not match the schema of not")
  },
  if: (value, { compile, schema }) => {
    const [condition, then, otherwise] = [value, schema["then"] ?? true, schema["else"] ?? true].map(compile)
    return (value, run, evaluated) =>
      attempt(condition!, value, run, evaluated)
        ? then!(value, run, evaluated)
        : otherwise!(value, run, evaluated)
  },
  $defs: definitions,
  definitions
}

// ---- numbers and strings

const numbers = (
  holds: (value: number, limit: number) => boolean,
  words: string,
  read = number
): Keyword =>
(given) => {
  const limit = read(given)
  return (value, run) => typeof value !== "number" || holds(value, limit) || run.fail(`must be ${words} ${limit}`)
}

/** How many characters, when more or less than half of the code units decide nothing. */
const lengths = (holds: (length: number, limit: number) => boolean, words: string): Keyword => (given) => {
  const limit = count(given)
  return (value, run) => {
    if (typeof value !== "string") return true
    const [least, most] = [Math.ceil(value.length / 2), value.length]
    if (holds(least, limit) && holds(most, limit)) return true
    if (holds(least, limit) || holds(most, limit)) {
      run.budget.spend(most)
      let length = 0
      for (const _ of value) length++
      if (holds(length, limit)) return true
    }
    return run.fail(`must have ${words} ${limit} characters`)
  }
}

const scalars: Readonly<Record<string, Keyword>> = {
  multipleOf: numbers(
    (value, step) => {
      const times = value / step
      if (!Number.isFinite(times) || (Number.isInteger(value) && Number.isInteger(step))) return value % step === 0
      // A fraction such as 0.1 has no exact number.
      return Math.abs(times - Math.round(times)) <= 4 * Number.EPSILON * Math.abs(times)
    },
    "a multiple of",
    positive
  ),
  maximum: numbers((value, limit) => value <= limit, "at most"),
  exclusiveMaximum: numbers((value, limit) => value < limit, "less than"),
  minimum: numbers((value, limit) => value >= limit, "at least"),
  exclusiveMinimum: numbers((value, limit) => value > limit, "greater than"),
  maxLength: lengths((length, limit) => length <= limit, "at most"),
  minLength: lengths((length, limit) => length >= limit, "at least"),
  pattern: (given, source) => {
    const matches = pattern(text(given), source)
    return (value, run) => typeof value !== "string" || matches(value, run.budget) || run.fail("must match the pattern")
  },
  format: (given, { trust }) => {
    const matches = trust.formats ? SchemaFormat.find(text(given)) : undefined
    if (matches === undefined) return nothing
    return (value, run) => {
      if (typeof value !== "string") return true
      run.budget.spend(value.length)
      return matches(value) || run.fail(`must have the format ${given}`)
    }
  }
}

export const keywords: ReadonlyMap<string, Keyword> = new Map(
  Object.entries({ ...any, ...scalars, ...lists, ...records })
)
