/**
 * The names of the keys of sessions, for `RedisEventStore` and `RedisSessionDirectory`. The part in braces decides on which node a cluster
 * stores a key. All keys of one session have the same part, so that one script can check the epoch and store an event.
 */

/** Returns the hash of a session in the directory. Only a node with the epoch in the field `epoch` may store events. */
export const session = (prefix: string, id: string): string => `${prefix}{session:${id}}`

/** Returns the index of the streams of a session. */
export const streams = (prefix: string, id: string): string => `${session(prefix, id)}:streams`

/** Returns the events of a stream. */
export const events = (prefix: string, id: string, stream: string): string => `${session(prefix, id)}:events:${stream}`

/** Returns the facts about a stream: the requests that it answers, whether it has finished, which events were dropped or not stored. */
export const about = (prefix: string, id: string, stream: string): string => `${session(prefix, id)}:about:${stream}`
