/**
 * The keywords of JSON Schema that look at an object: which members it must have, which schema each of them matches, the names
 * of the members, and the members that no other keyword has looked at. `SchemaKeywords` has those for values of other types.
 *
 * Each keyword leaves a value that is no object to `type`.
 */
import type { Check, Evaluated, Keyword, Run, Source } from "./SchemaCheck.js"
import {
  all,
  attempt,
  checksOf,
  count,
  inside,
  isObject,
  mark,
  nothing,
  pattern,
  patternsOf,
  record,
  texts
} from "./SchemaCheck.js"

const objects =
  (check: (members: Record<string, unknown>, run: Run, evaluated: Evaluated | undefined) => boolean): Check =>
  (value, run, evaluated) => !isObject(value) || check(value, run, evaluated)

const keys = (members: object, { budget }: Run): ReadonlyArray<string> => {
  const names = Object.keys(members)
  budget.spend(2 * names.length)
  return names
}

/** The members whose names these accept. */
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

/** The check of members beside those that the schema names. */
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

/** Checks the object where it has a member of the name. */
const dependent = (checks: ReadonlyMap<string, Check>): Check =>
  objects((members, run, evaluated) => {
    run.budget.spend(checks.size)
    let valid = true
    for (const [name, check] of checks) {
      if (Object.hasOwn(members, name)) valid = check(members, run, evaluated) && valid
    }
    return valid
  })

export const records: Readonly<Record<string, Keyword>> = {
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
