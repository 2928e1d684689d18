/**
 * The keywords of JSON Schema (draft 2020-12, 2019-09 and draft-07). Each keyword is a function that makes a check from the value that the
 * keyword has in a schema. A keyword for numbers, strings, arrays or objects accepts every value of another type. `KeywordCheck` has the
 * parts that checks are made of. `JsonSchemaValidator` runs the checks and resolves the references.
 *
 * Each check takes steps from a `WorkBudget` for every value and every schema that it visits.
 */
import * as Predicate from "effect/Predicate"
import * as JsonText from "../../jsonrpc/runtime/JsonText.js"
import { shortened } from "../text/Quoted.js"
import {
  all,
  attempt,
  canonicalText,
  type Check,
  checksOf,
  count,
  type Evaluated,
  expect,
  inside,
  isObject,
  type Keyword,
  list,
  mark,
  nothing,
  number,
  pattern,
  patternsOf,
  positive,
  record,
  type Run,
  schemas,
  type Source,
  text,
  texts
} from "./KeywordCheck.js"
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
  const known = new Set(values.map((value) => canonicalText(value, budget)))
  return (value, run) => known.has(canonicalText(value, run.budget)) || run.fail(message)
}

/** Writes the values as a text for a message: at most 20 values, and long values are cut. */
const listed = (values: ReadonlyArray<unknown>): string => {
  const first = values.slice(0, 20).map((value) => shortened(String(JsonText.stringify(value)))).join(", ")
  return values.length > 20 ? `${first} and ${values.length - 20} others` : first
}

/**
 * Compiles all definitions of an application's schema, so that a mistake is found also in a definition to which no reference leads. A
 * definition of a peer's schema is compiled only when a reference leads to it.
 */
const definitions: Keyword = (given, source) => {
  if (source.trust.isOfApplication) checksOf(given, source)
  return nothing
}

