/**
 * The bodies of responses, as text and within bounds. After any of these that succeeds, the body is read or let go of: one
 * that is left alone would keep its connection for ever. After one that fails, `Courier` closes the connection.
 *
 * @since 0.1.0
 */
import type * as Headers from "@effect/platform/Headers"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import { TransportError } from "@effect-mcp/jsonrpc/LocalError"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"

type Response = HttpClientResponse.HttpClientResponse

/**
 * How long the beginning of a body is waited for, when it is only needed to say what went wrong.
 *
 * @since 0.1.0
 * @category limits
 */
export const PATIENCE = "1 second"

const unreadable = (response: Response, why: string, cause?: unknown): TransportError =>
  new TransportError({ reason: "Read", message: `The answer to ${response.request.method} ${why}`, cause })

/**
 * A body that its author has promised to be short enough, as it is; any other only as far as it may go. A promise about
 * packed bytes says nothing of the bytes.
 */
const promise = (headers: Headers.Headers): number | undefined => {
  const { "content-encoding": encoding, "content-length": length } = headers
  return length === undefined || encoding !== undefined || !/^\d{1,15}$/.test(length) ? undefined : Number(length)
}

/**
 * The whole body. Fails with reason `Read` when it has more bytes or is cut off, and with `Decode` when it is not UTF-8.
 *
 * @since 0.1.0
 * @category reading
 */
export const text = (
  response: Response,
  maxBytes: number,
  // Platforms make them anew each time that they are asked.
  headers: Headers.Headers = response.headers
): Effect.Effect<string, TransportError> => {
  const promised = promise(headers)
  const tooLarge = () => Effect.fail(unreadable(response, `has more than ${maxBytes} bytes`))
  if (promised !== undefined && promised > maxBytes) return tooLarge()
  return Effect.matchEffect(promised === undefined ? gather(response, maxBytes) : whole(response), {
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

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

const lenient = new TextDecoder()

const decode = Option.liftThrowable((bytes: Uint8Array) => strict.decode(bytes))

const whole = (response: Response) => Effect.map(response.arrayBuffer, (buffer) => new Uint8Array(buffer))

/** All bytes; nothing when there are more than that. */
const gather = (response: Response, maxBytes: number) => {
  const chunks: Array<Uint8Array> = []
  let size = 0
  return Effect.map(
    Stream.runForEachWhile(response.stream, (chunk) =>
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

/**
 * As much of the body as there is within a second, and no more than that many bytes. Never fails.
 *
 * @since 0.1.0
 * @category reading
 */
export const beginning = (response: Response, maxBytes: number): Effect.Effect<string> =>
  Effect.suspend(() => {
    const chunks: Array<Uint8Array> = []
    let size = 0
    const reading = Stream.runForEachWhile(response.stream, (chunk) =>
      Effect.sync(() => {
        const piece = chunk.subarray(0, maxBytes - size)
        size += piece.length
        chunks.push(piece)
        return size < maxBytes
      }))
    return Effect.map(
      Effect.ignore(Effect.timeoutOption(reading, PATIENCE)),
      () => lenient.decode(join(chunks, size))
    )
  })

/**
 * Reads the body to its end, when that is near, for nobody.
 *
 * @since 0.1.0
 * @category reading
 */
export const discard = (response: Response): Effect.Effect<void> => {
  const promised = promise(response.headers)
  return promised !== undefined && promised <= DISCARD
    ? Effect.ignore(response.arrayBuffer)
    : Effect.asVoid(beginning(response, DISCARD))
}

const DISCARD = 64 * 1024
