/**
 * The types of elicitation. A server asks the user of a client, with a form or with a URL that the user should open. The client answers
 * whether the user accepted, refused or dismissed the question. `legacy/UrlElicitation` has the parts that only revision 2025-11-25 has:
 * the id of a URL elicitation, and the notification that the user has finished a URL elicitation.
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
  /** The text that the client shows to the user. */
  message: Schema.String,
  ...Tasks.taskField,
  _meta: until("2025-11-25", Meta.request._meta)
}

/** @category models */
export interface ElicitFormParams extends Schema.Schema.Type<typeof ElicitFormParams> {}

/**
 * The parameters of an elicitation with a form. `mode` may be absent.
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
 * The parameters of an elicitation with a URL to open. The client must have declared the capability `elicitation.url`.
 *
 * @category schemas
 */
export const ElicitUrlParams = Schema.Struct({
  ...commonFields,
  mode: Schema.Literal("url"),
  /** The URL. The client shows it in full, and opens it only if the user agrees. */
  url: Uri
})

/** @category models */
export type ElicitParams = ElicitFormParams | ElicitUrlParams

/** @category schemas */
export const ElicitParams: Schema.Schema<ElicitParams> = Schema.Union(ElicitUrlParams, ElicitFormParams)

/**
 * The capability that a client must have declared to receive these parameters.
 *
 * @category utils
 */
export const capability = ({ mode }: Pick<ElicitParams, "mode">): "elicitation.form" | "elicitation.url" =>
  mode === "url" ? "elicitation.url" : "elicitation.form"

/**
 * What the user did with the form or URL: submitted it (`accept`), refused it (`decline`), or dismissed it (`cancel`).
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
 * The values that the user has submitted, by the names of the fields.
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
  /** The submitted values. Present only when the user has accepted a form. */
  content: rewritten({ until: "2025-06-18" }, joinLists, Schema.optional(ElicitContent)),
  _meta: until("2025-11-25", Meta.any._meta)
})
