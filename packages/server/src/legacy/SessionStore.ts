/**
 * The sessions that there are, by id: bounded in number, of all and of each principal, and gone when nobody has used them
 * for long. They are kept in the order in which they were last used, so that both questions are about the first ones.
 *
 * It knows of a session no more than that; what ends with it is the business of `HttpSession`.
 *
 * @since 0.1.0
 */
import type { Expirable, Sweeper } from "../http/Sweeper.js"
import { RESOLUTION } from "../http/Sweeper.js"

/**
 * @since 0.1.0
 * @category models
 */
export interface StoredSession {
  readonly id: string
  /** The principal that it belongs to; none has as many as there may be. */
  readonly owner: string | undefined
  /** When it was used last, in milliseconds. Set by the store. */
  lastUsed: number
  /** Whether something is going on in it: then it is in use, whatever the time. */
  readonly isBusy: boolean
  /** Ends it; it has been removed before. */
  readonly end: () => void
}

/**
 * @since 0.1.0
 * @category models
 */
export class SessionStore<S extends StoredSession> implements Expirable {
  private readonly sessions = new Map<string, S>()
  private readonly owned = new Map<string, Set<S>>()
  private newest: S | undefined
  /** Until when it need not be asked again whether all are busy. */
  private full = -Infinity

  constructor(
    private readonly sweeper: Sweeper,
    private readonly limits: {
      readonly max: number
      readonly maxPerPrincipal: number
      /** Milliseconds. */
      readonly idleTimeout: number
    }
  ) {}

  get size(): number {
    return this.sessions.size
  }

  find(id: string): S | undefined {
    return this.sessions.get(id)
  }

  /**
   * Takes a session in, in the place of an idle one if there are too many: one of its own principal's, if there is any.
   * When none is idle it is not taken in, and the bound is given that it would exceed.
   */
  add(session: S): number | undefined {
    const { idleTimeout, max, maxPerPrincipal } = this.limits
    const own = session.owner === undefined ? undefined : this.owned.get(session.owner)
    const isCrowded = own !== undefined && own.size >= maxPerPrincipal
    if (isCrowded || this.sessions.size >= max) {
      const idle = idlest(own) ?? (isCrowded ? undefined : this.firstIdle())
      if (idle === undefined) return isCrowded ? maxPerPrincipal : max
      this.drop(idle)
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

  /** Says that a session is in use, and is among the last to go. */
  touch(session: S): void {
    if (this.sessions.get(session.id) === session) this.renew(session, this.sweeper.now())
  }

  /** Takes a session out; `false` when it is not in. */
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

  /** Takes all out and ends them. */
  clear(): void {
    for (const session of [...this.sessions.values()]) this.drop(session)
  }

  readonly sweep = (now: number): number => {
    const { idleTimeout } = this.limits
    // Those that are busy go to the end, and are not asked again.
    let left = this.sessions.size
    for (const session of this.sessions.values()) {
      const due = session.lastUsed + idleTimeout
      if (due > now) return due
      if (left-- === 0) break
      if (session.isBusy) this.renew(session, now)
      else this.drop(session)
    }
    if (this.sessions.size > 0) return now + idleTimeout
    this.sweeper.letGo(this)
    return Infinity
  }

  /** The one that was idle longest, of all. */
  private firstIdle(): S | undefined {
    const now = this.sweeper.now()
    if (now < this.full) return undefined
    for (const session of this.sessions.values()) if (!session.isBusy) return session
    this.full = now + RESOLUTION
    return undefined
  }

  private renew(session: S, now: number): void {
    session.lastUsed = now
    if (this.newest === session) return
    this.sessions.delete(session.id)
    this.sessions.set(session.id, this.newest = session)
  }

  private drop(session: S): void {
    if (this.remove(session)) session.end()
  }
}

/** The one that was idle longest, of those of one principal, which are in no order. */
const idlest = <S extends StoredSession>(sessions: Iterable<S> = []): S | undefined => {
  let idlest: S | undefined
  for (const session of sessions) {
    if (!session.isBusy && (idlest === undefined || session.lastUsed < idlest.lastUsed)) idlest = session
  }
  return idlest
}
