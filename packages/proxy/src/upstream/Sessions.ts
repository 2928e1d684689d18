/**
 * Says in which session with the upstream a client's calls run: in the session that all clients share, or in a session of the client's
 * own. The option `sessions` of `Proxy` decides, or the era of the upstream where the option is not set.
 *
 * `ListingLink` has the session that all clients share, `Links` the sessions that belong to one client each.
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
  /** The option of the proxy. */
  readonly sessions: "each" | "shared" | undefined
  readonly listingLink: ListingLink
  readonly links: Links
  /** How long a client waits for the lists of its own session. */
  readonly connectTimeout: Duration.DurationInput
}

export interface Sessions {
  /** Whether each client has a session of its own, at an upstream with this session. */
  readonly isEach: (shared: ClientSessionService) => boolean
  /** As `isEach`, for the upstream as it is now; while the upstream is not connected, as it was before. */
  readonly isEachNow: () => boolean
  /** The link for a request of a client. The link stays open at least until the scope closes. */
  readonly linkOf: (session: ServerSessionService) => Effect.Effect<Link, McpError, Scope.Scope>
  /** The link that a client owns; `undefined` for a client that shares the link of all. */
  readonly ownLinkOf: (session: ServerSessionService) => Effect.Effect<Link | undefined, McpError>
  /**
   * The link whose lists a client sees; `undefined` for a client that sees the lists of all. Waits until the lists were read, but not
   * longer than `connectTimeout`.
   */
  readonly ownerOf: (session: ServerSessionService) => Effect.Effect<Link | undefined>
}

interface Self extends Options {
  /** What `isEachNow` has said last; only `isEachNow` writes it. */
  wasEach: boolean
  /**
   * The keys of clients whose own session did not list in time: until it does, these clients see the entries of all sessions. `ownerOf`
   * adds keys.
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
