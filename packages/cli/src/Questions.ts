/**
 * Questions to the user at the terminal, made from JSON Schemas: for missing arguments of a tool, and for the forms that a
 * server sends. A choice is a list, a yes or no is a toggle; what has no input of its own is asked as JSON.
 */
import * as Prompt from "@effect/cli/Prompt"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import { plain } from "./Output.js"
import { propertiesOf, typesOf, valueOf } from "./Words.js"

interface Choice {
  readonly title: string
  readonly value: string
}

const text = (value: unknown, fallback: string): string => Predicate.isString(value) ? plain(value) : fallback

const choicesOf = (schema: JsonObject): ReadonlyArray<Choice> => {
  const { enum: values, enumNames } = schema
  const titled = schema["oneOf"] ?? schema["anyOf"]
  if (Array.isArray(values)) {
    const names = Array.isArray(enumNames) ? enumNames : []
    return values.filter(Predicate.isString).map((value, index) => ({ value, title: text(names[index], plain(value)) }))
  }
  return Array.isArray(titled)
    ? titled.flatMap((one) =>
      Predicate.isRecord(one) && Predicate.isString(one["const"])
        ? [{ value: one["const"], title: text(one["title"], plain(one["const"])) }]
        : []
    )
    : []
}

const prompt = (name: string, schema: JsonObject, required: boolean): Prompt.Prompt<unknown> => {
  const about = text(schema["title"], plain(name)) +
    (schema["description"] === undefined ? "" : `: ${text(schema["description"], "")}`)
  const message = required ? about : `${about} (optional)`
  const choices = choicesOf(schema)
  const items = Predicate.isRecord(schema["items"]) ? choicesOf(schema["items"] as JsonObject) : []
  const types = typesOf(schema)
  if (choices.length > 0) {
    return Prompt.select<unknown>({
      message,
      choices: [...choices, ...(required ? [] : [{ title: "(none)", value: undefined }])]
    })
  }
  if (items.length > 0) return Prompt.multiSelect({ message, choices: items })
  if (types.includes("boolean") && required) {
    return Prompt.toggle({ message, active: "yes", inactive: "no", initial: schema["default"] === true })
  }
  const initial = schema["default"] === undefined
    ? ""
    : Predicate.isString(schema["default"])
    ? schema["default"]
    : JSON.stringify(schema["default"])
  const validate = (given: string) =>
    given === ""
      ? required && !types.includes("string") ? Effect.fail("A value is required") : Effect.succeed(given)
      : Effect.as(Effect.mapError(valueOf(name, given, schema), ({ message }) => message), given)
  return Prompt.map(
    Prompt.text({ message, validate, default: initial }),
    (given) => given === "" && !required ? undefined : given
  )
}

/** Asks for each property of a schema that has no value yet: for required ones only, or for all. */
export const complete = (
  schema: JsonObject,
  given: JsonObject,
  which: "required" | "all"
) =>
  Effect.gen(function*() {
    const required = Array.isArray(schema["required"]) ? schema["required"] : []
    const values: Record<string, unknown> = { ...given }
    for (const [name, property] of Object.entries(propertiesOf(schema))) {
      const isRequired = required.includes(name)
      if (name in values || (which === "required" && !isRequired)) continue
      const answer = yield* prompt(name, property, isRequired)
      if (answer === undefined) continue
      values[name] = Predicate.isString(answer) ? yield* valueOf(name, answer, property) : answer
    }
    return values as JsonObject
  })
