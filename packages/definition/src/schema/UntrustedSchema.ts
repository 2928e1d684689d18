/**
 * Validates values against a JSON Schema that a peer wrote. Nothing is fetched and no code is generated; reading the schema
 * is linear in its size, and a check has a budget of work: a schema and a value that need more are reported, not checked.
 *
 * `SchemaKeywords` has the keywords; this module compiles a schema to checks and resolves its references. For schemas of
 * the application, `JsonSchemaValidator` is faster.
 *
 * @see https://json-schema.org/draft/2020-12
 */
import type { JsonObject } from "@effect-mcp/protocol/Json"
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import type { SchemaError } from "./ExternalSchema.js"
import * as ExternalSchema from "./ExternalSchema.js"
import type { Check, Draft, Evaluated, Run } from "./SchemaCheck.js"
import { Invalid, merge } from "./SchemaCheck.js"
import { keywords } from "./SchemaKeywords.js"
import * as SchemaReferences from "./SchemaReferences.js"
import * as WorkBudget from "./WorkBudget.js"

/**
 * The most work of reading a schema, and of one check, in steps; and how deep checks can be nested, by references and by the
 * value.
 */
export const limits = { reading: 300_000, steps: 1_000_000, depth: 1000 } as const

/**
 * The errors of a value: none when it conforms, at most `ExternalSchema.limits.errors`. Left: why the value was not checked,
 * as the end of a sentence whose subject is the schema.
 */
export type Validate = (value: unknown) => Either.Either<ReadonlyArray<SchemaError>, string>

/**
 * Reads a schema. Left: why it cannot be used, as the end of a sentence whose subject is the schema.
 *
 * The dialect is draft 2020-12, or 2019-09 or draft-07 where `$schema` names them. `format` is an annotation and is not
 * checked.
 */
export const make = (schema: JsonObject): Either.Either<Validate, string> =>
  Either.gen(function*() {
    const copy = yield* ExternalSchema.copy(schema)
    const draft = yield* draftOf(copy)
    const check = yield* caught(() => compile(copy, draft))
    return (value) => {
      const errors: Array<SchemaError> = []
      const path: Array<string> = []
      const run: Run = {
        budget: WorkBudget.make(limits.steps),
        errors,
        path,
        fail: (message) => {
          run.budget.spend(5)
          if (errors.length < ExternalSchema.limits.errors) errors.push({ path: [...path], message })
          return false
        }
      }
      return Either.map(caught(() => check(value, run, undefined)), () => errors)
    }
  })

/** Compiling and checking throw `Invalid` and `OverBudget`, and `RangeError` when the stack is full. */
const caught = <A>(attempt: () => A): Either.Either<A, string> =>
  Either.try({
    try: attempt,
    catch: (cause) =>
      cause instanceof Invalid
        ? cause.message
        : cause instanceof WorkBudget.OverBudget
        ? `cannot be checked: ${cause.message}`
        : "cannot be checked: it is nested too deeply"
  })

const draftOf = ({ $schema }: JsonObject): Either.Either<Draft, string> => {
  const found =
    ($schema === undefined ? "2020-12" : /^https?:\/\/json-schema\.org\/(?:draft\/)?([^/]+)\/schema#?$/.exec(
      String($schema)
    )?.[1]) as Draft | undefined
  return found === "2020-12" || found === "2019-09" || found === "draft-07"
    ? Either.right(found)
    : Either.left(
      `has the dialect ${String($schema).slice(0, 100)}; supported are draft 2020-12, 2019-09 and draft-07`
    )
}

/** Adds the name of the keyword to the reason why its value is not valid. */
const named = <A>(name: string, read: () => A): A =>
  Either.getOrThrowWith(
    Either.try({ try: read, catch: (cause) => cause }),
    (cause) =>
      cause instanceof Invalid && cause.message.startsWith("must ")
        ? new Invalid(`is not a valid JSON Schema: "${name}" ${cause.message}`)
        : cause
  )

const compile = (root: JsonObject, draft: Draft): Check => {
  const budget = WorkBudget.make(limits.reading)
  const references = SchemaReferences.make(root, draft, budget)
  const compiled = new Map<unknown, { check: Check }>()
  const targets = new Map<ReadonlyMap<string, unknown>, ReadonlyMap<string, Check>>()
  const scope: Array<string> = []
  let depth = 0

  /** The check of a schema, compiled when it is first needed; schemas may refer to each other in circles. */
  const checkOf = (schema: unknown): Check => {
    if (schema === true) return () => true
    if (schema === false) return (_, run) => run.fail("is not allowed")
    if (!Predicate.isRecord(schema)) {
      throw new Invalid("is not a valid JSON Schema: a schema in it is neither an object nor a boolean")
    }
    const known = compiled.get(schema)
    if (known !== undefined) return (value, run, evaluated) => known.check(value, run, evaluated)
    const entry: { check: Check } = { check: () => true }
    compiled.set(schema, entry)
    entry.check = ofObject(schema as JsonObject)
    return entry.check
  }

  const ofObject = (schema: JsonObject): Check => {
    const referring = SchemaReferences.keywords(schema, draft).map(([keyword, reference]) =>
      ofReference(schema, keyword, reference)
    )
    budget.spend(20)
    const names = draft === "draft-07" && referring.length > 0 ? [] : Object.keys(schema)
    // These need to know what all other keywords have evaluated.
    const last = names.filter((name) => name.startsWith("unevaluated"))
    const ownChecks = [...names.filter((name) => !last.includes(name)), ...last].flatMap((name) => {
      const keyword = keywords.get(name)
      return keyword === undefined
        ? []
        : [named(name, () => keyword(schema[name], { budget, schema, draft, compile: checkOf }))]
    })
    const checks = [...referring, ...ownChecks]
    const tracks = last.length > 0
    const base = references.baseOf(schema)
    return (value, run, evaluated) => {
      run.budget.spend(1 + checks.length)
      if (depth >= limits.depth) throw new WorkBudget.OverBudget("it is nested too deeply")
      depth++
      scope.push(base)
      const own: Evaluated | undefined = tracks ? { properties: new Set(), items: new Set() } : evaluated
      let valid = true
      for (const check of checks) valid = check(value, run, own) && valid
      if (tracks && evaluated !== undefined) merge(own!, evaluated, run.budget)
      scope.pop()
      depth--
      return valid
    }
  }

  const ofReference = (schema: JsonObject, keyword: SchemaReferences.Keyword, reference: unknown): Check => {
    const target = Either.getOrThrowWith(
      references.find(keyword, reference, references.baseOf(schema)),
      (why) => new Invalid(why)
    )
    if (target.dynamic === undefined) return checkOf(target.schema)
    const { dynamic } = target
    const byBase = targetsOf(dynamic)
    const first = checkOf(target.schema)
    return (value, run, evaluated) => {
      run.budget.spend(scope.length)
      const outermost = scope.find((base) => byBase.has(base))
      return (outermost === undefined ? first : byBase.get(outermost)!)(value, run, evaluated)
    }
  }

  /** All that dynamic references of one name can lead to, by the base of the schema that has it. */
  const targetsOf = (dynamic: ReadonlyMap<string, unknown>): ReadonlyMap<string, Check> => {
    const known = targets.get(dynamic)
    if (known !== undefined) return known
    const found = new Map<string, Check>()
    targets.set(dynamic, found)
    for (const [base, schema] of dynamic) found.set(base, checkOf(schema))
    return found
  }

  const check = checkOf(root)
  return (value, run, evaluated) => {
    // A check that was given up has left these as they were.
    scope.length = 0
    depth = 0
    return check(value, run, evaluated)
  }
}
