/**
 * Reads the body of a request within the limits of an endpoint, for every `HttpExchange`: the body of a web `Request`, and the body of a
 * request of Node. `dispatch/Stages` asks for the body. A client may send a piece for each byte, so pieces are joined as they arrive, each
 * of them once. `Request.arrayBuffer` has no limit, so it reads only short bodies that declare their length.
 *
 * `Bodies` limits how many bytes the incomplete bodies of an endpoint take together, and how long a body may be incomplete. Fields are
 * mutable because each request passes here. `held` counts the bytes of all bodies in `open`, the oldest first; `hold` and
 * `drop` keep the bodies that hold bytes by their senders; while `isWatched` is true,
 * a sweep will come. At the limit, `Bodies` refuses the bodies whose senders are worth the least to the endpoint.
 */
import * as Either from "effect/Either"
import { ByteBuffer } from "../../jsonrpc/runtime/ByteBuffer.js"
import type * as Deadlines from "../../kit/Deadlines.js"
import type { ResolvedHttpLimits } from "../runtime/ResolvedLimits.js"

/**
 * Why a body was not read: it is too large, it is not UTF-8, it cannot be read, another reader has taken it, such as a body
 * parser of the application, it did not come in time, or all incomplete bodies were too large together.
 */
export type BodyFault = { readonly fault: "size" | "encoding" | "unreadable" | "taken" | "time" | "sum" }

/** How many bytes beyond the limit of a body are read and dropped, so that the client can read the answer. */
export const MAX_DISCARDED = 64 * 1024 * 1024

/** Up to this length a web `Request` reads a body itself. */
const SHORT = 64 * 1024

/** Who sends a body: the user, or the session where there are no users; `undefined` for a client that the endpoint does not know. */
export type Sender = string | undefined

/** The incomplete bodies of an endpoint. */
export class Bodies implements Deadlines.Expirable {
  readonly open = new Set<OpenBody>()
  held = 0
  isWatched = false
  /** How many sweeps there were. */
  sweeps = 0
  /** The bodies without a sender that hold bytes, the oldest first. A hostile client has many: finding the oldest takes one step. */
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

  /** A body takes so many bytes now. Refuses bodies until the others have space. */
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

  /** A body takes no bytes any more. */
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
   * The oldest body without a sender; where every body has a sender, the oldest body of the sender that holds the most. So a client that
   * sends only halves of bodies takes no space from clients that the endpoint knows, and a user loses space of their own first.
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

/** A body that an endpoint reads. After `isOver` is true, its bytes are not needed. */
export class OpenBody extends ByteBuffer {
  isOver: boolean
  /** How many bytes the body takes. */
  held: number
  /** How many sweeps there were before. */
  readonly sweeps: number
  /** Receives why the body is not read. Who reads the body sets it. */
  refuse: ((fault: BodyFault) => void) | undefined

  constructor(private readonly bodies: Bodies, readonly sender?: Sender) {
    super(bodies.limits.maxBodyBytes)
    this.isOver = false
    this.held = 0
    this.sweeps = bodies.sweeps
    bodies.open.add(this)
    if (!bodies.isWatched) bodies.watch()
  }

  /** Adds a piece; `false` when it is not needed. */
  override add(piece: Uint8Array): boolean {
    if (this.isOver) this.skip(piece)
    // Answers at once, but reads on: a server that closes a connection with unread bytes may discard the answer.
    else if (!super.add(piece)) this.end({ fault: "size" })
    else this.bodies.hold(this, this.bytes!.length)
    return !this.isOver
  }

  /** Counts bytes that are held elsewhere. */
  reserve(bytes: number): void {
    this.bodies.hold(this, bytes)
  }

  /**
   * Ends the body: it is complete, it is no longer needed, or it is not read because of the fault. Gives the bytes of a complete body,
   * once.
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
 * Calls back once with the text of the body, or with why it was not read. Returns a function that stops reading; then it does
 * not call back.
 */
export const read = (request: Request, into: OpenBody, then: (body: string | BodyFault) => void): () => void =>
  // Another reader had it: an application that has parsed the body before.
  request.bodyUsed
    ? answer(then, TAKEN)
    : isShort(request, into)
    ? readShort(request, into, then)
    : readLong(request, into, then)

const TAKEN: BodyFault = { fault: "taken" }

/** Whether a header declares a length within the limit. HTTP allows no more bytes than it declares. */
const isShort = ({ headers }: Request, { maxBytes }: OpenBody): boolean => {
  const length = headers.get("content-length")
  return length !== null && /^\d+$/.test(length) && Number(length) <= Math.min(maxBytes, SHORT) &&
    !headers.has("transfer-encoding")
}

/** Does not even look at the stream of the body: on Node, making one costs more than the rest of a request. */
const readShort = (request: Request, into: OpenBody, then: (body: string | BodyFault) => void): () => void => {
  let stopped = false
  const settle = into.refuse = (body: string | BodyFault): void => {
    if (!stopped) then(body)
    stopped = true
  }
  request.arrayBuffer().then(
    (bytes) => settle(bytes.byteLength > into.maxBytes ? { fault: "size" } : text(bytes)),
    // A reader that has taken nothing yet keeps the body from us, too.
    () => settle(request.bodyUsed ? { fault: "unreadable" } : TAKEN)
  )
  // Only the platform knows how much of it has come.
  into.reserve(Number(request.headers.get("content-length")))
  return () => {
    stopped = true
  }
}

const readLong = ({ body }: Request, into: OpenBody, then: (body: string | BodyFault) => void): () => void => {
  if (body === null) return answer(then, "")
  if (body.locked) return answer(then, TAKEN)
  // A framework may have made the stream, and give any value.
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

/** How many pieces without bytes may follow one another: a stream that gives them at once would keep the event loop. */
const MAX_EMPTY = 1000

/** The bytes of a piece; `undefined` for a piece that is not bytes, such as the texts of a stream with an encoding. */
const bytesOf = (piece: unknown): Uint8Array | undefined =>
  piece instanceof Uint8Array
    ? piece
    : ArrayBuffer.isView(piece)
    ? new Uint8Array(piece.buffer, piece.byteOffset, piece.byteLength)
    : undefined

/** What is used of a request of Node. */
export interface NodeBody {
  readonly readableDidRead: boolean
  readonly on: {
    (event: "data", listener: (piece: unknown) => void): unknown
    (event: "end", listener: () => void): unknown
  }
  readonly destroy: () => unknown
}

/** Calls back once with the bytes of the body of a request of Node. Does not call back when the client disconnects before. */
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

/** Whether reading ends, although the client may not get its answer then. */
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
