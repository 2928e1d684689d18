/**
 * Validates values against a JSON Schema. The validator fetches nothing and generates no code, so it works where evaluating text as code is
 * forbidden. Reading a schema takes time linear in its size, and a check has a budget of work. When a schema and a value need more work,
 * the validator says so, and does not check the value to the end.
 *
 * `SchemaKeywords` has the keywords. This module compiles a schema to checks and resolves its references. `RawTool` validates by schemas of
 * the application. `client/session/OutputCheck`, and `ModelArguments` of package `ai`, validate by the schemas that a server sends.
 *
 * @see https://json-schema.org/draft/2020-12
 */
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import * as JsonText from "../../jsonrpc/runtime/JsonText.js"
import type { JsonObject } from "../../protocol/Json.js"
import { shortened } from "../text/Quoted.js"
import * as ExternalSchema from "./ExternalSchema.js"
import { type Check, type Draft, type Evaluated, Invalid, merge, type Run, type Trust, within } from "./KeywordCheck.js"
import { keywords } from "./SchemaKeywords.js"
import * as SchemaPointer from "./SchemaPointer.js"
import * as WorkBudget from "./WorkBudget.js"

/**
 * `reading`: how many steps reading a schema may take. `steps`: how many steps one check may take. `ofApplication`: the factor by which
 * these two limits are larger for a schema of the application. `depth`: how deep checks may nest, by references and by the value.
 */
export const limits = { reading: 300_000, steps: 1_000_000, ofApplication: 10, depth: 1000 } as const

/**
 * Returns the errors of a value, at most `ExternalSchema.limits.errors`; no errors when the value conforms. Left: why the value was not
 * checked, as the end of a sentence whose subject is the schema.
 */
export type Validate = (value: unknown) => Either.Either<ReadonlyArray<ExternalSchema.SchemaError>, string>

/**
 * Reads a schema. Left: why it cannot be used, as the end of a sentence whose subject is the schema.
 *
 * The dialect is draft 2020-12, or 2019-09 or draft-07 where `$schema` names them.
 */
