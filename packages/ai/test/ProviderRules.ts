/**
 * What the providers of models refuse in a list of tools, as their documentation and their error messages say it: each rule here is one
 * such error. The package under test has its own form of these rules, which this module does not use.
 *
 * @see https://platform.openai.com/docs/guides/structured-outputs#supported-schemas
 * @see https://docs.anthropic.com/en/docs/agents-and-tools/tool-use/implement-tool-use
 * @see https://ai.google.dev/api/caching#Schema
 */
import type * as ModelSchema from "@effect-mcp/ai/ModelSchema"
import * as ToolList from "@effect-mcp/ai/ToolList"
import { Predicate } from "effect"
import { createRequire } from "node:module"
import * as PythonPattern from "./PythonPattern.js"

type Json = { readonly [key: string]: unknown }

type Report = (path: string, what: string) => void

interface Validator {
  readonly validate: (key: string, schema: unknown) => boolean
  readonly errorsText: () => string
}

const load = createRequire(createRequire(import.meta.url).resolve("@effect-mcp/testing/package.json"))
const options = { strict: false, validateFormats: false }
const draft2020: Validator = new (load("ajv/dist/2020.js").Ajv2020)(options)
const draft7: Validator = new (load("ajv").Ajv)(options)

export const dialects = ["json-schema", "openai", "openai-strict", "anthropic", "gemini"] as const

/** What the provider of the dialect would refuse in a schema. */
export const against = (schema: Json, dialect: ModelSchema.Dialect): ReadonlyArray<string> => {
  const found: Array<string> = []
  const report: Report = (path, what) => found.push(`${path}: ${what}`)
  wellFormed(report, "schema", schema)
  providers[dialect].schema(report, "schema", schema, dialect === "openai-strict")
  return found
}

/** What the provider of the dialect would refuse in the list, each with its path. */
export const violations = (list: ToolList.ToolList, dialect: ModelSchema.Dialect): ReadonlyArray<string> => {
  const found: Array<string> = []
  const report: Report = (path, what) => found.push(`${path}: ${what}`)
  const { body, maxDescription, maxTools, name, schema } = providers[dialect]
  const tools = body(list)
  if (tools.length > maxTools) report("tools", `more than ${maxTools}`)
  if (new Set(tools.map((tool) => tool.name)).size < tools.length) report("tools", "two have one name")
  tools.forEach((tool, index) => {
    if (typeof tool.name !== "string" || !name.test(tool.name)) report(`tools.${index}.name`, String(tool.name))
    const { description = "" } = tool
    if (typeof description !== "string" || description.length > maxDescription) report(`tools.${index}`, "description")
    if (tool.schema !== undefined) {
      wellFormed(report, `tools.${index}`, tool)
      schema(report, `tools.${index}.schema`, tool.schema, tool.isStrict === true)
    }
  })
  return found
}

interface Declared {
  readonly name: unknown
  readonly description?: unknown
  readonly schema?: Json
  readonly isStrict?: unknown
}

interface Provider {
  readonly body: (list: ToolList.ToolList) => ReadonlyArray<Declared>
  readonly name: RegExp
  readonly maxDescription: number
  readonly maxTools: number
  readonly schema: (report: Report, path: string, schema: Json, isStrict: boolean) => void
}

/** Both forms of OpenAI must say the same of a tool. */
const openaiBody: Provider["body"] = (list) => {
  const responses = ToolList.openaiResponses(list) as ReadonlyArray<Json>
  return (ToolList.openai(list) as ReadonlyArray<Json>).map((one, index) => {
    const { description, name, parameters, strict } = one.function as Json
    const other = responses[index] ?? {}
    const isSame = other.name === name && other.strict === (strict === true) && other.parameters === parameters
    return { name: isSame ? name : undefined, description, schema: parameters as Json, isStrict: strict }
  })
}

const openai: Provider = {
  body: openaiBody,
  name: /^[a-zA-Z0-9_-]{1,64}$/,
  maxDescription: 1024,
  maxTools: 128,
  schema: (report, path, schema, isStrict) =>
    isStrict ? strictSchema(report, path, schema) : openSchema(report, path, schema)
}

