/**
 * A response that is a stream of events, read to its end. What is to be done about an event is done before the next one is
 * looked at; bytes that nobody is ready for wait with the server.
 *
 * @since 0.1.0
 */
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import { TransportError } from "@effect-mcp/jsonrpc/LocalError"
import * as Sse from "@effect-mcp/jsonrpc/Sse"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"

/**
 * Hears of each event; gives what to wait for before the next, if there is anything.
 *
 * @since 0.1.0
 * @category models
 */
export type Hear = (event: Sse.Event | Sse.TooLarge) => Effect.Effect<void> | undefined

/**
 * Reads events to the end of the stream. Fails with reason `Read` when it is cut off.
 *
 * @since 0.1.0
 * @category reading
 */
export const read = (
  response: HttpClientResponse.HttpClientResponse,
  maxEventBytes: number,
  hear: Hear
): Effect.Effect<void, TransportError> => {
  const decoder = new Sse.Decoder({ maxEventBytes })
  return Effect.mapError(
    Stream.runForEachChunk(response.stream, (chunk) =>
      Effect.suspend(() => {
        const events: Array<Sse.Event | Sse.TooLarge> = []
        for (const bytes of Chunk.toReadonlyArray(chunk)) {
          for (const event of decoder.push(bytes)) events.push(event)
        }
        return each(events, 0, hear)
      })),
    (cause) => new TransportError({ reason: "Read", message: "The stream of events was cut off", cause })
  )
}

const each = (events: ReadonlyArray<Sse.Event | Sse.TooLarge>, from: number, hear: Hear): Effect.Effect<void> => {
  for (let at = from; at < events.length; at++) {
    const first = hear(events[at]!)
    if (first !== undefined) return Effect.zipRight(first, Effect.suspend(() => each(events, at + 1, hear)))
  }
  return Effect.void
}
