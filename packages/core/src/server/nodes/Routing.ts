/**
 * Finds the node that serves the session of a request, for `dispatch/HttpTransports`: this node, another node to which the request is
 * passed on, or, when the node of the session has ended, the node that takes the session over first.
 *
 * A class, because a claim may succeed without an answer: `doubts` holds the sessions that this node may or may not have claimed, and the
 * epoch that the claim gives them. A session leaves `doubts` before this node serves it, so that an old answer of the directory cannot make
 * this node serve it again in the same epoch. `place` is there while this node is a member, and nothing is claimed after `isDraining` is
 * true.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import * as EffectInternals from "../../kit/EffectInternals.js"
import type { Admitted } from "../http/HttpExchange.js"
import * as Refusal from "../http/Refusal.js"
import type { HttpRefusal } from "../HttpRefusal.js"
import type { Membership, SessionDirectoryError, SessionEntry } from "../SessionDirectory.js"
import type { ForwardedRequests } from "./ForwardedRequests.js"
import type { Place } from "./Place.js"

/** The sessions of this node. */
export interface OwnSessions {
  readonly has: (id: string) => boolean
  /** Serves a session from now on, which another node has served. `false` when it has ended: its facts cannot be read. */
  readonly adopt: (entry: SessionEntry, membership: Membership) => boolean
}

/** A request that this node may not serve. */
export interface Routed {
  readonly exchange: Admitted
  /** Whether a session belongs to another user than the request. */
  readonly isOfAnother: (session: SessionEntry) => boolean
  /** Reads the body; `undefined` for a request without a body. */
  readonly read: ((then: (body: string) => void) => void) | undefined
  /** Serves the request here, with its body if it was read. */
  readonly local: (body?: string) => void
}

/** How often a request looks for the node of its session, while nodes take it over from each other. */
const MAX_ATTEMPTS = 4

/** How long a request waits before it looks again, when the node that it was passed to does not serve its session, or will not. */
const PAUSE = "100 millis"

/** How often, and for how long, a node looks whether a claim without an answer reaches the directory late: for about a minute. */
const LATE_CLAIM = Schedule.intersect(Schedule.exponential("1 second"), Schedule.recurs(6))

export class Routing {
  place: Place | undefined
  isDraining = false
  private readonly doubts = new Map<string, number>()

  constructor(
    private readonly runtime: EffectInternals.Services,
    private readonly sessions: OwnSessions,
    private readonly forwarding: ForwardedRequests
  ) {}

  /** Serves a request of a session, also when there is no such session anywhere. */
  toSession(session: string, request: Routed): void {
    const { exchange, isOfAnother } = request
    const refuse = (refusal: HttpRefusal) => Effect.sync(() => Refusal.send(exchange, refusal))
    const withBody = reading(request)
    const again = (left: number, draining?: string): void => {
      if (draining !== undefined && exchange.isGone) return
      EffectInternals.runFork(this.runtime, Effect.delay(attempt(left, draining), PAUSE))
    }
    /** `draining` is a node that gives the session away when its requests have ended: the request waits for that. */
    const attempt = (left: number, draining?: string): Effect.Effect<void> =>
      Effect.suspend(() => {
        const { place } = this
        if (this.sessions.has(session)) return withBody.here
        if (place === undefined || left === 0) return refuse(Refusal.nodeLost)
        const { membership, node } = place
        return Effect.flatMap(membership.find(session), (found): Effect.Effect<void, SessionDirectoryError> => {
          // The session of another user is answered as if it did not exist.
          if (Option.isNone(found) || isOfAnother(found.value)) return withBody.here
          const entry = found.value
          if (entry.isServed && entry.node === node) {
            // Not any more: it is about to be released.
            if (this.isDraining) return refuse(Refusal.closing)
            // It is about to be removed, or released when there was no place for it.
            return this.settle(entry, place) ? attempt(left - 1) : Effect.sync(() => again(left - 1))
          }
          if (entry.isServed && entry.node === draining) return Effect.sync(() => again(left, draining))
          if (entry.isServed) {
            // Its stream would hold up this node to the end of its time.
            if (this.isDraining && exchange.arrived.method === "GET") return refuse(Refusal.closing)
            if (handsOverUser(exchange)) return refuse(Refusal.staysHere)
            return Effect.sync(() =>
              withBody.read((body) => {
                // Answers to the name that this node had before would reach no node.
                if (this.place !== place) return again(left - 1)
                this.forwarding.forward(
                  entry.node,
                  place,
                  exchange,
                  body,
                  (isDraining) => isDraining ? again(left, entry.node) : again(left - 1)
                )
              })
            )
          }
          if (this.isDraining) return refuse(Refusal.closing)
          const claim = Effect.tapError(membership.claim(session, entry.epoch), () => this.doubt(entry, place))
          return Effect.flatMap(claim, (claimed) => {
            // A node that has lost its lease meanwhile serves nothing in its old name.
            if (Option.isNone(claimed) || this.place !== place) return attempt(left - 1)
            this.doubts.delete(session)
            if (!this.sessions.adopt(claimed.value, membership)) return withBody.here
            // There is no place for it here: it goes on when there is a place, or at another node.
            return this.sessions.has(session) ? withBody.here : refuse(Refusal.nodeLost)
          })
        }).pipe(Effect.catchAllCause((cause) => Effect.zipRight(logDefect(cause), refuse(Refusal.nodeLost))))
      })
    EffectInternals.runFork(this.runtime, attempt(MAX_ATTEMPTS))
  }

