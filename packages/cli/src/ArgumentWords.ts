/**
 * Reads the arguments of a tool or prompt from the words of a command line, for `Call`, `Inspect` and `TerminalQuestions`. The schema of
 * `city` decides how the value of `city=Oslo` is read. The value of `days:=3` is JSON. A word `{…}` is a JSON object with arguments, and
 * `-` reads a JSON object from standard input. The server checks whether the values fit the schema.
 */
import * as NodeStream from "@effect/platform-node/NodeStream"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"
import { type Failure, refused, usage } from "./CommandFailure.js"
import * as Suggestion from "./Suggestion.js"

const parsed = (text: string, what: string): Effect.Effect<unknown, Failure> =>
  Effect.try({
    try: () => JSON.parse(text) as unknown,
    catch: () => usage(`${what} is not JSON: ${text.slice(0, 100)}`)
  })

const object = (text: string, what: string): Effect.Effect<JsonObject, Failure> =>
  Effect.filterOrFail(
    parsed(text, what),
    (value): value is JsonObject => Predicate.isRecord(value),
    () => usage(`${what} must be a JSON object`)
  )

const standardInput: Effect.Effect<string, Failure> = NodeStream.fromReadable(
  () => process.stdin,
  () => refused("Standard input cannot be read")
).pipe(Stream.decodeText(), Stream.mkString)

/** Returns the schemas of an object's properties, by name. */
export const propertiesOf = (schema: JsonObject): Readonly<Record<string, JsonObject>> => {
  const { properties } = schema
  return Predicate.isRecord(properties)
    ? Object.fromEntries(
      Object.entries(properties).map(([name, one]) => [name, Predicate.isRecord(one) ? one : {}])
    ) as Record<
      string,
      JsonObject
    >
    : {}
}

/** Returns the types that a schema allows, as far as its `type` says. */
export const typesOf = ({ type }: JsonObject): ReadonlyArray<string> =>
  (Array.isArray(type) ? type : [type]).filter(Predicate.isString)

/** What the user should write for each type of JSON Schema. */
const WORDS: Readonly<Record<string, string>> = {
  array: "a JSON array",
  boolean: "true or false",
  integer: "a whole number",
  null: "null",
  number: "a number",
  object: "a JSON object"
}

/**
 * Reads a text by its schema. With the type `string` the value is the text itself, and with another type the text must be JSON. Without a
 * type, a text that is JSON is read as JSON, and any other text is the value itself. Fails with `usage` when a text that must be JSON is
 * not JSON.
 */
export const valueOf = (name: string, text: string, schema: JsonObject): Effect.Effect<unknown, Failure> => {
  const types = typesOf(schema)
  if (types.includes("string")) return Effect.succeed(text)
  const value = parsed(text, name)
  const expected = types.map((type) => WORDS[type] ?? type).join(", or ")
  return types.length === 0
    ? Effect.orElseSucceed(value, () => text)
    : Effect.mapError(value, () => usage(`The value of "${name}" must be ${expected}, and is: ${text.slice(0, 100)}`))
}

/**
 * Returns whether the schema may allow arguments that its `properties` do not name. Without `additionalProperties` the answer is no, so
 * that the user gets an error for a misspelled name.
 */
const isOpen = (schema: JsonObject): boolean => {
  const { additionalProperties = false, properties } = schema
  return additionalProperties !== false || !Predicate.isRecord(properties) || COMBINING.some((name) => name in schema)
}

const COMBINING = ["patternProperties", "$ref", "allOf", "anyOf", "oneOf", "if", "dependentSchemas"]

const known = (name: string, schema: JsonObject): Effect.Effect<void, Failure> => {
  const names = Object.keys(propertiesOf(schema))
  return isOpen(schema) || names.includes(name)
    ? Effect.void
    : Effect.fail(
      Suggestion.unknown(
        (word) => `There is no argument "${word}"`,
        name,
        names,
        (names) => names === "" ? "There are no arguments" : `There are: ${names}`
      )
    )
}

/** Returns the arguments that one word gives. */
const ofWord = (word: string, schema: JsonObject): Effect.Effect<JsonObject, Failure> => {
  if (word === "-") return Effect.flatMap(standardInput, (text) => object(text, "Standard input"))
  if (word.startsWith("{")) return object(word, "The argument")
  const [, name = "", operator = "", text = ""] = /^([^=]*?)(:?=)(.*)$/s.exec(word) ?? []
  if (operator === "" || name === "") {
    return Effect.fail(usage(
      `"${word}" is not an argument: write name=text, name:=JSON, one JSON object, or - for standard input`
    ))
  }
  const value = operator === ":="
    ? parsed(text, `The value of "${name}"`)
    : valueOf(name, text, propertiesOf(schema)[name] ?? {})
  return Effect.zipRight(
    known(name, schema),
    Effect.map(value, (value) => Object.fromEntries([[name, value]]) as JsonObject)
  )
}

/**
 * Returns the arguments that the words give. When two words give the same argument, the last word counts. Fails with `usage` when
 * `name=text` or `name:=JSON` names an argument that the schema does not have. The names in a JSON object are not checked.
 */
export const toObject = (words: ReadonlyArray<string>, schema: JsonObject): Effect.Effect<JsonObject, Failure> =>
  Effect.map(
    Effect.forEach(words, (word) => ofWord(word, schema)),
    (objects) => Object.fromEntries(objects.flatMap(Object.entries)) as JsonObject
  )

/** Fails with `usage` when a required property has no value. */
export const requireAll = (schema: JsonObject, given: JsonObject): Effect.Effect<void, Failure> => {
  const required = Array.isArray(schema["required"]) ? schema["required"].filter(Predicate.isString) : []
  const missing = required.filter((name) => !Object.hasOwn(given, name))
  const properties = propertiesOf(schema)
  const shown = missing.map((name) => `${name} (${typesOf(properties[name] ?? {}).join(" or ") || "any"})`)
  return missing.length === 0
    ? Effect.void
    : Effect.fail(usage(
      `${missing.length === 1 ? "An argument is" : "Arguments are"} missing: ${shown.join(", ")}. Write name=value`
    ))
}
