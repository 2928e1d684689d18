/**
 * Contains the rules of each dialect. A dialect is the subset of JSON Schema that the API of a model accepts for the arguments of a tool.
 * The rules are data: the keywords, the kinds of their values, and the limits. `Conversion` chooses the rules by the name of the dialect.
 * `Walk` makes a schema that follows the rules, and `Values` reads the value of one keyword. `Inlining` uses the keywords of the draft
 * 2020-12 of JSON Schema. `ToolList` uses the limits of a tool list.
 *
 * @see https://json-schema.org/draft/2020-12/schema
 * @see https://platform.openai.com/docs/guides/structured-outputs#supported-schemas
 * @see https://docs.anthropic.com/en/docs/agents-and-tools/tool-use/implement-tool-use
 * @see https://ai.google.dev/api/caching#Schema
 */
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import type * as Patterns from "./Patterns.js"

export type Dialect = "json-schema" | "openai" | "openai-strict" | "anthropic" | "gemini"

export type Schema = JsonObject | boolean

/** What the value of a keyword must be. With `never`, the dialect does not accept the keyword. */
export type Kind =
  | "any"
  | "never"
  | "text"
  | "id"
  | "anchor"
  | "boolean"
  | "number"
  | "positive"
  | "count"
  | "pattern"
  | "type"
  | "list"
  | "values"
  | "texts"
  | "texts by name"
  | "schema or texts"
  | "booleans by name"
  | "schema"
  | "schema or schemas"
  | "schemas"
  | "schema by name"
  | "schema by pattern"

export type Keywords = ReadonlyMap<string, Kind>

/** The keywords of draft 2020-12 of JSON Schema. Keywords that are not in this map may have any value. */
export const draft: Keywords = new Map<string, Kind>([
  ["$schema", "text"],
  ["$id", "id"],
  ["$anchor", "anchor"],
  ["$dynamicAnchor", "anchor"],
  ["$recursiveAnchor", "anchor"],
  ["$ref", "text"],
  ["$dynamicRef", "text"],
  ["$recursiveRef", "text"],
  ["$vocabulary", "booleans by name"],
  ["$comment", "text"],
  ["$defs", "schema by name"],
  ["definitions", "schema by name"],
  ["title", "text"],
  ["description", "text"],
  ["default", "any"],
  ["examples", "list"],
  ["deprecated", "boolean"],
  ["readOnly", "boolean"],
  ["writeOnly", "boolean"],
  ["type", "type"],
  ["enum", "values"],
  ["const", "any"],
  ["format", "text"],
  ["pattern", "pattern"],
  ["contentEncoding", "text"],
  ["contentMediaType", "text"],
  ["contentSchema", "schema"],
  ["minLength", "count"],
  ["maxLength", "count"],
  ["multipleOf", "positive"],
  ["minimum", "number"],
  ["maximum", "number"],
  ["exclusiveMinimum", "number"],
  ["exclusiveMaximum", "number"],
  ["items", "schema"],
  ["additionalItems", "schema"],
  ["unevaluatedItems", "schema"],
  ["prefixItems", "schemas"],
  ["contains", "schema"],
  ["minContains", "count"],
  ["maxContains", "count"],
  ["minItems", "count"],
  ["maxItems", "count"],
  ["uniqueItems", "boolean"],
  ["properties", "schema by name"],
  ["patternProperties", "schema by pattern"],
  ["additionalProperties", "schema"],
  ["unevaluatedProperties", "schema"],
  ["propertyNames", "schema"],
  ["minProperties", "count"],
  ["maxProperties", "count"],
  ["required", "texts"],
  ["dependentRequired", "texts by name"],
  ["dependentSchemas", "schema by name"],
  ["dependencies", "schema or texts"],
  ["allOf", "schemas"],
  ["anyOf", "schemas"],
  ["oneOf", "schemas"],
  ["not", "schema"],
  ["if", "schema"],
  ["then", "schema"],
  ["else", "schema"]
])

