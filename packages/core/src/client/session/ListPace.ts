/**
 * Limits how often a client reads the lists of a server, although the server may report changes very often. The search for tools
 * (`ServerTools`), groups (`group/ServerLists`), proxies and tool lists of models all use these limits. `rest` and `backoff` return the
 * waits; no message of the server can shorten them. Only calls of this client shorten a wait (`OwnCalls`), because a change that such a
 * call has caused should be read soon.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as EffectInternals from "../../kit/EffectInternals.js"

/** The least time between the end of one listing and the beginning of the next, in milliseconds. */
const INTERVAL = 1000

/** The least time after a call of this client, if the list is short, in milliseconds. */
const OWN_INTERVAL = 50

/** How many pages a short list has at most. */
const SHORT = 2

/** How many milliseconds of wait each page of the last listing adds. */
const PER_PAGE = 125

/**
 * Returns how many milliseconds the client waits after a listing of `pages` pages. `isOwn`: a call of this client may have changed the list
 * after the listing.
 */
export const rest = (pages: number, isOwn: boolean): number =>
  isOwn && pages <= SHORT ? OWN_INTERVAL : Math.max(INTERVAL, pages * PER_PAGE)

/** Returns how many milliseconds the client waits after `failures` listings in a row that failed. */
export const backoff = (failures: number): number => Math.min(60_000, INTERVAL * 2 ** (failures - 1))

/** Counts the beginnings and ends of calls of this client. */
export class OwnCalls {
  private count = 0
  private waiting: Deferred.Deferred<void> | undefined

  get now(): number {
    return this.count
  }

  /** Counts that a call has begun or ended. */
  readonly mark = (): void => {
    this.count++
    const { waiting } = this
    this.waiting = undefined
    if (waiting !== undefined) EffectInternals.done(waiting, Effect.void)
  }

  readonly around = <A, E, R>(call: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.acquireUseRelease(Effect.sync(this.mark), () => call, () => Effect.sync(this.mark))

  /** Waits until a call begins or ends after `now` was `seen`. */
  readonly since = (seen: number): Effect.Effect<void> =>
    Effect.suspend(() =>
      this.count !== seen ? Effect.void : Deferred.await(this.waiting ??= EffectInternals.deferred<void>())
    )
}
