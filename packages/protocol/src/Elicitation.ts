/**
 * The words of elicitation: a server asks a person, by a form or by a page to open, and the client says what became of
 * it.
 *
 * What only the legacy era says of it (the id of a page, the notice that it is done) is in `legacy/Elicitation`.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { RequestedSchema } from "./ElicitationSchema.js"
import { Key } from "./Json.js"
import * as Meta from "./Meta.js"
import { rewritten, since, until } from "./schema/Since.js"
import { Uri } from "./schema/Text.js"
import * as Tasks from "./Tasks.js"

const asked = {
  /** What people read. */
  message: Schema.String,
  ...Tasks.augmented,
  _meta: until("2025-11-25", Meta.request._meta)
}

/**
 * @since 0.1.0
 * @category models
 */
export interface ElicitFormParams extends Schema.Schema.Type<typeof ElicitFormParams> {}

/**
 * A form. Without a mode it is one, too.
 *
 * @since 0.1.0
 * @category schemas
 */
export const ElicitFormParams = Schema.Struct({
  ...asked,
  mode: since("2025-11-25", Schema.optional(Schema.Literal("form"))),
  requestedSchema: RequestedSchema
})

/**
 * @since 0.1.0
 * @category models
 */
export interface ElicitUrlParams extends Schema.Schema.Type<typeof ElicitUrlParams> {}

/**
 * A page to open. Needs the capability `elicitation.url`; peers before 2025-11-25 cannot be asked so.
 *
 * @since 0.1.0
 * @category schemas
 */
export const ElicitUrlParams = Schema.Struct({
  ...asked,
  mode: Schema.Literal("url"),
  /** Shown in full before it is opened, and opened only with consent. */
  url: Uri
})

/**
 * @since 0.1.0
 * @category models
 */
export type ElicitParams = ElicitFormParams | ElicitUrlParams

/**
 * @since 0.1.0
 * @category schemas
 */
export const ElicitParams: Schema.Schema<ElicitParams> = Schema.Union(ElicitUrlParams, ElicitFormParams)

/**
 * The capability that a client must have declared to be asked so.
 *
 * @since 0.1.0
 * @category getters
 */
export const capability = ({ mode }: Pick<ElicitParams, "mode">): "elicitation.form" | "elicitation.url" =>
  mode === "url" ? "elicitation.url" : "elicitation.form"

/**
 * What became of it: filled in, refused, or closed without either.
 *
 * @since 0.1.0
 * @category schemas
 */
export const ElicitAction: Schema.Literal<["accept", "decline", "cancel"]> = Schema.Literal(
  "accept",
  "decline",
  "cancel"
)

/**
 * @since 0.1.0
 * @category models
 */
export type ElicitAction = typeof ElicitAction.Type

/**
 * @since 0.1.0
 * @category models
 */
export type ElicitValue = string | number | boolean | ReadonlyArray<string>

/**
 * What was filled in, by the name of the field.
 *
 * @since 0.1.0
 * @category models
 */
export interface ElicitContent {
  readonly [name: string]: ElicitValue
}

/**
 * @since 0.1.0
 * @category schemas
 */
export const ElicitContent: Schema.Schema<ElicitContent> = Schema.Record({
  key: Key,
  value: Schema.Union(Schema.String, Schema.Finite, Schema.Boolean, Schema.Array(Schema.String))
})

const inOneValue = (content: ElicitContent): ElicitContent =>
  Object.values(content).some(Array.isArray)
    ? Object.fromEntries(
      Object.entries(content).map(([name, value]) => [name, typeof value === "object" ? value.join(", ") : value])
    )
    : content

/**
 * @since 0.1.0
 * @category models
 */
export interface ElicitResult extends Schema.Schema.Type<typeof ElicitResult> {}

/**
 * @since 0.1.0
 * @category schemas
 */
export const ElicitResult = Schema.Struct({
  action: ElicitAction,
  /** Only of a form, and only when it was accepted. */
  content: rewritten({ until: "2025-06-18" }, inOneValue, Schema.optional(ElicitContent)),
  _meta: until("2025-11-25", Meta.any._meta)
})
