/**
 * Checks which keys of `_meta` are valid, and which keys the specification reserves. A key is a name after an optional prefix of labels,
 * such as `com.example/trace`. `client/session/MethodCalls`, `ResultMeta` and `server/features/NamingRules` check keys with this module.
 * Identifiers of extensions follow the same rules, and `Extension` and `client/ClientFeatures` check identifiers with this module. `Meta`
 * has the keys that the specification defines.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#_meta
 */
import { keys } from "../Meta.js"
import type { Version } from "../Version.js"

const label = /^[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?$/
const name = /^(?:[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)?$/
const MAX_LENGTH = 512

/** A parsed key: `com.example/trace` has the labels `com` and `example`, and the name `trace`. */
export interface MetaKey {
  readonly labels: ReadonlyArray<string>
  readonly name: string
}

/** Returns the labels and the name of a key; `undefined` when the key is not valid. */
export const parse = (key: string): MetaKey | undefined => {
  if (key.length > MAX_LENGTH) return undefined
  const slash = key.indexOf("/")
  const labels = slash === -1 ? [] : key.slice(0, slash).split(".")
  const rest = key.slice(slash + 1)
  return labels.every((one) => label.test(one)) && name.test(rest) ? { labels, name: rest } : undefined
}

export const isValid = (key: string): boolean => parse(key) !== undefined

const own: ReadonlySet<string> = new Set(["modelcontextprotocol", "mcp"])

const unprefixed: ReadonlySet<string> = new Set([keys.progressToken, keys.traceparent, keys.tracestate, keys.baggage])

/**
 * Whether the specification reserves a key. With revision 2025-11-25 and later, the specification reserves a prefix whose second label is
 * `modelcontextprotocol` or `mcp`. With earlier revisions, the specification reserves a prefix that has one of these labels before its last
 * label.
 */
export const isReserved = (key: string, version: Version = "2026-07-28"): boolean => {
  const parsed = parse(key)
  if (parsed === undefined) return false
  const { labels } = parsed
  if (labels.length === 0) return unprefixed.has(key)
  return version >= "2025-11-25"
    ? own.has(labels[1]!)
    : labels.slice(0, -1).some((one) => own.has(one))
}

/**
 * Returns the reason why an application should not use a key of its own: the key is not valid, or the specification reserves its prefix.
 * Returns `undefined` when the application may use the key.
 */
export const problem = (key: string): string | undefined => {
  const parsed = parse(key)
  return parsed === undefined
    ? "the key is not valid"
    : parsed.labels.length > 0 && isReserved(key)
    ? "the specification reserves the prefix of the key"
    : undefined
}

const defined: ReadonlySet<string> = new Set(Object.values(keys))

/** Whether the specification defines this key. */
export const isDefined = (key: string): boolean => defined.has(key)

/** How many keys `reason` names at most. */
const MAX_NAMED = 10

/**
 * Checks the keys that an application has put in `_meta`. Returns `undefined` when all keys are allowed. `reason` explains what is wrong,
 * and `valid` is `_meta` without the keys that are not valid. A reserved key stays in `valid`, because the key may belong to an extension
 * that this library does not know.
 */
export const flaw = (
  meta: { readonly [key: string]: unknown }
): { readonly reason: string; readonly valid: { readonly [key: string]: unknown } } | undefined => {
  const wrong = Object.keys(meta).flatMap((key) => {
    const why = defined.has(key) ? undefined : problem(key)
    return why === undefined ? [] : [{ key, why: isValid(key) ? why : `${why} and was left out` }]
  })
  if (wrong.length === 0) return undefined
  const more = wrong.length > MAX_NAMED ? `; ${wrong.length - MAX_NAMED} more` : ""
  return {
    reason: wrong.slice(0, MAX_NAMED).map(({ key, why }) => `_meta ${shown(key)}: ${why}`).join("; ") + more,
    valid: Object.fromEntries(Object.entries(meta).filter(([key]) => isValid(key)))
  }
}

const shown = (key: string): string => JSON.stringify(key.length > 128 ? `${key.slice(0, 128)}…` : key)

/**
 * Whether a key may identify an extension. Such a key needs a prefix and a name.
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#extensions
 */
export const isExtension = (key: string): boolean => {
  const parsed = parse(key)
  return parsed !== undefined && parsed.labels.length > 0 && parsed.name !== ""
}
