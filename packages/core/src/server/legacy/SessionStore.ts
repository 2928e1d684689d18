/**
 * Stores the sessions of an endpoint (`Http`), by id. The store limits the number of all sessions and of the sessions of each principal,
 * and ends sessions that were idle for a long time. A session is unfinished until its client has sent a message after `initialize`.
 * Unfinished sessions have a separate limit, so that many unfinished sessions cannot replace the sessions of other clients. At a limit, the
 * store first replaces sessions of clients without a principal. The session of a client without a principal never replaces the session of a
 * principal. `HttpSession` decides what ends with a session. `Sse` uses the constants.
 *
 * The maps are mutable, and contain the sessions in the order of last use. This module does not use Effect's `Cache`, because a `Cache`
 * expires entries only by age. A `Cache` also has no busy entries, and no limit for each principal. Marking a session as used takes 0.3 µs
 * with these maps, and 13 µs with a `SynchronizedRef` of a `HashMap`. `owned` contains all sessions that have an owner.
 */
import type { Deadlines, Expirable } from "../../kit/Deadlines.js"
import type { ResolvedOptions } from "../http/ResolvedOptions.js"

export interface StoredSession {
  readonly id: string
  /**
   * The id of the session's principal; `undefined` for a client without a principal. For sessions without a principal, only `maxSessions`
   * applies.
   */
  readonly owner: string | undefined
  // The store writes the next three fields.
  /** The time of the last use of the session, in milliseconds. */
  lastUsed: number
  /** Whether the client has sent a message after `initialize`. */
  finished: boolean
  /** Whether the client was connected at the store's last check. */
  wasConnected: boolean
  /** Whether the client is connected: the client reads a stream or waits for a response. Such a session does not expire. */
  readonly isConnected: boolean
  /** Whether the client is connected or a request runs. No other session replaces such a session. */
  readonly isBusy: boolean
  /** Ends the session, after the store has removed it. */
  readonly end: () => void
}

/** The options of the endpoint that the store reads. `handshakeTimeout` limits how long a session may be unfinished, in milliseconds. */
export type Options = Pick<ResolvedOptions, "handshakeTimeout" | "limits">

/** The limit of unfinished sessions is a tenth of `maxSessions`, but at least this number. */
export const MIN_UNFINISHED = 16

/**
 * How long a client has time for its next message, in milliseconds. After this time, another session may replace the client's unfinished or
 * unused session.
 */
export const REPLACE_UNFINISHED_AFTER = 5000

/** The finished sessions of the clients with a principal, or of the clients without a principal. */
interface Finished<S> {
  /** In the order of last use. */
  readonly all: Map<string, S>
  /** The sessions that have served no request, in the order of last use. */
  readonly unused: Set<S>
  /** The last session in `all`. */
  newest: S | undefined
  /** Until this time the store takes all sessions as busy, and does not search for an idle session. */
  busyUntil: number
}

const none = <S>(): Finished<S> => ({ all: new Map(), unused: new Set(), newest: undefined, busyUntil: -Infinity })

export class SessionStore<S extends StoredSession> implements Expirable {
  private readonly anonymous: Finished<S> = none()
  private readonly named: Finished<S> = none()
  private readonly unfinished = new Map<string, S>()
  private readonly owned = new Map<string, Set<S>>()
  private readonly maxUnfinished: number

  constructor(private readonly sweeper: Deadlines, private readonly options: Options) {
    this.maxUnfinished = Math.max(MIN_UNFINISHED, Math.ceil(options.limits.maxSessions / 10))
  }

  get size(): number {
    return this.finished + this.unfinished.size
  }

  private get finished(): number {
    return this.anonymous.all.size + this.named.all.size
  }

  find(id: string): S | undefined {
    return this.named.all.get(id) ?? this.anonymous.all.get(id) ?? this.unfinished.get(id)
  }

