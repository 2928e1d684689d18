/**
 * Chooses the session with the upstream for the calls of a client. This is the session that all clients share, or a session that belongs
 * only to this client. The option `sessions` of `Proxy` decides. Without this option, the proxy opens a session for each client if the
 * upstream has revision 2025-11-25 or earlier. If the upstream has revision 2026-07-28, all clients share one session.
 *
 * `ListingLink` has the shared session. `Links` has the sessions that belong to one client each.
 */
import type { ClientSessionService } from "@effect-mcp/core/ClientSession"
import type { McpError } from "@effect-mcp/core/protocol/McpError"
import type { ServerSessionService } from "@effect-mcp/core/ServerSession"
import * as TimeLimit from "@effect-mcp/core/unstable/kit/TimeLimit"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import type { Link } from "./Link.js"
import type { Links } from "./Links.js"
import type { ListingLink } from "./ListingLink.js"

export interface Options {
  /** The option `sessions` of the proxy. */
  readonly sessions: "each" | "shared" | undefined
  readonly listingLink: ListingLink
  readonly links: Links
  /** How long a client with its own session waits for the lists of this session. */
  readonly connectTimeout: Duration.DurationInput
}

export interface Sessions {
  /** Returns whether each client gets its own session. `shared` is the shared session with the upstream, whose revision may decide. */
  readonly isEach: (shared: ClientSessionService) => boolean
  /** Returns `isEach` of the present shared session. While the upstream is not connected, returns the last result. */
  readonly isEachNow: () => boolean
  /** Returns the link for a request of a client. The link stays open at least until the scope closes. */
  readonly linkOf: (session: ServerSessionService) => Effect.Effect<Link, McpError, Scope.Scope>
  /** Returns the link that belongs only to this client; `undefined` for a client that uses the shared link. */
  readonly ownLinkOf: (session: ServerSessionService) => Effect.Effect<Link | undefined, McpError>
  /**
   * Returns the client's own link, if the client gets only the entries that the upstream lists in this link. Returns `undefined` for a
   * client that gets the entries of the shared session. Waits until the lists of the client's link were read, but at most for
   * `connectTimeout`.
   */
  readonly ownerOf: (session: ServerSessionService) => Effect.Effect<Link | undefined>
}

interface Self extends Options {
  /** The last result of `isEachNow`. Only `isEachNow` writes this member. */
  wasEach: boolean
  /**
   * The keys of clients whose own session did not list its entries within `connectTimeout`. Until this session has listed its entries,
   * these clients get the entries of the shared session. `ownerOf` adds keys.
   */
  readonly slow: WeakSet<object>
}

export const make = (options: Options): Sessions => {
  const self: Self = { ...options, wasEach: false, slow: new WeakSet() }
  return {
    isEach: (shared) => isEach(self, shared),
    isEachNow: () => isEachNow(self),
    linkOf: (session) => linkOf(self, session),
    ownLinkOf: (session) => ownLinkOf(self, session),
    ownerOf: (session) => Effect.suspend(() => ownerOf(self, session))
  }
}

const isEach = ({ sessions }: Self, { era }: ClientSessionService): boolean =>
  (sessions ?? (era === "legacy" ? "each" : "shared")) === "each"

const isEachNow = (self: Self): boolean => {
  const shared = self.listingLink.session()
  if (shared !== undefined) self.wasEach = isEach(self, shared)
  return self.wasEach
}

const linkOf = (self: Self, session: ServerSessionService): Effect.Effect<Link, McpError, Scope.Scope> =>
  Effect.flatMap(
    self.listingLink.link,
    (shared) => isEach(self, shared.session) ? self.links.of(session) : Effect.succeed(shared)
  )

const ownLinkOf = (self: Self, session: ServerSessionService): Effect.Effect<Link | undefined, McpError> =>
  session.client.sessionScope === undefined
    ? Effect.succeed(undefined)
    : Effect.flatMap(
      self.listingLink.link,
      (shared) => isEach(self, shared.session) ? Effect.scoped(self.links.of(session)) : Effect.succeed(undefined)
    )

const ownerOf = (self: Self, session: ServerSessionService): Effect.Effect<Link | undefined> => {
  const { connectTimeout, links, listingLink, slow } = self
  const { key, sessionScope } = session.client
  if (typeof key !== "object" || sessionScope === undefined || !isEachNow(self)) return Effect.succeed(undefined)
  const listed = links.listedNow(session)
  if (listed !== undefined || slow.has(key) || listingLink.session() === undefined) return Effect.succeed(listed)
  return Effect.map(
    TimeLimit.end(Effect.option(links.listed(session)), connectTimeout),
    (found) => {
      const link = Option.getOrUndefined(Option.flatten(found))
      if (link === undefined) slow.add(key)
      return link
    }
  )
}
