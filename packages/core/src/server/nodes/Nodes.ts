/**
 * This node among the nodes of a server, for an HTTP endpoint; `legacy/HttpContext` calls `make`, and `dispatch/HttpTransports` asks about
 * each request. `Place` keeps it a member, `Routing` finds the node of each request, `ForwardedRequests` passes requests on, and serves
 * what others pass on.
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

/** What serves the sessions of this node. */
export interface Sessions extends OwnSessions {
  readonly ids: () => Iterable<string>
  /** Ends all sessions here: other nodes may serve them already. */
  readonly abandon: () => void
  /** Serves a request that arrived at another node, or says that its session has moved. */
  readonly handle: (exchange: HttpExchange) => void
}

export interface Nodes {
  /** The name and the membership of this node; `undefined` while it joins again. */
  readonly place: () => { readonly node: string; readonly membership: Membership } | undefined
  /** Sets what serves the sessions, once, before the first request. */
  readonly serve: (sessions: Sessions) => void
  /** Serves a request of a session, also when there is no such session anywhere. */
  readonly toSession: (session: string, request: Routed) => void
  /** Has a given node serve a request, because no other node can serve it; serves the request here when there is no such node. */
  readonly toNode: (node: string, request: Routed) => void
  /** From now on this node takes no session over, and the streams that other nodes serve end with this text. */
  readonly drain: (retry: string) => void
  /** Whether no request that arrived here is served by another node. */
  readonly isIdle: () => boolean
}

/** A node, when there are a directory and inboxes. Dies when it cannot join the others. */
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

/** Before the endpoint serves any. */
const none: Sessions = {
  has: () => false,
  ids: () => [],
  adopt: () => true,
  abandon: () => {},
  handle: (exchange) => exchange.moved?.(false)
}
