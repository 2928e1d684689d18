/**
 * Opens and closes the links that belong to one client each. A link is a session with the upstream, together with the calls that run in
 * this session. When the client has a session with the server, its link closes when the client disconnects.
 *
 * Clients of revision 2026-07-28 do not have a session. Several of their requests use one link when these requests have equal capabilities,
 * and come over the same stdio connection or from the same authenticated user. This link closes when no request has come for the time of
 * the option `idleSession`. Over HTTP, requests may be anonymous. All anonymous requests with equal capabilities use one link if only
 * programs of this machine can reach the server. If other machines can reach the server, each anonymous request opens a new link.
 *
 * `Sessions` chooses between a link of this module and the link that all clients share. `Link` opens a link. `ListingLink` has the shared
 * link.
 */
import { forOperator } from "@effect-mcp/core/ClientLogger"
import type { ClientCapabilities } from "@effect-mcp/core/protocol/Capabilities"
import type { McpError } from "@effect-mcp/core/protocol/McpError"
import type { ServerSessionService } from "@effect-mcp/core/ServerSession"
import * as RcMap from "@effect-mcp/core/unstable/kit/RcMap"
import * as HandlerContext from "@effect-mcp/core/unstable/server/HandlerContext"
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as FiberSet from "effect/FiberSet"
import * as Hash from "effect/Hash"
import * as Ref from "effect/Ref"
import * as Scope from "effect/Scope"
import type { Link } from "./Link.js"
import * as UpstreamError from "./UpstreamError.js"
import * as UpstreamQuestions from "./UpstreamQuestions.js"

export interface Options {
  readonly name: string
  readonly max: number
  readonly idle: Duration.DurationInput
  readonly open: (
    capabilities: ClientCapabilities,
    standalone: () => ServerSessionService | undefined
  ) => Effect.Effect<Link, McpError, Scope.Scope>
  /**
   * Runs after this module has opened a link for a client with a session. `onOpen` completes `listed` when the lists of the link were read.
   */
  readonly onOpen: (
    link: Link,
    client: ServerSessionService,
    listed: Deferred.Deferred<void>
  ) => Effect.Effect<void, never, Scope.Scope>
}

export interface Links {
  /** Logs a warning that each request of an anonymous client opens a link. Only the first call logs the warning. */
  readonly warnOfAnonymous: Effect.Effect<void>
  /** Returns the link of the client of a request. The link stays open at least until the scope closes. */
  readonly of: (session: ServerSessionService) => Effect.Effect<Link, McpError, Scope.Scope>
  /**
   * Stores the session of a client that has completed the handshake. Through this session the proxy sends messages that do not belong to a
   * request of the client.
   */
  readonly begin: (session: ServerSessionService) => void
  /** Returns the open link of a client; `undefined` when the client has no open link. */
  readonly existing: (session: ServerSessionService) => Link | undefined
  /** Returns the open link of a client if its lists were read; `undefined` otherwise. */
  readonly listedNow: (session: ServerSessionService) => Link | undefined
  /** Returns the link of a client with a session. Opens the link, and waits until its lists were read. */
  readonly listed: (session: ServerSessionService) => Effect.Effect<Link, McpError>
}

/** The member `client` of the `Key` for all anonymous clients, at a server that only programs of this machine can reach. */
const anonymousOfMachine = {}

class Key implements Equal.Equal {
  readonly text: string

  constructor(readonly client: object | string, readonly session: ServerSessionService) {
    // A client with a session declares its capabilities once. Without a session, each request declares capabilities. Requests need
    // different links only if the proxy would declare different capabilities to the upstream.
    this.text = session.client.sessionScope === undefined
      ? JSON.stringify(UpstreamQuestions.passed(session.client.capabilities))
      : ""
  }

  // The capabilities are not hashed, because a client has only a few different capabilities.
  [Hash.symbol](): number {
    return Hash.hash(this.client)
  }

  [Equal.symbol](that: unknown): boolean {
    return that instanceof Key && this.client === that.client && this.text === that.text
  }
}

interface Opened {
  readonly link: Link
  /** Completes when the lists of the link were read. */
  readonly listed: Deferred.Deferred<void>
}

interface Self extends Options {
  /** The links of clients, including links that are still opening. */
  readonly all: RcMap.RcMap<Key, Link, McpError>
  readonly run: (effect: Effect.Effect<void>) => void
  readonly warnOfAnonymous: Effect.Effect<void>
  /** The number of open links of single anonymous requests. `ofUnknown` counts them. */
  readonly anonymous: Ref.Ref<number>
  /**
   * The sessions through which the proxy sends messages that do not belong to a request, by the keys of the clients. `begin` writes them.
   */
  readonly standalones: WeakMap<object, ServerSessionService>
  /** The open links of clients with a session, by the keys of the clients. `opening` writes them. */
  readonly opened: WeakMap<object, Opened>
  /** The keys of clients for which `endWithSession` has already registered that the end of their session closes their link. */
  readonly ending: WeakSet<object>
  /** The keys of clients whose session has ended. `endWithSession` writes them. */
  readonly left: WeakSet<object>
}

