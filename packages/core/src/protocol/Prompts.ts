/**
 * The types of prompts. A server prepares messages for a model, and lists them as prompts. A client gets the messages of one prompt, with the
 * arguments of the prompt filled in.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/prompts
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { ContentBlock, Role } from "./Content.js"
import { iconFields, nameFields } from "./Implementation.js"
import { Key } from "./Json.js"
import * as Meta from "./Meta.js"
import { pageFields } from "./Pagination.js"
import { harmless, nullAs, sieved } from "./schema/Mendable.js"
import { since } from "./schema/Since.js"

/** @category models */
export interface PromptArgument extends Schema.Schema.Type<typeof PromptArgument> {}

/** @category schemas */
export const PromptArgument = Schema.Struct({
  ...nameFields,
  description: harmless(Schema.optional(Schema.String)),
  /** Whether a client must give the argument. Default: `false`. */
  required: Schema.optional(Schema.Boolean)
})

/** @category models */
export interface Prompt extends Schema.Schema.Type<typeof Prompt> {}

/** @category schemas */
export const Prompt = Schema.Struct({
  ...nameFields,
  ...iconFields,
  description: harmless(Schema.optional(Schema.String)),
  arguments: Schema.optional(Schema.Array(PromptArgument)),
  _meta: since("2025-06-18", Meta.any._meta)
})

/** @category models */
export interface ListPromptsResult extends Schema.Schema.Type<typeof ListPromptsResult> {}

/** @category schemas */
export const ListPromptsResult = Schema.Struct({
  prompts: nullAs([], sieved(Schema.Array(Prompt))),
  ...pageFields
})

/** @category models */
export interface GetPromptParams extends Schema.Schema.Type<typeof GetPromptParams> {}

/** @category schemas */
export const GetPromptParams = Schema.Struct({
  name: Schema.String,
  arguments: Schema.optional(Schema.Record({ key: Key, value: Schema.String })),
  ...Meta.request
})

/** @category models */
export interface PromptMessage extends Schema.Schema.Type<typeof PromptMessage> {}

/** @category schemas */
export const PromptMessage = Schema.Struct({ role: Role, content: ContentBlock })

/** @category models */
export interface GetPromptResult extends Schema.Schema.Type<typeof GetPromptResult> {}

/** @category schemas */
export const GetPromptResult = Schema.Struct({
  description: harmless(Schema.optional(Schema.String)),
  messages: nullAs([], Schema.Array(PromptMessage)),
  ...Meta.any
})
