/**
 * Ids of sessions, which cannot be guessed, for `legacy/Http` and `legacy/Sse`. The specification demands such ids, because a client
 * reaches a session by its id alone; `legacy/SessionStore` also checks to whom a session belongs. `dispatch/HttpTransports` asks whether a
 * text can be an id, `EndpointContext` whether a prefix can begin an id.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 */

/** 122 random bits as 32 letters and digits: visible ASCII that needs no escape in a URL. */
// One `replaceAll`: V8 keeps a concatenated string as a tree of its parts, ten times as large.
export const make = (): string => globalThis.crypto.randomUUID().replaceAll("-", "")

/** What stands before the ids of sessions: the mark of a node. It stands in a header and in a URL. */
export const isPrefix = (text: string): boolean => /^[\w.~-]{0,64}$/.test(text)

/** Whether a node can have made this id of a session. */
export const isSession = (id: string): boolean => /^[\w.~-]{0,64}[0-9a-f]{32}$/.test(id)
