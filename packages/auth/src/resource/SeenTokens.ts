/**
 * What `IntrospectionVerifier` remembers of the answers of the authorization server. It remembers active tokens, so that requests with them
 * need not wait behind invented tokens. It remembers inactive tokens for a short time, so that the same invented token does not cause a
 * request each time.
 *
 * Both lists are limited in tokens and characters; the oldest tokens are forgotten. A token is in one list at most. A token is never
 * accepted because it is in the list of active tokens: the authorization server is asked again.
 */

export interface SeenTokens {
  /** Whether the token was active when it was last asked about. */
  readonly wasActive: (token: string) => boolean
  /** Whether the token was inactive a short time ago. */
  readonly isInactive: (token: string, millis: number) => boolean
  readonly set: (token: string, isActive: boolean, millis: number) => void
}

/**
 * In milliseconds: how long an inactive token is refused without a request. The time is short, because one node of an authorization server
 * may not know a new token at once.
 */
export const INACTIVE_FOR = 5000

const MAX_ACTIVE = { tokens: 10_000, characters: 16 * 1024 * 1024 }
const MAX_INACTIVE = { tokens: 1000, characters: 1024 * 1024 }

export const make = (): SeenTokens => {
  const active = bounded(MAX_ACTIVE)
  const inactive = bounded(MAX_INACTIVE)
  return {
    wasActive: (token) => active.get(token) !== undefined,
    isInactive: (token, millis) => millis - (inactive.get(token) ?? -Infinity) < INACTIVE_FOR,
    set: (token, isActive, millis) => {
      const [to, from] = isActive ? [active, inactive] : [inactive, active]
      from.delete(token)
      to.set(token, millis)
    }
  }
}

/** The time at which each token was set, with the oldest token first. `held` counts the characters of all tokens. */
const bounded = (max: typeof MAX_ACTIVE) => {
  const times = new Map<string, number>()
  let held = 0
  const remove = (token: string): void => {
    if (times.delete(token)) held -= token.length
  }
  return {
    get: (token: string): number | undefined => times.get(token),
    delete: remove,
    set: (token: string, millis: number): void => {
      remove(token)
      times.set(token, millis)
      held += token.length
      while (times.size > max.tokens || held > max.characters) remove(times.keys().next().value!)
    }
  }
}
