/**
 * The two eras of the protocol: *legacy*, which opens with a handshake and keeps a session, and *modern*, in which every
 * request speaks for itself. The words are the specification's own. Which era a message belongs to is asked once, at the
 * door.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning
 * @since 0.1.0
 */
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
export const VERSION_KEY = "io.modelcontextprotocol/protocolVersion"

/**
 * The era of a revision; `undefined` for one we do not know.
 *
 * @since 0.1.0
 * @category getters
 */
export const ofVersion = (version: string): Era | undefined =>
  Version.isLegacy(version) ? "legacy" : Version.isModern(version) ? "modern" : undefined
