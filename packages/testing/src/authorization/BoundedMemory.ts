/**
 * Adds entries to the maps, sets and lists of the test authorization server. Each collection keeps only its newest 10,000 entries, so that
 * requests cannot fill the memory. A token that was dropped counts as unknown, like a revoked token. `Clients`, `Endpoints`, `Grants` and
 * `TokenEndpoint` use this module.
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
