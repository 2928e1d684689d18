/**
 * Connects an HTTP endpoint with the other nodes of a server. `legacy/HttpContext` calls `make`, and `dispatch/HttpTransports` uses the
 * result for each request. `Place` keeps this node a member of the nodes. `Routing` finds the node of each request. `ForwardedRequests`
 * passes requests to other nodes, and serves the requests that other nodes pass on.
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
  /** Ends all sessions at this node. Used when other nodes may already serve the sessions. */
  readonly abandon: () => void
  /** Serves a request that arrived at another node, or notifies that node that the session has moved. */
  readonly handle: (exchange: HttpExchange) => void
}

export interface Nodes {
  /** The name and the membership of this node; `undefined` while the node is joining again. */
  readonly place: () => { readonly node: string; readonly membership: Membership } | undefined
  /** Sets the functions for the sessions of this node. Call it once, before the first request. */
  readonly serve: (sessions: Sessions) => void
  /** Serves a request of a session, at this node or at another node. When no node has the session, serves the request here. */
  readonly toSession: (session: string, request: Routed) => void
  /** Passes a request to the given node, because no other node can serve it. When that node has ended, serves the request here. */
  readonly toNode: (node: string, request: Routed) => void
  /**
   * From now on this node takes over no sessions. Ends the streams that other nodes serve for clients of this node, with the text `retry`.
   */
  readonly drain: (retry: string) => void
  /** Gives `true` when no other node is serving a request that arrived at this node. */
  readonly isIdle: () => boolean
}

/**
 * Joins the nodes of the server, when the application provides a `SessionDirectory` and an `Inbox`. Gives `undefined` when there is no
 * directory and no inbox. Dies when only one of the two exists, or when the node cannot join the other nodes.
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

/** The functions before the first call of `serve`: no sessions. */
const none: Sessions = {
  has: () => false,
  ids: () => [],
  adopt: () => true,
  abandon: () => {},
  handle: (exchange) => exchange.moved?.(false)
}
