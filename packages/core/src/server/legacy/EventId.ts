/**
 * Encodes and decodes the ids of events of a session. `ResumableStream` writes the ids, and `Http` reads them. An id contains the name of a
 * stream of the session, and the position of the event on this stream. `decode` gets the id of an event and the id of a session. It accepts
 * the id of the event only if the event belongs to this session. The id of an event does not reveal the id of the session.
 *
 * The name of a stream ends with the authorization scopes that the call of the stream requires. So each node can read these scopes, even
 * when another node has stored the stream. A client cannot remove the scopes: without the scopes, the name is the name of a different
 * stream. `StreamStore` gives events their positions.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery
 */

export interface EventPosition {
  readonly stream: string
  readonly position: number
}

/** The number of positions in one epoch of a session. No node sends so many events on one stream. */
const PER_EPOCH = 10_000_000_000

/**
 * Gives the position before the first position of an epoch. The epoch grows each time another node takes the session over. So two nodes
 * never use the same position.
 */
export const before = (epoch = 1): number => (epoch - 1) * PER_EPOCH

/**
 * Makes the prefix of the ids of all events of a session: 32 bits of a digest. When a client by mistake sends an id of another session,
 * `decode` recognizes the mistake by this prefix.
 */
export const prefixOf = (session: string): string => {
  let hash = 0x811c9dc5
  for (let i = 0; i < session.length; i++) hash = Math.imul(hash ^ session.charCodeAt(i), 0x01000193)
  return (hash >>> 0).toString(36)
}

export const encode = (session: string, stream: string, position: number): string =>
  `${prefixOf(session)}_${stream}_${position}`

/** How many characters the encoded scopes of a stream may have. */
const MAX_SCOPES = 1024

/**
 * Makes the name of the stream of a call that requires these scopes; `undefined` when the scopes are too long for a header of the client.
 */
export const guarded = (stream: string, scopes: ReadonlyArray<string>): string | undefined => {
  if (scopes.length === 0) return stream
  const text = new URLSearchParams({ s: scopes.join(" ") }).toString().slice("s=".length)
  return text.length > MAX_SCOPES ? undefined : `${stream}-${text}`
}

/** Gives the two parts of the name of a stream: the name without the scopes, and the scopes. */
export const partsOf = (stream: string): { readonly name: string; readonly scopes: ReadonlyArray<string> } => {
  const at = stream.indexOf("-")
  return at === -1 ? { name: stream, scopes: [] } : {
    name: stream.slice(0, at),
    scopes: new URLSearchParams(`s=${stream.slice(at + 1)}`).get("s")!.split(" ")
  }
}

/** Decodes the event id from which a client resumes; `undefined` when the text is not an id of this session. */
export const decode = (session: string, id: string): EventPosition | undefined => {
  const [, prefix, stream, position] =
    /^([0-9a-z]{1,7})_([0-9a-z]{1,16}(?:-[\w.*%+-]{1,1024})?)_(\d{1,15})$/.exec(id) ?? []
  return prefix === undefined || prefix !== prefixOf(session)
    ? undefined
    : { stream: stream!, position: Number(position) }
}
