/**
 * Shows messages and texts without their secrets, for taps, traces, logs and recordings.
 *
 * This module finds a secret in two ways. One way is the name before the secret: the name of a member, a header, a parameter of a URL, an
 * environment variable, or an option of a command. The other way is the form of the secret: credentials of HTTP, JSON Web Tokens, private
 * keys, or the user and password of a URL. A secret that has no such name or form is shown. JSON in a text is read as JSON. A JSON Schema
 * stays readable: the property named `password` is shown, but its default and its examples are hidden. `redaction/SecretNames` has the
 * names, and `redaction/SecretText` searches texts.
 *
 * @since 0.1.0
 */
import * as Predicate from "effect/Predicate"
import * as SecretNames from "./redaction/SecretNames.js"
import * as SecretText from "./redaction/SecretText.js"
import * as JsonText from "./runtime/JsonText.js"

/**
 * Returns a copy of a JSON value without its secrets. The value may be a message or any part of a message. Values that are nested more than
 * 600 levels deep are left out.
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
 * Returns a text without its secrets. The text may be JSON, a broken message, a line of a log, or prose.
 *
 * @category utils
 */
export const text = (given: string): string => ofText(given, 0)

const HIDDEN = SecretText.HIDDEN

const MAX_DEPTH = 600
/**
 * How many levels of JSON text inside JSON text are read. Each level of quotes makes the inner text shorter, so 8 levels are enough.
 */
const MAX_TEXTS = 8
/** How many levels of nesting are counted for one level of JSON text inside a text. */
const TEXT_LEVELS = MAX_DEPTH / MAX_TEXTS
const TOO_DEEP = "<nested too deeply>"

const ofValue = (given: unknown, depth: number): unknown => {
  if (Predicate.isString(given)) return ofText(given, depth)
  if (!isNested(given)) return given
  if (depth >= MAX_DEPTH) return TOO_DEEP
  if (Array.isArray(given)) return ofArray(given, depth + 1)
  // An object with `toJSON` is read as `JSON.stringify` reads it.
  if ("toJSON" in given && Predicate.isFunction(given.toJSON)) return ofValue(given.toJSON(), depth + 1)
  return ofMembers(given as Record<string, unknown>, depth + 1)
}

/** Whether a value is an object or an array. */
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
  // Returns the text unchanged if it has no secret. If an object in the text has the same member twice, the text is written again, because
  // the parsed value has only the second member.
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

/**
 * Whether an element of a list is a name and the next element is its value, as in `["authorization", "hunter2"]` or
 * `["--token", "hunter2"]`.
 */
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

/** Names of members that contain lists of names. In these lists, no element is the value of the element before it. */
const LISTS_OF_NAMES = /(?:supported|required|types|names|scopes|tags|methods|enum)$/i

/** Copies an object, with the values that `of` returns. Also changes a member name that contains a secret. */
const copy = (given: Record<string, unknown>, of: (name: string, value: unknown) => unknown): unknown => {
  const made: Record<string, unknown> = {}
  for (const [i, [name, value]] of Object.entries(given).entries()) {
    const shown = SecretText.redact(name)
    const key = shown === name ? name : `${shown} ${i + 1}`
    // An assignment to `__proto__` would not make a member.
    if (key === "__proto__") Object.defineProperty(made, key, { value: of(name, value), enumerable: true })
    else made[key] = of(name, value)
  }
  return made
}

/** Whether a member contains a schema. These are some members of messages, and members that only occur in schemas. */
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

/** Keywords of a schema whose texts and numbers describe values and are not secrets. */
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

/** Redacts a member of a schema, or of an object that contains a schema. `isSecret` is `true` when the schema describes a secret. */
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

/** Keywords of a schema whose values are names of properties or of types. */
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
