/**
 * Makes the ids of sessions, for `legacy/Http` and `legacy/Sse`. The specification demands that nobody can guess an id, because a client
 * needs only the id to use a session. (`legacy/Http` and `legacy/Sse` also check the user of a session.) `dispatch/HttpTransports` calls
 * `isSession`, and `EndpointContext` calls `isPrefix`.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 */

/** Makes an id from 122 random bits, as 32 digits and letters. These characters need no escape in a URL. */
// Uses one `replaceAll`, because V8 stores a concatenated string as a tree of its parts, which takes ten times as much memory.
export const make = (): string => globalThis.crypto.randomUUID().replaceAll("-", "")

/**
 * Whether a text may be the prefix of session ids (option `sessionIdPrefix`). Session ids are in headers and URLs.
 */
export const isPrefix = (text: string): boolean => /^[\w.~-]{0,64}$/.test(text)

/** Whether a text has the form of the id of a session. */
export const isSession = (id: string): boolean => /^[\w.~-]{0,64}[0-9a-f]{32}$/.test(id)
