/**
 * Decompresses the body of a response, for `ResponseBody` and `Events`. Some HTTP clients of platforms decompress a body but keep the
 * header that names the compression. Other clients do not decompress. A server may also compress a body although the client did not ask for
 * it. Therefore this module looks at the first bytes of the body: JSON and events never begin with the first bytes of a compressed body. A
 * body in a format that `DecompressionStream` of the web does not support stays compressed.
 */
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as StreamArrays from "../../kit/StreamArrays.js"

/** The formats by the name in the header, each with the bytes with which it begins. */
const formats: ReadonlyMap<string, readonly [format: "gzip" | "deflate", ...magic: ReadonlyArray<number>]> = new Map([
  ["gzip", ["gzip", 0x1f, 0x8b]],
  ["x-gzip", ["gzip", 0x1f, 0x8b]],
  ["deflate", ["deflate", 0x78]]
])

/** Returns the bytes of the body of a response. The body is decompressed while it is read, so that the reader can stop at a limit. */
export const bytesOf = (response: HttpClientResponse.HttpClientResponse): Stream.Stream<Uint8Array, unknown> => {
  const encoding = response.headers["content-encoding"]
  const known = encoding === undefined ? undefined : formats.get(encoding.trim().toLowerCase())
  if (known === undefined || typeof DecompressionStream === "undefined") return response.stream
  const [format, ...magic] = known
  return Stream.unwrapScoped(Effect.gen(function*() {
    // `Stream.peel` could also read the first bytes, but would add 20 kB to the bundle of an application.
    const pull = yield* StreamArrays.toPull(response.stream)
    const first = yield* Effect.catchAll(
      pull,
      Option.match({ onNone: () => Effect.succeed<ReadonlyArray<Uint8Array>>([]), onSome: Effect.fail })
    )
    const whole = Stream.concat(Stream.fromIterable(first), StreamArrays.fromPull(pull))
    const [bytes] = first
    const isCompressed = magic.every((byte, at) => bytes?.[at] === byte)
    return isCompressed ? decompressed(format, whole) : whole
  }))
}

const decompressed = (
  format: "gzip" | "deflate",
  bytes: Stream.Stream<Uint8Array, unknown>
): Stream.Stream<Uint8Array, unknown> =>
  Stream.unwrap(Effect.map(Stream.toReadableStreamEffect(bytes), (readable) =>
    Stream.fromReadableStream(
      // The stream accepts any bytes, but its type allows only bytes of an `ArrayBuffer`.
      () =>
        readable.pipeThrough(
          new DecompressionStream(format) as unknown as ReadableWritablePair<Uint8Array, Uint8Array>
        ),
      (cause) => cause
    )))
