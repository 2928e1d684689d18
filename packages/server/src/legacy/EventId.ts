/**
 * Event ids: which stream an event belongs to and where on it, as text that only the session that gave it out takes back.
 *
 * The text holds nothing of the session's id that could be turned back into it.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery
 * @since 0.1.0
 */

/**
 * @since 0.1.0
 * @category models
 */
export interface EventPosition {
  readonly stream: string
  readonly position: number
}

/**
 * What marks the ids of a session: 32 bits of a digest, so that no id of another session fits by accident.
 *
 * @since 0.1.0
 * @category getters
 */
export const markOf = (session: string): string => {
  let hash = 0x811c9dc5
  for (let i = 0; i < session.length; i++) hash = Math.imul(hash ^ session.charCodeAt(i), 0x01000193)
  return (hash >>> 0).toString(36)
}

/**
 * @since 0.1.0
 * @category encoding
 */
export const encode = (session: string, stream: string, position: number): string =>
  `${markOf(session)}_${stream}_${position}`

/**
 * Reads an id that a client came back with; `undefined` when this session has not given it out.
 *
 * @since 0.1.0
 * @category decoding
 */
export const decode = (session: string, id: string): EventPosition | undefined => {
  const [, mark, stream, position] = /^([0-9a-z]{1,7})_([0-9a-z]{1,16})_(\d{1,15})$/.exec(id) ?? []
  return mark === undefined || mark !== markOf(session)
    ? undefined
    : { stream: stream!, position: Number(position) }
}