const providers: Readonly<Record<ModelSchema.Dialect, Provider>> = {
  "json-schema": {
    body: ({ tools }) =>
      tools.map(({ description, inputSchema, name }) => ({ name, description, schema: inputSchema as Json })),
    name: /^[a-zA-Z0-9_-]{1,64}$/,
    maxDescription: Infinity,
    maxTools: Infinity,
    schema: (report, path, schema) => {
      if (schema.type !== "object") report(path, "the type is not object")
      draft(report, path, schema)
      everySchema(schema, path, (one, at) => patterns(report, at, one, isEcmaScript))
    }
  },
  openai,
  "openai-strict": openai,
  "anthropic": {
    body: (list) =>
      (ToolList.anthropic(list) as ReadonlyArray<Json>)
        .map(({ description, input_schema, name }) => ({ name, description, schema: input_schema as Json })),
    name: /^[a-zA-Z0-9_-]{1,64}$/,
    maxDescription: Infinity,
    maxTools: Infinity,
    schema: (report, path, schema) => {
      if (schema.type !== "object") report(path, "the type is not object")
      for (const key of ["oneOf", "allOf", "anyOf"]) if (key in schema) report(path, `${key} at the top level`)
      for (const key of Object.keys(Object(schema.properties))) {
        if (!/^[a-zA-Z0-9_.-]{1,64}$/.test(key)) report(`${path}.properties`, `property keys should match: ${key}`)
      }
      draft(report, path, schema)
      everySchema(schema, path, (one, at) => {
        patterns(report, at, one, isEcmaScript)
        if (one.$ref !== undefined && !leads(schema, one.$ref)) report(at, `unresolvable $ref ${String(one.$ref)}`)
      })
    }
  },
  "gemini": {
    body: (list) =>
      (ToolList.gemini(list) as ReadonlyArray<Json>)
        .flatMap(({ functionDeclarations }) => functionDeclarations as ReadonlyArray<Json>)
        .map(({ description, name, parameters }) => ({
          name,
          description: description === "" ? undefined : description,
          ...(parameters === undefined ? undefined : { schema: parameters as Json })
        })),
    name: /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/,
    maxDescription: Infinity,
    maxTools: 512,
    schema: (report, path, schema) => {
      if (schema.type !== "object") report(path, "parameters should be of type OBJECT")
      if (Object.keys(Object(schema.properties)).length === 0) report(path, "properties: should be non-empty")
      geminiSchema(report, path, schema)
    }
  }
}

/** The keywords with a schema, with a list of schemas, and with schemas by name. */
const ONE = [
  ...[
    "additionalItems",
    "additionalProperties",
    "contains",
    "contentSchema",
    "else",
    "if",
    "items",
    "not",
    "propertyNames"
  ],
  ...["then", "unevaluatedItems", "unevaluatedProperties"]
]
const MANY = ["allOf", "anyOf", "items", "oneOf", "prefixItems"]
const NAMED = ["$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"]

const everySchema = (schema: unknown, path: string, see: (schema: Json, path: string) => void): void => {
  if (!Predicate.isRecord(schema)) return
  see(schema, path)
  for (const [key, value] of Object.entries(schema)) {
    const at = `${path}.${key}`
    if (ONE.includes(key)) everySchema(value, at, see)
    if (MANY.includes(key) && Array.isArray(value)) {
      value.forEach((one, index) => everySchema(one, `${at}.${index}`, see))
    }
    if (NAMED.includes(key) && Predicate.isRecord(value)) {
      for (const [name, one] of Object.entries(value)) everySchema(one, `${at}.${name}`, see)
    }
  }
}

/** A request is JSON: no halves of characters, no values that JSON does not have, and no depth that a parser refuses. */
const wellFormed = (report: Report, path: string, value: unknown, depth = 0): void => {
  if (depth > 1000) return report(path, "the recursion limit of the JSON parser")
  if (typeof value === "string" && /\p{Cs}/u.test(value)) report(path, "half of a character")
  if (typeof value === "number" && !Number.isFinite(value)) report(path, "is not a number of JSON")
  if (typeof value !== "object" || value === null) return
  for (const [key, one] of Object.entries(value)) {
    if (/\p{Cs}/u.test(key)) report(path, "half of a character in a name")
    wellFormed(report, `${path}.${key}`, one, depth + 1)
  }
}

const COUNTS = [
  ...["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains", "maxContains"]
]

/** Draft 2020-12, unless the schema names an earlier draft; in draft 7 an enumeration has values, each once. */
const draft = (report: Report, path: string, schema: Json): void => {
  const isEarlier = /draft-0|2019-09/.test(String(schema.$schema))
  const [validator, id] = isEarlier
    ? [draft7, "http://json-schema.org/draft-07/schema"]
    : [draft2020, "https://json-schema.org/draft/2020-12/schema"]
  if (!validator.validate(id, schema)) report(path, `JSON schema is invalid: ${validator.errorsText()}`)
  everySchema(schema, path, (one, at) => {
    for (const key of COUNTS) {
      if (typeof one[key] === "number" && !Number.isSafeInteger(one[key])) {
        report(at, `${key} is not an integer of 64 bits`)
      }
    }
    if (Array.isArray(one.enum)) {
      const values = new Set(one.enum.map((value) => JSON.stringify(value)))
      if (values.size === 0 || values.size < one.enum.length) report(at, "enum has no values, or a value twice")
    }
  })
}

