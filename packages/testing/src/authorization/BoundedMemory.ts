/**
 * Adds entries to the maps, sets and lists of the test authorization server, and keeps only the newest 10,000 entries, because requests
 * fill these collections. `Clients`, `Endpoints`, `Grants` and `TokenEndpoint` use this module. After a token was dropped, it counts as
 * unknown, like a revoked token.
 */

const MAX = 10_000

const dropOldest = (all: Map<string, unknown> | Set<string>): void => {
  if (all.size > MAX) all.delete(all.keys().next().value!)
}

export const set = <A>(all: Map<string, A>, key: string, value: A): void => {
  all.set(key, value)
  dropOldest(all)
}

export const add = (all: Set<string>, value: string): void => {
  all.add(value)
  dropOldest(all)
}

export const push = <A>(all: Array<A>, value: A): void => {
  all.push(value)
  if (all.length > MAX) all.shift()
}
