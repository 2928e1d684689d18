/**
 * Which names a key of `_meta` may have, and which the specification keeps for itself. A key may have a prefix, labels
 * with dots between them and a slash behind; the same rule names extensions.
 *
 * Nothing of what a key holds is known here; the keys that have a meaning are in `Meta`.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#_meta
 * @since 0.1.0
 */
import { keys } from "../Meta.js"
import type { Version } from "../Version.js"

const label = /^[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?$/
const name = /^(?:[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)?$/
const MAX_LENGTH = 512

/**
 * A key in its parts: `com.example/trace` has two labels and a name.
 *
 * @since 0.1.0
 * @category models
 */
export interface MetaKey {
  readonly labels: ReadonlyArray<string>
  readonly name: string
}

/**
 * The parts of a key; `undefined` when it may not be one.
 *
 * @since 0.1.0
 * @category decoding
 */
export const parse = (key: string): MetaKey | undefined => {
  if (key.length > MAX_LENGTH) return undefined
  const slash = key.indexOf("/")
  const labels = slash === -1 ? [] : key.slice(0, slash).split(".")
  const rest = key.slice(slash + 1)
  return labels.every((one) => label.test(one)) && name.test(rest) ? { labels, name: rest } : undefined
}

/**
 * @since 0.1.0
 * @category predicates
 */
export const isValid = (key: string): boolean => parse(key) !== undefined

const own: ReadonlySet<string> = new Set(["modelcontextprotocol", "mcp"])

const unprefixed: ReadonlySet<string> = new Set([keys.progressToken, keys.traceparent, keys.tracestate, keys.baggage])

/**
 * Whether a key is the specification's to give a meaning. From 2025-11-25 on the second label says so; 2025-06-18 keeps
 * every prefix with its word before the last label.
 *
 * @since 0.1.0
 * @category predicates
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
 * Whether this may be the name of an extension: a key with a prefix, and a name behind it.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#extensions
 * @since 0.1.0
 * @category predicates
 */
export const isExtension = (key: string): boolean => {
  const parsed = parse(key)
  return parsed !== undefined && parsed.labels.length > 0 && parsed.name !== ""
}
