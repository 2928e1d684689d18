/**
 * Reads the body of a request within the limits of an endpoint, for every `HttpExchange`: the body of a web `Request`, and the body of a
 * request of Node. `dispatch/Stages` asks for the body. A client may send a piece for each byte, so each piece is joined to the buffer
 * once, when it arrives. `Request.arrayBuffer` has no limit, so only short bodies that declare their length are read with it.
 *
 * `Bodies` limits how many bytes the incomplete bodies of an endpoint take together, and how long a body may be incomplete. Its fields are
 * mutable, because each request passes here. `held` counts the bytes of all bodies in `open`, which has the oldest body first. `hold` and
 * `drop` keep the bodies that hold bytes by their senders. While `isWatched` is true, a sweep will come. At the limit, `Bodies` refuses
 * bodies of unknown senders first.
 */
import * as Either from "effect/Either"
import { ByteBuffer } from "../../jsonrpc/runtime/ByteBuffer.js"
import type * as Deadlines from "../../kit/Deadlines.js"
import type { ResolvedHttpLimits } from "../runtime/ResolvedLimits.js"

/**
 * Why a body was not read. `size`: it is too large. `encoding`: it is not UTF-8. `unreadable`: it cannot be read. `taken`: other code has
 * read it before, such as a body parser of the application. `time`: it did not come in time. `sum`: all incomplete bodies together were too
 * large.
 */
export type BodyFault = { readonly fault: "size" | "encoding" | "unreadable" | "taken" | "time" | "sum" }

/** How many bytes beyond the limit of a body are read and dropped, so that the client can read the answer. */
export const MAX_DISCARDED = 64 * 1024 * 1024

/** Up to this length in bytes, the platform's `Request.arrayBuffer` reads a body. */
const SHORT = 64 * 1024

/**
 * The sender of a body: the id of the user, or the id of the session where there are no users; `undefined` for a client that the endpoint
 * does not know.
 */
export type Sender = string | undefined

/** The incomplete bodies of an endpoint. */
export class Bodies implements Deadlines.Expirable {
  readonly open = new Set<OpenBody>()
  held = 0
  isWatched = false
  /** How many sweeps have run so far. */
  sweeps = 0
  /**
   * The bodies without a sender that hold bytes, the oldest first. A hostile client may have many of them, and finding the oldest takes one
   * step.
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

  /** Says that a body takes so many bytes now. Refuses other bodies, or this body, until the limit holds. */
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

  /** Says that a body takes no bytes any more. */
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
   * The body to refuse next: the oldest body without a sender. When every body has a sender, it is the oldest body of the sender that holds
   * the most bytes. So a client that sends only parts of bodies takes no space from clients that the endpoint knows, and a user who holds
   * much loses a body before other users do.
   */
  private leastWorth(): OpenBody | undefined {
    for (const body of this.unknown) return body
    let most: Sent | undefined
    for (const sent of this.known.values()) if (most === undefined || sent.held > most.held) most = sent
    for (const body of most?.bodies ?? []) return body
    return undefined
  }
}

/** The bodies of one sender that hold bytes, the oldest first, and how many bytes they hold together. */
interface Sent {
  held: number
  readonly bodies: Set<OpenBody>
}

/** A body that an endpoint reads. Once `isOver` is true, its bytes are not needed any more. */
export class OpenBody extends ByteBuffer {
  isOver: boolean
  /** How many bytes the body takes now. */
  held: number
  /** How many sweeps had run when the body began. */
  readonly sweeps: number
  /** Called with the reason when the body is not read. The code that reads the body sets this function. */
  refuse: ((fault: BodyFault) => void) | undefined

  constructor(private readonly bodies: Bodies, readonly sender?: Sender) {
    super(bodies.limits.maxBodyBytes)
    this.isOver = false
    this.held = 0
    this.sweeps = bodies.sweeps
    bodies.open.add(this)
    if (!bodies.isWatched) bodies.watch()
  }

  /** Adds a piece. Gives `false` when the body is over, so that the piece is not needed. */
  override add(piece: Uint8Array): boolean {
    if (this.isOver) this.skip(piece)
    // The client gets its answer at once, but the server reads on: when a server closes a connection with unread bytes, the client may lose
    // the answer.
    else if (!super.add(piece)) this.end({ fault: "size" })
    else this.bodies.hold(this, this.bytes!.length)
    return !this.isOver
  }

  /** Counts so many bytes for this body, although the platform holds the bytes and not this buffer. */
  reserve(bytes: number): void {
    this.bodies.hold(this, bytes)
  }

  /**
   * Ends the body: the body is complete, or nobody needs it any more. With a `fault`, the body is not read for this reason. Gives the bytes
   * of a complete body, once.
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
 * Calls `then` once with the text of the body, or with the reason why it was not read. Returns a function that stops reading; after it was
 * called, `then` is not called.
 */
export const read = (request: Request, into: OpenBody, then: (body: string | BodyFault) => void): () => void =>
  // Other code has read the body before: an application that parses bodies itself.
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

/** Does not use the stream of the body, because on Node making this stream costs more than the rest of a request. */
const readShort = (request: Request, into: OpenBody, then: (body: string | BodyFault) => void): () => void => {
  let stopped = false
  const settle = into.refuse = (body: string | BodyFault): void => {
    if (!stopped) then(body)
    stopped = true
  }
  request.arrayBuffer().then(
    (bytes) => settle(bytes.byteLength > into.maxBytes ? { fault: "size" } : text(bytes)),
    // A reader that has locked the body, but has taken no bytes yet, also prevents reading it here.
    () => settle(request.bodyUsed ? { fault: "unreadable" } : TAKEN)
  )
  // Only the platform knows how much of the body has come, so the declared length counts.
  into.reserve(Number(request.headers.get("content-length")))
  return () => {
    stopped = true
  }
}

const readLong = ({ body }: Request, into: OpenBody, then: (body: string | BodyFault) => void): () => void => {
  if (body === null) return answer(then, "")
  if (body.locked) return answer(then, TAKEN)
  // A framework may have made the stream, which may then give values of any type.
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

/** How many pieces without bytes may follow one another. A stream that gives such pieces at once would occupy the event loop. */
const MAX_EMPTY = 1000

/** The bytes of a piece; `undefined` for a piece of another type, such as the texts of a stream with an encoding. */
const bytesOf = (piece: unknown): Uint8Array | undefined =>
  piece instanceof Uint8Array
    ? piece
    : ArrayBuffer.isView(piece)
    ? new Uint8Array(piece.buffer, piece.byteOffset, piece.byteLength)
    : undefined

/** The members of a Node request that are used here. */
export interface NodeBody {
  readonly readableDidRead: boolean
  readonly on: {
    (event: "data", listener: (piece: unknown) => void): unknown
    (event: "end", listener: () => void): unknown
  }
  readonly destroy: () => unknown
}

/**
 * Calls `then` once with the bytes of the body of a Node request, or with the reason why it was not read. Does not call `then` when the
 * client disconnects before.
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

/** Whether to stop reading, although the client may then lose its answer. */
const isEndless = ({ maxBytes, size }: OpenBody): boolean => size - maxBytes > MAX_DISCARDED

const answer = (then: (body: string | BodyFault) => void, body: string | BodyFault): () => void => {
  then(body)
  return () => {}
}

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/** The text of bytes that must be UTF-8. */
export const text = (bytes: ArrayBuffer | Uint8Array | BodyFault): string | BodyFault =>
  "fault" in bytes
    ? bytes
    : Either.getOrElse(Either.try(() => strict.decode(bytes)), () => ({ fault: "encoding" }) as const)
