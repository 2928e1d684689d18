/**
 * This node among the nodes of a server, for an HTTP endpoint. `legacy/HttpContext` calls `make`, and `dispatch/HttpTransports` asks about
 * each request. `Place` keeps this node a member, `Routing` finds the node of each request, and `ForwardedRequests` passes requests to
 * other nodes and serves the requests that other nodes pass on.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as EffectInternals from "../../kit/EffectInternals.js"
import type { HttpExchange } from "../http/HttpExchange.js"
import { Inbox } from "../Inbox.js"
import { type Membership, SessionDirectory } from "../SessionDirectory.js"
import { ForwardedRequests } from "./ForwardedRequests.js"
import * as NodeServices from "./NodeServices.js"
import * as Place from "./Place.js"
import { type OwnSessions, type Routed, Routing } from "./Routing.js"

/** The sessions of this node, and the functions that serve and end them. */
export interface Sessions extends OwnSessions {
  readonly ids: () => Iterable<string>
  /** Ends all sessions at this node, because other nodes may already serve them. */
  readonly abandon: () => void
  /** Serves a request that arrived at another node, or tells that node that the session has moved. */
  readonly handle: (exchange: HttpExchange) => void
}

export interface Nodes {
  /** The name and the membership of this node; `undefined` while it joins again. */
  readonly place: () => { readonly node: string; readonly membership: Membership } | undefined
  /** Sets the sessions that this node serves, once, before the first request. */
  readonly serve: (sessions: Sessions) => void
  /** Serves a request of a session, at this node or at another node. Serves it here also when no node has such a session. */
  readonly toSession: (session: string, request: Routed) => void
  /** Has a given node serve a request, because no other node can serve it. Serves the request here when that node has ended. */
  readonly toNode: (node: string, request: Routed) => void
  /** From now on this node takes over no session. The streams that other nodes serve for clients of this node end with the text `retry`. */
  readonly drain: (retry: string) => void
  /** Whether no request that arrived here is being served by another node. */
  readonly isIdle: () => boolean
}

/**
 * This node, when the application provides a directory and inboxes; `undefined` when it provides neither. Dies when only one of the two is
 * there, or when the node cannot join the others.
 */
export const make = (isResumable: boolean): Effect.Effect<Nodes | undefined, never, Scope.Scope> =>
  Effect.gen(function*() {
    const directory = yield* Effect.serviceOption(SessionDirectory)
    const inbox = yield* Effect.serviceOption(Inbox)
    if (Option.isNone(directory) && Option.isNone(inbox)) return undefined
    if (Option.isNone(directory) || Option.isNone(inbox)) {
      const missing = Option.isNone(directory) ? "SessionDirectory" : "Inbox"
      return yield* Effect.dieMessage(
        `An endpoint on several nodes needs a SessionDirectory and an Inbox: provide ${missing}`
      )
    }
    const shared = { directory: NodeServices.directory(directory.value), inbox: NodeServices.inbox(inbox.value) }
    let sessions = none
    const runtime = yield* EffectInternals.currentServices()
    const forwarding = new ForwardedRequests(runtime, isResumable, (exchange) => sessions.handle(exchange))
    const routing = new Routing(runtime, {
      has: (id) => sessions.has(id),
      adopt: (entry, membership) => sessions.adopt(entry, membership)
    }, forwarding)
    const work: Place.Work = {
      onPlace: (place) => {
        routing.place = place
        if (place !== undefined) return
        forwarding.end()
        sessions.abandon()
      },
      sessions: () => sessions.ids(),
      awaited: forwarding.awaited,
      onEnded: forwarding.ended,
      onText: forwarding.receive
    }
    const joined = yield* Deferred.make<void, unknown>()
    yield* Effect.forkScoped(Effect.interruptible(Place.keep(shared.directory, shared.inbox, work, joined)))
    yield* Effect.orDie(Deferred.await(joined))
    return {
      place: () => routing.place,
      serve: (served) => {
        sessions = served
      },
      toSession: (session, request) => routing.toSession(session, request),
      toNode: (node, request) => routing.toNode(node, request),
      drain: (retry) => {
        routing.isDraining = true
        forwarding.pause(retry)
      },
      isIdle: () => forwarding.isIdle
    }
  })

/** The sessions before `serve` is called: there are none. */
const none: Sessions = {
  has: () => false,
  ids: () => [],
  adopt: () => true,
  abandon: () => {},
  handle: (exchange) => exchange.moved?.(false)
}
