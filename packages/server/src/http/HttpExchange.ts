/**
 * One HTTP request and the ways to answer it, as a shell hands them to the endpoint: the seam between the core, which
 * knows no socket, and whatever has one.
 *
 * Everything here is a plain call, because a request that is answered at once should cost no fiber but its handler's.
 *
 * @since 0.1.0
 */

/**
 * Headers by their names in lower case. Those that came several times are joined with ", ", also where the protocol allows
 * but one: then they say nothing that anybody accepts.
 *
 * @since 0.1.0
 * @category models
 */
export type Headers = Readonly<Record<string, string | undefined>>

/**
 * Why a body was not read: it is larger than allowed, it is not UTF-8, or it cannot be read.
 *
 * @since 0.1.0
 * @category models
 */
export type BodyFault = { readonly fault: "size" | "encoding" | "unreadable" }

/**
 * @since 0.1.0
 * @category models
 */
export interface HttpExchange {
  readonly method: string
  /** Path and query, to be matched. */
  readonly url: string
  /** The path that the client used, also where a router has taken off its beginning. */
  readonly path: string
  readonly headers: Headers
  /** Headers that every answer to this request carries. Set before it is answered. */
  added: Headers | undefined
  /** Whether the client has gone: nothing that is said reaches it. */
  readonly isGone: boolean
  /** Reads the body, once. Calls back at most once, and not at all when the client goes meanwhile. */
  readonly body: (maxBytes: number, then: (body: string | BodyFault) => void) => void
  /** Answers whole, if the client is still there. */
  readonly reply: (status: number, headers: Headers, body: string) => void
  /** Begins to answer with an event stream. The headers leave at once; the reader is told nothing before this returns. */
  readonly stream: (headers: Headers, reader: Reader) => Writer
  /** Calls back when the client has gone before it was answered. At most one listener. */
  readonly onGone: (listener: () => void) => void
}

/**
 * The way into an open event stream.
 *
 * @since 0.1.0
 * @category models
 */
export interface Writer {
  /** Takes the text in; `false` when that is enough until the reader says `drained`. */
  readonly write: (text: string) => boolean
  /** Ends the stream after what was written. */
  readonly end: () => void
  /** Ends it now, whatever was written. */
  readonly cut: () => void
}

/**
 * What a shell tells of the client at the other end of an event stream.
 *
 * @since 0.1.0
 * @category models
 */
export interface Reader {
  /** There is room again, after `write` has said that there is none. */
  readonly drained: () => void
  /** The client has gone. Not told after `end` and `cut`. */
  readonly gone: () => void
}
