/**
 * Serves `subscriptions/listen` of revision 2026-07-28, for `Era`. This request stays open, and the client receives the listed
 * notifications on its channel. The first notification acknowledges which of the listed notifications the server supports. Each
 * notification contains the id of the request. `dispatch/Dispatch` announces changes through this module.
 *
 * The fields are mutable, so that the server can deliver a change without one fiber for each subscription. `byUri` contains the
 * subscriptions by the keys of their URIs, together with each URI as the client sent it. So an update of one resource does not search the
 * subscriptions to other resources.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/utilities/subscriptions
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as Scope from "effect/Scope"
import type { Params, RequestId } from "../../jsonrpc/Message.js"
import type { Channel, IncomingRequest, OwnLimit } from "../../jsonrpc/Side.js"
import * as EffectInternals from "../../kit/EffectInternals.js"
import { all as concurrently } from "../../kit/Race.js"
import * as Release from "../../kit/Release.js"
import { Permits } from "../../kit/Semaphore.js"
import { SerialQueue } from "../../kit/SerialQueue.js"
import * as Capabilities from "../../protocol/Capabilities.js"
import * as ExtensionTable from "../../protocol/extension/ExtensionTable.js"
import type { JsonObject } from "../../protocol/Json.js"
import { InvalidParams, MissingClientCapability } from "../../protocol/McpError.js"
import * as Methods from "../../protocol/modern/Methods.js"
import * as ProtocolSubscriptions from "../../protocol/modern/Subscriptions.js"
import * as UriKey from "../../protocol/rules/UriKey.js"
import type { ExtensionNotification, Kind, RegistryService } from "../Registry.js"
import type { HandlerContext } from "../runtime/HandlerContext.js"
import type { Server } from "../runtime/Server.js"
import type { RequestFacts } from "./RequestFacts.js"

/** How many different notifications of changes may wait for one client. */
const MAX_ANNOUNCEMENTS = 1024

/** How many notifications of extensions may wait for one client. */
const MAX_NOTIFICATIONS = 256

/** How many URIs of one request begin their subscription at the same time. */
const BEGINNING = 16

/**
 * Identifies a client: a pipe, or the id of a principal. `undefined` for HTTP clients without a principal, which the server cannot
 * distinguish.
 */
export type Client = Channel | string | undefined

interface Open {
  readonly filter: ProtocolSubscriptions.SubscriptionFilter
  /** The part of the filter that belongs to extensions. */
  readonly extended: Wanted
  readonly incoming: IncomingRequest
  readonly client: Client
  /** Opens after the acknowledgement was sent, because the acknowledgement MUST be the first message. */
  readonly acknowledged: EffectInternals.Latch
  readonly announcements: SerialQueue
  /** The notifications of extensions that wait for the client. */
  readonly notifications: SerialQueue
}

export class Subscriptions {
  private readonly open = new Set<Open>()
  private readonly byUri = new Map<string, Map<Open, string>>()
  private readonly permits: Permits<never>
  private readonly perClient = new Map<Client, Permits<never>>()
  /** Delivers a change for one principal to all nodes. `Dispatch` sets this field before the first request. */
  deliver = (kind: Kind, principal: string): Effect.Effect<void> => this.announceTo(principal, kind)

  constructor(
    private readonly server: Pick<Server, "capabilities" | "extensions" | "limits" | "registry" | "subscriptions">
  ) {
    this.permits = limited(server.limits.maxListens)
  }

  /** The number of open subscriptions. */
  get size(): number {
    return this.open.size
  }

