/**
 * The changes that a client wants to learn of through its subscription (`Listen`). They are changes of lists, changes of resources, and
 * changes that extensions define. Several parts of a program may want the same change, so the module counts how many parts want it.
 * `Reopening` uses what the server has acknowledged. The functions here are pure.
 *
 * - `add`, `remove`: what is wanted now, and must the server be told?
 * - `wireOf`: what does the request name?
 * - `missing`: which wanted members has the server not acknowledged?
 */
import type { SubscriptionFilter } from "../../protocol/modern/Subscriptions.js"
import * as UriKey from "../../protocol/rules/UriKey.js"

const RESOURCES = "resourceSubscriptions" satisfies keyof SubscriptionFilter

export interface Filter {
  /** The lists whose changes are wanted until the session ends. */
  readonly lists: SubscriptionFilter
  readonly members: ReadonlyMap<string, Member>
}

/** A member of the filter, for resources or of an extension. `counts` says how many parts of the program want each key, or the flag. */
interface Member {
  readonly hasKeys: boolean
  readonly counts: ReadonlyMap<string, number>
}

export type Change = readonly [filter: Filter, hasChanged: boolean]

export const make = (lists: SubscriptionFilter): Filter => ({ lists, members: new Map() })

/** Whether a key of a member is wanted. */
export const has = (filter: Filter, name: string, key: string): boolean => countsOf(filter, name).has(key)

/** Adds one wish for a member: for each of these keys, or for its flag. */
export const add = (filter: Filter, name: string, keys: ReadonlyArray<string> | undefined): Change => {
  const before = countsOf(filter, name)
  const counts = new Map(before)
  for (const key of keys ?? FLAG) counts.set(key, (counts.get(key) ?? 0) + 1)
  return [withMember(filter, name, { hasKeys: keys !== undefined, counts }), counts.size > before.size]
}

/** Removes one wish for a member: for each of these keys, or for its flag. */
export const remove = (filter: Filter, name: string, keys: ReadonlyArray<string> | undefined): Change => {
  const member = filter.members.get(name)
  if (member === undefined) return [filter, false]
  const counts = new Map(member.counts)
  for (const key of keys ?? FLAG) {
    const count = counts.get(key) ?? 0
    if (count > 1) counts.set(key, count - 1)
    else counts.delete(key)
  }
  return [withMember(filter, name, { ...member, counts }), counts.size < member.counts.size]
}

/** The only key of a member that is a flag. */
const FLAG = [""]

const none: ReadonlyMap<string, number> = new Map()

const countsOf = ({ members }: Filter, name: string): ReadonlyMap<string, number> => members.get(name)?.counts ?? none

const withMember = ({ lists, members }: Filter, name: string, member: Member): Filter => {
  const others = new Map(members)
  if (member.counts.size === 0) others.delete(name)
  else others.set(name, member)
  return { lists, members: others }
}

/** Returns the lists and the other members as one object, in the form of a request. */
export const wireOf = ({ lists, members }: Filter): SubscriptionFilter => ({
  ...lists,
  ...Object.fromEntries([...members].map(([name, { counts, hasKeys }]) => [name, hasKeys ? [...counts.keys()] : true]))
})

export const isEmpty = (filter: SubscriptionFilter): boolean => Object.keys(filter).length === 0

/** Whether the server has acknowledged these keys of a member, or its flag. */
export const isAcknowledged = (
  acknowledged: SubscriptionFilter,
  name: string,
  keys: ReadonlyArray<string> | undefined
): boolean => {
  const given = memberOf(acknowledged, name)
  if (keys === undefined || !Array.isArray(given)) return keys === undefined && given === true
  // A server may acknowledge a resource with a URI that is equal and written differently.
  const keyOf = (key: unknown) => name === RESOURCES && typeof key === "string" ? UriKey.of(key) : key
  const all = new Set(given.map(keyOf))
  return keys.every((key) => all.has(keyOf(key)))
}

/** Returns those of the names whose member a request wants and the server has not acknowledged. */
export const missing = (
  acknowledged: SubscriptionFilter,
  wanted: SubscriptionFilter,
  names: ReadonlyArray<string>
): ReadonlyArray<string> =>
  names.filter((name) => {
    const member = memberOf(wanted, name)
    return !isAcknowledged(acknowledged, name, Array.isArray(member) ? member : undefined)
  })

const memberOf = (filter: SubscriptionFilter, name: string): unknown =>
  (filter as Readonly<Record<string, unknown>>)[name]
