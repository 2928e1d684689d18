/**
 * Arguments as words of a command line, for `Call`, `Inspect` and `TerminalQuestions`: `city=Oslo` is a text, or what the schema of `city`
 * says; `days:=3` is JSON; one word `{…}` is the whole object, and `-` reads it from standard input. Whether the values fit the schema,
 * the server checks.
 */
import * as NodeStream from "@effect/platform-node/NodeStream"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"
import { type Failure, refused, usage } from "./CommandFailure.js"

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

/** The schemas of the properties of an object's schema. */
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

/** The types that a schema allows, as far as its `type` says. */
export const typesOf = ({ type }: JsonObject): ReadonlyArray<string> =>
  (Array.isArray(type) ? type : [type]).filter(Predicate.isString)

/** A text as the value that the schema wants: JSON, unless the schema takes a text. */
export const valueOf = (name: string, text: string, schema: JsonObject): Effect.Effect<unknown, Failure> => {
  const types = typesOf(schema)
  if (types.includes("string")) return Effect.succeed(text)
  const value = parsed(text, `The value of "${name}", which must be ${types.join(" or ") || "JSON"},`)
  return types.length === 0 ? Effect.orElseSucceed(value, () => text) : value
}

/** The object that words describe. */
export const toObject = (words: ReadonlyArray<string>, schema: JsonObject): Effect.Effect<JsonObject, Failure> =>
  Effect.gen(function*() {
    const properties = propertiesOf(schema)
    const values: Record<string, unknown> = {}
    const put = (name: string, value: unknown) =>
      Object.defineProperty(values, name, { value, enumerable: true, configurable: true, writable: true })
    for (const word of words) {
      const [, name = "", operator = "", text = ""] = /^([^=]*?)(:?=)(.*)$/s.exec(word) ?? []
      if (word === "-" || word.startsWith("{")) {
        const given = yield* word === "-"
          ? Effect.flatMap(standardInput, (text) => object(text, "Standard input"))
          : object(word, "The argument")
        for (const [key, value] of Object.entries(given)) put(key, value)
      } else if (operator === "" || name === "") {
        return yield* usage(
          `"${word}" is no argument: write name=text, name:=JSON, one JSON object, or - for standard input`
        )
      } else {
        put(
          name,
          yield* operator === ":="
            ? parsed(text, `The value of "${name}"`)
            : valueOf(name, text, properties[name] ?? {})
        )
      }
    }
    return values as JsonObject
  })

/** The number of letters to add, to leave out or to replace between two words. */
const distance = (a: string, b: string): number => {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1]
    for (let j = 0; j < b.length; j++) {
      next.push(Math.min((row[j] ?? 0) + (letter === b[j] ? 0 : 1), (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}

const MAX_NAMES = 20
const MAX_LETTERS = 100

/** The failure for a name that is not among the names, with the one that was meant, or with all of them. */
export const unknown = (kind: string, word: string, names: ReadonlyArray<string>): Failure => {
  const short = word.slice(0, MAX_LETTERS)
  const [best] = names.filter((name) => name.length <= MAX_LETTERS)
    .map((name) => ({ name, letters: distance(short.toLowerCase(), name.toLowerCase()) }))
    .filter(({ letters, name }) => letters <= Math.max(2, name.length / 3))
    .sort((a, b) => a.letters - b.letters)
  const known = names.slice(0, MAX_NAMES).join(", ") + (names.length > MAX_NAMES ? ", …" : "")
  return usage(
    `The server has no ${kind} "${short}"${
      best !== undefined
        ? `. Did you mean "${best.name}"?`
        : known === ""
        ? ""
        : `. It has: ${known}`
    }`
  )
}

/** Fails when a required property has no value. */
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
