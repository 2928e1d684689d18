/**
 * Reads the bodies of responses as text, within bounds. A body that nothing reads would keep its connection for ever: after
 * each of these functions that succeeds, the body is read or cancelled; after one that fails, `HttpSender` closes the
 * connection.
 */
import type * as Headers from "@effect/platform/Headers"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import { TransportError } from "@effect-mcp/jsonrpc/LocalError"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Decompression from "./Decompression.js"

type Response = HttpClientResponse.HttpClientResponse

/** How long to wait for the first part of a body that only explains a refusal. */
const REFUSAL_WAIT = "1 second"

const unreadable = (response: Response, why: string, cause?: unknown): TransportError =>
  new TransportError({ reason: "Read", message: `The answer to ${response.request.method} ${why}`, cause })

/** The length that the server declares. The length of a compressed body says nothing about the text. */
const declaredLength = (headers: Headers.Headers): number | undefined => {
  const { "content-encoding": encoding, "content-length": length } = headers
  return length === undefined || encoding !== undefined || !/^\d{1,15}$/.test(length) ? undefined : Number(length)
}

/**
 * The whole body. Fails with reason `Read` when it has more bytes or is cut off, and with `Decode` when it is not UTF-8.
 */
export const text = (
  response: Response,
  maxBytes: number,
  // Platforms make the headers anew for each access.
  headers: Headers.Headers = response.headers
): Effect.Effect<string, TransportError> => {
  const declared = declaredLength(headers)
  const tooLarge = () => Effect.fail(unreadable(response, `has more than ${maxBytes} bytes`))
  if (declared !== undefined && declared > maxBytes) return tooLarge()
  return Effect.matchEffect(declared === undefined ? gather(response, maxBytes) : whole(response), {
    onFailure: (cause) => Effect.fail(unreadable(response, "was cut off", cause)),
    onSuccess: (bytes) => {
      if (bytes === undefined || bytes.length > maxBytes) return tooLarge()
      const text = decode(bytes)
      return Option.isSome(text)
        ? Effect.succeed(text.value)
        : Effect.fail(new TransportError({ reason: "Decode", message: "The server's answer is not UTF-8" }))
    }
  })
}

// Both leave out a byte order mark at the beginning, which some servers write.
const strict = new TextDecoder("utf-8", { fatal: true })

const lenient = new TextDecoder()

const decode = Option.liftThrowable((bytes: Uint8Array) => strict.decode(bytes))

const whole = (response: Response) => Effect.map(response.arrayBuffer, (buffer) => new Uint8Array(buffer))

/** All bytes; `undefined` when there are more than that. */
const gather = (response: Response, maxBytes: number) => {
  const chunks: Array<Uint8Array> = []
  let size = 0
  return Effect.map(
    Stream.runForEachWhile(Decompression.bytesOf(response), (chunk) =>
      Effect.sync(() => {
        size += chunk.length
        chunks.push(chunk)
        return size <= maxBytes
      })),
    () => size <= maxBytes ? join(chunks, size) : undefined
  )
}

const join = (chunks: ReadonlyArray<Uint8Array>, size: number): Uint8Array => {
  if (chunks.length === 1) return chunks[0]!
  const all = new Uint8Array(size)
  let at = 0
  for (const chunk of chunks) {
    all.set(chunk, at)
    at += chunk.length
  }
  return all
}

/** The first part of the body: what comes within a second, and no more than that many bytes. Never fails. */
export const beginning = (response: Response, maxBytes: number): Effect.Effect<string> =>
  Effect.suspend(() => {
    const chunks: Array<Uint8Array> = []
    let size = 0
    const reading = Stream.runForEachWhile(Decompression.bytesOf(response), (chunk) =>
      Effect.sync(() => {
        const piece = chunk.subarray(0, maxBytes - size)
        size += piece.length
        chunks.push(piece)
        return size < maxBytes
      }))
    return Effect.map(
      Effect.ignore(Effect.timeoutOption(reading, REFUSAL_WAIT)),
      () => lenient.decode(join(chunks, size))
    )
  })

/** Reads a short body to its end, so that its connection can be used again; cancels any other. */
export const discard = (response: Response): Effect.Effect<void> => {
  const declared = declaredLength(response.headers)
  return declared !== undefined && declared <= DISCARD
    ? Effect.ignore(response.arrayBuffer)
    : Effect.asVoid(beginning(response, DISCARD))
}

const DISCARD = 64 * 1024
