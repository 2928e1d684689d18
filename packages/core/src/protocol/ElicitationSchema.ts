/**
 * The subset of JSON Schema that describes a form: strings, numbers, booleans, and choices of one or several strings, with or without
 * titles. Revision 2025-06-18 has only one kind of choice, so a peer of that revision receives every choice in the shape of that kind.
 * `rules/ElicitationForm` has the rules that these types cannot express, and checks answers.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#requested-schema
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as JsonText from "../jsonrpc/runtime/JsonText.js"
import { Integer, Key } from "./Json.js"
import { exact } from "./schema/Mendable.js"
import { replacedBefore, since } from "./schema/Since.js"

const words = {
  title: Schema.optional(Schema.String),
  description: Schema.optional(Schema.String)
}

const strings = Schema.Array(Schema.String)
const titled = Schema.Array(Schema.Struct({ const: Schema.String, title: Schema.String }))
const several = {
  minItems: Schema.optional(Integer),
  maxItems: Schema.optional(Integer),
  default: Schema.optional(strings)
}

/** @category models */
export interface StringSchema extends Schema.Schema.Type<typeof StringSchema> {}

/** @category schemas */
export const StringSchema = Schema.Struct({
  type: Schema.Literal("string"),
  ...words,
  minLength: Schema.optional(Integer),
  maxLength: Schema.optional(Integer),
  format: Schema.optional(Schema.Literal("email", "uri", "date", "date-time")),
  default: since("2025-11-25", Schema.optional(Schema.String))
})

/** @category models */
export interface NumberSchema extends Schema.Schema.Type<typeof NumberSchema> {}

/** @category schemas */
export const NumberSchema = Schema.Struct({
  type: Schema.Literal("number", "integer"),
  ...words,
  minimum: Schema.optional(Schema.Finite),
  maximum: Schema.optional(Schema.Finite),
  default: since("2025-11-25", Schema.optional(Schema.Finite))
})

/** @category models */
export interface BooleanSchema extends Schema.Schema.Type<typeof BooleanSchema> {}

/** @category schemas */
export const BooleanSchema = Schema.Struct({
  type: Schema.Literal("boolean"),
  ...words,
  default: Schema.optional(Schema.Boolean)
})

/**
 * A choice of one string out of a list. `enumNames` has the titles; only revision 2025-06-18 defines titles in this form.
 *
 * @category models
 */
export interface EnumSchema extends Schema.Schema.Type<typeof EnumSchema> {}

/** @category schemas */
export const EnumSchema = Schema.Struct({
  type: Schema.Literal("string"),
  ...words,
  enum: strings,
  /** The titles, in the order of `enum`. */
  enumNames: Schema.optional(strings),
  default: since("2025-11-25", Schema.optional(Schema.String))
})

/**
 * A choice of one string out of a list, in which each string has a title.
 *
 * @category models
 */
export interface TitledEnumSchema extends Schema.Schema.Type<typeof TitledEnumSchema> {}

/** @category schemas */
export const TitledEnumSchema = Schema.Struct({
  type: Schema.Literal("string"),
  ...words,
  oneOf: titled,
  default: Schema.optional(Schema.String)
})

/**
 * A choice of any number of strings out of a list.
 *
 * @category models
 */
export interface MultiEnumSchema extends Schema.Schema.Type<typeof MultiEnumSchema> {}

/** @category schemas */
export const MultiEnumSchema = Schema.Struct({
  type: Schema.Literal("array"),
  ...words,
  ...several,
  items: Schema.Struct({ type: Schema.Literal("string"), enum: strings })
})

/**
 * A choice of any number of strings out of a list, in which each string has a title.
 *
 * @category models
 */
export interface TitledMultiEnumSchema extends Schema.Schema.Type<typeof TitledMultiEnumSchema> {}

/** @category schemas */
export const TitledMultiEnumSchema = Schema.Struct({
  type: Schema.Literal("array"),
  ...words,
  ...several,
  items: Schema.Struct({ anyOf: titled })
})

/** @category models */
export type PrimitiveSchema =
  | StringSchema
  | NumberSchema
  | BooleanSchema
  | EnumSchema
  | TitledEnumSchema
  | MultiEnumSchema
  | TitledMultiEnumSchema

type Choices = ReadonlyArray<{ readonly const: string; readonly title: string }>

const choice = (
  { description, title }: { readonly description?: string | undefined; readonly title?: string | undefined },
  values: ReadonlyArray<string>,
  names?: ReadonlyArray<string>
): EnumSchema => JsonText.defined({ type: "string", title, description, enum: values, enumNames: names })

const titledChoice = (field: Parameters<typeof choice>[0], choices: Choices): EnumSchema =>
  choice(field, choices.map((one) => one.const), choices.map(({ title }) => title))

/**
 * One field of a form. The schemas of choices come first, because a choice also conforms to `StringSchema`.
 *
 * @category schemas
 */
export const PrimitiveSchema: Schema.Schema<PrimitiveSchema> = Schema.Union(
  replacedBefore("2025-11-25", TitledEnumSchema, (field) => titledChoice(field, field.oneOf)),
  EnumSchema,
  replacedBefore("2025-11-25", TitledMultiEnumSchema, (field) => titledChoice(field, field.items.anyOf)),
  replacedBefore("2025-11-25", MultiEnumSchema, (field) => choice(field, field.items.enum)),
  StringSchema,
  NumberSchema,
  BooleanSchema
)

/**
 * A form: its fields by name, and the names of the fields that the user must fill in (`required`).
 *
 * @category models
 */
export interface RequestedSchema extends Schema.Schema.Type<typeof RequestedSchema> {}

/** @category constants */
export const RequestedSchema = exact(Schema.Struct({
  $schema: since("2025-11-25", Schema.optional(Schema.String)),
  type: Schema.Literal("object"),
  properties: Schema.Record({ key: Key, value: PrimitiveSchema }),
  required: Schema.optional(strings)
}))