  /**
   * Adds an unfinished session. At the limit of its principal, the new session replaces the principal's session that was idle longest. At
   * the limit of unfinished sessions, the new session replaces an unfinished session. When the new session cannot replace a session, or
   * could not be finished later because of `maxSessions`, this function does not add the session, and gives the reached limit. `isFinished`
   * is true for a session that the client has finished at another node; such a session does not count as unfinished.
   */
  add(session: S, isFinished = false): number | undefined {
    const { handshakeTimeout, limits: { maxSessions, maxSessionsPerPrincipal } } = this.options
    const now = this.sweeper.now()
    const own = this.ownedBy(session)
    if (own !== undefined && own.size >= maxSessionsPerPrincipal) {
      const idle = idlest(own)
      if (idle === undefined) return maxSessionsPerPrincipal
      this.evict(idle)
    }
    if (!isFinished && this.unfinished.size >= this.maxUnfinished) {
      const replaced = this.replaceableUnfinished(session)
      if (replaced === undefined) return this.maxUnfinished
      this.evict(replaced)
    }
    if (this.finished >= maxSessions && this.replaceable(session) === undefined) return maxSessions
    session.lastUsed = now
    this.unfinished.set(session.id, session)
    if (session.owner !== undefined) {
      const own = this.owned.get(session.owner)
      if (own === undefined) this.owned.set(session.owner, new Set([session]))
      else own.add(session)
    }
    if (handshakeTimeout !== Infinity) this.sweeper.watch(this, now + handshakeTimeout)
    return undefined
  }

  /**
   * Marks a session as finished. At the limit, the session replaces another session. When it cannot replace a session, this function
   * removes the session, and gives the limit. Otherwise gives `undefined`.
   */
  finish(session: S): number | undefined {
    const { maxSessions, sessionIdleTimeout } = this.options.limits
    if (this.finished >= maxSessions) {
      const idle = this.replaceable(session)
      if (idle === undefined) {
        this.remove(session)
        return maxSessions
      }
      this.evict(idle)
    }
    this.unfinished.delete(session.id)
    session.finished = true
    session.lastUsed = this.sweeper.now()
    const finished = this.finishedLike(session)
    finished.all.set(session.id, finished.newest = session)
    finished.unused.add(session)
    if (sessionIdleTimeout !== Infinity) this.sweeper.watch(this, session.lastUsed + sessionIdleTimeout)
    return undefined
  }

  /** Marks a session as used now, by a request of its client. */
  use(session: S): void {
    this.finishedLike(session).unused.delete(session)
    this.touch(session)
  }

  /** Marks a session as alive now, without counting this as a use. */
  touch(session: S): void {
    if (this.find(session.id) !== session) return
    session.wasConnected = false
    this.renew(session, this.sweeper.now())
  }

  /** Removes a session. Gives `false` when the session is not in the store. */
  remove(session: S): boolean {
    if (this.find(session.id) !== session) return false
    const finished = this.finishedLike(session)
    if (finished.newest === session) finished.newest = undefined
    finished.unused.delete(session)
    if (session.owner !== undefined) {
      const own = this.owned.get(session.owner)!
      own.delete(session)
      if (own.size === 0) this.owned.delete(session.owner)
    }
    return finished.all.delete(session.id) || this.unfinished.delete(session.id)
  }

  all(): ReadonlyArray<S> {
    return [...this.named.all.values(), ...this.anonymous.all.values(), ...this.unfinished.values()]
  }

  /** Removes all sessions, and calls `end` for each of them. */
  clear(end: (session: S) => void): void {
    for (const session of this.all()) {
      this.remove(session)
      end(session)
    }
  }

  readonly sweep = (now: number): number => {
    const { handshakeTimeout, limits: { sessionIdleTimeout } } = this.options
    const next = Math.min(
      this.expire(this.named.all, sessionIdleTimeout, now),
      this.expire(this.anonymous.all, sessionIdleTimeout, now),
      this.expire(this.unfinished, handshakeTimeout, now)
    )
    if (next === Infinity) this.sweeper.unwatch(this)
    return next
  }

