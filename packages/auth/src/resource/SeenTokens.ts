/**
 * What `IntrospectionVerifier` remembers of tokens that the authorization server has answered about: which were active, so that they need not
 * wait behind tokens that somebody has invented, and which were not, so that the same invented token does not cause a request each time.
 *
 * Each list holds so many tokens and characters; the oldest leave. A token is in one list at most. Whether a token may be used is never taken
 * from here: an active token is asked about again.
 */

export interface SeenTokens {
  /** Whether the token was active when it was last asked about. */
  readonly wasActive: (token: string) => boolean
  /** Whether the token was inactive a short time ago. */
  readonly isInactive: (token: string, millis: number) => boolean
  readonly set: (token: string, isActive: boolean, millis: number) => void
}

/** How long an inactive token is refused without a request: an authorization server of several nodes may not know a new token at once. */
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

/** When each token was set, the oldest first. `held` counts characters. */
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
