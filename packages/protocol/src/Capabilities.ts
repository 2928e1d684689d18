/**
 * What a client and a server say they can do. The objects are open: a key we do not know stays. Presence is the
 * statement; most values are empty objects.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#capability-negotiation
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { JsonObject, Presence } from "./Json.js"
import { since, until } from "./Since.js"

const presence = Schema.optional(Presence)
const listChanged = Schema.optional(Schema.Boolean)
const settings = Schema.optional(Schema.Record({ key: Schema.String, value: JsonObject }))

/**
 * @since 0.1.0
 * @category models
 */
export interface ClientCapabilities extends Schema.Schema.Type<typeof ClientCapabilities> {}

/**
 * @since 0.1.0
 * @category schemas
 */
export const ClientCapabilities = Schema.Struct({
  experimental: settings,
  /** Roots can be listed, and a change of them is told. */
  roots: Schema.optional(Schema.Struct({ listChanged: until("2025-11-25", listChanged) })),
  /** A model can be asked, with tools of the server's, with the context of other servers. */
  sampling: Schema.optional(Schema.Struct({
    context: since("2025-11-25", presence),
    tools: since("2025-11-25", presence)
  })),
  /** A person can be asked, by a form or by a page to open; an empty object means forms. */
  elicitation: since(
    "2025-06-18",
    Schema.optional(Schema.Struct({ form: since("2025-11-25", presence), url: since("2025-11-25", presence) }))
  ),
  tasks: until(
    "2025-11-25",
    since(
      "2025-11-25",
      Schema.optional(Schema.Struct({
        list: presence,
        cancel: presence,
        requests: Schema.optional(Schema.Struct({
          sampling: Schema.optional(Schema.Struct({ createMessage: presence })),
          elicitation: Schema.optional(Schema.Struct({ create: presence }))
        }))
      }))
    )
  ),
  /** By identifier, with their settings. Legacy peers carry them too, in their open objects. */
  extensions: settings
})

/**
 * @since 0.1.0
 * @category models
 */
export interface ServerCapabilities extends Schema.Schema.Type<typeof ServerCapabilities> {}

/**
 * @since 0.1.0
 * @category schemas
 */
export const ServerCapabilities = Schema.Struct({
  experimental: settings,
  logging: presence,
  completions: since("2025-03-26", presence),
  prompts: Schema.optional(Schema.Struct({ listChanged })),
  resources: Schema.optional(Schema.Struct({ subscribe: Schema.optional(Schema.Boolean), listChanged })),
  tools: Schema.optional(Schema.Struct({ listChanged })),
  tasks: until(
    "2025-11-25",
    since(
      "2025-11-25",
      Schema.optional(Schema.Struct({
        list: presence,
        cancel: presence,
        requests: Schema.optional(Schema.Struct({ tools: Schema.optional(Schema.Struct({ call: presence })) }))
      }))
    )
  ),
  /** By identifier, with their settings. Legacy peers carry them too, in their open objects. */
  extensions: settings
})
