/**
 * Reads the body of a web `Request` within a limit of bytes, for `WebExchange` and for `AppExchange` on a platform whose
 * requests are web requests. `Request.arrayBuffer` has no limit, so it reads only bodies that declare their length.
 */
import { ByteBuffer } from "@effect-mcp/jsonrpc/unstable/ByteBuffer"
import * as Either from "effect/Either"
import type { BodyFault } from "./HttpExchange.js"
import { MAX_DISCARDED } from "./HttpExchange.js"

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
  const buffer = new ByteBuffer(maxBytes)
  let size = 0
  let settled = false
  const settle = (body: string | BodyFault): void => {
    if (settled) return
    settled = true
    then(body)
  }
  const take = ({ done, value }: ReadableStreamReadResult<Uint8Array>): void => {
    if (done) return settle(text(buffer.all))
    size += value.byteLength
    if (size <= maxBytes) buffer.add(value)
    else {
      // Answers at once, but reads on: a server that closes a connection with unread bytes may discard the answer.
      buffer.clear()
      settle({ fault: "size" })
    }
    if (size - maxBytes > MAX_DISCARDED) return cancel()
    next()
  }
  const failed = (): void => settle({ fault: "unreadable" })
  const next = (): void => void reader.read().then(take, failed)
  const cancel = (): void => void reader.cancel().catch(() => {})
  next()
  return () => {
    settled = true
    cancel()
  }
}

const answer = (then: (body: string | BodyFault) => void, body: string | BodyFault): () => void => {
  then(body)
  return () => {}
}

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/** The text of bytes that must be UTF-8. */
export const text = (bytes: ArrayBuffer | Uint8Array): string | BodyFault =>
  Either.getOrElse(Either.try(() => strict.decode(bytes)), () => ({ fault: "encoding" }) as const)
