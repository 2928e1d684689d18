/**
 * A form out of a schema: what elicitation asks a person, and what the answer means. Fields are text, numbers, yes or no,
 * and choices of one or several; a schema of anything else is refused when the form is made.
 *
 * What a field may ask and which answers fit it is said in `@effect-mcp/protocol/ElicitationForm`; what no form can ask, a
 * pattern or a refinement, is checked here when the answer comes.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#requested-schema
 * @since 0.1.0
 */
import type { ElicitContent } from "@effect-mcp/protocol/Elicitation"
import { RequestedSchema } from "@effect-mcp/protocol/ElicitationSchema"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import * as ElicitationForm from "@effect-mcp/protocol/unstable/ElicitationForm"
import * as Issue from "@effect-mcp/protocol/unstable/Issue"
import * as SchemaCheck from "@effect-mcp/protocol/unstable/SchemaCheck"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import * as JsonSchema from "./schema/JsonSchema.js"

/**
 * @since 0.1.0
 * @category models
 */
export interface Form<out A> {
  readonly requestedSchema: RequestedSchema
  /** What was filled in, with defaults where nothing was; fails with what is wrong with it, for people. */
  readonly decode: (content: ElicitContent | undefined) => Effect.Effect<A, string>
}

/**
 * The form of a schema, made once for each. Throws when the schema is none that a form can ask for.
 *
 * Titles, descriptions and defaults come from annotations, defaults of optional fields too. A literal with a `title` is a
 * choice that people read by that title.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = <A, I>(schema: Schema.Schema<A, I>): Form<A> => {
  const known = forms.get(schema)
  if (known !== undefined) return known as Form<A>
  const form = compile(schema)
  forms.set(schema, form)
  return form
}

const forms = new WeakMap<Schema.Schema.Any, Form<unknown>>()

/**
 * The form of fields that are described already. What is filled in is checked against them.
 *
 * @since 0.1.0
 * @category constructors
 */
export const fromFields = (requestedSchema: RequestedSchema): Form<ElicitContent> => ({
  requestedSchema,
  decode: (content) => Effect.suspend(() => answer(requestedSchema, content))
})

/**
 * Why these fields are none that a form may have; `undefined` when they are.
 *
 * @since 0.1.0
 * @category getters
 */
export const problem = (requestedSchema: RequestedSchema): string | undefined => {
  const problems = ElicitationForm.problems(requestedSchema)
  return problems.length === 0 ? undefined : sentence(problems)
}

const sentence = (places: ReturnType<typeof ElicitationForm.problems>): string =>
  places.map(({ message, path }) => `${path}: ${message}`).join("; ")

const answer = (schema: RequestedSchema, content: ElicitContent | undefined): Either.Either<ElicitContent, string> =>
  Either.mapLeft(ElicitationForm.check(schema, ElicitationForm.withDefaults(schema, content)), sentence)

const compile = <A, I>(schema: Schema.Schema<A, I>): Form<A> => {
  const advertised = JsonSchema.make(schema)
  const json = advertised as Advertised
  // A record and a union are objects, too, but have no fields that could be asked for one by one.
  if (!JsonSchema.isObject(advertised) || beyondFields.some((word) => (advertised[word] ?? false) !== false)) {
    throw new Error("Form: its schema must be an object with fields")
  }
  const defaults = defaultsOf(schema)
  const fields = Object.entries(json.properties ?? {}).map(([name, field]): [string, unknown] => {
    const resolved = field.$ref === undefined ? field : { ...json.$defs?.[nameOf(field.$ref)], ...field }
    const made = primitive(name, resolved)
    const value = defaults[name]
    return [name, fits(made, value) ? { ...made, default: value } : made]
  })
  const requested: unknown = {
    type: "object",
    properties: Object.fromEntries(fields),
    ...(json.required === undefined || json.required.length === 0 ? undefined : { required: json.required })
  }
  if (!isRequestedSchema(requested)) throw new Error("Form: a form has text, numbers, yes or no, and choices only")
  const wrong = problem(requested)
  if (wrong !== undefined) throw new Error(`Form: ${wrong}`)
  const decode = ParseResult.decodeUnknown(schema, { errors: "all" })
  return {
    requestedSchema: requested,
    decode: (content) =>
      Effect.flatMap(
        Effect.suspend(() => answer(requested, content)),
        (filled) => Effect.mapError(decode(filled), Issue.sentence)
      )
  }
}

const isRequestedSchema = SchemaCheck.compile(RequestedSchema)

const beyondFields = ["$ref", "anyOf", "additionalProperties", "patternProperties"]

interface Advertised {
  readonly properties?: Readonly<Record<string, Field>>
  readonly required?: ReadonlyArray<string>
  readonly $defs?: Readonly<Record<string, Field>>
}

interface Field {
  readonly [word: string]: unknown
  readonly $ref?: string
  readonly type?: string
  readonly format?: string
  readonly anyOf?: ReadonlyArray<Field>
  readonly enum?: ReadonlyArray<string>
  readonly items?: Field
}

const nameOf = (ref: string): string => ref.slice(ref.lastIndexOf("/") + 1)

const words = ["title", "description", "default"]
const keep = (field: Field, ...names: ReadonlyArray<string>): JsonObject =>
  Object.fromEntries([...words, ...names].flatMap((name) => field[name] === undefined ? [] : [[name, field[name]]]))

const formats = new Set(["email", "uri", "date", "date-time"])

const primitive = (name: string, field: Field): JsonObject => {
  const choices = titled(field)
  if (choices !== undefined) return { type: "string", ...keep(field), ...choices("oneOf") }
  switch (field.type) {
    case "string":
      return field.enum !== undefined
        ? { type: "string", ...keep(field, "enum") }
        : {
          type: "string",
          ...keep(field, "minLength", "maxLength"),
          ...(field.format !== undefined && formats.has(field.format) ? { format: field.format } : undefined)
        }
    case "number":
    case "integer":
      return { type: field.type, ...keep(field, "minimum", "maximum") }
    case "boolean":
      return { type: "boolean", ...keep(field) }
    case "array": {
      const many = field.items === undefined ? undefined : titled(field.items)
      if (many !== undefined) {
        return { type: "array", ...keep(field, "minItems", "maxItems"), items: many("anyOf") }
      }
      if (field.items?.enum !== undefined) {
        return {
          type: "array",
          ...keep(field, "minItems", "maxItems"),
          items: { type: "string", enum: field.items.enum }
        }
      }
    }
  }
  throw new Error(
    `Form: the field "${name}" cannot be asked for: a form has text, numbers, yes or no, and choices only`
  )
}

/** Choices with titles, as a union of literals advertises them. Those without a title go by their value. */
const titled = ({ anyOf }: Field): ((word: "anyOf" | "oneOf") => JsonObject) | undefined =>
  anyOf?.every((one) => one.type === "string" && one.enum?.length === 1) === true
    ? (word) => ({ [word]: anyOf.map((one) => ({ const: one.enum![0]!, title: one.title ?? one.enum![0]! })) })
    : undefined

const defaultsOf = (schema: Schema.Schema.Any): JsonObject =>
  Predicate.hasProperty(schema, "make") && Predicate.hasProperty(schema, "fields")
    ? (schema as unknown as Schema.Struct<{}>).make({}, { disableValidation: true })
    : {}

// A default that stands for something else on the wire, a date say, is filled in when the answer is decoded.
const fits = (field: JsonObject, value: unknown): boolean => {
  if (field.default !== undefined || value === undefined) return false
  const asked: unknown = { type: "object", properties: { field: { ...field, default: value } } }
  return isRequestedSchema(asked) && problem(asked) === undefined
}