  /** Has a given node serve a request, because no other node can serve it; serves the request here when there is no such node. */
  toNode(node: string, request: Routed): void {
    const { exchange, local } = request
    const { place } = this
    if (place === undefined) return Refusal.send(exchange, Refusal.nodeLost)
    if (node === place.node) return local()
    if (handsOverUser(exchange)) return Refusal.send(exchange, Refusal.staysHere)
    const withBody = reading(request)
    const forward = Effect.sync(() =>
      withBody.read((body) => {
        if (this.place !== place) return Refusal.send(exchange, Refusal.nodeLost)
        this.forwarding.forward(node, place, exchange, body, () => local(body))
      })
    )
    const routed = Effect.flatMap(place.membership.isAlive(node), (isAlive) => isAlive ? forward : withBody.here)
    EffectInternals.runFork(
      this.runtime,
      Effect.catchAllCause(
        routed,
        (cause) => Effect.zipRight(logDefect(cause), Effect.sync(() => Refusal.send(exchange, Refusal.nodeLost)))
      )
    )
  }

  /** A claim of this node has failed, and may have succeeded in the directory: finds out, and serves the session then. */
  private doubt({ epoch, id }: SessionEntry, place: Place): Effect.Effect<void> {
    return Effect.sync(() => {
      const claimed = epoch + 1
      if (this.doubts.get(id) === claimed) return
      this.doubts.set(id, claimed)
      const isOpen = () => this.place === place && this.doubts.get(id) === claimed
      const found = Effect.retry(place.membership.find(id), { schedule: Schedule.spaced("1 second"), while: isOpen })
      const settled = Effect.repeat(found, {
        schedule: LATE_CLAIM,
        while: (entry) => {
          if (Option.isSome(entry)) this.settle(entry.value, place)
          return isOpen() && Option.isSome(entry) && entry.value.epoch === epoch
        }
      })
      const forgotten = Effect.sync(() => {
        if (this.doubts.get(id) === claimed) this.doubts.delete(id)
      })
      EffectInternals.runFork(this.runtime, Effect.ensuring(Effect.ignore(settled), forgotten))
    })
  }

  /** Serves a session that the directory has for this node since a claim in doubt; `false` when there was no such claim. */
  private settle(entry: SessionEntry, place: Place): boolean {
    const isOwn = entry.isServed && entry.node === place.node && this.place === place
    if (!isOwn || this.doubts.get(entry.id) !== entry.epoch) return false
    this.doubts.delete(entry.id)
    if (!this.sessions.has(entry.id)) this.sessions.adopt(entry, place.membership)
    return true
  }
}

/** A failure of the directory is in the log already. */
const logDefect = (cause: Cause.Cause<SessionDirectoryError>): Effect.Effect<void> =>
  Cause.isDie(cause) ? Effect.logError("This node could not pass a request on", cause) : Effect.void

/** Whether the application has given the user with a request: the user is a value of this process. */
const handsOverUser = ({ arrived: { services }, user }: Admitted): boolean =>
  services !== undefined && user !== undefined &&
  [...EffectInternals.entries(user).keys()].some((key) => EffectInternals.entries(services).has(key))

/** Reads the body of a request once, for each node that may have to serve it. */
const reading = ({ local, read }: Routed) => {
  let body: string | undefined
  return {
    here: Effect.sync(() => local(body)),
    read: (then: (body: string | undefined) => void): void => {
      if (read === undefined || body !== undefined) return then(body)
      read((text) => then(body = text))
    }
  }
}
