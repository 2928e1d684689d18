/**
 * Forms for elicitation. A form has the fields that a person fills in, and the decoder of the answer. `make` derives both from a schema.
 * `fromFields` takes fields that are already described.
 *
 * `protocol/rules/ElicitationForm` has the rules for fields and answers. A form cannot express some filters of a schema, such as patterns:
 * this module checks them when the answer arrives.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#requested-schema
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as Schema from "effect/Schema"
import * as EffectInternals from "../kit/EffectInternals.js"
import type { ElicitContent } from "../protocol/Elicitation.js"
import { RequestedSchema } from "../protocol/ElicitationSchema.js"
import * as Issue from "../protocol/Issue.js"
import type { JsonObject } from "../protocol/Json.js"
import * as ElicitationForm from "../protocol/rules/ElicitationForm.js"
import * as SchemaCheck from "../protocol/schema/SchemaCheck.js"
import * as FormFields from "./form/FormFields.js"
import * as JsonSchema from "./schema/JsonSchema.js"
import * as SchemaParser from "./schema/SchemaParser.js"
import * as SchemaShape from "./schema/SchemaShape.js"

/** @category models */
export interface Form<out A> {
  /** The fields, as `elicitation/create` sends them. */
  readonly requestedSchema: RequestedSchema
  /** Fills in defaults and decodes an answer. Fails with a sentence for people that lists everything that is wrong. */
  readonly decode: (content: ElicitContent | undefined) => Effect.Effect<A, string>
}

/**
 * Makes the form of a schema. The schema must be a struct whose fields are strings, numbers, booleans, literals and arrays of literals.
 * Throws for any other field, with an error that names the field.
 *
 * Titles, descriptions and defaults come from annotations; defaults also come from `Schema.optionalWith`. If a literal has a `title`, the
 * client shows this title to the person.
 *
 * `make` makes the form of each schema value once and caches it. Therefore declare the schema outside of the handler. A schema that is
 * written in the handler is a new value for each call: Effect takes 20 to 200 microseconds to construct the schema, and `make` takes about
 * as long.
 *
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
 * Makes a form from fields that are already described. The form checks answers against the fields. `fromFields` does not check the fields
 * themselves; `problem` does.
 *
 * @category constructors
 */
export const fromFields = (requestedSchema: RequestedSchema): Form<ElicitContent> => ({
  requestedSchema,
  decode: (content) => Effect.suspend(() => EffectInternals.fromEither(answerOf(requestedSchema, content)))
})

/**
 * Returns the reason why a form cannot have these fields; `undefined` when it can have them.
 *
 * @category utils
 */
export const problem = (requestedSchema: RequestedSchema): string | undefined => {
  const problems = ElicitationForm.problems(requestedSchema)
  return problems.length === 0 ? undefined : sentence(problems)
}

const sentence = (places: ReturnType<typeof ElicitationForm.problems>): string =>
  places.map(({ message, path }) => `${path}: ${message}`).join("; ")

const answerOf = (schema: RequestedSchema, content: ElicitContent | undefined): Either.Either<ElicitContent, string> =>
  Either.mapLeft(ElicitationForm.check(schema, ElicitationForm.withDefaults(schema, content)), sentence)

const compile = <A, I>(schema: Schema.Schema<A, I>): Form<A> => {
  const { properties, required } = FormFields.make(JsonSchema.make(schema))
  const requestedSchema: unknown = {
    type: "object",
    properties,
    ...(required.length === 0 ? undefined : { required })
  }
  if (!isRequestedSchema(requestedSchema)) {
    throw new Error(
      "Form: the schema has a field that a form cannot have: use only strings, numbers, booleans, literals and arrays of " +
        "literals"
    )
  }
  const wrong = problem(requestedSchema)
  if (wrong !== undefined) throw new Error(`Form: ${wrong}`)
  const checked = withoutFormats(requestedSchema, SchemaShape.transformed(schema))
  // Effect's parser is prepared only for an answer that needs it, because many forms are used only once, and the user declines the form.
  const decode = SchemaParser.lazyDecoder(schema, "all")
  return {
    requestedSchema,
    decode: (content) =>
      Effect.flatMap(
        Effect.suspend(() => EffectInternals.fromEither(answerOf(checked, content))),
        (answer) => Effect.mapError(decode(answer), Issue.sentence)
      )
  }
}

const isRequestedSchema = SchemaCheck.compile(RequestedSchema)

/**
 * Returns the same form without the formats of these fields. Effect decodes the values of these fields, and may accept more than the
 * format, for example a date without a time.
 */
const withoutFormats = (schema: RequestedSchema, names: ReadonlySet<PropertyKey>): RequestedSchema => ({
  ...schema,
  properties: Object.fromEntries(
    Object.entries(schema.properties).map(([name, field]) => {
      const { format: _, ...rest } = field as JsonObject
      return [name, names.has(name) ? rest : field]
    })
  ) as RequestedSchema["properties"]
})
