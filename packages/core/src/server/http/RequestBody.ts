/**
 * Reads the body of a request within the limits of an endpoint, for every `HttpExchange`: the body of a web `Request`, and the body of a
 * Node request. `dispatch/Stages` requests the body. A client may send each byte as a separate piece, so this module copies each piece into
 * the buffer once, when the piece arrives. `Request.arrayBuffer` has no limit, so this module uses it only for short bodies with a declared
 * length.
 *
 * `Bodies` limits how many bytes the incomplete bodies of an endpoint take together, and how long a body may be incomplete. At the limit,
 * `Bodies` first refuses bodies of unknown senders. Mutable fields: `held` is the number of bytes of all bodies in `open`. `open` contains
 * the oldest body first. `known` and `unknown` contain the bodies that hold bytes, by their senders. `isWatched` is true while a check of
 * the deadlines is scheduled.
 */
import * as Either from "effect/Either"
import { ByteBuffer } from "../../jsonrpc/runtime/ByteBuffer.js"
import type * as Deadlines from "../../kit/Deadlines.js"
import type { ResolvedHttpLimits } from "../runtime/ResolvedLimits.js"

/**
 * The reason why the endpoint could not read a body. `size`: the body is too large. `encoding`: the body is not UTF-8. `unreadable`: the
 * platform could not read the body. `taken`: other code has already read the body, such as a body parser of the application. `time`: the
 * body did not arrive in time. `sum`: all incomplete bodies together were too large.
 */
export type BodyFault = { readonly fault: "size" | "encoding" | "unreadable" | "taken" | "time" | "sum" }

/** How many bytes beyond the limit of a body the endpoint reads and drops. This gives the client time to read the answer. */
export const MAX_DISCARDED = 64 * 1024 * 1024

/** Up to this length in bytes, this module reads a body with `Request.arrayBuffer`. */
const SHORT = 64 * 1024

/**
 * The sender of a body: the id of the user, or the id of the session on a server without users. `undefined` for an unknown client.
 */
export type Sender = string | undefined

/** The incomplete bodies of an endpoint. */
export class Bodies implements Deadlines.Expirable {
  readonly open = new Set<OpenBody>()
  held = 0
  isWatched = false
  /** How many checks of the deadlines have run so far. */
  sweeps = 0
  /**
   * The bodies without a sender that hold bytes, the oldest first. A hostile client may send many of these bodies, so finding the oldest
   * must take only one step.
   */
  private readonly unknown = new Set<OpenBody>()
  /** The other bodies that hold bytes, by their sender. */
  private readonly known = new Map<string, Sent>()

  constructor(
    readonly limits: Pick<ResolvedHttpLimits, "maxBodyBytes" | "bodyTimeout" | "maxIncompleteBytes">,
    private readonly sweeper: {
      readonly now: () => number
      readonly watch: (expirable: Deadlines.Expirable, at: number) => void
    }
  ) {}

  watch(): void {
    this.isWatched = true
    this.sweeper.watch(this, this.sweeper.now() + this.limits.bodyTimeout)
  }

  sweep(now: number): number {
    for (const body of this.open) {
      if (body.sweeps === this.sweeps) break
      body.end({ fault: "time" })
    }
    this.sweeps++
    this.isWatched = this.open.size > 0
    return this.isWatched ? now + this.limits.bodyTimeout : Infinity
  }

  /** Sets how many bytes a body takes now. At the limit, refuses other bodies, or this body. */
  hold(body: OpenBody, bytes: number): void {
    const more = bytes - body.held
    if (more === 0) return
    body.held = bytes
    this.held += more
    if (body.sender === undefined) this.unknown.add(body)
    else {
      const sent = this.known.get(body.sender) ?? { held: 0, bodies: new Set() }
      this.known.set(body.sender, sent)
      sent.held += more
      sent.bodies.add(body)
    }
    while (this.held > this.limits.maxIncompleteBytes) {
      const least = this.leastWorth()
      if (least === undefined) return
      least.end({ fault: "sum" })
    }
  }