  /** Serves a `subscriptions/listen` until the server, the conversation or the response ends. */
  listen(
    { notifications }: ProtocolSubscriptions.ListenParams,
    handler: HandlerContext<RequestFacts>
  ): Effect.Effect<ProtocolSubscriptions.ListenResult, unknown> {
    return Effect.suspend((): Effect.Effect<ProtocolSubscriptions.ListenResult, unknown> => {
      const filter = ProtocolSubscriptions.supported(notifications, this.server.capabilities())
      const wanted = read(this.server.extensions, notifications as JsonObject, handler)
      if (Either.isLeft(wanted)) return Effect.fail(wanted.left)
      const max = this.server.limits.maxSubscribedResources
      if ((filter.resourceSubscriptions?.length ?? 0) + size(wanted.right) > max) {
        const message = `Invalid params: a subscription may name at most ${max} resources and keys of extensions`
        return Effect.fail(new InvalidParams({ message }))
      }
      return Effect.flatMap(this.begun(filter, handler), (filter) =>
        wanted.right.size === 0
          ? this.keepOpen(filter, wanted.right, handler)
          : Effect.flatMap(
            accepted(wanted.right, this.server.registry.filters),
            (extended) => this.keepOpen(filter, extended, handler)
          )).pipe(Effect.scoped)
    })
  }

  /**
   * Runs the `subscribe` effects of the resources. Removes two kinds of resources from the filter: a resource whose effect fails, and a
   * resource that is hidden from the client.
   */
  private begun(
    filter: ProtocolSubscriptions.SubscriptionFilter,
    handler: HandlerContext<RequestFacts>
  ): Effect.Effect<ProtocolSubscriptions.SubscriptionFilter, unknown, Scope.Scope> {
    const { subscriptions } = this.server
    const uris = filter.resourceSubscriptions
    if (subscriptions === undefined || uris === undefined) return Effect.succeed(filter)
    return Effect.flatMap(subscriptions.hidden(uris), (hidden) => {
      const refused = new Set(hidden)
      // Most resources have no `subscribe` effect. A fiber for each URI would cost more than the rest.
      const beginning = uris.flatMap((uri) => {
        const begin = hidden.has(uri) ? undefined : subscriptions.begin(uri, handler)
        return begin === undefined ? [] : [Effect.catchAll(begin, () => Effect.sync(() => refused.add(uri)))]
      })
      return Effect.map(
        concurrently(beginning, BEGINNING),
        () =>
          refused.size === 0
            ? filter
            : { ...filter, resourceSubscriptions: uris.filter((uri) => !refused.has(uri)) }
      )
    })
  }

  private keepOpen(
    filter: ProtocolSubscriptions.SubscriptionFilter,
    extended: Wanted,
    { facts: { isPosted, subscriber: client }, outbound }: HandlerContext<RequestFacts>
  ): Effect.Effect<ProtocolSubscriptions.ListenResult> {
    const incoming = outbound as IncomingRequest
    return Effect.suspend((): Effect.Effect<ProtocolSubscriptions.ListenResult> => {
      const open: Open = {
        filter,
        extended,
        incoming,
        client,
        acknowledged: EffectInternals.latch(),
        announcements: new SerialQueue({ capacity: MAX_ANNOUNCEMENTS, surplus: "drop" }),
        notifications: new SerialQueue({ capacity: MAX_NOTIFICATIONS, surplus: "drop" })
      }
      return Effect.ensuring(
        Effect.zipRight(
          Effect.suspend(() => {
            // Added before the acknowledgement, so that the client misses no change after the acknowledgement.
            this.add(open)
            return Effect.zipRight(
              incoming.notify(
                Methods.acknowledged.name,
                withId(incoming.id, { notifications: { ...filter, ...toJson(extended) } })
              ),
              open.acknowledged.open
            )
          }),
          Effect.never
        ),
        Effect.suspend(() => {
          this.remove(open)
          return Effect.zipRight(
            Effect.zipRight(Release.stop(open.announcements), Release.stop(open.notifications)),
            isPosted || incoming.open === false ? Effect.void : cancelled(incoming)
          )
        })
      )
    })
  }

  /** Notifies the clients that have subscribed to changes of this list. */
  announce(kind: Kind): Effect.Effect<void> {
    return Effect.suspend(() => this.notify(this.listening(kind), listChanged[kind].name, {}))
  }

  /**
   * Notifies one client, if the client has subscribed to changes of this list. The client is one pipe, or all requests of one principal at
   * all nodes.
   */
  changedFor(client: Client, kind: Kind): Effect.Effect<void> {
    if (client === undefined) return Effect.void
    return typeof client === "string" ? this.deliver(kind, client) : this.announceTo(client, kind)
  }

