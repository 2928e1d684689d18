/**
 * Validates values against a JSON Schema, such as one that a peer advertised. It fetches nothing, runs no text of a
 * schema as code, and bounds the work that a value can cause through references.
 *
 * The only module that loads ajv, which takes long to load. `RawTool` uses it; tools with Effect schemas do not.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic#json-schema-usage
 */
import * as Json from "@effect-mcp/jsonrpc/unstable/Json"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import type { CodeKeywordDefinition, KeywordDefinition, Options as Settings } from "ajv"
import { _, Ajv } from "ajv"
import { Ajv2019 } from "ajv/dist/2019.js"
import { Ajv2020 } from "ajv/dist/2020.js"
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import { shortened } from "../text/Quoted.js"
import type { SchemaError } from "./ExternalSchema.js"
import * as ExternalSchema from "./ExternalSchema.js"
import * as JsonSchemaError from "./JsonSchemaError.js"
import * as ValueSize from "./ValueSize.js"

/**
 * How many references are followed for one value: a schema that refers to itself twice doubles the work at each level.
 */
const MAX_REFERENCES = 200_000

/**
 * The errors of a value: none when it conforms, at most `ExternalSchema.limits.errors` of a small value, the first of a
 * large one.
 */
export type JsonSchemaValidator = (value: unknown) => ReadonlyArray<SchemaError>

export interface Options {
  /**
   * Whether to run regular expressions. A hostile expression can run for ever, so set this to false for schemas that
   * you do not trust: a schema with an expression is then refused. Default: true.
   */
  readonly patterns?: boolean | undefined
}

/**
 * Compiles a schema to a validator. Left: why not, as the end of a sentence whose subject is the schema.
 *
 * The dialect is draft 2020-12, or 2019-09 or draft-07 where `$schema` names them. `format` is an annotation, as the
 * drafts have it by default, and is not checked; defaults are not filled in. ajv compiles with `new Function`: the
 * schema is refused where the platform forbids that.
 */
export const make = (schema: JsonObject, options: Options = {}): Either.Either<JsonSchemaValidator, string> =>
  Either.gen(function*() {
    const dialect = yield* dialectOf(schema)
    const copy = yield* ExternalSchema.copy(schema)
    if ("$async" in copy) return yield* Either.left(`has the keyword "$async", which is not part of JSON Schema`)
    const attempt = <A>(f: () => A) =>
      Either.try({ try: f, catch: (cause) => `cannot be used: ${cause instanceof Error ? cause.message : cause}` })
    const errors = yield* attempt(() => dialect.check(copy))
    if (errors.length > 0) {
      return yield* Either.left(`is not a JSON Schema of its dialect: ${errors.map(sentence).join("; ")}`)
    }
    const check = yield* attempt(() => compile(dialect, copy, options, false))
    let explain: JsonSchemaValidator | undefined
    return (value: unknown) => {
      const first = check(value)
      if (first.length === 0 || !ValueSize.isSmall(value)) return first
      explain ??= Either.getOrElse(attempt(() => compile(dialect, copy, options, true)), () => check)
      const all = explain(value)
      return all.length === 0 ? first : all
    }
  })

const sentence = ({ message, path }: SchemaError): string =>
  path.length === 0 ? message : `${path.join(".")}: ${message}`

interface Dialect {
  readonly make: (settings: Settings) => Ajv | Ajv2019 | Ajv2020
  /** Validates a schema against the meta-schema of the dialect. */
  readonly check: JsonSchemaValidator
}

const dialect = (id: string, make: Dialect["make"]): Dialect => {
  let check: JsonSchemaValidator | undefined
  return {
    make,
    check: (schema) =>
      (check ??= run(make({ strict: false, validateFormats: false, logger: false }).getSchema(id) as Check))(schema)
  }
}

const draft202012 = dialect("https://json-schema.org/draft/2020-12/schema", (settings) => new Ajv2020(settings))

const dialects = new Map<unknown, Dialect>([
  ["json-schema.org/draft/2020-12/schema", draft202012],
  [
    "json-schema.org/draft/2019-09/schema",
    dialect("https://json-schema.org/draft/2019-09/schema", (settings) => new Ajv2019(settings))
  ],
  [
    "json-schema.org/draft-07/schema",
    // This draft ignores the keywords beside a reference.
    dialect(
      "http://json-schema.org/draft-07/schema",
      (settings) => new Ajv({ ...settings, ignoreKeywordsWithRef: true })
    )
  ]
])

