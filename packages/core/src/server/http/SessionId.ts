/**
 * Makes the ids of sessions, for `legacy/Http` and `legacy/Sse`, which also check to whom a session belongs. Nobody can guess an id. The
 * specification demands this, because a client reaches a session by its id alone. `dispatch/HttpTransports` asks whether a text can be an
 * id, and `EndpointContext` asks whether a prefix is allowed.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 */

/** An id: 122 random bits, written as 32 digits and letters. These are visible ASCII characters that need no escape in a URL. */
// One `replaceAll`: V8 keeps a concatenated string as a tree of its parts, ten times as large.
export const make = (): string => globalThis.crypto.randomUUID().replaceAll("-", "")

/**
 * Whether a text may be the prefix of session ids, which marks the node that opened the session. The prefix is sent in a header and in a
 * URL.
 */
export const isPrefix = (text: string): boolean => /^[\w.~-]{0,64}$/.test(text)

/** Whether a text has the form of the id of a session. */
export const isSession = (id: string): boolean => /^[\w.~-]{0,64}[0-9a-f]{32}$/.test(id)