  /** Notifies one client of this node, if the client has subscribed. */
  announceTo(client: Client, kind: Kind): Effect.Effect<void> {
    return Effect.suspend(() =>
      this.notify(
        this.listening(kind).filter((open) => open.client === client),
        listChanged[kind].name,
        {}
      )
    )
  }

  /** Notifies the clients that have subscribed to this resource, or to a resource above it. */
  updated(uri: string): Effect.Effect<void> {
    return Effect.suspend(() => {
      const key = UriKey.of(uri)
      const named = new Map<Open, string>()
      for (const above of ProtocolSubscriptions.atOrAbove(key)) {
        // The notification must contain the URI as the client has sent it.
        for (const [open, sent] of this.byUri.get(above) ?? []) {
          if (above === key || !named.has(open)) named.set(open, above === key ? sent : uri)
        }
      }
      return this.notifyOf(named)
    })
  }

  /** Notifies the clients that all their subscribed resources may have new content. */
  get allUpdated(): Effect.Effect<void> {
    return Effect.suspend(() =>
      Effect.forEach(
        [...this.byUri.values()],
        (listening) => this.notifyOf(listening),
        { discard: true }
      )
    )
  }

  /** Sends a notification of an extension to the clients that have subscribed to it. */
  extended(notification: ExtensionNotification): Effect.Effect<void> {
    const { key, method, params } = notification
    return Effect.suspend(() =>
      Effect.forEach(
        [...this.open],
        ({ acknowledged, extended, incoming, notifications }) =>
          includes(extended, notification)
            ? notifications.fork(
              acknowledged.whenOpen(incoming.notify(method, withId(incoming.id, params))),
              key === undefined ? undefined : `${method} ${key}`
            )
            : Effect.void,
        { discard: true }
      )
    )
  }

  private notifyOf(listening: ReadonlyMap<Open, string>): Effect.Effect<void> {
    return Effect.forEach(
      [...listening],
      ([open, uri]) => this.notify([open], Methods.resourceUpdated.name, { uri }),
      { discard: true }
    )
  }

  private listening(kind: Kind): ReadonlyArray<Open> {
    return [...this.open].filter(({ filter }) => ProtocolSubscriptions.includes(filter, listChanged[kind].name))
  }

  private notify(
    subscriptions: Iterable<Open>,
    method: string,
    params: { readonly uri?: string }
  ): Effect.Effect<void> {
    const key = `${method} ${params.uri ?? ""}`
    return Effect.forEach(
      subscriptions,
      ({ acknowledged, announcements, incoming }) =>
        announcements.has(key)
          ? Effect.void
          : announcements.fork(acknowledged.whenOpen(incoming.notify(method, withId(incoming.id, params))), key),
      { discard: true }
    )
  }

  private add(open: Open): void {
    this.open.add(open)
    for (const uri of open.filter.resourceSubscriptions ?? []) {
      const key = UriKey.of(uri)
      const named = this.byUri.get(key)
      if (named === undefined) this.byUri.set(key, new Map([[open, uri]]))
      else if (!named.has(open)) named.set(open, uri)
    }
  }

  private remove(open: Open): void {
    this.open.delete(open)
    for (const uri of open.filter.resourceSubscriptions ?? []) {
      const key = UriKey.of(uri)
      const named = this.byUri.get(key)
      named?.delete(open)
      if (named?.size === 0) this.byUri.delete(key)
    }
  }

  /** Gives the limit of the open subscriptions of one client. */
  limitOf(client: Client): OwnLimit {
    const { maxListensPerClient } = this.server.limits
    if (client === undefined || !this.permits.isFree || maxListensPerClient === 0) {
      return client === undefined
        ? this.permits
        : full
    }
    let permits = this.perClient.get(client)
    if (permits === undefined) {
      permits = limited(maxListensPerClient, this.permits, () => this.perClient.delete(client))
      this.perClient.set(client, permits)
    }
    return permits
  }
}

const limited = (running: number, all?: Permits<never>, onEmpty?: () => void): Permits<never> =>
  new Permits({ running, waiting: 0, text: 0 }, all, onEmpty)

const full: OwnLimit = { enter: () => false, leave: () => {} }

