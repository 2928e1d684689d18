/**
 * Reads the body of a request within a limit of bytes, for all shells: that of a web `Request`, and that of a request of Node. A
 * client may send a piece for each byte, so pieces are joined as they arrive, each of them once. `Request.arrayBuffer` has no
 * limit, so it reads only bodies that declare their length.
 */
import { ByteBuffer } from "@effect-mcp/jsonrpc/unstable/ByteBuffer"
import * as Either from "effect/Either"
import { type BodyFault, MAX_DISCARDED } from "./HttpExchange.js"

/**
 * Calls back once with the text of the body, or with why it was not read. Returns a function that stops reading; then it does
 * not call back.
 */
export const read = (request: Request, maxBytes: number, then: (body: string | BodyFault) => void): () => void =>
  // Another reader has it, or had it: an application that has parsed the body before.
  request.bodyUsed || (request.body?.locked === true)
    ? answer(then, { fault: "taken" })
    : isShort(request, maxBytes)
    ? readShort(request, maxBytes, then)
    : readLong(request, maxBytes, then)

/** Whether a header declares a length within the limit. HTTP allows no more bytes than it declares. */
const isShort = ({ headers }: Request, maxBytes: number): boolean => {
  const length = headers.get("content-length")
  return length !== null && /^\d+$/.test(length) && Number(length) <= maxBytes && !headers.has("transfer-encoding")
}

/** Without the stream of the body: on Node, making one costs more than the rest of a request. */
const readShort = (request: Request, maxBytes: number, then: (body: string | BodyFault) => void): () => void => {
  let stopped = false
  const settle = (body: string | BodyFault): void => {
    if (!stopped) then(body)
  }
  request.arrayBuffer().then(
    (bytes) => settle(bytes.byteLength > maxBytes ? { fault: "size" } : text(bytes)),
    () => settle({ fault: "unreadable" })
  )
  return () => {
    stopped = true
  }
}

const readLong = (
  { body }: Request,
  maxBytes: number,
  then: (body: string | BodyFault) => void
): () => void => {
  if (body === null) return answer(then, "")
  const reader: ReadableStreamDefaultReader<Uint8Array> = body.getReader()
  const cancel = (): void => void reader.cancel().catch(() => {})
  let stopped = false
  const settle = (body: string | BodyFault): void => {
    if (!stopped) then(body)
    stopped = true
  }
  const buffer = new ByteBuffer(maxBytes)
  const take = ({ done, value }: ReadableStreamReadResult<Uint8Array>): void => {
    if (done) return buffer.size <= maxBytes ? settle(text(buffer.all)) : undefined
    if (!buffer.add(value)) drop(buffer, value, maxBytes, settle, cancel)
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
  maxBytes: number,
  then: (body: Uint8Array | BodyFault) => void
): void => {
  const buffer = new ByteBuffer(maxBytes)
  request.on("data", (piece) => {
    if (!buffer.add(piece)) drop(buffer, piece, maxBytes, then, () => request.destroy())
  })
  request.on("end", () => {
    if (buffer.size <= maxBytes) then(buffer.all)
  })
}

/** Drops a piece that did not fit, and refuses the body at the first such piece. */
const drop = (
  buffer: ByteBuffer,
  piece: Uint8Array,
  maxBytes: number,
  refuse: (fault: BodyFault) => void,
  /** Ends the reading of a body that goes on and on. */
  cut: () => void
): void => {
  const { size } = buffer
  buffer.free()
  // Answers at once, but reads on: a server that closes a connection with unread bytes may discard the answer.
  if (size - piece.length <= maxBytes) refuse({ fault: "size" })
  if (size - maxBytes > MAX_DISCARDED) cut()
}

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