export const make = Effect.fnUntraced(function*(options: Options): Effect.fn.Return<Links, never, Scope.Scope> {
  const run = yield* FiberSet.makeRuntime<never, void, never>()
  const all: Self["all"] = yield* RcMap.make({
    idle: ({ session }: Key) => session.client.sessionScope === undefined ? options.idle : Infinity,
    open: (key: Key, end) => opening(self, key, end)
  })
  const self: Self = {
    ...options,
    all,
    run,
    warnOfAnonymous: yield* Effect.once(warning(options.name)),
    anonymous: yield* Ref.make(0),
    standalones: new WeakMap(),
    opened: new WeakMap(),
    ending: new WeakSet(),
    left: new WeakSet()
  }
  return entrances(self)
})

const entrances = (self: Self): Links => ({
  warnOfAnonymous: self.warnOfAnonymous,
  of: (session) =>
    Effect.suspend(() => {
      const key = session.client.key ?? (HandlerContext.isLocal(session) ? anonymousOfMachine : undefined)
      return key === undefined ? ofUnknown(self, session) : get(self, new Key(key, session))
    }),
  begin: (session) => {
    if (typeof session.client.key === "object") self.standalones.set(session.client.key, session)
  },
  existing: (session) => openedBy(self, session)?.link,
  listedNow: (session) => {
    const found = openedBy(self, session)
    return found !== undefined && Effect.runSync(Deferred.isDone(found.listed)) ? found.link : undefined
  },
  listed: (session) =>
    Effect.flatMap(Effect.scoped(get(self, new Key(session.client.key!, session))), (link) => {
      const found = openedBy(self, session)
      return Effect.as(found?.link === link ? Deferred.await(found.listed) : Effect.void, link)
    })
})

const warning = (name: string) =>
  forOperator(Effect.logWarning(
    "Clients without a session and without a user may call over HTTP: each of their requests opens a session with the upstream " +
      `"${name}", and state of the session is lost. Give the server an \`authenticator\`, or the proxy \`sessions: "shared"\``
  ))

const standaloneOf = ({ standalones }: Self, { client: { key } }: ServerSessionService) =>
  typeof key === "object" ? standalones.get(key) : undefined

const openedBy = ({ opened }: Self, { client: { key } }: ServerSessionService) =>
  typeof key === "object" ? opened.get(key) : undefined

const opening = Effect.fnUntraced(function*(self: Self, { client, session }: Key, end: Effect.Effect<void>) {
  // The client has disconnected before its link began to open, so the link closes when the request that opens it ends.
  if (typeof client === "object" && self.left.has(client)) yield* end
  const link = yield* self.open(session.client.capabilities, () => standaloneOf(self, session))
  self.run(ended(link, end))
  if (typeof client === "object" && session.client.sessionScope !== undefined) {
    const listed = yield* Deferred.make<void>()
    self.opened.set(client, { link, listed })
    yield* self.onOpen(link, standaloneOf(self, session) ?? session, listed)
  }
  return link
})

/** Waits until the session with the upstream has ended. Then runs `takeAway`, so that no later request gets the link. */
const ended = ({ gone, session }: Link, takeAway: Effect.Effect<void>): Effect.Effect<void> =>
  Effect.ensuring(
    Effect.zipRight(Effect.ignore(session.ended), takeAway),
    Deferred.succeed(gone, undefined)
  )

const get = Effect.fnUntraced(function*(self: Self, key: Key) {
  const { all } = self
  if (!all.has(key)) yield* refuseTooMany(self)
  // This code is uninterruptible, so that each link that opens will also be closed.
  const link = Effect.uninterruptibleMask((restore) =>
    Effect.zipRight(endWithSession(self, key), restore(all.get(key)))
  )
  return yield* Effect.catchAllCause(link, (cause) =>
    // Here the proxy closes, and this has interrupted the opening of the link. When a request is interrupted, its fiber does not reach this
    // line.
    Cause.isInterruptedOnly(cause) ? UpstreamError.of(self.name, "is not connected") : Effect.failCause(cause))
})

/** Closes the link when the session of the client ends, or has ended. */
const endWithSession = ({ all, ending, left, run }: Self, key: Key): Effect.Effect<void> =>
  Effect.suspend(() => {
    const { client, session: { client: { sessionScope } } } = key
    if (typeof client !== "object" || sessionScope === undefined) return Effect.void
    if (ending.has(client)) return Effect.void
    ending.add(client)
    return Scope.addFinalizer(
      sessionScope,
      Effect.sync(() => {
        left.add(client)
        run(all.end(key))
      })
    )
  })

/** Opens a link for one request of an anonymous client. */
const ofUnknown = Effect.fnUntraced(function*(self: Self, session: ServerSessionService) {
  const { anonymous } = self
  yield* self.warnOfAnonymous
  yield* refuseTooMany(self)
  yield* Effect.acquireRelease(
    Ref.update(anonymous, (count) => count + 1),
    () => Ref.update(anonymous, (count) => count - 1)
  )
  return yield* Effect.tap(
    self.open(session.client.capabilities, () => undefined),
    (link) => Effect.sync(() => self.run(ended(link, Effect.void)))
  )
})

const refuseTooMany = Effect.fnUntraced(function*({ all, anonymous, max, name }: Self) {
  if (all.size() + (yield* Ref.get(anonymous)) < max) return
  return yield* UpstreamError.of(name, `already serves ${max} clients; try again later`)
})