const withId = (id: RequestId, params: Params): Params => ProtocolSubscriptions.withId(id, params as {})

/** Makes the result of a subscription that the server ends. */
export const resultOf = (id: RequestId): ProtocolSubscriptions.ListenResult =>
  withId(id, {}) as unknown as ProtocolSubscriptions.ListenResult

/** On a pipe, the server also sends a cancellation when it ends a subscription (2026-07-28 basic/patterns/cancellation). */
const cancelled = (incoming: IncomingRequest): Effect.Effect<void> =>
  incoming.notify(Methods.cancelled.name, withId(incoming.id, { requestId: incoming.id }))

const listChanged = {
  tools: Methods.toolListChanged,
  resources: Methods.resourceListChanged,
  prompts: Methods.promptListChanged
} as const

/**
 * The notifications of extensions that a client wants, by the name of the filter: the value is `true` for a filter that is a flag, and
 * otherwise a set of keys.
 */
type Wanted = ReadonlyMap<string, true | ReadonlySet<string>>

const nothing: Wanted = new Map()

/**
 * Reads which notifications of extensions a client wants. Left: the client has not declared the extension, or the filter has a wrong type.
 */
const read = (
  { filters }: ExtensionTable.ExtensionTable,
  notifications: JsonObject,
  { facts: { clientCapabilities, version } }: HandlerContext<RequestFacts>
): Either.Either<Wanted, InvalidParams | MissingClientCapability> => {
  if (filters.size === 0) return Either.right(nothing)
  const wanted = new Map<string, true | ReadonlySet<string>>()
  for (const filter of filters.values()) {
    const { extension, hasKeys, name } = filter
    const value = Object.hasOwn(notifications, name) ? notifications[name] : undefined
    if (value === undefined || value === null || value === false || !ExtensionTable.isIn(filter, version)) continue
    const required = Capabilities.missing(clientCapabilities, ExtensionTable.capability(extension))
    if (required !== undefined) return Either.left(new MissingClientCapability({ required }))
    if (hasKeys ? !isKeys(value) : value !== true) {
      const message = `Invalid params: notifications.${name} must be ${hasKeys ? "a list of strings" : "a boolean"}`
      return Either.left(new InvalidParams({ message }))
    }
    wanted.set(name, value === true ? true : new Set(value as ReadonlyArray<string>))
  }
  return Either.right(wanted)
}

const isKeys = (value: unknown): value is ReadonlyArray<string> =>
  Array.isArray(value) && value.every((key) => typeof key === "string")

/** Counts the keys of extensions in the filter. */
const size = (wanted: Wanted): number => {
  let keys = 0
  for (const value of wanted.values()) if (value !== true) keys += value.size
  return keys
}

/**
 * Gives the part of `wanted` that the application accepts. A handler of the application (`MethodHandler.subscription`) may accept only some
 * keys.
 */
const accepted = (wanted: Wanted, filters: RegistryService["filters"]): Effect.Effect<Wanted, unknown> => {
  const chosen = [...wanted].map(
    ([name, value]): Effect.Effect<readonly [string, true | ReadonlySet<string>], unknown> => {
      const chooser = filters.get(name)
      return value === true || chooser === undefined ? Effect.succeed([name, value]) : Effect.mapInputContext(
        Effect.map(
          chooser.accept([...value]) as Effect.Effect<ReadonlyArray<string>, unknown>,
          (keys) => [name, new Set(keys.filter((key) => value.has(key)))] as const
        ),
        (request: Context.Context<never>) => Context.merge(chooser.context, request)
      )
    }
  )
  return chosen.length === 0 ? Effect.succeed(wanted) : Effect.map(Effect.all(chosen), (all) => new Map(all))
}

/** Encodes the accepted part for the acknowledgement. */
const toJson = (wanted: Wanted): JsonObject =>
  Object.fromEntries([...wanted].map(([name, value]) => [name, value === true ? value : [...value]]))

/** Whether a subscription includes a notification. */
const includes = (wanted: Wanted, { filter, key }: ExtensionNotification): boolean => {
  const value = wanted.get(filter)
  return value === true || (value !== undefined && key !== undefined && value.has(key))
}
