/**
 * The two eras of the protocol: *legacy*, which opens with a handshake and keeps a session, and *modern*, in which every
 * request speaks for itself. The words are the specification's own. Which era a message belongs to is asked once, at the
 * door; what follows from it is the business of the rooms of that era.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning
 * @since 0.1.0
 */
import { keys } from "./Meta.js"
import * as Version from "./Version.js"

/**
 * @since 0.1.0
 * @category models
 */
export type Era = "legacy" | "modern"

/**
 * The `_meta` key in which a modern request names its revision.
 *
 * @since 0.1.0
 * @category constants
 */
export const VERSION_KEY = keys.protocolVersion

/**
 * The era of a revision; `undefined` for one we do not know.
 *
 * @since 0.1.0
 * @category getters
 */
export const ofVersion = (version: string): Era | undefined =>
  Version.isLegacy(version) ? "legacy" : Version.isModern(version) ? "modern" : undefined

/**
 * What decides the era of a message.
 *
 * @since 0.1.0
 * @category models
 */
export interface Classified {
  readonly method: string
  readonly params?: { readonly [key: string]: unknown } | undefined
}

/**
 * The era of a request: modern when its `_meta` names a revision, whatever it names, and legacy otherwise. `initialize`
 * opens a legacy conversation whatever it carries.
 *
 * Over HTTP the header may name a revision that the body does not: a modern one makes the request modern, and incomplete.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#backward-compatibility
 * @since 0.1.0
 * @category classification
 */
export const ofMessage = ({ method, params }: Classified, header?: string): Era => {
  if (method === "initialize") return "legacy"
  const meta = params?._meta
  if (typeof meta === "object" && meta !== null && Object.hasOwn(meta, VERSION_KEY)) return "modern"
  return header !== undefined && Version.isAtLeast(header, Version.modern[0]) ? "modern" : "legacy"
}