/** The keywords of earlier drafts. Earlier drafts allow a list of schemas in `items`, and in `$id` the name of a place in the schema. */
const earlier: Keywords = new Map<string, Kind>([
  ...draft,
  ["items", "schema or schemas"],
  ["$id", "text"],
  ["$recursiveAnchor", "any"]
])

/** The keywords of the draft for a schema that refers only to its own definitions. */
const withoutNames: Keywords = new Map([
  ...draft,
  ...["$schema", "$id", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$dynamicRef", "$recursiveRef", "$vocabulary"]
    .map((keyword): [string, Kind] => [keyword, "never"])
])

/** The keywords of the draft without references. */
const withoutReferences: Keywords = new Map([
  ...withoutNames,
  ...["$ref", "$defs", "definitions"].map((keyword): [string, Kind] => [keyword, "never"])
])

/**
 * The rules of a dialect that has only some keywords of the draft. In such a dialect each schema has a type, and only keywords that belong
 * to this type.
 */
export interface Subset {
  /** The keywords of each type, without the keywords whose values are schemas. The dialect does not have other types. */
  readonly types: ReadonlyMap<string, ReadonlyArray<string>>
  readonly formats: ReadonlyMap<string, ReadonlyArray<string>>
  /** The types whose values `enum` can list. */
  readonly valuesOf: ReadonlyArray<string>
  /** Whether the dialect has `const` in addition to `enum`. */
  readonly hasConst: boolean
  /** Whether `enum` can list the empty text. */
  readonly hasEmptyText: boolean
  /** The keywords that the dialect does not have, and whose meaning is therefore added to the description in words. */
  readonly inWords: ReadonlyArray<string>
  /** Whether a schema has only one type, and `nullable` instead of the type `null`. */
  readonly hasNullable: boolean
  /** Whether a schema with `anyOf` must have no other keyword. With `false` it may also have `description`. */
  readonly isAnyOfAlone: boolean
  /**
   * Whether the schema must describe the arguments exactly, because the model writes exactly what the schema says. With `true`, each object
   * must have all its properties and no others, and the dialect refuses a schema that it cannot describe exactly. With `false`, such a
   * schema becomes less precise.
   */
  readonly isExact: boolean
}

export interface Limits {
  /** The most characters of the description of a tool. */
  readonly description: number
  readonly tools: number
  /**
   * How many levels of schemas may be nested, including the root. The same limit holds for the levels of lists and objects in other values.
   */
  readonly levels: number
  /** The most properties of all objects of a schema together. */
  readonly properties: number
  /** The most characters of all names of properties, all values of `enum` and all values of `const` together. */
  readonly characters: number
  /** The most values of all `enum`s together. */
  readonly values: number
  /** The most characters of all texts of one `enum` that has more than `many` values. */
  readonly charactersOfMany: number
  readonly many: number
}

export interface Rules {
  readonly keywords: Keywords
  /** Which regular expressions a pattern may be. */
  readonly patterns: Patterns.Language
  /**
   * When references stay in a schema. "all": always. "own definitions": only if the whole schema refers only to its own definitions.
   * "none": never. A reference that does not stay is replaced by its schema.
   */
  readonly references: "all" | "own definitions" | "none"
  /** Whether the root of a schema may have alternatives (`anyOf`) and conditions. */
  readonly hasConditions: boolean
  /** The form that names of arguments must have. Default: any name. */
  readonly names?: RegExp
  readonly needsItems: boolean
  /** The schema for any value; `undefined` when the dialect has no such schema. */
  readonly anything?: JsonObject
  readonly subset?: Subset
  readonly limits: Limits
  /** The dialect that is used for schemas without a form in this dialect. */
  readonly otherwise?: Dialect
}

const unlimited: Limits = {
  description: 10_000,
  tools: 512,
  levels: Infinity,
  properties: Infinity,
  characters: Infinity,
  values: Infinity,
  many: Infinity,
  charactersOfMany: Infinity
}

/** How many levels a schema may have. No provider documents a limit. Parsers of JSON stop after some hundred to a thousand levels. */
const DEEP = 100

/**
 * How many levels a schema may have at a provider that uses protocol buffers. Their parser stops at a hundred nested messages, and each
 * property counts as two.
 */
const DEEP_IN_BUFFERS = 32

const openai: Limits = { ...unlimited, description: 1024, tools: 128, levels: DEEP }

const numeric = ["multipleOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"]

const strict: Subset = {
  types: new Map([
    ["string", ["pattern"]],
    ["number", numeric],
    ["integer", numeric],
    ["boolean", []],
    ["null", []],
    ["array", ["minItems", "maxItems"]],
    ["object", []]
  ]),
  formats: new Map([
    ["string", ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"]]
  ]),
  valuesOf: ["string", "number", "integer", "boolean", "null"],
  hasConst: true,
  hasEmptyText: true,
  inWords: ["default", "minLength", "maxLength", "uniqueItems"],
  hasNullable: false,
  isAnyOfAlone: false,
  isExact: true
}

const gemini: Subset = {
  types: new Map([
    ["string", ["minLength", "maxLength", "pattern"]],
    ["number", ["minimum", "maximum"]],
    ["integer", ["minimum", "maximum"]],
    ["boolean", []],
    ["array", ["minItems", "maxItems"]],
    ["object", ["minProperties", "maxProperties"]]
  ]),
  formats: new Map([
    ["string", ["date-time"]],
    ["number", ["float", "double"]],
    ["integer", ["int32", "int64"]]
  ]),
  valuesOf: ["string"],
  hasConst: false,
  hasEmptyText: false,
  inWords: ["default", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "uniqueItems"],
  hasNullable: true,
  isAnyOfAlone: true,
  isExact: false
}

export const rules: Readonly<Record<Dialect, Rules>> = {
  "json-schema": {
    keywords: draft,
    patterns: "ECMAScript",
    references: "all",
    hasConditions: true,
    needsItems: false,
    anything: {},
    limits: unlimited
  },
  "openai": {
    keywords: withoutReferences,
    patterns: "Python",
    references: "none",
    hasConditions: false,
    needsItems: true,
    anything: {},
    limits: openai
  },
  "openai-strict": {
    keywords: withoutReferences,
    patterns: "Python",
    references: "none",
    hasConditions: false,
    needsItems: true,
    subset: strict,
    limits: {
      ...openai,
      levels: 10,
      properties: 5000,
      characters: 120_000,
      values: 1000,
      many: 250,
      charactersOfMany: 15_000
    },
    otherwise: "openai"
  },
  "anthropic": {
    keywords: withoutNames,
    patterns: "ECMAScript",
    references: "own definitions",
    hasConditions: false,
    names: /^[a-zA-Z0-9_.-]{1,64}$/,
    needsItems: false,
    anything: {},
    limits: { ...unlimited, levels: DEEP }
  },
  "gemini": {
    keywords: withoutReferences,
    patterns: "ECMAScript",
    references: "none",
    hasConditions: false,
    needsItems: true,
    // Each schema needs a type, and a model can write every value as text.
    anything: { type: "string", description: "any JSON value, as text" },
    subset: gemini,
    limits: { ...unlimited, levels: DEEP_IN_BUFFERS }
  }
}

/** Returns the rules for a schema. In the dialect `json-schema`, a schema of an earlier draft keeps the keywords of this draft. */
export const rulesOf = (dialect: Dialect, { $schema }: JsonObject): Rules =>
  dialect === "json-schema" && typeof $schema === "string" && /draft-0|2019-09/.test($schema)
    ? { ...rules[dialect], keywords: earlier }
    : rules[dialect]
