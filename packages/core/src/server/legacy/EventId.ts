/**
 * The ids of events, which `ResumableStream` writes and `Http` reads. An id says to which stream of a session an event belongs, and the
 * position of the event on this stream. `decode` accepts an id only for the session that the id was made for. The id of an event does not
 * reveal the id of the session.
 *
 * The name of a stream ends with the scopes that its call requires. So each node knows these scopes, also for a stream that another node
 * has stored. A client that leaves the scopes out names a different stream. `StreamStore` gives events their positions.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery
 */

export interface EventPosition {
  readonly stream: string
  readonly position: number
}

/** The number of positions of one epoch. No node sends so many events on one stream. */
const PER_EPOCH = 10_000_000_000

/**
 * The position before the first position of an epoch. Nodes that serve a session one after another have different epochs, and so use
 * different positions.
 */
export const before = (epoch = 1): number => (epoch - 1) * PER_EPOCH

/**
 * The prefix of the ids of all events of a session: 32 bits of a digest. It makes sure that the id of an event of another session does not
 * fit by accident.
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

/** The name of the stream of a call that requires these scopes; `undefined` when the scopes are too long for a header of the client. */
export const guarded = (stream: string, scopes: ReadonlyArray<string>): string | undefined => {
  if (scopes.length === 0) return stream
  const text = new URLSearchParams({ s: scopes.join(" ") }).toString().slice("s=".length)
  return text.length > MAX_SCOPES ? undefined : `${stream}-${text}`
}

/** The two parts of the name of a stream: the name without the scopes, and the scopes. */
export const partsOf = (stream: string): { readonly name: string; readonly scopes: ReadonlyArray<string> } => {
  const at = stream.indexOf("-")
  return at === -1 ? { name: stream, scopes: [] } : {
    name: stream.slice(0, at),
    scopes: new URLSearchParams(`s=${stream.slice(at + 1)}`).get("s")!.split(" ")
  }
}

/** Reads the event id from which a client resumes; `undefined` when it is not an id of this session. */
export const decode = (session: string, id: string): EventPosition | undefined => {
  const [, prefix, stream, position] =
    /^([0-9a-z]{1,7})_([0-9a-z]{1,16}(?:-[\w.*%+-]{1,1024})?)_(\d{1,15})$/.exec(id) ?? []
  return prefix === undefined || prefix !== prefixOf(session)
    ? undefined
    : { stream: stream!, position: Number(position) }
}
