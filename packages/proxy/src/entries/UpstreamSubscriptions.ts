/**
 * Subscribes to resources of the upstream on behalf of clients, for `Proxy`. When a client has its own session with the upstream, this
 * module subscribes in this session. All other clients share one subscription for each resource. After the proxy has opened a session with
 * the upstream again, this module subscribes again. Then it notifies the clients, because they may have missed a change.
 *
 * There is one case without a new subscription. Over HTTP with revision 2025-11-25 or earlier, the transport itself may replace a session.
 * This module does not notice the new session, so the subscriptions of the old session are lost.
 */
import type { ClientSessionService } from "@effect-mcp/core/ClientSession"
import type { McpError } from "@effect-mcp/core/protocol/McpError"
import type { ServerSessionService } from "@effect-mcp/core/ServerSession"
import * as Listening from "@effect-mcp/core/unstable/kit/Listening"
import * as SingleFlight from "@effect-mcp/core/unstable/kit/SingleFlight"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Link } from "../upstream/Link.js"
import * as UpstreamError from "../upstream/UpstreamError.js"

/** The resources to which one session with the upstream subscribes, by URI. */
type Wanted = Map<string, Resource>

interface Resource {
  /** The number of clients that are subscribed to the resource. */
  clients: number
  isSubscribed: boolean
  /** The request that subscribes. A client that subscribes while this request runs waits for the same request, and gets its result. */
  readonly subscribing: SingleFlight.SingleFlight<void, McpError>
}

export interface Options {
  readonly name: string
  /** Returns the link that belongs only to this client; `undefined` for a client that uses the shared link. */
  readonly own: (session: ServerSessionService) => Effect.Effect<Link | undefined, McpError>
  /** Returns the open session of a client with its own link. */
  readonly ownNow: (session: ServerSessionService) => ClientSessionService | undefined
  /** The link that all other clients share. */
  readonly shared: Effect.Effect<Link, McpError>
  readonly sharedNow: () => ClientSessionService | undefined
  /** Runs an effect in the background; no client waits for it. */
  readonly run: (effect: Effect.Effect<void>) => void
  readonly toOwn: (uri: string) => string
  /** Notifies all subscribed clients of a change. */
  readonly updated: (uri: string) => Effect.Effect<void>
}

export interface Subscriptions {
  readonly begin: (uri: string, session: ServerSessionService) => Effect.Effect<void, McpError, Scope.Scope>
  /** After the shared link has opened, subscribes again in this link, and passes its updates on. */
  readonly follow: (link: Link) => Effect.Effect<void, never, Scope.Scope>
  /** After the own link of a client has opened, subscribes again in this link, and passes its updates on. */
  readonly followOwn: (link: Link, client: ServerSessionService) => Effect.Effect<void, never, Scope.Scope>
  /** Whether the client has subscriptions in its own session. */
  readonly wantsOwn: (client: ServerSessionService) => boolean
}

interface Self extends Options {
  /** The resources of the clients that use the shared link. `add` and `remove` change the counts. */
  readonly sharedWanted: Wanted
  /** The resources of each client with its own link, by the key of the client. `wantedOf` adds clients. */
  readonly wantedBy: WeakMap<object, Wanted>
}

export const make = (options: Options): Subscriptions => {
  const self: Self = { ...options, sharedWanted: new Map(), wantedBy: new WeakMap() }
  return {
    begin: (uri, session) => begin(self, uri, session),
    follow: ({ session }) => following(self, session, self.sharedWanted, self.updated),
    followOwn: ({ session }, client) => following(self, session, wantedOf(self, client), client.changed.resource),
    wantsOwn: (client) => wantedOf(self, client).size > 0
  }
}

const wantedOf = ({ wantedBy }: Self, { client }: ServerSessionService): Wanted => {
  const key = client.key as object
  const known = wantedBy.get(key)
  if (known !== undefined) return known
  const made: Wanted = new Map()
  wantedBy.set(key, made)
  return made
}

const begin = (self: Self, uri: string, session: ServerSessionService): Effect.Effect<void, McpError, Scope.Scope> =>
  Effect.flatMap(self.own(session), (link) =>
    link === undefined
      ? add(self, self.sharedWanted, uri, self.shared, self.sharedNow)
      : add(self, wantedOf(self, session), uri, Effect.succeed(link), () => self.ownNow(session)))

/**
 * Adds a client to a resource until the scope closes. For the first client of the resource, subscribes at the upstream. When the last
 * client of the resource is gone, unsubscribes.
 */
const add = (
  { name, run }: Self,
  wanted: Wanted,
  uri: string,
  link: Effect.Effect<Link, McpError>,
  now: () => ClientSessionService | undefined
): Effect.Effect<void, McpError, Scope.Scope> =>
  Effect.uninterruptibleMask((restore) => {
    const resource = wanted.get(uri) ?? { clients: 0, isSubscribed: false, subscribing: SingleFlight.make() }
    wanted.set(uri, resource)
    resource.clients++
    const subscribe = Effect.flatMap(link, ({ session }) =>
      Effect.matchEffect(session.subscribeResource(uri), {
        onFailure: (error) => UpstreamError.fail(name, "resources/subscribe", error),
        onSuccess: () =>
          Effect.sync(() => {
            resource.isSubscribed = true
          })
      }))
    const end = Effect.sync(() => {
      const session = remove(wanted, uri, resource) ? now() : undefined
      // Runs in the background, so that the client does not wait for the upstream.
      if (session !== undefined) run(Effect.ignore(session.unsubscribeResource(uri)))
    })
    return resource.isSubscribed
      ? Effect.addFinalizer(() => end)
      : restore(resource.subscribing.join(subscribe)).pipe(
        Effect.onError(() => Effect.sync(() => remove(wanted, uri, resource))),
        Effect.zipRight(Effect.addFinalizer(() => end))
      )
  })

/**
 * Passes on the updates of resources in a session with the upstream, and subscribes again to the resources of the clients of this session.
 */
const following = Effect.fnUntraced(function*(
  { name, toOwn }: Self,
  session: ClientSessionService,
  wanted: Wanted,
  notify: (uri: string) => Effect.Effect<void>
) {
  yield* Listening.fork(session.resourceUpdates, (uri) => notify(toOwn(uri)))
  const again = Effect.forEach([...wanted.keys()], (uri) =>
    Effect.matchEffect(session.subscribeResource(uri), {
      onFailure: ({ message }) =>
        Effect.logWarning(`The upstream "${name}" refused a subscription that it had before: ${message}`),
      onSuccess: () => notify(toOwn(uri))
    }), { discard: true })
  yield* Effect.forkScoped(Effect.interruptible(again))
})

/** Removes a client from a resource. Returns `true` when it was the last client of the resource. */
const remove = (wanted: Wanted, uri: string, resource: Resource): boolean => {
  resource.clients--
  const isLast = resource.clients === 0
  if (isLast) wanted.delete(uri)
  return isLast
}
