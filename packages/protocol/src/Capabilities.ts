/**
 * What a client and a server say they can do, and what follows from it. The objects are open: a key we do not know stays.
 * Presence is the statement; most values are empty objects.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#capability-negotiation
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { JsonObject, Key, Presence } from "./Json.js"
import { onlyIfUntil, since, until } from "./schema/Since.js"

const presence = Schema.optional(Presence)
const listChanged = Schema.optional(Schema.Boolean)
const settings = Schema.optional(Schema.Record({ key: Key, value: JsonObject }))

// 2025-06-18 has forms only: whoever opens pages only says nothing there.
const hasForms = (elicitation: unknown): boolean => {
  const { form, url } = elicitation as { readonly form?: unknown; readonly url?: unknown }
  return form !== undefined || url === undefined
}

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
  elicitation: onlyIfUntil(
    "2025-06-18",
    hasForms,
    since(
      "2025-06-18",
      Schema.optional(Schema.Struct({ form: since("2025-11-25", presence), url: since("2025-11-25", presence) }))
    )
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

/**
 * What a side of a conversation can do, whichever side it is.
 *
 * @since 0.1.0
 * @category models
 */
export type Capabilities = ClientCapabilities | ServerCapabilities

/**
 * Whether something is declared, by its path: `tools`, `resources.subscribe`, `elicitation.url`. An empty `elicitation`
 * declares `elicitation.form`.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#capabilities
 * @since 0.1.0
 * @category predicates
 */
export const declares = (capabilities: Capabilities, path: string): boolean => {
  if (path === "elicitation.form") {
    const { elicitation } = capabilities as ClientCapabilities
    return elicitation !== undefined && hasForms(elicitation)
  }
  return isThere(at(capabilities, path.split(".")))
}

/**
 * The part of what is required that is not declared; `undefined` when nothing is missing.
 *
 * @since 0.1.0
 * @category getters
 */
export const missing = (
  declared: ClientCapabilities,
  required: ClientCapabilities
): ClientCapabilities | undefined => {
  const formIsDeclared = declares(declared, "elicitation.form")
  return lacking(
    formIsDeclared ? { ...declared, elicitation: { form: {}, ...declared.elicitation } } : declared,
    required
  ) as ClientCapabilities | undefined
}

// A name from outside must not find what every object has.
const at = (value: unknown, path: ReadonlyArray<string>): unknown =>
  path.reduce((inner, key) => isObject(inner) && Object.hasOwn(inner, key) ? inner[key] : undefined, value)

const isObject = (value: unknown): value is JsonObject => typeof value === "object" && value !== null

const isThere = (value: unknown): boolean => value !== undefined && value !== null && value !== false

const lacking = (declared: unknown, required: JsonObject): JsonObject | undefined => {
  const rest = Object.entries(required).flatMap(([key, value]): Array<readonly [string, unknown]> => {
    if (!isThere(value)) return []
    const found = at(declared, [key])
    if (!isThere(found)) return [[key, value]]
    const inner = isObject(value) ? lacking(found, value) : undefined
    return inner === undefined ? [] : [[key, inner]]
  })
  return rest.length === 0 ? undefined : Object.fromEntries(rest)
}