const typesOf = ({ type }: Json): ReadonlyArray<unknown> =>
  Array.isArray(type) ? type : type === undefined ? [] : [type]

const patterns = (
  report: Report,
  path: string,
  schema: Json,
  refusal: (pattern: string) => string | undefined
): void => {
  for (const pattern of [schema.pattern, ...Object.keys(Object(schema.patternProperties))]) {
    const said = typeof pattern === "string" ? refusal(pattern) : undefined
    if (said !== undefined) report(path, `${JSON.stringify(pattern)} is not a regex: ${said}`)
  }
}

const isEcmaScript = (pattern: string): string | undefined => {
  for (const flags of ["u", ""]) {
    try {
      new RegExp(pattern, flags)
      return undefined
    } catch {
      // The next flags may accept it.
    }
  }
  return "no flags accept it"
}

const leads = (root: Json, $ref: unknown): boolean =>
  typeof $ref === "string" && $ref.startsWith("#/") && $ref.slice(2).split("/").reduce<unknown>(
      (at, key) => Predicate.isRecord(at) && Object.hasOwn(at, key) ? at[key] : undefined,
      root
    ) !== undefined

const openSchema = (report: Report, path: string, schema: Json): void => {
  if (schema.type !== "object") report(path, "schema must have type 'object'")
  for (const key of ["oneOf", "anyOf", "allOf", "enum", "not"]) {
    if (key in schema) report(path, `${key} at the top level`)
  }
  if (!Predicate.isRecord(schema.properties)) report(path, "object schema missing properties")
  draft(report, path, schema)
  everySchema(schema, path, (one, at) => {
    if (typesOf(one).includes("array") && one.items === undefined) report(at, "array schema missing items")
    patterns(report, at, one, PythonPattern.refusal)
    if (one.$ref !== undefined) report(at, "a reference, which compatible APIs do not know")
  })
}

const STRICT = new Map<unknown, ReadonlyArray<string>>([
  ["string", ["pattern", "format"]],
  ["number", ["multipleOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"]],
  ["integer", ["multipleOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"]],
  ["boolean", []],
  ["null", []],
  ["array", ["items", "minItems", "maxItems"]],
  ["object", ["properties", "required", "additionalProperties"]]
])
const STRICT_FORMATS = ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"]

const strictSchema = (report: Report, path: string, root: Json): void => {
  openSchema(report, path, root)
  const total = { properties: 0, characters: 0, values: 0 }
  const visit = (schema: unknown, at: string, level: number): void => {
    if (!Predicate.isRecord(schema)) return report(at, "is not an object")
    if (level > 10) report(at, `${level} levels of nesting exceeds limit of 10`)
    const types = typesOf(schema)
    const { anyOf, items, properties } = schema
    if (Array.isArray(anyOf)) {
      if (level === 0 || anyOf.length === 0) report(at, "anyOf at the root, or without schemas")
      for (const key of Object.keys(schema)) {
        if (!["anyOf", "description"].includes(key)) report(at, `${key} beside anyOf`)
      }
      return anyOf.forEach((one, index) => visit(one, `${at}.anyOf.${index}`, level + 1))
    }
    if (types.length === 0) report(at, "schema must have a 'type' key")
    const known = ["type", "description", "enum", "const", ...types.flatMap((type) => STRICT.get(type) ?? ["!"])]
    for (const key of Object.keys(schema)) if (!known.includes(key)) report(at, `'${key}' is not permitted`)
    if (types.some((type) => !STRICT.has(type))) report(at, "a type that is not known")
    if (schema.format !== undefined && !STRICT_FORMATS.includes(String(schema.format))) report(at, "format")
    const values = Array.isArray(schema.enum) ? schema.enum : "const" in schema ? [schema.const] : []
    const texts = values.filter(Predicate.isString)
    const length = texts.reduce((sum, text) => sum + text.length, 0)
    for (const value of values) {
      if (!types.some((type) => isOf(value, type))) report(at, `enum value ${String(value)} does not validate`)
    }
    total.characters += length
    if (Array.isArray(schema.enum)) {
      total.values += values.length
      if (values.length > 250 && length > 15_000) report(at, "more than 250 values with more than 15,000 characters")
    }
    if (types.includes("array")) visit(items, `${at}.items`, level + 1)
    if (types.includes("object")) {
      if (schema.additionalProperties !== false) report(at, "'additionalProperties' is required to be false")
      const names = Object.keys(Object(properties))
      total.properties += names.length
      total.characters += names.reduce((sum, name) => sum + name.length, 0)
      const required = new Set(Array.isArray(schema.required) ? schema.required : [])
      if (required.size !== names.length || names.some((name) => !required.has(name))) {
        report(at, "'required' must be an array including every key in properties")
      }
      for (const name of names) visit((properties as Json)[name], `${at}.properties.${name}`, level + 1)
    }
  }
  visit(root, path, 0)
  if (total.properties > 5000) report(path, `${total.properties} parameters exceeds limit of 5000`)
  if (total.characters > 120_000) report(path, `${total.characters} characters in names and values`)
  if (total.values > 1000) report(path, `${total.values} enum values in total`)
}

