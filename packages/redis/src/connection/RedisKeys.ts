/**
 * Makes the names of the keys of sessions, for `RedisEventStore` and `RedisSessionDirectory`. The part of a key in braces (the hash tag)
 * decides on which server of a Redis cluster the key is stored. All keys of one session have the same hash tag, so that one script can
 * check the epoch of the session and store an event. (The epoch is a number that increases each time a node claims the session.)
 */

/**
 * Returns the key of the hash of a session in the directory. Redis refuses events of an epoch that is lower than the field `epoch` of this
 * hash.
 */
export const session = (prefix: string, id: string): string => `${prefix}{session:${id}}`

/** Returns the key of the index of a session's streams. */
export const streams = (prefix: string, id: string): string => `${session(prefix, id)}:streams`

/** Returns the key of the events of a stream. */
export const events = (prefix: string, id: string, stream: string): string => `${session(prefix, id)}:events:${stream}`

/**
 * Returns the key of the facts about a stream: the requests that the stream answers, whether it has finished, which events were dropped or
 * not stored.
 */
export const about = (prefix: string, id: string, stream: string): string => `${session(prefix, id)}:about:${stream}`
