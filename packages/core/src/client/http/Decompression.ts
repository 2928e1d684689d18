/**
 * The bytes of a body as the server meant them, for `ResponseBody` and `Events`. Some of the platform's HTTP clients decompress bodies,
 * and leave the header that names the compression; others do not, and a server may compress without being asked to. So the first bytes
 * decide: neither JSON nor an event begins as a compressed body does. A format that the web's `DecompressionStream` does not know stays
 * compressed.
 */
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as StreamArrays from "../../kit/StreamArrays.js"

/** The formats by the name of the header, and the bytes that they begin with. */
const formats: ReadonlyMap<string, readonly [format: "gzip" | "deflate", ...magic: ReadonlyArray<number>]> = new Map([
  ["gzip", ["gzip", 0x1f, 0x8b]],
  ["x-gzip", ["gzip", 0x1f, 0x8b]],
  ["deflate", ["deflate", 0x78]]
])

/** The body. It is decompressed as it is read, so that its reader can stop at a limit. */
export const bytesOf = (response: HttpClientResponse.HttpClientResponse): Stream.Stream<Uint8Array, unknown> => {
  const encoding = response.headers["content-encoding"]
  const known = encoding === undefined ? undefined : formats.get(encoding.trim().toLowerCase())
  if (known === undefined || typeof DecompressionStream === "undefined") return response.stream
  const [format, ...magic] = known
  return Stream.unwrapScoped(Effect.gen(function*() {
    // `Stream.peel` would read the first bytes, too, and add 20 kB to the bundle of an application.
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
      // The stream takes any bytes, but its type allows the bytes of an `ArrayBuffer` only.
      () =>
        readable.pipeThrough(
          new DecompressionStream(format) as unknown as ReadableWritablePair<Uint8Array, Uint8Array>
        ),
      (cause) => cause
    )))