  /** Removes the bytes of a body. */
  drop(body: OpenBody): void {
    this.open.delete(body)
    this.held -= body.held
    if (body.sender === undefined) {
      this.unknown.delete(body)
      return
    }
    const sent = this.known.get(body.sender)
    if (sent === undefined || !sent.bodies.delete(body)) return
    sent.held -= body.held
    if (sent.bodies.size === 0) this.known.delete(body.sender)
  }

  /**
   * Finds the body to refuse next: the oldest body without a sender. When every body has a sender, finds the oldest body of the sender with
   * the most bytes. So a hostile unknown client cannot displace the bodies of known clients. A user with many bytes loses a body before
   * other users.
   */
  private leastWorth(): OpenBody | undefined {
    for (const body of this.unknown) return body
    let most: Sent | undefined
    for (const sent of this.known.values()) if (most === undefined || sent.held > most.held) most = sent
    for (const body of most?.bodies ?? []) return body
    return undefined
  }
}

/** The bodies of one sender that hold bytes, the oldest first, and the sum of their bytes. */
interface Sent {
  held: number
  readonly bodies: Set<OpenBody>
}

/** A body that an endpoint reads. When `isOver` is true, the endpoint does not need the bytes any more. */
export class OpenBody extends ByteBuffer {
  isOver: boolean
  /** How many bytes the body takes now. */
  held: number
  /** The value of `Bodies.sweeps` when the body began. */
  readonly sweeps: number
  /** Called with the reason when the endpoint refuses the body. The code that reads the body sets this function. */
  refuse: ((fault: BodyFault) => void) | undefined

  constructor(private readonly bodies: Bodies, readonly sender?: Sender) {
    super(bodies.limits.maxBodyBytes)
    this.isOver = false
    this.held = 0
    this.sweeps = bodies.sweeps
    bodies.open.add(this)
    if (!bodies.isWatched) bodies.watch()
  }

  /** Adds a piece. Gives `false` when the endpoint does not need the piece, because the body is over. */
  override add(piece: Uint8Array): boolean {
    if (this.isOver) this.skip(piece)
    // The client gets its answer immediately, but the server reads on. If the server closed a connection with unread bytes, the client
    // might lose the answer.
    else if (!super.add(piece)) this.end({ fault: "size" })
    else this.bodies.hold(this, this.bytes!.length)
    return !this.isOver
  }

  /** Counts bytes for this body that the platform holds, not this buffer. */
  reserve(bytes: number): void {
    this.bodies.hold(this, bytes)
  }

  /**
   * Ends the body: the body is complete, or nobody needs the body any more. A `fault` is the reason why the endpoint refuses the body. The
   * first call gives the bytes of a complete body.
   */
  end(fault?: BodyFault): Uint8Array {
    const { bodies, bytes } = this
    if (this.isOver) return NOTHING
    this.isOver = true
    bodies.drop(this)
    this.bytes = undefined
    if (fault !== undefined) this.refuse?.(fault)
    return bytes === undefined ? NOTHING : bytes.subarray(0, this.size)
  }
}

const NOTHING = new Uint8Array(0)

/**
 * Reads the body of a web `Request`. Calls `then` once with the text of the body, or with the reason why the body could not be read.
 * Returns a function that stops reading. After that function was called, `then` is not called.
 */
export const read = (request: Request, into: OpenBody, then: (body: string | BodyFault) => void): () => void =>
  // Other code, such as a body parser of the application, has already read the body.
  request.bodyUsed
    ? answer(then, TAKEN)
    : isShort(request, into)
    ? readShort(request, into, then)
    : readLong(request, into, then)

const TAKEN: BodyFault = { fault: "taken" }

/** Whether a header declares a short length within the limit. HTTP allows no more bytes than the declared length. */
const isShort = ({ headers }: Request, { maxBytes }: OpenBody): boolean => {
  const length = headers.get("content-length")
  return length !== null && /^\d+$/.test(length) && Number(length) <= Math.min(maxBytes, SHORT) &&
    !headers.has("transfer-encoding")
}