const forAll: Readonly<Record<string, Keyword>> = {
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
        // The other schemas matter only to the `unevaluated…` keywords.
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

/**
 * Makes a limit on the number of characters. A character has one or two code units, so the characters are counted only if the number of
 * code units does not decide.
 */
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

const forScalars: Readonly<Record<string, Keyword>> = {
  multipleOf: numbers(
    (value, step) => {
      const times = value / step
      if (!Number.isFinite(times) || (Number.isInteger(value) && Number.isInteger(step))) return value % step === 0
      // A fraction such as 0.1 is not represented exactly.
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

// ---- arrays

const arrays =
  (check: (items: ReadonlyArray<unknown>, run: Run, evaluated: Evaluated | undefined) => boolean): Check =>
  (value, run, evaluated) => !Array.isArray(value) || check(value, run, evaluated)

const itemsFrom = (start: number, check: Check): Check =>
  arrays((items, run, evaluated) => {
    let valid = true
    for (let n = start; n < items.length; n++) {
      run.budget.spend(0.25)
      valid = inside(check, items[n], n, run) && valid
      mark(evaluated?.items, n, run.budget)
    }
    return valid
  })

const firstItems = (checks: ReadonlyArray<Check>): Check =>
  arrays((items, run, evaluated) => {
    let valid = true
    for (let n = 0; n < Math.min(items.length, checks.length); n++) {
      valid = inside(checks[n]!, items[n], n, run) && valid
      mark(evaluated?.items, n, run.budget)
    }
    return valid
  })

const forArrays: Readonly<Record<string, Keyword>> = {
  maxItems: (given) => {
    const limit = count(given)
    return arrays((items, run) => items.length <= limit || run.fail(`must have at most ${limit} items`))
  },
  minItems: (given) => {
    const limit = count(given)
    return arrays((items, run) => items.length >= limit || run.fail(`must have at least ${limit} items`))
  },
  uniqueItems: (unique) =>
    arrays((items, run) =>
      unique !== true || new Set(items.map((item) => canonicalText(item, run.budget))).size === items.length ||
      run.fail("must not contain the same item twice")
    ),
  contains: (given, { compile, draft, schema }) => {
    const check = compile(given)
    const counts = draft !== "draft-07"
    const min = counts && schema["minContains"] !== undefined ? count(schema["minContains"]) : 1
    const max = counts && schema["maxContains"] !== undefined ? count(schema["maxContains"]) : Infinity
    return arrays((items, run, evaluated) => {
      let found = 0
      for (let n = 0; n < items.length; n++) {
        run.budget.spend(1)
        if (!attempt((item) => inside(check, item, n, run), items[n], run, undefined)) continue
        found++
        if (draft === "2020-12") mark(evaluated?.items, n, run.budget)
      }
      return (found >= min && found <= max) || run.fail(`contains ${found} items that match contains`)
    })
  },
  prefixItems: (given, source) => source.draft === "2020-12" ? firstItems(schemas(given, source)) : nothing,
  items: (given, source) =>
    source.draft !== "2020-12" && Array.isArray(given)
      ? firstItems(schemas(given, source))
      : itemsFrom(
        source.draft === "2020-12" && Array.isArray(source.schema["prefixItems"])
          ? source.schema["prefixItems"].length
          : 0,
        source.compile(given)
      ),
  additionalItems: (given, { compile, draft, schema }) =>
    draft !== "2020-12" && Array.isArray(schema["items"]) ? itemsFrom(schema["items"].length, compile(given)) : nothing,
  unevaluatedItems: (given, { compile, draft }) => {
    if (draft === "draft-07") return nothing
    const check = compile(given)
    return arrays((items, run, evaluated) => {
      let valid = true
      for (let n = 0; n < items.length; n++) {
        run.budget.spend(1)
        if (evaluated!.items.has(n)) continue
        valid = inside(check, items[n], n, run) && valid
        mark(evaluated!.items, n, run.budget)
      }
      return valid
    })
  }
}

// ---- objects

const objects =
  (check: (members: Record<string, unknown>, run: Run, evaluated: Evaluated | undefined) => boolean): Check =>
  (value, run, evaluated) => !isObject(value) || check(value, run, evaluated)

const keys = (members: object, { budget }: Run): ReadonlyArray<string> => {
  const names = Object.keys(members)
  budget.spend(2 * names.length)
  return names
}

/** Checks the members whose names `accepts` accepts. */
const members = (
  accepts: (name: string, run: Run, evaluated: Evaluated | undefined) => boolean,
  check: Check
): Check =>
  objects((members, run, evaluated) => {
    let valid = true
    for (const name of keys(members, run)) {
      if (!accepts(name, run, evaluated)) continue
      valid = inside(check, members[name], name, run) && valid
      mark(evaluated?.properties, name, run.budget)
    }
    return valid
  })

const missing: Check = (_, run) => run.fail("is missing")

const misnamed: Check = (_, run) => run.fail("has a name that is not allowed")

const unexpected: Check = (_, run) => run.fail("is unexpected")

/** Makes the check of the members that the schema does not name. */
const rest = (given: unknown, compile: Source["compile"]): Check => given === false ? unexpected : compile(given)

const has = (names: ReadonlyArray<string>): Check =>
  objects((members, run) => {
    run.budget.spend(names.length)
    let valid = true
    for (const name of names) {
      if (!Object.hasOwn(members, name)) valid = inside(missing, undefined, name, run)
    }
    return valid
  })

/** Runs each check on the object if the object has a member of the check's name. */
const dependent = (checks: ReadonlyMap<string, Check>): Check =>
  objects((members, run, evaluated) => {
    run.budget.spend(checks.size)
    let valid = true
    for (const [name, check] of checks) {
      if (Object.hasOwn(members, name)) valid = check(members, run, evaluated) && valid
    }
    return valid
  })

const forObjects: Readonly<Record<string, Keyword>> = {
  maxProperties: (given) => {
    const limit = count(given)
    return objects((members, run) =>
      keys(members, run).length <= limit || run.fail(`must have at most ${limit} members`)
    )
  },
  minProperties: (given) => {
    const limit = count(given)
    return objects((members, run) =>
      keys(members, run).length >= limit || run.fail(`must have at least ${limit} members`)
    )
  },
  required: (given) => has(texts(given)),
  dependentRequired: (given, { draft }) =>
    draft === "draft-07"
      ? nothing
      : dependent(new Map(Object.entries(record(given)).map(([name, names]) => [name, has(texts(names))]))),
  dependentSchemas: (given, source) => source.draft === "draft-07" ? nothing : dependent(checksOf(given, source)),
  dependencies: (given, { compile }) =>
    dependent(
      new Map(
        Object.entries(record(given)).map(([name, value]) => [
          name,
          Array.isArray(value) ? has(texts(value)) : compile(value)
        ])
      )
    ),
  properties: (given, source) => {
    const checks = checksOf(given, source)
    return objects((members, run, evaluated) => {
      run.budget.spend(checks.size)
      let valid = true
      for (const [name, check] of checks) {
        if (!Object.hasOwn(members, name)) continue
        valid = inside(check, members[name], name, run) && valid
        mark(evaluated?.properties, name, run.budget)
      }
      return valid
    })
  },
  patternProperties: (given, source) =>
    all([...checksOf(given, source)].map(([expression, check]) => {
      const matches = pattern(expression, source)
      return members((name, { budget }) => matches(name, budget), check)
    })),
  additionalProperties: (given, source) => {
    const { compile, schema } = source
    const known = new Set(Object.keys(isObject(schema["properties"]) ? schema["properties"] : {}))
    const patterns = patternsOf(source)
    return members(
      (name, { budget }) => !known.has(name) && !patterns.some((matches) => matches(name, budget)),
      rest(given, compile)
    )
  },
  propertyNames: (given, { compile }) => {
    const check = compile(given)
    return objects((members, run) => {
      let valid = true
      for (const name of Object.keys(members)) {
        run.budget.spend(1)
        if (!attempt(check, name, run, undefined)) valid = inside(misnamed, name, name, run)
      }
      return valid
    })
  },
  unevaluatedProperties: (given, { compile, draft }) =>
    draft === "draft-07"
      ? nothing
      : members((name, _, evaluated) => !evaluated!.properties.has(name), rest(given, compile))
}

export const keywords: ReadonlyMap<string, Keyword> = new Map(
  Object.entries({ ...forAll, ...forScalars, ...forArrays, ...forObjects })
)
