/**
 * Reads the bodies of responses as text, within limits, or discards them. The transports of both protocol eras (`legacy/Post`,
 * `modern/Http`), `RefusedResponse`, and `Documents` of package `auth` use this module. A body that nobody reads would keep its HTTP
 * connection open for ever. When one of these functions succeeds, the function has read or cancelled the body. When the function fails,
 * `HttpSender` closes the HTTP connection.
 */
import type * as Headers from "@effect/platform/Headers"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { TransportError } from "../../jsonrpc/LocalError.js"
import { ByteBuffer } from "../../jsonrpc/runtime/ByteBuffer.js"
import * as TimeLimit from "../../kit/TimeLimit.js"
import * as Decompression from "./Decompression.js"
import * as MediaType from "./MediaType.js"
import * as PlatformError from "./PlatformError.js"

type Response = HttpClientResponse.HttpClientResponse

/** How long to wait for the first part of a body that only explains a refusal. */
const REFUSAL_WAIT = "1 second"

const unreadable = (response: Response, why: string, cause?: unknown): TransportError =>
  new TransportError({
    reason: "Read",
    message: `The answer to ${response.request.method} ${why}`,
    cause: PlatformError.withoutHeaders(cause)
  })

/**
 * Returns the length that the server declares; `undefined` for a compressed body, because its length does not give the length of the text.
 */
const declaredLength = (headers: Headers.Headers): number | undefined => {
  const { "content-encoding": encoding, "content-length": length } = headers
  return length === undefined || encoding !== undefined || !/^\d{1,15}$/.test(length) ? undefined : Number(length)
}

/**
 * Reads the whole body. Fails with reason `Read` when the body is cut off. Fails with reason `Decode` when the body is not text in the
 * charset that its Content-Type names; without a charset, in UTF-8. When the body has more than `maxBytes` bytes, fails with the error that
 * `onTooLarge` makes from the size.
 */
export const text = (
  response: Response,
  maxBytes: number,
  // A parameter, because platforms make the headers again for each access.
  headers: Headers.Headers = response.headers,
  onTooLarge: (size: string) => TransportError = (size) => unreadable(response, `has ${size}`)
): Effect.Effect<string, TransportError> => {
  const declared = declaredLength(headers)
  if (declared !== undefined && declared > maxBytes) {
    return Effect.fail(onTooLarge(`${declared} bytes, more than ${maxBytes}`))
  }
  const isShort = declared !== undefined && declared <= SHORT
  return Effect.matchEffect(isShort ? whole(response) : gather(response, maxBytes), {
    onFailure: (cause) => isEmpty(cause) ? Effect.succeed("") : Effect.fail(unreadable(response, "was cut off", cause)),
    onSuccess: (bytes) => {
      if (bytes === undefined || bytes.length > maxBytes) return Effect.fail(onTooLarge(`more than ${maxBytes} bytes`))
      const charset = MediaType.charsetOf(headers["content-type"])
      const text = charset === undefined ? decode(bytes) : decodeAs(charset, bytes)
      if (Option.isSome(text)) return Effect.succeed(text.value)
      const what = charset === undefined ? "UTF-8" : `text in ${JSON.stringify(charset)}, the charset that it names`
      return Effect.fail(new TransportError({ reason: "Decode", message: `The server's answer is not ${what}` }))
    }
  })
}

// Both decoders leave out a byte order mark at the beginning, which some servers write.
const strict = new TextDecoder("utf-8", { fatal: true })

const lenient = new TextDecoder()

const decode = Option.liftThrowable((bytes: Uint8Array) => strict.decode(bytes))

/**
 * Decodes bytes in a charset. Returns `None` when the platform does not support the charset, or when the bytes are not valid in the
 * charset.
 */
const decodeAs = Option.liftThrowable((charset: string, bytes: Uint8Array) =>
  new TextDecoder(charset, { fatal: true }).decode(bytes)
)

/** Whether the failure only says that a response has no body. */
const isEmpty = (cause: unknown): boolean => (cause as { readonly reason?: unknown }).reason === "EmptyBody"

/**
 * How many bytes a body may have that the platform reads as a whole. For short bodies this is faster. For longer bodies it would be too
 * slow: Node joins all pieces again for each piece, and a server may send each byte as a piece.
 */
const SHORT = 16 * 1024

const whole = (response: Response) => Effect.map(response.arrayBuffer, (buffer) => new Uint8Array(buffer))

/** Reads all bytes of the body; `undefined` when there are more than `maxBytes`. */
const gather = (response: Response, maxBytes: number) =>
  Effect.suspend(() => {
    const buffer = new ByteBuffer(maxBytes)
    const reading = readWhile(response, (chunk) => buffer.add(chunk))
    return Effect.map(reading, () => buffer.size <= maxBytes ? buffer.all : undefined)
  })

/**
 * Reads the body until `isMoreWanted` returns `false`. Then cancels the body, and does not wait for the end of the cancellation: if the
 * application has cloned the response, the platform waits for the reader of the clone.
 */
const readWhile = (response: Response, isMoreWanted: (chunk: Uint8Array) => boolean) => {
  let isCut = false
  const reading = Stream.runForEachWhileScoped(Decompression.bytesOf(response), (chunk) =>
    Effect.sync(() => {
      isCut = !isMoreWanted(chunk)
      return !isCut
    }))
  return Effect.acquireUseRelease(
    Scope.make(),
    (scope) => Scope.extend(reading, scope),
    (scope, exit) => {
      const closing = Scope.close(scope, exit)
      return Effect.asVoid(Exit.isSuccess(exit) && !isCut ? closing : Effect.forkDaemon(closing))
    }
  )
}

/** Reads the first part of the body: what arrives within a second, and about `maxBytes` bytes at most. Never fails. */
export const beginning = (response: Response, maxBytes: number): Effect.Effect<string> =>
  Effect.suspend(() => {
    const buffer = new ByteBuffer(maxBytes)
    const reading = readWhile(response, (chunk) => {
      buffer.add(chunk)
      return buffer.size < maxBytes
    })
    return Effect.map(
      Effect.ignore(TimeLimit.end(reading, REFUSAL_WAIT)),
      () => lenient.decode(buffer.all)
    )
  })

/** Reads a short body to its end, so that its HTTP connection can be used again. Cancels any other body. */
export const discard = (response: Response): Effect.Effect<void> => {
  const declared = declaredLength(response.headers)
  return declared !== undefined && declared <= SHORT
    ? Effect.ignore(response.arrayBuffer)
    : Effect.asVoid(beginning(response, DISCARD))
}

const DISCARD = 64 * 1024
