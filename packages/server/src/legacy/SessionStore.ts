/**
 * The sessions of an endpoint by id, limited in number, in all and for each principal, and ended when they were idle for
 * long. What ends with a session is up to `HttpSession`.
 *
 * A map in the order of last use, kept by hand: Effect's `Cache` expires by age alone, and knows neither busy sessions nor
 * a limit per principal. `owned` holds exactly the sessions of `sessions` that have an owner.
 */
import type { Expirable, Sweeper } from "../http/Sweeper.js"
import { RESOLUTION } from "../http/Sweeper.js"

export interface StoredSession {
  readonly id: string
  /** The id of its principal; sessions without one are limited by `max` only. */
  readonly owner: string | undefined
  /** When it was used last, in milliseconds. The store sets it. */
  lastUsed: number
  /** Whether it has a stream or a running request: then it is in use, whatever the time. */
  readonly isBusy: boolean
  /** Ends it, after the store has removed it. */
  readonly end: () => void
}

export interface Limits {
  readonly max: number
  readonly maxPerPrincipal: number
  /** Milliseconds. */
  readonly idleTimeout: number
}

export class SessionStore<S extends StoredSession> implements Expirable {
  private readonly sessions = new Map<string, S>()
  private readonly owned = new Map<string, Set<S>>()
  private newest: S | undefined
  /** Until this time all sessions are taken to be busy, without looking at each again. */
  private busyUntil = -Infinity

  constructor(private readonly sweeper: Sweeper, private readonly limits: Limits) {}

  get size(): number {
    return this.sessions.size
  }

  find(id: string): S | undefined {
    return this.sessions.get(id)
  }

  /**
   * Adds a session; at a limit it replaces the one that was idle longest, of the same principal if there is any. When none
   * is idle, the session is not added, and the limit is returned that it would exceed.
   */
  add(session: S): number | undefined {
    const { idleTimeout, max, maxPerPrincipal } = this.limits
    const own = session.owner === undefined ? undefined : this.owned.get(session.owner)
    const isOverOwnLimit = own !== undefined && own.size >= maxPerPrincipal
    if (isOverOwnLimit || this.sessions.size >= max) {
      const idle = idlest(own) ?? (isOverOwnLimit ? undefined : this.firstIdle())
      if (idle === undefined) return isOverOwnLimit ? maxPerPrincipal : max
      this.evict(idle)
    }
    session.lastUsed = this.sweeper.now()
    this.sessions.set(session.id, this.newest = session)
    if (session.owner !== undefined) {
      const own = this.owned.get(session.owner)
      if (own === undefined) this.owned.set(session.owner, new Set([session]))
      else own.add(session)
    }
    if (idleTimeout !== Infinity) this.sweeper.watch(this, session.lastUsed + idleTimeout)
    return undefined
  }

  /** Marks a session as used now. */
  touch(session: S): void {
    if (this.sessions.get(session.id) === session) this.renew(session, this.sweeper.now())
  }

  /** Removes a session; `false` when it is not in the store. */
  remove(session: S): boolean {
    if (this.sessions.get(session.id) !== session) return false
    if (this.newest === session) this.newest = undefined
    if (session.owner !== undefined) {
      const own = this.owned.get(session.owner)!
      own.delete(session)
      if (own.size === 0) this.owned.delete(session.owner)
    }
    return this.sessions.delete(session.id)
  }

  /** Removes and ends all sessions. */
  clear(): void {
    for (const session of [...this.sessions.values()]) this.evict(session)
  }

  readonly sweep = (now: number): number => {
    const { idleTimeout } = this.limits
    // Busy sessions move to the end of the map; `left` keeps the loop from meeting them again.
    let left = this.sessions.size
    for (const session of this.sessions.values()) {
      const due = session.lastUsed + idleTimeout
      if (due > now) return due
      if (left-- === 0) break
      if (session.isBusy) this.renew(session, now)
      else this.evict(session)
    }
    if (this.sessions.size > 0) return now + idleTimeout
    this.sweeper.unwatch(this)
    return Infinity
  }

  /** The session that was idle longest, of all principals. */
  private firstIdle(): S | undefined {
    const now = this.sweeper.now()
    if (now < this.busyUntil) return undefined
    for (const session of this.sessions.values()) if (!session.isBusy) return session
    this.busyUntil = now + RESOLUTION
    return undefined
  }

  private renew(session: S, now: number): void {
    session.lastUsed = now
    if (this.newest === session) return
    this.sessions.delete(session.id)
    this.sessions.set(session.id, this.newest = session)
  }

  private evict(session: S): void {
    if (this.remove(session)) session.end()
  }
}

/** The session that was idle longest, of those of one principal, which are in no order. */
const idlest = <S extends StoredSession>(sessions: Iterable<S> = []): S | undefined => {
  let idlest: S | undefined
  for (const session of sessions) {
    if (!session.isBusy && (idlest === undefined || session.lastUsed < idlest.lastUsed)) idlest = session
  }
  return idlest
}
