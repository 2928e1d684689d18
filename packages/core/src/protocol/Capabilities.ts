/**
 * The capabilities that a client and a server declare. `declares` says whether one capability is declared, and `missing` finds the required
 * capabilities that a client has not declared. The objects are open: they keep unknown keys. Most capabilities are empty objects. The
 * presence of an empty object declares its capability.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#capability-negotiation
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { JsonObject, Key } from "./Json.js"
import { harmless, readAs, sieved } from "./schema/Mendable.js"
import { limitedUntil, since, until } from "./schema/Since.js"

// Some servers write `true` instead of an empty object. PHP encodes an empty object as an empty list.
const read = (value: unknown): unknown =>
  value === true || (Array.isArray(value) && value.length === 0) ? {} : value === false ? undefined : value

/** Makes an optional member for a capability. A value of another shape counts as not declared. */
const capability = <S extends Schema.Schema.Any>(schema: S): Schema.optional<S> =>
  harmless(readAs(read, Schema.optional(schema)))

/** A capability without settings. The presence of the object declares the capability. */
const presence = capability(JsonObject)
const flag = harmless(Schema.optional(Schema.Boolean))
const settings = harmless(Schema.optional(sieved(Schema.Record({ key: Key, value: JsonObject }))))

// Revision 2025-06-18 has only forms. Therefore a client that can open URLs but cannot show forms does not declare `elicitation` to a peer
// of that revision.
const hasForms = (elicitation: unknown): boolean => {
  const { form, url } = elicitation as { readonly form?: unknown; readonly url?: unknown }
  return form !== undefined || url === undefined
}

/** @category models */
export interface ClientCapabilities extends Schema.Schema.Type<typeof ClientCapabilities> {}

/** @category schemas */
export const ClientCapabilities = Schema.Struct({
  experimental: settings,
  /**
   * The client has roots. With `listChanged`, the client notifies the server when its roots change.
   *
   * @deprecated since 2026-07-28 (SEP-2577); a revision may be without it from 2027-07-28 on.
   */
  roots: capability(Schema.Struct({ listChanged: until("2025-11-25", flag) })),
  /**
   * The client can call a model. With `tools`, the server may give tools to the model. With `context`, the client can add context from its
   * servers.
   *
   * @deprecated since 2026-07-28 (SEP-2577); a revision may be without it from 2027-07-28 on.
   */
  sampling: capability(Schema.Struct({
    context: since("2025-11-25", presence),
    tools: since("2025-11-25", presence)
  })),
  /** The client can ask its user, with a form or with a URL to open. An empty object declares forms. */
  elicitation: limitedUntil(
    "2025-06-18",
    hasForms,
    since(
      "2025-06-18",
      capability(Schema.Struct({ form: since("2025-11-25", presence), url: since("2025-11-25", presence) }))
    )
  ),
  tasks: until(
    "2025-11-25",
    since(
      "2025-11-25",
      capability(Schema.Struct({
        list: presence,
        cancel: presence,
        requests: capability(Schema.Struct({
          sampling: capability(Schema.Struct({ createMessage: presence })),
          elicitation: capability(Schema.Struct({ create: presence }))
        }))
      }))
    )
  ),
  /** The settings of each extension, by the identifier of the extension. Legacy peers accept this member as an unknown key. */
  extensions: settings
})

/** @category models */
export interface ServerCapabilities extends Schema.Schema.Type<typeof ServerCapabilities> {}

/** @category schemas */
export const ServerCapabilities = Schema.Struct({
  experimental: settings,
  /** @deprecated since 2026-07-28 (SEP-2577); a revision may be without it from 2027-07-28 on. */
  logging: presence,
  completions: since("2025-03-26", presence),
  prompts: capability(Schema.Struct({ listChanged: flag })),
  resources: capability(Schema.Struct({ subscribe: flag, listChanged: flag })),
  tools: capability(Schema.Struct({ listChanged: flag })),
  tasks: until(
    "2025-11-25",
    since(
      "2025-11-25",
      capability(Schema.Struct({
        list: presence,
        cancel: presence,
        requests: capability(Schema.Struct({ tools: capability(Schema.Struct({ call: presence })) }))
      }))
    )
  ),
  /** The settings of each extension, by the identifier of the extension. Legacy peers accept this member as an unknown key. */
  extensions: settings
})

/**
 * The capabilities of a client or of a server.
 *
 * @category models
 */
export type Capabilities = ClientCapabilities | ServerCapabilities

/**
 * Whether a capability is declared. `path` names the capability, for example `tools`, `resources.subscribe` or `elicitation.url`. An empty
 * `elicitation` object declares `elicitation.form`.
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#capabilities
 * @category utils
 */
export const declares = (capabilities: Capabilities, path: string): boolean => {
  if (path === "elicitation.form") {
    const { elicitation } = capabilities as ClientCapabilities
    return elicitation !== undefined && hasForms(elicitation)
  }
  return isPresent(at(capabilities, path.split(".")))
}

/**
 * Returns the required capabilities that the client has not declared; `undefined` when the client has declared all of them. An experimental
 * capability counts as declared only when its settings are equal to the required settings.
 *
 * @category utils
 */
export const missing = (
  declared: ClientCapabilities,
  required: ClientCapabilities
): ClientCapabilities | undefined => {
  const formIsDeclared = declares(declared, "elicitation.form")
  const { experimental, ...rest } = required
  const found = lacking(
    formIsDeclared ? { ...declared, elicitation: { form: {}, ...declared.elicitation } } : declared,
    rest
  )
  const own = Object.entries(experimental ?? {}).filter(([key, value]) =>
    !isSame(at(declared.experimental, [key]), value)
  )
  return (own.length === 0 ? found : { ...found, experimental: Object.fromEntries(own) }) as
    | ClientCapabilities
    | undefined
}

const isSame = (one: unknown, other: unknown): boolean => {
  if (!isObject(one) || !isObject(other)) return one === other
  const keys = Object.keys(one)
  return Array.isArray(one) === Array.isArray(other) && keys.length === Object.keys(other).length &&
    keys.every((key) => Object.hasOwn(other, key) && isSame(one[key], other[key]))
}

// Only own members are read, because a path from a peer must not find inherited members.
const at = (value: unknown, path: ReadonlyArray<string>): unknown =>
  path.reduce((inner, key) => isObject(inner) && Object.hasOwn(inner, key) ? inner[key] : undefined, value)

const isObject = (value: unknown): value is JsonObject => typeof value === "object" && value !== null

const isPresent = (value: unknown): boolean => value !== undefined && value !== null && value !== false

const lacking = (declared: unknown, required: JsonObject): JsonObject | undefined => {
  const rest = Object.entries(required).flatMap(([key, value]): Array<readonly [string, unknown]> => {
    if (!isPresent(value)) return []
    const found = at(declared, [key])
    if (!isPresent(found)) return [[key, value]]
    const inner = isObject(value) ? lacking(found, value) : undefined
    return inner === undefined ? [] : [[key, inner]]
  })
  return rest.length === 0 ? undefined : Object.fromEntries(rest)
}