export const make = (schema: JsonObject, trust: Trust = ofPeer): Either.Either<Validate, string> =>
  Either.gen(function*() {
    const copy = yield* ExternalSchema.copy(schema)
    const draft = yield* draftOf(copy)
    const times = trust.isOfApplication ? limits.ofApplication : 1
    const check = yield* caught(() => compile(copy, draft, trust, WorkBudget.make(times * limits.reading)))
    return (value) => {
      const errors: Array<ExternalSchema.SchemaError> = []
      const path: Array<string> = []
      const run: Run = {
        budget: WorkBudget.make(times * limits.steps),
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

/** How far a schema that a peer has written is trusted. */
const ofPeer: Trust = { isOfApplication: false, patterns: "linear", formats: false }

/** Catches `Invalid` and `OverBudget`, which compiling and checking throw, and `RangeError`, which they throw when the stack is full. */
const caught = <A>(attempt: () => A): Either.Either<A, string> =>
  Either.try({
    try: attempt,
    catch: (cause) =>
      cause instanceof Invalid
        ? sentence(cause)
        : cause instanceof WorkBudget.OverBudget
        ? `cannot be checked: ${cause.message}`
        : "cannot be checked: it is nested too deeply"
  })

const META_SCHEMA = /^https?:\/\/json-schema\.org\/(?:draft\/)?([^/]+)\/schema#?$/

const isMetaSchema = (reference: unknown): reference is string =>
  typeof reference === "string" && META_SCHEMA.test(reference)

const draftOf = ({ $schema }: JsonObject): Either.Either<Draft, string> => {
  const found =
    ($schema === undefined ? "2020-12" : isMetaSchema($schema) ? META_SCHEMA.exec($schema)![1] : undefined) as
      | Draft
      | undefined
  return found === "2020-12" || found === "2019-09" || found === "draft-07"
    ? Either.right(found)
    : Either.left(
      `has the dialect ${
        shortened(String(JsonText.stringify($schema)))
      }; supported are draft 2020-12, 2019-09 and draft-07`
    )
}

const sentence = ({ message, path }: Invalid): string =>
  message.startsWith("must ") ? `is not a valid JSON Schema: "${path.join(".")}" ${message}` : message

const compile = (root: JsonObject, draft: Draft, trust: Trust, budget: WorkBudget.Budget): Check => {
  const references = referencesOf(root, draft, budget)
  const compiled = new Map<unknown, { check: Check }>()
  const targets = new Map<ReadonlyMap<string, unknown>, ReadonlyMap<string, Check>>()
  const scope: Array<string> = []
  let depth = 0

  /**
   * Returns the check of a schema. The schema is compiled when the check is first needed, because schemas may refer to each other in
   * circles.
   */
  const checkOf = (schema: unknown): Check => {
    if (schema === true) return () => true
    if (schema === false) return (_, run) => run.fail("is not allowed")
    if (!Predicate.isRecord(schema)) {
      throw new Invalid("is not a valid JSON Schema: a part of it must be a schema, but is not an object or a boolean")
    }
    const known = compiled.get(schema)
    if (known !== undefined) return (value, run, evaluated) => known.check(value, run, evaluated)
    const entry: { check: Check } = { check: () => true }
    compiled.set(schema, entry)
    entry.check = ofObject(schema as JsonObject)
    return entry.check
  }

  const ofObject = (schema: JsonObject): Check => {
    const referring = referringOf(schema, draft).map(([keyword, reference]) => ofReference(schema, keyword, reference))
    budget.spend(20)
    const names = draft === "draft-07" && referring.length > 0 ? [] : Object.keys(schema)
    // `required` comes first, so that missing members are reported first. The `unevaluated…` keywords come last, because they must know
    // what all other keywords have evaluated.
    const isLast = (name: string) => name.startsWith("unevaluated")
    const rank = (name: string) => name === "required" ? 0 : isLast(name) ? 2 : 1
    const ownChecks = names.sort((a, b) => rank(a) - rank(b)).flatMap((name) => {
      const keyword = keywords.get(name)
      return keyword === undefined
        ? []
        : [within(name, () => keyword(schema[name], { budget, schema, draft, trust, compile: checkOf }))]
    })
    const checks = [...referring, ...ownChecks]
    const tracks = names.some(isLast)
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

  const ofReference = (schema: JsonObject, keyword: Keyword, reference: unknown): Check => {
    if (isMetaSchema(reference)) return schemaOf(reference)
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

  /** Returns the check of a value that must itself be a schema. The value is a schema when it can be read. */
  const schemaOf = ($schema: string): Check => {
    const inner = Either.getOrThrowWith(draftOf({ $schema }), (why) => new Invalid(why))
    return (value, run) => {
      if (Predicate.isBoolean(value)) return true
      if (!Predicate.isRecord(value)) return run.fail("must be a JSON Schema: an object or a boolean")
      const read = Either.try({
        try: () => compile(value as JsonObject, inner, { ...trust, isOfApplication: true }, run.budget),
        catch: (cause) => cause
      })
      if (Either.isRight(read)) return true
      if (read.left instanceof Invalid) return run.fail(sentence(read.left))
      throw read.left
    }
  }

  /** Returns all targets of the dynamic references of one name, by the base of the schema that has the target. */
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
    // An earlier check that was given up has not reset these variables.
    scope.length = 0
    depth = 0
    return check(value, run, evaluated)
  }
}

type Keyword = "$ref" | "$dynamicRef" | "$recursiveRef"

interface Target {
  readonly schema: unknown
  /**
   * By base: the schema that replaces `schema` when the check came through a schema with this base. `undefined` for a reference that is not
   * dynamic.
   */
  readonly dynamic: ReadonlyMap<string, unknown> | undefined
}

interface SchemaReferences {
  /** Returns the URI against which relative references of this part are resolved. */
  readonly baseOf: (schema: JsonObject) => string
  /** Finds the target of a reference. Left: says that the reference leads nowhere, as the end of a sentence whose subject is the schema. */
  readonly find: (keyword: Keyword, reference: unknown, base: string) => Either.Either<Target, string>
}

const byDraft: Readonly<Record<Draft, ReadonlyArray<Keyword>>> = {
  "2020-12": ["$ref", "$dynamicRef"],
  "2019-09": ["$ref", "$recursiveRef"],
  "draft-07": ["$ref"]
}

/** Returns the references of a schema itself. */
const referringOf = (schema: JsonObject, draft: Draft): ReadonlyArray<readonly [Keyword, unknown]> =>
  byDraft[draft].filter((keyword) => Object.hasOwn(schema, keyword)).map((keyword) => [keyword, schema[keyword]])

/** The base of a schema without an `$id`. */
const NO_BASE = "schema://root/"

const resolve = (reference: string, base: string, budget: WorkBudget.Budget): string => {
  budget.spend((reference.length + base.length) / 8)
  return URL.canParse(reference, base) ? new URL(reference, base).href : reference
}

const withoutFragment = (uri: string): string => uri.replace(/#.*$/s, "")

// Keywords whose values look like schemas but are data.
const values = new Set(["enum", "const", "default", "examples"])

const referencesOf = (root: JsonObject, draft: Draft, budget: WorkBudget.Budget): SchemaReferences => {
  const bases = new Map<unknown, string>()
  const named = new Map<string, unknown>()
  const dynamic = new Map<string, Map<string, unknown>>()

  const visit = (part: unknown, base: string, isMap: boolean): void => {
    if (Array.isArray(part)) return part.forEach((item) => visit(item, base, false))
    if (!Predicate.isRecord(part)) return
    const schema = part as JsonObject
    const own = isMap ? base : name(schema, base)
    bases.set(schema, own)
    for (const [key, value] of Object.entries(schema)) {
      if (isMap || !values.has(key)) visit(value, own, !isMap && maps.has(key))
    }
  }

  /** Remembers the names of a schema, and returns the base of the schema. */
  const name = (schema: JsonObject, outer: string): string => {
    const { $anchor, $dynamicAnchor, $id, $recursiveAnchor } = schema
    // In draft-07, the members beside a reference have no meaning.
    const id = typeof $id === "string" && !(draft === "draft-07" && "$ref" in schema)
      ? resolve($id, outer, budget)
      : undefined
    const base = id === undefined || (draft === "draft-07" && id.includes("#") && !id.endsWith("#"))
      ? outer
      : withoutFragment(id)
    if (id !== undefined) named.set(id.replace(/#$/, ""), schema)
    for (const anchor of [$anchor, $dynamicAnchor]) {
      if (typeof anchor !== "string") continue
      budget.spend((base.length + anchor.length) / 8)
      named.set(`${base}#${anchor}`, schema)
    }
    const dynamicName = typeof $dynamicAnchor === "string" ? $dynamicAnchor : $recursiveAnchor === true ? "" : undefined
    if (dynamicName !== undefined) {
      const same = dynamic.get(dynamicName) ?? new Map<string, unknown>()
      dynamic.set(dynamicName, same.set(base, schema))
    }
    return base
  }

  const start = name(root, NO_BASE)
  named.set(start, root)
  named.set(NO_BASE, root)
  visit(root, NO_BASE, false)

  const locate = (uri: string): unknown => {
    const [resource = "", fragment = ""] = uri.split(/#(.*)/s)
    if (!fragment.startsWith("/")) return named.get(fragment === "" ? resource : uri)
    return SchemaPointer.at(named.get(resource), fragment)
  }

  return {
    baseOf: (schema) => bases.get(schema) ?? start,
    find: (keyword, reference, base) => {
      const uri = typeof reference === "string" ? resolve(reference, base, budget) : undefined
      const schema = uri === undefined ? undefined : locate(uri)
      if (uri === undefined || schema === undefined) {
        const shown = typeof reference === "string" ? reference : String(JsonText.stringify(reference))
        return Either.left(`cannot be used: "${keyword}" leads to no part of it: ${shortened(shown)}`)
      }
      const anchor = keyword === "$recursiveRef" ? "" : uri.split("#")[1] ?? ""
      const isDynamic = keyword !== "$ref" && Predicate.isRecord(schema) &&
        (keyword === "$recursiveRef" ? schema["$recursiveAnchor"] === true : schema["$dynamicAnchor"] === anchor)
      return Either.right({ schema, dynamic: isDynamic ? dynamic.get(anchor) : undefined })
    }
  }
}

// Keywords whose values have schemas as members.
const maps = new Set(["properties", "patternProperties", "dependentSchemas", "dependencies", "$defs", "definitions"])