const dialectOf = ({ $schema }: JsonObject): Either.Either<Dialect, string> => {
  if ($schema === undefined) return Either.right(draft202012)
  const known = typeof $schema === "string"
    ? dialects.get($schema.replace(/^https?:\/\//, "").replace(/#$/, ""))
    : undefined
  return Either.fromNullable(
    known,
    () =>
      `has the dialect ${shortened(String(Json.stringify($schema)))}; supported are draft 2020-12, 2019-09 and draft-07`
  )
}

// ajv sets the errors on the function itself. The function's type in ajv is a type guard, which does not fit here.
interface Check {
  (value: unknown): boolean
  errors?: ReadonlyArray<Parameters<typeof JsonSchemaError.make>[0]> | null
}

const run = (check: Check): JsonSchemaValidator => (value) => {
  const checked = Either.try(() => check(value))
  const errors = check.errors ?? []
  check.errors = null
  return Either.isLeft(checked)
    ? [{ path: [], message: "cannot be checked: it is nested too deeply, or the schema refers to itself too often" }]
    : checked.right
    ? []
    : errors.slice(0, ExternalSchema.limits.errors).map(JsonSchemaError.make)
}

const compile = (
  dialect: Dialect,
  schema: JsonObject,
  { patterns = true }: Options,
  allErrors: boolean
): JsonSchemaValidator => {
  // A new instance for each schema: an instance remembers schemas by `$id`, and would refuse a second one.
  const ajv = dialect.make({
    strict: false,
    validateFormats: false,
    validateSchema: false,
    logger: false,
    ownProperties: true,
    inlineRefs: false,
    allErrors,
    code: { regExp: patterns ? regExp : noRegExp }
  })
  // ajv throws on this keyword of draft-04.
  ajv.removeKeyword("id")
  ajv.removeKeyword("uniqueItems")
  ajv.addKeyword(uniqueItems)
  const budget = { left: 0 }
  for (const keyword of ["$ref", "$dynamicRef", "$recursiveRef"]) count(ajv, keyword, budget)
  const validate = run(ajv.compile(schema) as Check)
  return (value) => {
    budget.left = MAX_REFERENCES
    return validate(value)
  }
}

/** Makes each use of the keyword take one from the budget; the validator throws when the budget is used up. */
const count = (ajv: Ajv | Ajv2019 | Ajv2020, keyword: string, budget: { readonly left: number }): void => {
  const rule = ajv.RULES.all[keyword]
  if (typeof rule !== "object") return
  // In every dialect the reference keywords are defined by code.
  const { code } = rule.definition as CodeKeywordDefinition
  rule.definition = {
    ...rule.definition,
    code: (context, type) => {
      const left = _`${context.gen.scopeValue("obj", { ref: budget })}.left`
      context.gen.if(_`--${left} < 0`, () => context.gen.throw(_`new Error("too many references")`))
      code(context, type)
    }
  }
}

// Some patterns in use are not valid in Unicode mode, where an unneeded escape is an error.
const regExp = Object.assign(
  (pattern: string, flags: string): RegExp =>
    Either.getOrElse(Either.try(() => new RegExp(pattern, flags)), () => new RegExp(pattern)),
  { code: "new RegExp" }
)

const noRegExp = Object.assign(
  (pattern: string): RegExp => {
    throw new Error(`the regular expression ${Json.stringify(pattern)} is refused: patterns are turned off`)
  },
  { code: "new RegExp" }
)

// ajv's own keyword compares each item with all others, which is quadratic in a number that the peer chooses.
const uniqueItems: KeywordDefinition = {
  keyword: "uniqueItems",
  type: "array",
  schemaType: "boolean",
  error: { message: "must not contain the same item twice" },
  validate: (isUnique: boolean, items: ReadonlyArray<unknown>): boolean =>
    !isUnique || new Set(items.map(canonical)).size === items.length
}

const canonical = (value: unknown): string =>
  Array.isArray(value)
    ? `[${value.map(canonical).join()}]`
    : Predicate.isRecord(value)
    ? `{${Object.keys(value).sort().map((key) => `${Json.stringify(key)}:${canonical(value[key])}`).join()}}`
    : String(Json.stringify(value))
