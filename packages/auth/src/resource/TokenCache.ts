/**
 * Caches verified tokens for `ResourceServer`, until `isCurrent` of the verifier returns `false`. Requests that have the same token at the
 * same time share one verification. `ResourceServer` still checks for each request everything that depends on the time or on the request.
 *
 * `held` is the number of characters of all cached tokens. When there are more than `max` tokens or `MAX_CHARACTERS` characters, the oldest
 * tokens are removed. `waiting` is the number of requests that wait for a verification.
 */
import * as SingleFlight from "@effect-mcp/core/unstable/kit/SingleFlight"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

export interface Entry<A> {
  readonly value: A
  readonly isCurrent: (millis: number) => boolean
}

export interface TokenCache<A, E> {
  readonly get: (token: string, millis: number) => Entry<A> | undefined
  /** Verifies the token with `run`, and caches the result. Fails with `busy` when too many requests wait for verifications. */
  readonly verify: (token: string, run: Effect.Effect<Entry<A>, E>) => Effect.Effect<Entry<A>, E>
  readonly remove: (token: string) => void
}

/** How many characters all cached tokens together may have. */
const MAX_CHARACTERS = 16 * 1024 * 1024

export const make = <A, E>(
  max: number,
  scope: Scope.Scope,
  maxWaiting: number,
  busy: E
): TokenCache<A, E> => {
  const entries = new Map<string, Entry<A>>()
  const flights = new Map<string, SingleFlight.SingleFlight<Entry<A>, E>>()
  let held = 0
  let waiting = 0

  const remove = (token: string): void => {
    if (entries.delete(token)) held -= token.length
  }
  const add = (token: string, entry: Entry<A>): void => {
    remove(token)
    entries.set(token, entry)
    held += token.length
    while (entries.size > max || held > MAX_CHARACTERS) remove(entries.keys().next().value!)
  }

  const verifying = (token: string, run: Effect.Effect<Entry<A>, E>) =>
    Effect.acquireUseRelease(
      Effect.sync(() => {
        waiting++
        const flight = flights.get(token) ?? SingleFlight.make(scope)
        flights.set(token, flight)
        return flight
      }),
      (flight) => flight.join(Effect.tap(run, (entry) => Effect.sync(() => add(token, entry)))),
      (flight) =>
        Effect.sync(() => {
          waiting--
          if (!flight.isRunning()) flights.delete(token)
        })
    )

  return {
    get: (token, millis) => {
      const entry = entries.get(token)
      if (entry === undefined || entry.isCurrent(millis)) return entry
      remove(token)
      return undefined
    },
    verify: (token, run) => Effect.suspend(() => waiting >= maxWaiting ? Effect.fail(busy) : verifying(token, run)),
    remove
  }
}
