/**
 * The body of a response as a stream of server-sent events. It fails when the body is cut off. The bytes after an event are
 * read only when the consumer is done with the event, so a slow consumer slows the server down.
 */
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import { TransportError } from "@effect-mcp/jsonrpc/LocalError"
import * as Sse from "@effect-mcp/jsonrpc/Sse"
import * as Oversized from "@effect-mcp/jsonrpc/unstable/Oversized"
import * as Chunk from "effect/Chunk"
import * as Stream from "effect/Stream"

/** An event, or the notice that one was dropped because it is too large. */
export type Event = Sse.Event | Sse.TooLarge

/** The events of a response. Fails with reason `Read`. */
export const fromResponse = (
  response: HttpClientResponse.HttpClientResponse,
  maxEventBytes: number
): Stream.Stream<Event, TransportError> =>
  Stream.suspend(() => {
    const decoder = new Sse.Decoder({ maxEventBytes, reportAtEnd: Oversized.needsEnd })
    return Stream.mapChunks(response.stream, Chunk.flatMap((bytes) => Chunk.unsafeFromArray(decoder.push(bytes))))
  }).pipe(
    Stream.mapError((cause) =>
      new TransportError({ reason: "Read", message: "The stream of events was cut off", cause })
    )
  )