const isOf = (value: unknown, type: unknown): boolean =>
  value === null
    ? type === "null"
    : Array.isArray(value)
    ? type === "array"
    : type === "integer"
    ? Number.isInteger(value)
    : typeof value === type

/** The fields of `Schema`, each with the types of schemas that may have the field and a check of its value. */
const count = (value: unknown) => Number.isSafeInteger(value) && Number(value) >= 0
const GEMINI = new Map<string, readonly [types: ReadonlyArray<string>, check: (value: unknown) => boolean]>([
  ["minLength", [["string"], count]],
  ["maxLength", [["string"], count]],
  ["pattern", [["string"], (value) => isEcmaScript(String(value)) === undefined && typeof value === "string"]],
  ["minimum", [["number", "integer"], Number.isFinite]],
  ["maximum", [["number", "integer"], Number.isFinite]],
  ["items", [["array"], Predicate.isRecord]],
  ["minItems", [["array"], count]],
  ["maxItems", [["array"], count]],
  ["properties", [["object"], Predicate.isRecord]],
  ["required", [["object"], (value) => Array.isArray(value) && value.every(Predicate.isString)]],
  ["minProperties", [["object"], count]],
  ["maxProperties", [["object"], count]],
  ["enum", [
    ["string"],
    (value) => Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === "string" && one !== "")
  ]]
])
const GEMINI_FORMATS: Readonly<Record<string, ReadonlyArray<unknown>>> = {
  string: ["date-time", "enum"],
  number: ["float", "double"],
  integer: ["int32", "int64"]
}

const geminiSchema = (report: Report, path: string, schema: unknown, level = 0): void => {
  if (!Predicate.isRecord(schema)) return report(path, "is not a Schema")
  // A parser of protocol buffers stops at a hundred messages in each other: a schema by name takes two.
  if (level > 45) report(path, "exceeds the maximum allowed nesting depth")
  const { anyOf, description, nullable, type, ...rest } = schema
  if (Array.isArray(anyOf)) {
    if (Object.keys(schema).length > 1) report(path, "when using any_of, it must be the only field set")
    if (anyOf.length === 0) report(path, "any_of: should be non-empty")
    return anyOf.forEach((one, index) => geminiSchema(report, `${path}.anyOf.${index}`, one, level + 1))
  }
  if (
    !["string", "number", "integer", "boolean", "array", "object"].includes(String(type)) || typeof type !== "string"
  ) {
    return report(path, `Invalid value at type: ${JSON.stringify(type)}`)
  }
  if (description !== undefined && typeof description !== "string") report(path, "Invalid value at description")
  if (nullable !== undefined && typeof nullable !== "boolean") report(path, "Invalid value at nullable")
  for (const [key, value] of Object.entries(rest)) {
    const rule = GEMINI.get(key)
    if (key === "format") {
      if (GEMINI_FORMATS[type]?.includes(value) !== true) report(path, `format: ${String(value)} is not supported`)
    } else if (rule === undefined) report(path, `Unknown name "${key}": cannot find field`)
    else if (!rule[0].includes(type)) report(path, `${key}: only allowed for ${rule[0].join(", ")}`)
    else if (!rule[1](value)) report(path, `Invalid value at ${key}`)
  }
  const { items, properties = {}, required = [] } = rest
  if (type === "array") {
    if (items === undefined) report(path, "items: missing field")
    else geminiSchema(report, `${path}.items`, items, level + 1)
  }
  for (const name of Array.isArray(required) ? required : []) {
    if (!Object.hasOwn(Object(properties), name)) report(path, `required: property ${name} is not defined`)
  }
  for (const [name, one] of Object.entries(Object(properties))) {
    geminiSchema(report, `${path}.properties.${name}`, one, level + 1)
  }
}
