/**
 * How often a client lists what a server has, however often the server reports changes: the one rule for the search of tools (`ServerTools`),
 * for a group (`group/ServerLists`), for a proxy and for tool lists of models. `rest` and `backoff` are a table; no message of the server
 * shortens what they give. `OwnCalls` shortens the wait: what a call of this client may have changed is read soon after.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as EffectInternals from "../../kit/EffectInternals.js"

/** The least time between the end of a listing and the begin of the next, in milliseconds. */
const INTERVAL = 1000

/** The same time after a call of this client, where the list is short. */
const OWN_INTERVAL = 50

/** How many pages a short list has at most. */
const SHORT = 2

/** How many milliseconds each page of the last listing costs. */
const PER_PAGE = 125

/** How long the client rests after a listing, in milliseconds. `isOwn`: a call of this client may have changed the list since. */
export const rest = (pages: number, isOwn: boolean): number =>
  isOwn && pages <= SHORT ? OWN_INTERVAL : Math.max(INTERVAL, pages * PER_PAGE)

/** How long the client rests after this many listings in a row that failed, in milliseconds. */
export const backoff = (failures: number): number => Math.min(60_000, INTERVAL * 2 ** (failures - 1))

/** Counts when calls of this client begin and end. */
export class OwnCalls {
  private count = 0
  private waiting: Deferred.Deferred<void> | undefined

  get now(): number {
    return this.count
  }

  /** A call has begun or ended. */
  readonly mark = (): void => {
    this.count++
    const { waiting } = this
    this.waiting = undefined
    if (waiting !== undefined) EffectInternals.done(waiting, Effect.void)
  }

  readonly around = <A, E, R>(call: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.acquireUseRelease(Effect.sync(this.mark), () => call, () => Effect.sync(this.mark))

  /** Waits until a call has begun or ended after `now` was `seen`. */
  readonly since = (seen: number): Effect.Effect<void> =>
    Effect.suspend(() =>
      this.count !== seen ? Effect.void : Deferred.await(this.waiting ??= EffectInternals.deferred<void>())
    )
}
