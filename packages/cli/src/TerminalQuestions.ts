/**
 * Asks the user at the terminal for the values that a JSON Schema describes: the missing arguments of a tool (`Call`), or the values of a
 * form that a server sends (`Answers`). The user selects from a list when the schema has choices, and answers yes or no for a required
 * boolean. The user types every other value: a string without quotes, any other value as JSON.
 */
import * as Prompt from "@effect/cli/Prompt"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import { propertiesOf, typesOf, valueOf } from "./ArgumentWords.js"
import type { OutputService } from "./CommandOutput.js"
import { fit, jsonText, line } from "./Escape.js"

interface Choice {
  readonly title: string
  readonly value: string
}

/**
 * Returns a text for a question of `@effect/cli`, escaped and cut to `room` characters, at least 8. This is needed because `@effect/cli`
 * writes the text unchanged, and counts its characters to know how many lines it must erase.
 */
const asked = (text: string, room: number): string => fit(line(text), Math.max(8, room), ({ length }) => length)

const text = (value: unknown, fallback: string): string => Predicate.isString(value) ? value : fallback

const choicesOf = (schema: JsonObject): ReadonlyArray<Choice> => {
  const { enum: values, enumNames } = schema
  const titled = schema["oneOf"] ?? schema["anyOf"]
  if (Array.isArray(values)) {
    const names = Array.isArray(enumNames) ? enumNames : []
    return values.filter(Predicate.isString).map((value, index) => ({ value, title: line(text(names[index], value)) }))
  }
  return Array.isArray(titled)
    ? titled.flatMap((one) =>
      Predicate.isRecord(one) && Predicate.isString(one["const"])
        ? [{ value: one["const"], title: line(text(one["title"], one["const"])) }]
        : []
    )
    : []
}

/** How many columns of a line a question needs for its own characters and for a short answer. */
const OWN = 16

interface Question {
  readonly name: string
  readonly schema: JsonObject
  readonly required: boolean
  readonly width: number
  /** The whole text of the question. */
  readonly about: string
  /** The text that the question shows: on one line, and cut. */
  readonly message: string
  /** The default value. The next member, `shown`, is the default as the question shows it. */
  readonly initial: string
  readonly shown: string
}

const questionOf = (name: string, schema: JsonObject, required: boolean, width: number): Question => {
  const { default: otherwise, description, title } = schema
  const about = text(title, name) + (description === undefined ? "" : `: ${text(description, "")}`) +
    (required ? "" : " (optional)")
  const initial = otherwise === undefined ? "" : text(otherwise, jsonText(otherwise, 0))
  const room = width - OWN
  const shown = asked(initial, room / 2)
  return { name, schema, required, width, about, message: asked(about, room - shown.length), initial, shown }
}

const prompt = ({ initial, message, name, required, schema, shown, width }: Question): Prompt.Prompt<unknown> => {
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
  const valued = (answer: string): string => answer === shown ? initial : answer
  const validate = (answer: string) =>
    answer === ""
      ? required && !types.includes("string") ? Effect.fail("A value is required") : Effect.succeed(answer)
      : Effect.as(
        Effect.mapError(valueOf(name, valued(answer), schema), ({ message }) => asked(message, width - 4)),
        answer
      )
  return Prompt.map(
    Prompt.text({ message, validate, default: shown }),
    (answer) => answer === "" && !required ? undefined : valued(answer)
  )
}

/**
 * Asks for each property that has no value in `given`. `which` decides whether the question comes for all properties or only for required
 * properties. Returns all values, including the values of `given`.
 */
export const complete = (
  schema: JsonObject,
  given: JsonObject,
  which: "required" | "all",
  { note, width }: OutputService
) =>
  Effect.gen(function*() {
    const required = Array.isArray(schema["required"]) ? schema["required"] : []
    const values: Record<string, unknown> = { ...given }
    for (const [name, property] of Object.entries(propertiesOf(schema))) {
      const isRequired = required.includes(name)
      if (name in values || (which === "required" && !isRequired)) continue
      const question = questionOf(name, property, isRequired, width)
      if (question.message !== line(question.about)) yield* note(question.about)
      const answer = yield* prompt(question)
      if (answer === undefined) continue
      values[name] = Predicate.isString(answer) ? yield* valueOf(name, answer, property) : answer
    }
    return values as JsonObject
  })
