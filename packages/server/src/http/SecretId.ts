/**
 * Ids that cannot be guessed, for sessions that a client reaches by their id alone. Who may use a session is checked by
 * its owner, `legacy/SessionStore`.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 */

/** 122 random bits as 32 letters and digits: visible ASCII that needs no escape in a URL. */
// One `replaceAll`: V8 keeps a concatenated string as a tree of its parts, ten times as large.
export const make = (): string => globalThis.crypto.randomUUID().replaceAll("-", "")
