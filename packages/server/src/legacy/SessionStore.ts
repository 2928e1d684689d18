/**
 * The sessions that there are, by id: bounded in number, gone when nobody has used them for long. They are kept in the order
 * in which they were last used, so that both questions are about the first one.
 *
 * It knows of a session no more than that; what ends with it is the business of `HttpSession`.
 *
 * @since 0.1.0
 */
import type { Sweeper, Swept } from "../http/Sweeper.js"

/**
 * @since 0.1.0
 * @category models
 */
export interface Kept {
  readonly id: string
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
export class SessionStore<S extends Kept> implements Swept {
  private readonly sessions = new Map<string, S>()
  private newest: S | undefined

  constructor(
    private readonly sweeper: Sweeper,
    private readonly max: number,
    /** Milliseconds. */
    private readonly idleTimeout: number
  ) {}

  get size(): number {
    return this.sessions.size
  }

  find(id: string): S | undefined {
    return this.sessions.get(id)
  }

  /** Takes a session in, in the place of one that is idle if there are too many; `false` when none is. */
  add(session: S): boolean {
    if (this.sessions.size >= this.max && !this.makeRoom()) return false
    session.lastUsed = this.sweeper.now()
    this.sessions.set(session.id, this.newest = session)
    if (this.idleTimeout !== Infinity) this.sweeper.watch(this, session.lastUsed + this.idleTimeout)
    return true
  }

  /** Says that a session is in use, and is among the last to go. */
  touch(session: S): void {
    if (this.sessions.get(session.id) === session) this.renew(session, this.sweeper.now())
  }

  /** Takes a session out; `false` when it is not in. */
  remove(session: S): boolean {
    if (this.sessions.get(session.id) !== session) return false
    if (this.newest === session) this.newest = undefined
    return this.sessions.delete(session.id)
  }

  /** Takes all out and ends them. */
  clear(): void {
    for (const session of [...this.sessions.values()]) this.drop(session)
  }

  readonly sweep = (now: number): number => {
    for (const session of this.sessions.values()) {
      const due = session.lastUsed + this.idleTimeout
      if (due > now) return due
      if (session.isBusy) this.renew(session, now)
      else this.drop(session)
    }
    if (this.sessions.size > 0) return now + this.idleTimeout
    this.sweeper.letGo(this)
    return Infinity
  }

  private makeRoom(): boolean {
    const now = this.sweeper.now()
    // As many as there are now: those that are busy go to the end, and are not asked again for a while.
    for (let left = this.sessions.size; left > 0; left--) {
      const [session] = this.sessions.values()
      if (session === undefined) return true
      if (!session.isBusy) {
        this.drop(session)
        return true
      }
      this.renew(session, now)
    }
    return false
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
