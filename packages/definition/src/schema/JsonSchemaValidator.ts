/**
 * Whether a value conforms to a JSON Schema that is only data: one that a peer advertised, or that another library wrote.
 * Nothing is fetched, nothing that a schema says is run as code, and the work that a value may cause is bounded.
 *
 * The one room that runs ajv, which takes its time to load: what has a schema of Effect's own never comes here.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic#json-schema-usage
 * @since 0.1.0
 */
import * as Json from "@effect-mcp/jsonrpc/unstable/Json"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import type { CodeKeywordDefinition, KeywordDefinition, Options as Settings } from "ajv"
import { _, Ajv } from "ajv"
import { Ajv2019 } from "ajv/dist/2019.js"
import { Ajv2020 } from "ajv/dist/2020.js"
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import * as Extent from "./Extent.js"
import type { Refusal } from "./ForeignSchema.js"
import * as ForeignSchema from "./ForeignSchema.js"
import * as JsonSchemaRefusal from "./JsonSchemaRefusal.js"

/**
 * How many references one value may lead through: what refers to itself more than once can ask for more work than there is
 * time.
 *
 * @since 0.1.0
 * @category limits
 */
export const limits = { references: 200_000 } as const

/**
 * What is wrong with a value, at most `ForeignSchema.limits.refusals` places; empty when it conforms. All places of a value
 * that is small, the first of a large one.
 *
 * @since 0.1.0
 * @category models
 */
export type JsonSchemaValidator = (value: unknown) => ReadonlyArray<Refusal>

/**
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /**
   * Whether regular expressions are run, which may take for ever on a text that was made for them. Without them a schema
   * that has any is a problem: for schemas of those whose texts are checked. Default: true.
   */
  readonly patterns?: boolean | undefined
}

/**
 * A validator of a schema, or why there is none, as the rest of a sentence that begins with the schema.
 *
 * Draft 2020-12 where `$schema` says nothing; 2019-09 and draft-07 where it names them; other dialects are a problem.
 * `format` is an annotation, as the drafts have it by default, and checks nothing. Defaults are not filled in. The validator
 * is made with `new Function`, of what ajv generates: where that is forbidden there is none.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (schema: JsonObject, options: Options = {}): Either.Either<JsonSchemaValidator, string> =>
  Either.gen(function*() {
    const dialect = yield* dialectOf(schema)
    const copy = yield* ForeignSchema.copy(schema)
    if ("$async" in copy) return yield* Either.left(`says "$async", which is no keyword of JSON Schema`)
    const attempt = <A>(f: () => A) =>
      Either.try({ try: f, catch: (cause) => `cannot be used: ${cause instanceof Error ? cause.message : cause}` })
    const flaws = yield* attempt(() => dialect.flaws(copy))
    if (flaws.length > 0) return yield* Either.left(`is no JSON Schema of its dialect: ${flaws.map(words).join("; ")}`)
    const check = yield* attempt(() => compile(dialect, copy, options, false))
    let explain: JsonSchemaValidator | undefined
    return (value: unknown) => {
      const first = check(value)
      if (first.length === 0 || !Extent.isSmall(value)) return first
      explain ??= Either.getOrElse(attempt(() => compile(dialect, copy, options, true)), () => check)
      const all = explain(value)
      return all.length === 0 ? first : all
    }
  })

const words = ({ message, path }: Refusal): string => path.length === 0 ? message : `${path.join(".")}: ${message}`

interface Dialect {
  readonly make: (settings: Settings) => Ajv | Ajv2019 | Ajv2020
  /** What its own schema, the schema of schemas, says of a schema. */
  readonly flaws: JsonSchemaValidator
}

const dialect = (id: string, make: Dialect["make"]): Dialect => {
  let flaws: JsonSchemaValidator | undefined
  return {
    make,
    flaws: (schema) =>
      (flaws ??= run(make({ strict: false, validateFormats: false, logger: false }).getSchema(id) as Check))(schema)
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
    // In this draft what stands beside a reference means nothing.
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
    () => `is of the dialect ${Json.stringify($schema)}; known are draft 2020-12, 2019-09 and draft-07`
  )
}

// Typed by its parts: ajv narrows what it validates, and reports on the function itself.
interface Check {
  (value: unknown): boolean
  errors?: ReadonlyArray<Parameters<typeof JsonSchemaRefusal.make>[0]> | null
}

const run = (check: Check): JsonSchemaValidator => (value) => {
  const checked = Either.try(() => check(value))
  const errors = check.errors ?? []
  check.errors = null
  return Either.isLeft(checked)
    ? [{ path: [], message: "cannot be checked: it is nested too deep, or its schema refers to itself too often" }]
    : checked.right
    ? []
    : errors.slice(0, ForeignSchema.limits.refusals).map(JsonSchemaRefusal.make)
}

const compile = (
  dialect: Dialect,
  schema: JsonObject,
  { patterns = true }: Options,
  allErrors: boolean
): JsonSchemaValidator => {
  // One for each schema: what has an `$id` would be known to all others of the same.
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
  // A keyword of draft-04, which ajv refuses by name.
  ajv.removeKeyword("id")
  ajv.removeKeyword("uniqueItems")
  ajv.addKeyword(uniqueItems)
  const budget = { left: 0 }
  for (const keyword of ["$ref", "$dynamicRef", "$recursiveRef"]) count(ajv, keyword, budget)
  const validate = run(ajv.compile(schema) as Check)
  return (value) => {
    budget.left = limits.references
    return validate(value)
  }
}

/** Each use of the keyword takes from the budget; when nothing is left the validator throws. */
const count = (ajv: Ajv | Ajv2019 | Ajv2020, keyword: string, budget: { readonly left: number }): void => {
  const rule = ajv.RULES.all[keyword]
  if (typeof rule !== "object") return
  // The references of all dialects are keywords that write code.
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

// Not every pattern in use is one of Unicode mode, in which an escape that is not needed is an error.
const regExp = Object.assign(
  (pattern: string, flags: string): RegExp =>
    Either.getOrElse(Either.try(() => new RegExp(pattern, flags)), () => new RegExp(pattern)),
  { code: "new RegExp" }
)

const noRegExp = Object.assign(
  (pattern: string): RegExp => {
    throw new Error(`the regular expression ${Json.stringify(pattern)} is not run`)
  },
  { code: "new RegExp" }
)

// Of its own: ajv compares each item with all others, and whoever sends the items chooses how many.
const uniqueItems: KeywordDefinition = {
  keyword: "uniqueItems",
  type: "array",
  schemaType: "boolean",
  error: { message: "must not hold the same item twice" },
  validate: (isUnique: boolean, items: ReadonlyArray<unknown>): boolean =>
    !isUnique || new Set(items.map(canonical)).size === items.length
}

const canonical = (value: unknown): string =>
  Array.isArray(value)
    ? `[${value.map(canonical).join()}]`
    : Predicate.isRecord(value)
    ? `{${Object.keys(value).sort().map((key) => `${Json.stringify(key)}:${canonical(value[key])}`).join()}}`
    : String(Json.stringify(value))
