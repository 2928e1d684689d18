/**
 * Shows messages and texts without their secrets, for taps, traces, logs and recordings.
 *
 * A secret is known by the name before the secret (of a member, a header, a parameter of a URL, a variable of the environment, an option
 * of a command) and by its form (credentials of HTTP, JSON Web Tokens, private keys, user and password of a URL). JSON in a text is read
 * as JSON. A JSON Schema stays readable: a property `password` is shown, its default and its examples are not. A secret without such
 * a name or form is shown.
 *
 * `redaction/SecretNames` knows the names, `redaction/SecretText` reads texts.
 *
 * @since 0.1.0
 */
import * as Predicate from "effect/Predicate"
import * as SecretNames from "./redaction/SecretNames.js"
import * as SecretText from "./redaction/SecretText.js"
import * as JsonText from "./runtime/JsonText.js"

/**
 * A JSON value without its secrets: a message, or any part of a message. What is nested more than 600 levels deep is left out.
 *
 * @example
 * ```ts
 * import * as Redaction from "@effect-mcp/core/Redaction"
 *
 * // { user: "ada", password: "<hidden>" }
 * export const shown = Redaction.value({ user: "ada", password: "hunter2" })
 * ```
 * @category utils
 */
export const value = (given: unknown): unknown => ofValue(given, 0)

/**
 * A text without its secrets. The text may be JSON, a broken message, a line of a log, or words.
 *
 * @category utils
 */
export const text = (given: string): string => ofText(given, 0)

const HIDDEN = SecretText.HIDDEN

const MAX_DEPTH = 600
/** A text in a text in a text …: each level of quotes makes the text shorter, so this many levels are enough. */
const MAX_TEXTS = 8
/** A level of JSON in a text counts as so many levels of nesting. */
const TEXT_LEVELS = MAX_DEPTH / MAX_TEXTS
const TOO_DEEP = "<nested too deeply>"

const ofValue = (given: unknown, depth: number): unknown => {
  if (Predicate.isString(given)) return ofText(given, depth)
  if (!isNested(given)) return given
  if (depth >= MAX_DEPTH) return TOO_DEEP
  if (Array.isArray(given)) return ofArray(given, depth + 1)
  // As `JSON.stringify` reads values that are not plain.
  if ("toJSON" in given && Predicate.isFunction(given.toJSON)) return ofValue(given.toJSON(), depth + 1)
  return ofMembers(given as Record<string, unknown>, depth + 1)
}

/** Whether a value has elements or members. */
const isNested = (value: unknown): value is object => typeof value === "object" && value !== null

