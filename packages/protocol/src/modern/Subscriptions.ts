/**
 * How a modern client asks to hear of changes: one request names all that it wants, stays open, and everything that it
 * brings carries its id.
 *
 * Which changes there are is not known here, and nothing is delivered.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/utilities/subscriptions
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import type { ServerCapabilities } from "../Capabilities.js"
import { declares } from "../Capabilities.js"
import { Implementation } from "../Implementation.js"
import { Key } from "../Json.js"
import * as Meta from "../Meta.js"
import { Uri } from "../schema/Text.js"
import * as Envelope from "./Envelope.js"
import * as ResultType from "./ResultType.js"

/**
 * @since 0.1.0
 * @category models
 */
export interface SubscriptionFilter extends Schema.Schema.Type<typeof SubscriptionFilter> {}

/**
 * What to hear of. Keys that we do not know are an extension's, and stay.
 *
 * @since 0.1.0
 * @category schemas
 */
export const SubscriptionFilter = Schema.Struct({
  toolsListChanged: Schema.optional(Schema.Boolean),
  promptsListChanged: Schema.optional(Schema.Boolean),
  resourcesListChanged: Schema.optional(Schema.Boolean),
  /** Resources to hear of, with all that lie below them. */
  resourceSubscriptions: Schema.optional(Schema.Array(Uri))
})

/**
 * @since 0.1.0
 * @category models
 */
export interface ListenParams extends Schema.Schema.Type<typeof ListenParams> {}

/**
 * The parameters of `subscriptions/listen`.
 *
 * @since 0.1.0
 * @category schemas
 */
export const ListenParams = Schema.Struct({ notifications: SubscriptionFilter, ...Envelope.request })

/**
 * @since 0.1.0
 * @category models
 */
export interface ListenResult extends Schema.Schema.Type<typeof ListenResult> {}

/**
 * The last word of a subscription that the server ends.
 *
 * @since 0.1.0
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

/**
 * @since 0.1.0
 * @category models
 */
export interface Acknowledged extends Schema.Schema.Type<typeof Acknowledged> {}

/**
 * The parameters of `notifications/subscriptions/acknowledged`: the part of the filter that is honoured.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Acknowledged = Schema.Struct({ notifications: SubscriptionFilter, ...Envelope.notification })

/** What each key of the filter needs of the server, and what it brings. */
const kinds = [
  ["toolsListChanged", "tools.listChanged", "notifications/tools/list_changed"],
  ["promptsListChanged", "prompts.listChanged", "notifications/prompts/list_changed"],
  ["resourcesListChanged", "resources.listChanged", "notifications/resources/list_changed"]
] as const

/**
 * The part of a filter that a server with these capabilities honours.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/utilities/subscriptions#acknowledgment
 * @since 0.1.0
 * @category combinators
 */
export const honoured = (filter: SubscriptionFilter, capabilities: ServerCapabilities): SubscriptionFilter => {
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
 * Whether a notification is one that a filter asks for.
 *
 * @since 0.1.0
 * @category predicates
 */
export const brings = (
  filter: SubscriptionFilter,
  method: string,
  params?: { readonly uri?: string }
): boolean => {
  const { uri } = params ?? {}
  return method === "notifications/resources/updated"
    ? uri !== undefined && filter.resourceSubscriptions?.some((asked) => isAtOrBelow(uri, asked)) === true
    : kinds.some(([key, , brought]) => brought === method && filter[key] === true)
}

/**
 * Whether an address is another, or lies below it.
 *
 * @since 0.1.0
 * @category predicates
 */
export const isAtOrBelow = (uri: string, above: string): boolean =>
  uri === above || (above !== "" && uri.startsWith(above.endsWith("/") ? above : `${above}/`))

/**
 * Parameters with the id of the subscription that brings them, a number or a string as it came.
 *
 * @since 0.1.0
 * @category combinators
 */
export const tagged = <P extends { readonly _meta?: Meta.Meta | undefined }>(
  id: string | number,
  params: P
): P & { readonly _meta: Meta.Meta } => ({ ...params, _meta: { ...params._meta, [Meta.keys.subscriptionId]: id } })

/**
 * The id of the subscription that brought a message, if one did.
 *
 * @since 0.1.0
 * @category getters
 */
export const idOf = (params: { readonly _meta?: unknown } | undefined): string | number | undefined => {
  const id = (params?._meta as Meta.Meta | null | undefined)?.[Meta.keys.subscriptionId]
  return typeof id === "string" || typeof id === "number" ? id : undefined
}
