/**
 * Finds the node that serves the session of a request, for `dispatch/HttpTransports`. When another node serves the session, this module
 * passes the request on. When the node of the session has ended, this node takes the session over: it "claims" the session in the
 * directory.
 *
 * A claim may succeed in the directory although this node does not get the answer of the directory. Then this node does not know the result
 * of the claim. `doubts` contains the sessions with such a claim, and the new epoch of each session. The epoch is a number that grows by
 * one with each claim. Before this node serves a session, it removes the session from `doubts`. Otherwise an old answer of the directory
 * could make this node begin the session a second time in the same epoch. `place` is set while this node is a member. When `isDraining` is
 * true, this node claims no sessions.
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
   * Begins to serve a session that another node has served before. Gives `false` when the session has ended, because its facts cannot be
   * read.
   */
  readonly adopt: (entry: SessionEntry, membership: Membership) => boolean
}

/** A request that perhaps another node must serve. */
export interface Routed {
  readonly exchange: Admitted
  /** Whether a session belongs to another user than the user of the request. */
  readonly isOfAnother: (session: SessionEntry) => boolean
  /** Reads the body; `undefined` for a request without a body. */
  readonly read: ((then: (body: string) => void) => void) | undefined
  /** Serves the request at this node. `body` is the body, if it was already read. */
  readonly local: (body?: string) => void
}

/** How many times this node searches for the node of a session, when the session moves between nodes. */
const MAX_ATTEMPTS = 4

/** How long a request waits before this node searches again, when the other node does not serve the session, or will soon release it. */
const PAUSE = "100 millis"

/** The schedule of the checks whether a claim without an answer has reached the directory: seven checks within about one minute. */
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

  /** Serves a request of a session, at this node or at another node. When no node has the session, serves the request here. */
  toSession(session: string, request: Routed): void {
    const { exchange, isOfAnother } = request
    const refuse = (refusal: HttpRefusal) => Effect.sync(() => Refusal.send(exchange, refusal))
    const withBody = reading(request)
    const again = (left: number, draining?: string): void => {
      if (draining !== undefined && exchange.isGone) return
      EffectInternals.runFork(this.runtime, Effect.delay(attempt(left, draining), PAUSE))
    }
    /** `draining` is a node that will release the session when the session's requests have ended. The request waits for the release. */
    const attempt = (left: number, draining?: string): Effect.Effect<void> =>
      Effect.suspend(() => {
        const { place } = this
        if (this.sessions.has(session)) return withBody.here
        if (place === undefined || left === 0) return refuse(Refusal.nodeLost)
        const { membership, node } = place
        return Effect.flatMap(membership.find(session), (found): Effect.Effect<void, SessionDirectoryError> => {
          // For a session of another user, the answer is the same as for an unknown session.
          if (Option.isNone(found) || isOfAnother(found.value)) return withBody.here
          const entry = found.value
          if (entry.isServed && entry.node === node) {
            // This node is releasing the session, but the directory does not know it yet.
            if (this.isDraining) return refuse(Refusal.closing)
            // This node is removing the session, or is releasing it because there was no room.
            return this.settle(entry, place) ? attempt(left - 1) : Effect.sync(() => again(left - 1))
          }
          if (entry.isServed && entry.node === draining) return Effect.sync(() => again(left, draining))
          if (entry.isServed) {
            // The stream of a GET would delay the end of this node.
            if (this.isDraining && exchange.arrived.method === "GET") return refuse(Refusal.closing)
            if (handsOverUser(exchange)) return refuse(Refusal.staysHere)
            return Effect.sync(() =>
              withBody.read((body) => {
                // Answers to the earlier name of this node would not arrive.
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
            // This node may have lost its lease while the directory stored the claim. Then this node must not use its old name.
            if (Option.isNone(claimed) || this.place !== place) return attempt(left - 1)
            this.doubts.delete(session)
            if (!this.sessions.adopt(claimed.value, membership)) return withBody.here
            // This node has no room for the session. The client can try again, or the session goes on at another node.
            return this.sessions.has(session) ? withBody.here : refuse(Refusal.nodeLost)
          })
        }).pipe(Effect.catchAllCause((cause) => Effect.zipRight(logDefect(cause), refuse(Refusal.nodeLost))))
      })
    EffectInternals.runFork(this.runtime, attempt(MAX_ATTEMPTS))
  }

  /** Passes a request to the given node, because no other node can serve it. When that node has ended, serves the request here. */
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

  /**
   * Handles a claim that has failed, although the directory may have stored it. Checks the directory, and begins to serve the session if
   * the directory has the claim.
   */
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

  /**
   * Begins to serve a session that the directory assigns to this node because of a claim with an unknown result. Gives `false` when there
   * was no such claim.
   */
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

/**
 * Whether the application has passed the user with the request. Such a user is a value in this process, and this node cannot send this
 * value to another node.
 */
const handsOverUser = ({ arrived: { services }, user }: Admitted): boolean =>
  services !== undefined && user !== undefined &&
  [...EffectInternals.entries(user).keys()].some((key) => EffectInternals.entries(services).has(key))

/** Reads the body of a request only once, even when several nodes are tried. */
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