const ofText = (given: string, depth: number): string => {
  const json = depth + TEXT_LEVELS < MAX_DEPTH && /^\s{0,100}[{["]/.test(given)
    ? JsonText.parse(given, MAX_DEPTH)
    : given
  if (!isNested(json) && json !== undefined && (!Predicate.isString(json) || json === given)) {
    return SecretText.redact(given)
  }
  if (json instanceof JsonText.Refused) return SecretText.redact(given)
  const redacted = JSON.stringify(
    ofValue(json, depth + TEXT_LEVELS),
    undefined,
    /^\s{0,100}[{[]\s*\n/.test(given) ? 2 : 0
  )
  // The text stays as it was, unless it has a member twice: the value has only the second.
  return JSON.stringify(JSON.parse(redacted)) === JSON.stringify(json) && membersIn(given) === membersOf(json)
    ? given
    : redacted
}

const membersIn = (json: string): number => {
  let count = 0
  for (const member = /"(?:[^"\\]|\\.)*"\s*(:?)/g;;) {
    const found = member.exec(json)
    if (found === null) return count
    if (found[1] === ":") count++
  }
}

const membersOf = (json: unknown): number =>
  Array.isArray(json)
    ? json.reduce((sum: number, one) => sum + membersOf(one), 0)
    : Predicate.isRecord(json)
    ? Object.values(json).reduce((sum: number, one) => sum + 1 + membersOf(one), 0)
    : 0

const ofArray = (given: ReadonlyArray<unknown>, depth: number): ReadonlyArray<unknown> =>
  given.map((element, i) => {
    const before = given[i - 1]
    return Predicate.isString(element) && Predicate.isString(before) && announcesNext(given, i - 1, before)
      ? HIDDEN
      : ofValue(element, depth)
  })

/** Whether an element announces the next element: `["authorization", "hunter2"]`, `["--token", "hunter2"]`. */
const announcesNext = (all: ReadonlyArray<unknown>, at: number, name: string): boolean => {
  if (SecretNames.kindOf(name) !== "strong" || name.length > 100) return false
  const next = all[at + 1] as string
  return /^--?[a-z]/i.test(name)
    ? !/^--?[a-z]/i.test(next) && !name.includes("=")
    : at % 2 === 0 && all.length % 2 === 0 && !/\s/.test(name) && SecretNames.kindOf(next) === "none"
}

const ofMembers = (given: Record<string, unknown>, depth: number): unknown => {
  const isPair = Object.entries(given).some(([name, value]) =>
    SecretText.PAIR_NAME.test(name) && Predicate.isString(value) && SecretNames.kindOf(value) === "strong"
  )
  const isPrivateKey = Predicate.isString(given.kty)
  return copy(given, (name, value) => {
    if (isPair && SecretText.PAIR_VALUE.test(name)) return SecretNames.hides("strong", value) ? HIDDEN : value
    if (isPrivateKey && SecretNames.PRIVATE_KEY_MEMBERS.has(name)) return HIDDEN
    if (isSchema(name, value)) return ofSchemaMember(name, value, depth, false)
    if (SecretNames.hides(SecretNames.kindOf(name), value)) return HIDDEN
    return LISTS_OF_NAMES.test(name) && isNames(value) ? value.map((one) => ofText(one, depth)) : ofValue(value, depth)
  })
}

/** In these lists, no element announces the next element. */
const LISTS_OF_NAMES = /(?:supported|required|types|names|scopes|tags|methods|enum)$/i

/** A copy with other values. A name that has a secret is changed, too. */
const copy = (given: Record<string, unknown>, of: (name: string, value: unknown) => unknown): unknown => {
  const made: Record<string, unknown> = {}
  for (const [i, [name, value]] of Object.entries(given).entries()) {
    const shown = SecretText.redact(name)
    const key = shown === name ? name : `${shown} ${i + 1}`
    // An assignment to `__proto__` would be lost.
    if (key === "__proto__") Object.defineProperty(made, key, { value: of(name, value), enumerable: true })
    else made[key] = of(name, value)
  }
  return made
}

/** The members of messages that have a schema, and the members by which other schemas are known. */
const isSchema = (name: string, value: unknown): boolean =>
  SCHEMAS.has(name) ? Predicate.isRecord(value) : MAPS.has(name) && isMap(value)

const SCHEMAS = new Set(["inputSchema", "outputSchema", "requestedSchema", "schema"])

const MAPS = new Set(["properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "schemas"])

const isMap = (value: unknown): value is Record<string, unknown> =>
  Predicate.isRecord(value) &&
  Object.values(value).every((one) => Predicate.isBoolean(one) || Predicate.isRecord(one))

const KEYWORDS = new Set([
  ...["items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames", "additionalItems"],
  ...["unevaluatedItems", "unevaluatedProperties", "allOf", "anyOf", "oneOf", "prefixItems", "contentSchema"]
])

/** Keywords whose texts and numbers describe values. */
const DESCRIBING = new Set([
  ...[
    "type",
    "title",
    "description",
    "format",
    "pattern",
    "$ref",
    "$id",
    "$schema",
    "$anchor",
    "$dynamicRef",
    "$dynamicAnchor",
    "$comment"
  ],
  ...[
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minItems",
    "maxItems"
  ],
  ...[
    "minProperties",
    "maxProperties",
    "minContains",
    "maxContains",
    "contentEncoding",
    "contentMediaType",
    "x-mcp-header"
  ]
])

/** A member of a schema, or of what has a schema. `isSecret` where the schema describes a secret. */
const ofSchemaMember = (name: string, given: unknown, depth: number, isSecret: boolean): unknown => {
  if (MAPS.has(name) && isMap(given)) {
    return copy(given, (property, schema) => ofSchema(schema, depth + 1, isSecret || isSecretName(property)))
  }
  if (SCHEMAS.has(name) || KEYWORDS.has(name)) {
    return Array.isArray(given)
      ? given.map((one) => ofSchema(one, depth + 1, isSecret))
      : ofSchema(given, depth, isSecret)
  }
  if (Predicate.isBoolean(given) || given === null) return given
  if (NAMES.has(name)) return ofNames(given, depth, isSecret)
  if (DESCRIBING.has(name) && !isNested(given)) {
    return Predicate.isString(given)
      ? SecretText.redact(given)
      : given
  }
  if (isSecret || SecretNames.hides(SecretNames.kindOf(name), given)) return HIDDEN
  return ofValue(given, depth)
}

const isSecretName = (name: string): boolean => ["strong", "text", "code"].includes(SecretNames.kindOf(name))

const ofSchema = (given: unknown, depth: number, isSecret: boolean): unknown => {
  if (Predicate.isBoolean(given)) return given
  if (depth >= MAX_DEPTH) return TOO_DEEP
  if (!Predicate.isRecord(given)) return isSecret && given !== null ? HIDDEN : ofValue(given, depth)
  const hides = isSecret || given.format === "password" || given.writeOnly === true
  return copy(given, (name, value) => ofSchemaMember(name, value, depth + 1, hides))
}

/** Keywords with names of properties and types. */
const NAMES = new Set(["required", "dependentRequired", "type"])

const isNames = (value: unknown): value is ReadonlyArray<string> =>
  Array.isArray(value) && value.every((name) => Predicate.isString(name))

const ofNames = (given: unknown, depth: number, isSecret: boolean): unknown =>
  Predicate.isString(given)
    ? SecretText.redact(given)
    : isNames(given)
    ? given.map(SecretText.redact)
    : Predicate.isRecord(given) && Object.values(given).every(isNames)
    ? copy(given, (_, names) => (names as ReadonlyArray<string>).map(SecretText.redact))
    : isSecret
    ? HIDDEN
    : ofValue(given, depth)
