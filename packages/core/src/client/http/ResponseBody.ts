/**
 * Reads the bodies of responses as text, within bounds, or discards them, for the transports of both eras (`legacy/Post`, `modern/Http`),
 * for `RefusedResponse`, and for `Documents` of package `auth`. A body that nothing reads would keep its connection for ever: after each
 * of these functions that succeeds, the body is read or cancelled; after a function that fails, `HttpSender` closes the connection.
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

/** The length that the server declares. The length of a compressed body says nothing about the text. */
const declaredLength = (headers: Headers.Headers): number | undefined => {
  const { "content-encoding": encoding, "content-length": length } = headers
  return length === undefined || encoding !== undefined || !/^\d{1,15}$/.test(length) ? undefined : Number(length)
}

/**
 * The whole body. Fails with reason `Read` when it is cut off, and with `Decode` when it is not text in the charset that its Content-Type
 * names, UTF-8 where it names none. Fails with what `onTooLarge` makes of the size when the body has more bytes.
 */
export const text = (
  response: Response,
  maxBytes: number,
  // Platforms make the headers anew for each access.
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

// Both leave out a byte order mark at the beginning, which some servers write.
const strict = new TextDecoder("utf-8", { fatal: true })

const lenient = new TextDecoder()

const decode = Option.liftThrowable((bytes: Uint8Array) => strict.decode(bytes))

/** `undefined` for a charset that the platform does not know. */
const decodeAs = Option.liftThrowable((charset: string, bytes: Uint8Array) =>
  new TextDecoder(charset, { fatal: true }).decode(bytes)
)

/** Platforms fail where a response has no body. */
const isEmpty = (cause: unknown): boolean => (cause as { readonly reason?: unknown }).reason === "EmptyBody"

/**
 * The platform reads a body of so many bytes, which is faster. Node joins all pieces anew for each piece, and a server may send a piece for
 * each byte.
 */
const SHORT = 16 * 1024

const whole = (response: Response) => Effect.map(response.arrayBuffer, (buffer) => new Uint8Array(buffer))

/** All bytes; `undefined` when there are more than that. */
const gather = (response: Response, maxBytes: number) =>
  Effect.suspend(() => {
    const buffer = new ByteBuffer(maxBytes)
    const reading = readWhile(response, (chunk) => buffer.add(chunk))
    return Effect.map(reading, () => buffer.size <= maxBytes ? buffer.all : undefined)
  })

/**
 * Reads the body until the function has enough. Then nothing waits for the body to be cancelled: where the application has
 * cloned the response, the platform waits for the reader of the clone.
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

/** The first part of the body: what comes within a second, and no more than that many bytes. Never fails. */
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

/** Reads a short body to its end, so that its connection can be used again; cancels any other. */
export const discard = (response: Response): Effect.Effect<void> => {
  const declared = declaredLength(response.headers)
  return declared !== undefined && declared <= SHORT
    ? Effect.ignore(response.arrayBuffer)
    : Effect.asVoid(beginning(response, DISCARD))
}

const DISCARD = 64 * 1024
