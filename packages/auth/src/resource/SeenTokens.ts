/**
 * Stores answers of the authorization server for `IntrospectionVerifier`. The list of active tokens lets requests with these tokens start
 * before requests with unknown tokens, which may be invented. The list of inactive tokens is kept for a short time, so that the same
 * invented token does not cause a request each time.
 *
 * Both lists have a limit of tokens and of characters, and the oldest tokens are removed. A token is in at most one list. A token is never
 * accepted only because it is in the list of active tokens: the verifier asks the authorization server again.
 */

export interface SeenTokens {
  /** Whether the token was active in the last answer of the authorization server. */
  readonly wasActive: (token: string) => boolean
  /** Whether the token was inactive a short time ago. */
  readonly isInactive: (token: string, millis: number) => boolean
  readonly set: (token: string, isActive: boolean, millis: number) => void
}

/**
 * How long an inactive token is refused without a request, in milliseconds. The time is short because a node of an authorization server may
 * get to know a new token with a delay.
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

/**
 * Makes a limited list of tokens. The list has the time at which each token was added, with the oldest token first. `held` counts the
 * characters of all tokens.
 */
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
