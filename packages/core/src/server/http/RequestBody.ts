/**
 * Reads the body of a request within the limits of an endpoint, for all shells: that of a web `Request`, and that of a request of
 * Node. A client may send a piece for each byte, so pieces are joined as they arrive, each of them once. `Request.arrayBuffer` has no
 * limit, so it reads only short bodies that declare their length.
 *
 * `Bodies` limits how many bytes the incomplete bodies of an endpoint take together, and how long a body may be incomplete. Fields are
 * mutable because each request passes here. `held` counts the bytes of all bodies in `open`, the oldest first; while `isWatched` is true, a
 * sweep will come.
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

/** The incomplete bodies of an endpoint. At the limit of bytes the oldest body is refused. */
export class Bodies implements Deadlines.Expirable {
  readonly open = new Set<OpenBody>()
  held = 0
  isWatched = false
  /** How many sweeps there were. */
  sweeps = 0

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

  refuseOldest(): void {
    for (const body of this.open) {
      if (this.held <= this.limits.maxIncompleteBytes) return
      body.end({ fault: "sum" })
    }
  }
}

/** A body that an endpoint reads. After `isOver` is true, its bytes are not needed. */
export class OpenBody extends ByteBuffer {
  isOver: boolean
  private held: number
  /** How many sweeps there were before. */
  readonly sweeps: number
  /** Receives why the body is not read. Who reads the body sets it. */
  refuse: ((fault: BodyFault) => void) | undefined

  constructor(private readonly bodies: Bodies) {
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
    else {
      this.bodies.held += this.bytes!.length - this.held
      this.held = this.bytes!.length
      if (this.bodies.held > this.bodies.limits.maxIncompleteBytes) this.bodies.refuseOldest()
    }
    return !this.isOver
  }

  /** Counts bytes that are held elsewhere. */
  reserve(bytes: number): void {
    this.held = bytes
    this.bodies.held += bytes
    this.bodies.refuseOldest()
  }

  /** The body is complete, nobody waits for it, or the fault is why it is not read. Gives the bytes of a complete body, once. */
  end(fault?: BodyFault): Uint8Array {
    const { bodies, bytes } = this
    if (this.isOver) return NOTHING
    this.isOver = true
    bodies.open.delete(this)
    bodies.held -= this.held
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
  const reader: ReadableStreamDefaultReader<Uint8Array> = body.getReader()
  const cancel = (): void => void reader.cancel().catch(() => {})
  let stopped = false
  const settle = (body: string | BodyFault): void => {
    if (!stopped) then(body)
    stopped = true
  }
  into.refuse = (fault) => {
    settle(fault)
    if (fault.fault !== "size") cancel()
  }
  const take = ({ done, value }: ReadableStreamReadResult<Uint8Array>): void => {
    if (done) return into.isOver ? undefined : settle(text(into.end()))
    if (!into.add(value) && isEndless(into)) cancel()
    next()
  }
  const next = (): void => void reader.read().then(take, () => settle({ fault: "unreadable" }))
  next()
  return () => {
    stopped = true
    cancel()
  }
}

/** What is used of a request of Node. */
export interface NodeBody {
  readonly readableDidRead: boolean
  readonly on: {
    (event: "data", listener: (piece: Uint8Array) => void): unknown
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
  request.on("data", (piece) => {
    if (!into.add(piece) && isEndless(into)) request.destroy()
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