  /** Ends the sessions that have expired. Gives the time of the next check. */
  private expire(sessions: ReadonlyMap<string, S>, timeout: number, now: number): number {
    // The loop moves connected sessions to the end of the map. `left` counts down, so that the loop visits each session once.
    let left = sessions.size
    for (const session of sessions.values()) {
      const due = session.lastUsed + timeout
      if (due > now) return due
      if (left-- === 0) break
      const { isConnected } = session
      // The client has disconnected at an unknown time since the last check.
      const wasConnected = session.wasConnected
      session.wasConnected = isConnected
      if (isConnected || wasConnected) this.renew(session, now)
      else this.evict(session)
    }
    return sessions.size > 0 ? now + timeout : Infinity
  }

  private ownedBy({ owner }: S): Set<S> | undefined {
    return owner === undefined ? undefined : this.owned.get(owner)
  }

  private finishedLike({ owner }: S): Finished<S> {
    return owner === undefined ? this.anonymous : this.named
  }

  /**
   * Finds the finished session that a new session replaces at the limit. First looks for a session without a principal. If there is none,
   * and the new session has a principal, looks for a session of the same principal, and then for a session of the principal with the most
   * sessions. Among several sessions, a session that was never used comes first, and then the session that was idle longest.
   */
  private replaceable(session: S): S | undefined {
    const anonymous = this.idle(this.anonymous)
    if (anonymous !== undefined || session.owner === undefined) return anonymous
    return idlest([...this.ownedBy(session) ?? []].filter(({ finished }) => finished)) ??
      this.idle(this.named)
  }

  /** Finds an idle session of the owner with the most sessions. Sessions that were never used come before all others. */
  private idle(sessions: Finished<S>): S | undefined {
    const now = this.sweeper.now()
    if (now < sessions.busyUntil) return undefined
    const found = this.first(sessions.unused, now - REPLACE_UNFINISHED_AFTER) ?? this.first(sessions.all.values(), now)
    if (found === undefined) sessions.busyUntil = now + this.sweeper.resolution
    return found
  }

  /**
   * Finds the first idle session of the owner with the most sessions, among the sessions whose last use was not after `until`. `sessions`
   * must be in the order of last use.
   */
  private first(sessions: Iterable<S>, until: number): S | undefined {
    let found: S | undefined
    let most = 0
    for (const session of sessions) {
      if (session.lastUsed > until) break
      const count = this.ownedBy(session)?.size ?? Infinity
      if (count <= most || session.isBusy) continue
      if (count === Infinity) return session
      found = session
      most = count
    }
    return found
  }

  /**
   * Finds the unfinished session that a new session replaces when too many sessions are unfinished. A new session with a principal first
   * replaces the oldest session without a principal. If there is none, it replaces the oldest session with a principal, if this is older
   * than `REPLACE_UNFINISHED_AFTER`. A new session without a principal replaces only a session without a principal that is older than
   * `REPLACE_UNFINISHED_AFTER`.
   */
  private replaceableUnfinished({ owner }: S): S | undefined {
    const until = this.sweeper.now() - REPLACE_UNFINISHED_AFTER
    let oldest: S | undefined
    for (const one of this.unfinished.values()) {
      if (owner === undefined && one.lastUsed > until) break
      const isLess = one.owner === undefined && owner !== undefined
      const isEqual = one.lastUsed <= until && (one.owner === undefined) === (owner === undefined)
      if (!(isLess || isEqual && oldest === undefined) || one.isBusy) continue
      if (owner === undefined || isLess) return one
      oldest = one
    }
    return oldest
  }

  private renew(session: S, now: number): void {
    session.lastUsed = now
    const finished = this.finishedLike(session)
    if (finished.newest === session) return
    const sessions = session.finished ? finished.all : this.unfinished
    sessions.delete(session.id)
    sessions.set(session.id, session)
    if (session.finished) finished.newest = session
    if (finished.unused.delete(session)) finished.unused.add(session)
  }

  private evict(session: S): void {
    if (this.remove(session)) session.end()
  }
}

/** Finds the session of one principal that was idle longest. The sessions of a principal are not in the order of use. */
const idlest = <S extends StoredSession>(sessions: Iterable<S>): S | undefined => {
  let idlest: S | undefined
  for (const session of sessions) {
    if (!session.isBusy && (idlest === undefined || session.lastUsed < idlest.lastUsed)) idlest = session
  }
  return idlest
}
