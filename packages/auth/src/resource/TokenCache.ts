/**
 * Remembers tokens that were verified, for as long as their verifier says, and verifies a token once for all requests that
 * bring it at the same time. What depends on the time or the request is checked by the caller, for each request.
 *
 * `held` is the number of characters of the tokens in `entries`, the oldest of which leave when there is too much.
 */
import * as SingleFlight from "@effect-mcp/jsonrpc/unstable/kit/SingleFlight"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

export interface Entry<A> {
  readonly value: A
  readonly isCurrent: (millis: number) => boolean
}

export interface TokenCache<A, E> {
  readonly get: (token: string, millis: number) => A | undefined
  /** Verifies the token; remembers it when it has `isCurrent`. */
  readonly verify: (token: string, run: Effect.Effect<Entry<A>, E>) => Effect.Effect<A, E>
  readonly remove: (token: string) => void
}

/** How many characters the tokens may have together. */
const MAX_CHARACTERS = 16 * 1024 * 1024

export const make = <A, E>(max: number, scope: Scope.Scope): TokenCache<A, E> => {
  const entries = new Map<string, Entry<A>>()
  const flights = new Map<string, SingleFlight.SingleFlight<A, E>>()
  let held = 0

  const remove = (token: string): void => {
    if (entries.delete(token)) held -= token.length
  }
  const add = (token: string, entry: Entry<A>): void => {
    remove(token)
    entries.set(token, entry)
    held += token.length
    while (entries.size > max || held > MAX_CHARACTERS) remove(entries.keys().next().value!)
  }

  return {
    get: (token, millis) => {
      const entry = entries.get(token)
      if (entry === undefined || entry.isCurrent(millis)) return entry?.value
      remove(token)
      return undefined
    },
    verify: (token, run) =>
      Effect.suspend(() => {
        const flight = flights.get(token) ?? SingleFlight.make(scope)
        flights.set(token, flight)
        const verified = flight.join(Effect.map(run, (entry) => {
          add(token, entry)
          return entry.value
        }))
        return Effect.ensuring(verified, Effect.sync(() => flight.isRunning() || flights.delete(token)))
      }),
    remove
  }
}
