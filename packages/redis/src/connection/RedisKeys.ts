/**
 * The names of the keys of sessions, for `RedisEventStore` and `RedisSessionDirectory`. The part in braces decides where a cluster stores
 * a key: everything of one session is at one place, so that one script can look at the epoch and store an event.
 */

/** The hash of a session in the directory. Its field `epoch` is the epoch that may store events. */
export const session = (prefix: string, id: string): string => `${prefix}{session:${id}}`

/** The names of the streams of a session that have events. */
export const streams = (prefix: string, id: string): string => `${session(prefix, id)}:streams`

export const events = (prefix: string, id: string, stream: string): string => `${session(prefix, id)}:events:${stream}`

/** What is known of a stream: the requests that it answers, whether it has finished, what was dropped. */
export const about = (prefix: string, id: string, stream: string): string => `${session(prefix, id)}:about:${stream}`
