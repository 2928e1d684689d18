/**
 * The types of elicitation: a server asks the user of a client, by a form or by a URL to open, and the client answers
 * with what the user did. `legacy/UrlElicitation` has what only 2025-11-25 has: the id of a URL elicitation, and the
 * notification that the elicitation is done.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { RequestedSchema } from "./ElicitationSchema.js"
import { Key } from "./Json.js"
import * as Meta from "./Meta.js"
import { rewritten, since, until } from "./schema/Since.js"
import { Uri } from "./schema/TextFormats.js"
import * as Tasks from "./Tasks.js"

const commonFields = {
  /** Shown to the user. */
  message: Schema.String,
  ...Tasks.taskField,
  _meta: until("2025-11-25", Meta.request._meta)
}

/** @category models */
export interface ElicitFormParams extends Schema.Schema.Type<typeof ElicitFormParams> {}

/**
 * A form. `mode` may be absent.
 *
 * @category schemas
 */
export const ElicitFormParams = Schema.Struct({
  ...commonFields,
  mode: since("2025-11-25", Schema.optional(Schema.Literal("form"))),
  requestedSchema: RequestedSchema
})

/** @category models */
export interface ElicitUrlParams extends Schema.Schema.Type<typeof ElicitUrlParams> {}

/**
 * A URL to open, which needs the capability `elicitation.url`.
 *
 * @category schemas
 */
export const ElicitUrlParams = Schema.Struct({
  ...commonFields,
  mode: Schema.Literal("url"),
  /** The client shows it in full and opens it only with the user's consent. */
  url: Uri
})

/** @category models */
export type ElicitParams = ElicitFormParams | ElicitUrlParams

/** @category schemas */
export const ElicitParams: Schema.Schema<ElicitParams> = Schema.Union(ElicitUrlParams, ElicitFormParams)

/**
 * The capability that these parameters need.
 *
 * @category utils
 */
export const capability = ({ mode }: Pick<ElicitParams, "mode">): "elicitation.form" | "elicitation.url" =>
  mode === "url" ? "elicitation.url" : "elicitation.form"

/**
 * Whether the user submitted, refused, or dismissed the form or URL.
 *
 * @category schemas
 */
export const ElicitAction: Schema.Literal<["accept", "decline", "cancel"]> = Schema.Literal(
  "accept",
  "decline",
  "cancel"
)

/** @category models */
export type ElicitAction = typeof ElicitAction.Type

/** @category models */
export type ElicitValue = string | number | boolean | ReadonlyArray<string>

/**
 * The submitted values, by field name.
 *
 * @category models
 */
export interface ElicitContent {
  readonly [name: string]: ElicitValue
}

/** @category schemas */
export const ElicitContent: Schema.Schema<ElicitContent> = Schema.Record({
  key: Key,
  value: Schema.Union(Schema.String, Schema.Finite, Schema.Boolean, Schema.Array(Schema.String))
})

const joinLists = (content: ElicitContent): ElicitContent =>
  Object.values(content).some(Array.isArray)
    ? Object.fromEntries(
      Object.entries(content).map(([name, value]) => [name, typeof value === "object" ? value.join(", ") : value])
    )
    : content

/** @category models */
export interface ElicitResult extends Schema.Schema.Type<typeof ElicitResult> {}

/** @category schemas */
export const ElicitResult = Schema.Struct({
  action: ElicitAction,
  /** Present only when a form was accepted. */
  content: rewritten({ until: "2025-06-18" }, joinLists, Schema.optional(ElicitContent)),
  _meta: until("2025-11-25", Meta.any._meta)
})
