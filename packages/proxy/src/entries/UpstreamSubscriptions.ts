/**
 * The subscriptions of clients to resources of the upstream, for `Proxy`. A client with a session of its own subscribes in that session;
 * all other clients share one subscription of each resource. When a session with the upstream is opened again, this module subscribes
 * again and notifies the clients, because the upstream could report no change meanwhile.
 *
 * A session that the transport replaces by itself, as over HTTP up to 2025-11-25, is not noticed: the subscriptions of the old session
 * are lost.
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

/** The resources that one session with the upstream subscribes to. */
type Wanted = Map<string, Resource>

interface Resource {
  /** How many clients want it. */
  clients: number
  isSubscribed: boolean
  /** The subscription that is being made. Every client that wants the resource waits for it, and learns what the upstream answers. */
  readonly subscribing: SingleFlight.SingleFlight<void, McpError>
}

export interface Options {
  readonly name: string
  /** The link that the client owns; `undefined` for a client that shares the link of all. */
  readonly own: (session: ServerSessionService) => Effect.Effect<Link | undefined, McpError>
  /** The open session of a client that owns a link. */
  readonly ownNow: (session: ServerSessionService) => ClientSessionService | undefined
  /** The link that all other clients share. */
  readonly shared: Effect.Effect<Link, McpError>
  readonly sharedNow: () => ClientSessionService | undefined
  /** Runs an effect for which no client waits. */
  readonly run: (effect: Effect.Effect<void>) => void
  readonly toOwn: (uri: string) => string
  /** Notifies all clients of a change. */
  readonly updated: (uri: string) => Effect.Effect<void>
}

export interface Subscriptions {
  readonly begin: (uri: string, session: ServerSessionService) => Effect.Effect<void, McpError, Scope.Scope>
  /** Subscribes again in the shared link, which was just opened, and passes its updates on. */
  readonly follow: (link: Link) => Effect.Effect<void, never, Scope.Scope>
  /** Subscribes again in the link of a client, which was just opened, and passes its updates on. */
  readonly followOwn: (link: Link, client: ServerSessionService) => Effect.Effect<void, never, Scope.Scope>
  /** Whether the client is subscribed in a session of its own. */
  readonly wantsOwn: (client: ServerSessionService) => boolean
}

interface Self extends Options {
  /** What the clients want that share the link of all; `add` and `remove` count. */
  readonly sharedWanted: Wanted
  /** What each client wants that owns a link, by the keys of the clients; `wantedOf` adds clients. */
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

/** Counts one client more, until the scope closes. The first client subscribes at the upstream, and the last one unsubscribes. */
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
      // The client does not wait for the upstream.
      if (session !== undefined) run(Effect.ignore(session.unsubscribeResource(uri)))
    })
    return resource.isSubscribed
      ? Effect.addFinalizer(() => end)
      : restore(resource.subscribing.join(subscribe)).pipe(
        Effect.onError(() => Effect.sync(() => remove(wanted, uri, resource))),
        Effect.zipRight(Effect.addFinalizer(() => end))
      )
  })

/** Passes the updates of a session with the upstream on, and subscribes again to what the clients of the session want. */
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

/** Counts one client less; `true` when no client wants the resource any more. */
const remove = (wanted: Wanted, uri: string, resource: Resource): boolean => {
  resource.clients--
  const isLast = resource.clients === 0
  if (isLast) wanted.delete(uri)
  return isLast
}
