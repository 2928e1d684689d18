/**
 * The types with which a modern client subscribes to notifications. One request, `subscriptions/listen`, names all notifications that the
 * client wants, and stays open. Each notification contains the id of that request. `client/modern/Listen` sends the request, and
 * `server/modern/Subscriptions` delivers the notifications.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/utilities/subscriptions
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { declares, type ServerCapabilities } from "../Capabilities.js"
import { Implementation } from "../Implementation.js"
import { Key } from "../Json.js"
import * as Meta from "../Meta.js"
import * as UriKey from "../rules/UriKey.js"
import { absentAs, harmless, sieved } from "../schema/Mendable.js"
import { Uri } from "../schema/TextFormats.js"
import * as Envelope from "./Envelope.js"
import * as ResultType from "./ResultType.js"

/** @category models */
export interface SubscriptionFilter extends Schema.Schema.Type<typeof SubscriptionFilter> {}

/**
 * The notifications that a client wants. Unknown keys may belong to extensions, so decoding keeps them.
 *
 * @category schemas
 */
export const SubscriptionFilter = Schema.Struct({
  toolsListChanged: harmless(Schema.optional(Schema.Boolean)),
  promptsListChanged: harmless(Schema.optional(Schema.Boolean)),
  resourcesListChanged: harmless(Schema.optional(Schema.Boolean)),
  /** The URIs of the resources whose changes the client wants. Resources below these URIs are included. */
  resourceSubscriptions: harmless(Schema.optional(sieved(Schema.Array(Uri))))
})

/**
 * The names of the members that the core defines.
 *
 * @category constants
 */
export const filterNames: ReadonlySet<string> = new Set(Object.keys(SubscriptionFilter.fields))

/** @category models */
export interface ListenParams extends Schema.Schema.Type<typeof ListenParams> {}

/**
 * The parameters of `subscriptions/listen`.
 *
 * @category schemas
 */
export const ListenParams = Schema.Struct({ notifications: SubscriptionFilter, ...Envelope.request })

/** @category models */
export interface ListenResult extends Schema.Schema.Type<typeof ListenResult> {}

/**
 * The result with which a server ends a subscription.
 *
 * @category schemas
 */
export const ListenResult = Schema.Struct({
  ...ResultType.complete,
  _meta: Schema.Struct(
    {
      [Meta.keys.subscriptionId]: Meta.RequestId,
      [Meta.keys.serverInfo]: Schema.optional(Implementation)
    },
    { key: Key, value: Schema.Unknown }
  )
})

/** @category models */
export interface Acknowledged extends Schema.Schema.Type<typeof Acknowledged> {}

/**
 * The parameters of `notifications/subscriptions/acknowledged`.
 *
 * @category schemas
 */
export const Acknowledged = Schema.Struct({
  notifications: harmless(absentAs({}, SubscriptionFilter)),
  ...Envelope.notification
})

/** The keys of the filter. Each has the capability that the server must have declared, and the method of the notification. */
const kinds = [
  ["toolsListChanged", "tools.listChanged", "notifications/tools/list_changed"],
  ["promptsListChanged", "prompts.listChanged", "notifications/prompts/list_changed"],
  ["resourcesListChanged", "resources.listChanged", "notifications/resources/list_changed"]
] as const

/**
 * Returns the part of a filter that a server with these capabilities supports.
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/utilities/subscriptions#acknowledgment
 * @category utils
 */
export const supported = (filter: SubscriptionFilter, capabilities: ServerCapabilities): SubscriptionFilter => {
  const uris = filter.resourceSubscriptions
  return {
    ...Object.fromEntries(
      kinds.flatMap(([key, capability]) =>
        filter[key] === true && declares(capabilities, capability) ? [[key, true]] : []
      )
    ),
    ...(uris !== undefined && declares(capabilities, "resources.subscribe")
      ? { resourceSubscriptions: [...new Set(uris)] }
      : undefined)
  }
}

/**
 * Whether a filter asks for a notification.
 *
 * @category utils
 */
export const includes = (
  filter: SubscriptionFilter,
  method: string,
  params?: { readonly uri?: string }
): boolean => {
  const { uri } = params ?? {}
  return method === "notifications/resources/updated"
    ? uri !== undefined &&
      filter.resourceSubscriptions?.some((above) => isAtOrBelow(UriKey.of(uri), UriKey.of(above))) === true
    : kinds.some(([key, , notification]) => notification === method && filter[key] === true)
}

/**
 * Returns one notification for each kind of change that a filter asks for.
 *
 * @category utils
 */
export const changes = (
  filter: SubscriptionFilter
): ReadonlyArray<{ readonly method: string; readonly params?: { readonly uri: string } }> => [
  ...kinds.flatMap(([key, , method]) => filter[key] === true ? [{ method }] : []),
  ...(filter.resourceSubscriptions ?? []).map((uri) => ({ method: "notifications/resources/updated", params: { uri } }))
]

/**
 * Whether a URI is equal to the URI `above`, or is below `above` in the path.
 *
 * @category guards
 */
export const isAtOrBelow = (uri: string, above: string): boolean =>
  uri === above || (above !== "" && uri.startsWith(above.endsWith("/") ? above : `${above}/`))

/**
 * The largest number of URIs that `atOrAbove` returns, and the largest number of characters of each URI above. The limits are necessary
 * because a client may subscribe to a URI of any length.
 */
const limits = { above: 512, characters: 8192 } as const

/**
 * Returns the URIs whose subscriptions include this URI: the URI itself and the URIs above it in the path. Returns at most 512 URIs. Leaves
 * out URIs above that have more than 8,192 characters.
 *
 * @category utils
 */
export const atOrAbove = (uri: string): ReadonlySet<string> => {
  const found = new Set([uri])
  for (let at = uri.indexOf("/"); at !== -1; at = uri.indexOf("/", at + 1)) {
    if (at >= limits.characters || found.size >= limits.above) break
    if (at > 0) found.add(uri.slice(0, at))
    found.add(uri.slice(0, at + 1))
  }
  return found
}

/**
 * Adds the id of the subscription to the parameters of a notification.
 *
 * @category utils
 */
export const withId = <P extends { readonly _meta?: Meta.Meta | undefined }>(
  id: string | number,
  params: P
): P & { readonly _meta: Meta.Meta } => ({ ...params, _meta: { ...params._meta, [Meta.keys.subscriptionId]: id } })

/**
 * Returns the id of the subscription to which a notification belongs; `undefined` when the notification has no such id.
 *
 * @category utils
 */
export const idOf = (params: { readonly _meta?: unknown } | undefined): string | number | undefined => {
  const id = (params?._meta as Meta.Meta | null | undefined)?.[Meta.keys.subscriptionId]
  return typeof id === "string" || typeof id === "number" ? id : undefined
}