/** Reads a short body without its stream, because on Node making this stream costs more than the rest of a request. */
const readShort = (request: Request, into: OpenBody, then: (body: string | BodyFault) => void): () => void => {
  let stopped = false
  const settle = into.refuse = (body: string | BodyFault): void => {
    if (!stopped) then(body)
    stopped = true
  }
  request.arrayBuffer().then(
    (bytes) => settle(bytes.byteLength > into.maxBytes ? { fault: "size" } : text(bytes)),
    // The body also cannot be read when other code has locked the stream but has read no bytes yet.
    () => settle(request.bodyUsed ? { fault: "unreadable" } : TAKEN)
  )
  // This code cannot see how much of the body has arrived, so it counts the declared length.
  into.reserve(Number(request.headers.get("content-length")))
  return () => {
    stopped = true
  }
}

const readLong = ({ body }: Request, into: OpenBody, then: (body: string | BodyFault) => void): () => void => {
  if (body === null) return answer(then, "")
  if (body.locked) return answer(then, TAKEN)
  // A framework may have made the stream, so the stream may give values of any type.
  const reader: ReadableStreamDefaultReader<unknown> = body.getReader()
  const cancel = (): void => void reader.cancel().catch(() => {})
  let isEmptyFor = 0
  let stopped = false
  const settle = (body: string | BodyFault): void => {
    if (!stopped) then(body)
    stopped = true
  }
  into.refuse = (fault) => {
    settle(fault)
    if (fault.fault !== "size") cancel()
  }
  const take = ({ done, value }: ReadableStreamReadResult<unknown>): void => {
    if (done) return into.isOver ? undefined : settle(text(into.end()))
    const piece = bytesOf(value)
    isEmptyFor = piece?.length === 0 ? isEmptyFor + 1 : 0
    if (piece === undefined || isEmptyFor > MAX_EMPTY) {
      into.end({ fault: "unreadable" })
      return cancel()
    }
    if (!into.add(piece) && isEndless(into)) cancel()
    next()
  }
  const next = (): void => void reader.read().then(take).catch(() => into.end({ fault: "unreadable" }))
  next()
  return () => {
    stopped = true
    cancel()
  }
}

/** How many empty pieces may follow one another. A stream that gives empty pieces without waiting would block the event loop. */
const MAX_EMPTY = 1000

/** Gives the bytes of a piece; `undefined` for a piece of another type, such as the strings of a stream with an encoding. */
const bytesOf = (piece: unknown): Uint8Array | undefined =>
  piece instanceof Uint8Array
    ? piece
    : ArrayBuffer.isView(piece)
    ? new Uint8Array(piece.buffer, piece.byteOffset, piece.byteLength)
    : undefined

/** The members of a Node request that this module uses. */
export interface NodeBody {
  readonly readableDidRead: boolean
  readonly on: {
    (event: "data", listener: (piece: unknown) => void): unknown
    (event: "end", listener: () => void): unknown
  }
  readonly destroy: () => unknown
}

/**
 * Reads the body of a Node request. Calls `then` once with the bytes, or with the reason why the body could not be read. Does not call
 * `then` when the client disconnects earlier.
 */
export const readNode = (
  request: NodeBody,
  into: OpenBody,
  then: (body: Uint8Array | BodyFault) => void
): void => {
  into.refuse = then
  request.on("data", (given) => {
    const piece = bytesOf(given)
    if (piece === undefined) into.end({ fault: "unreadable" })
    else if (!into.add(piece) && isEndless(into)) request.destroy()
  })
  request.on("end", () => {
    if (!into.isOver) then(into.end())
  })
}

/**
 * Whether the client has sent so many bytes beyond the limit that this module stops reading. When reading stops, the client may lose its
 * answer.
 */
const isEndless = ({ maxBytes, size }: OpenBody): boolean => size - maxBytes > MAX_DISCARDED

const answer = (then: (body: string | BodyFault) => void, body: string | BodyFault): () => void => {
  then(body)
  return () => {}
}

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/** Decodes bytes, which must be UTF-8. */
export const text = (bytes: ArrayBuffer | Uint8Array | BodyFault): string | BodyFault =>
  "fault" in bytes
    ? bytes
    : Either.getOrElse(Either.try(() => strict.decode(bytes)), () => ({ fault: "encoding" }) as const)
