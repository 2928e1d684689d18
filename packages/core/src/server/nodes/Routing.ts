/**
 * Finds the node that serves the session of a request, for `dispatch/HttpTransports`. It is this node, or another node to which the request
 * is passed on. When the node of the session has ended, this node first takes the session over.
 *
 * A class, because a claim of a session may succeed although its answer is lost. `doubts` has the sessions that this node may or may not
 * have claimed, and the epoch that the claim gives them. Before this node serves a session, the session leaves `doubts`. Otherwise an old
 * answer of the directory could make this node serve the session a second time in the same epoch. `place` is set while this node is a
 * member. Once `isDraining` is true, nothing is claimed.
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
  /**
   * Serves from now on a session that another node has served. Gives `false` when the session has ended, because its facts cannot be read.
   */
  readonly adopt: (entry: SessionEntry, membership: Membership) => boolean
}

/** A request that another node may have to serve. */
export interface Routed {
  readonly exchange: Admitted
  /** Whether a session belongs to a user other than the user of the request. */
  readonly isOfAnother: (session: SessionEntry) => boolean
  /** Reads the body; `undefined` for a request without a body. */
  readonly read: ((then: (body: string) => void) => void) | undefined
  /** Serves the request at this node, with its body if it was read. */
  readonly local: (body?: string) => void
}

/** How often this node looks for the node of a session while nodes take the session over from each other. */
const MAX_ATTEMPTS = 4

/** How long a request waits before this node looks again, when the other node does not serve the session, or will not serve it soon. */
const PAUSE = "100 millis"

/** When a node checks whether a claim without an answer has reached the directory late: seven times within about a minute. */
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

  /** Serves a request of a session, at this node or at another node. Serves it here also when no node has such a session. */
  toSession(session: string, request: Routed): void {
    const { exchange, isOfAnother } = request
    const refuse = (refusal: HttpRefusal) => Effect.sync(() => Refusal.send(exchange, refusal))
    const withBody = reading(request)
    const again = (left: number, draining?: string): void => {
      if (draining !== undefined && exchange.isGone) return
      EffectInternals.runFork(this.runtime, Effect.delay(attempt(left, draining), PAUSE))
    }
    /** `draining` is the node that gives the session away when the session's requests have ended. The request waits for that. */
    const attempt = (left: number, draining?: string): Effect.Effect<void> =>
      Effect.suspend(() => {
        const { place } = this
        if (this.sessions.has(session)) return withBody.here
        if (place === undefined || left === 0) return refuse(Refusal.nodeLost)
        const { membership, node } = place
        return Effect.flatMap(membership.find(session), (found): Effect.Effect<void, SessionDirectoryError> => {
          // A session of another user is answered as if it did not exist.
          if (Option.isNone(found) || isOfAnother(found.value)) return withBody.here
          const entry = found.value
          if (entry.isServed && entry.node === node) {
            // The directory is about to learn that this node has released the session.
            if (this.isDraining) return refuse(Refusal.closing)
            // The session is about to be removed, or to be released because there was no place for it.
            return this.settle(entry, place) ? attempt(left - 1) : Effect.sync(() => again(left - 1))
          }
          if (entry.isServed && entry.node === draining) return Effect.sync(() => again(left, draining))
          if (entry.isServed) {
            // The stream of a GET would delay the end of this node.
            if (this.isDraining && exchange.arrived.method === "GET") return refuse(Refusal.closing)
            if (handsOverUser(exchange)) return refuse(Refusal.staysHere)
            return Effect.sync(() =>
              withBody.read((body) => {
                // Answers that are sent to the earlier name of this node would reach no node.
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
            // A node that has lost its lease meanwhile serves nothing under its old name.
            if (Option.isNone(claimed) || this.place !== place) return attempt(left - 1)
            this.doubts.delete(session)
            if (!this.sessions.adopt(claimed.value, membership)) return withBody.here
            // There is no place for the session here. It goes on when there is a place, or at another node.
            return this.sessions.has(session) ? withBody.here : refuse(Refusal.nodeLost)
          })
        }).pipe(Effect.catchAllCause((cause) => Effect.zipRight(logDefect(cause), refuse(Refusal.nodeLost))))
      })
    EffectInternals.runFork(this.runtime, attempt(MAX_ATTEMPTS))
  }

  /** Has a given node serve a request, because no other node can serve it. Serves the request here when that node has ended. */
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

  /** A claim of this node has failed, but the directory may have the claim. Finds out whether it has, and serves the session then. */
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

  /** Serves a session that, since a claim in doubt, the directory has for this node. Gives `false` when there was no such claim. */
  private settle(entry: SessionEntry, place: Place): boolean {
    const isOwn = entry.isServed && entry.node === place.node && this.place === place
    if (!isOwn || this.doubts.get(entry.id) !== entry.epoch) return false
    this.doubts.delete(entry.id)
    if (!this.sessions.has(entry.id)) this.sessions.adopt(entry, place.membership)
    return true
  }
}

/** Logs a defect. A failure of the directory is already in the log. */
const logDefect = (cause: Cause.Cause<SessionDirectoryError>): Effect.Effect<void> =>
  Cause.isDie(cause) ? Effect.logError("This node could not pass a request on", cause) : Effect.void

/** Whether the application has given the user with the request. Such a user is a value of this process, and cannot be passed on. */
const handsOverUser = ({ arrived: { services }, user }: Admitted): boolean =>
  services !== undefined && user !== undefined &&
  [...EffectInternals.entries(user).keys()].some((key) => EffectInternals.entries(services).has(key))

/** Reads the body of a request once, for all nodes that may have to serve the request. */
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
