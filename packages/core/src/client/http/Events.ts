/**
 * The body of a response as a stream of server-sent events. `jsonrpc/Sse` decodes the events. `legacy/EventStream`, `legacy/Post`,
 * `legacy/Sse` and `modern/Http` read these streams. A stream fails when its body is cut off. The bytes after an event are read only when
 * the consumer has handled the event, so a slow consumer slows the server down.
 */
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Stream from "effect/Stream"
import { TransportError } from "../../jsonrpc/LocalError.js"
import * as Oversized from "../../jsonrpc/runtime/Oversized.js"
import * as Sse from "../../jsonrpc/Sse.js"
import * as EventLoop from "../../kit/EventLoop.js"
import * as StreamArrays from "../../kit/StreamArrays.js"
import * as Decompression from "./Decompression.js"
import * as PlatformError from "./PlatformError.js"
import type { Settings } from "./Settings.js"

/** An event, or the notice that an event was dropped because it is too large. */
export type Event = Sse.Event | Sse.TooLarge

/**
 * Reads the events of a response. Fails with reason `Read` when the body is cut off, or when no byte comes within `readTimeout`
 * milliseconds.
 */
export const fromResponse = (
  response: HttpClientResponse.HttpClientResponse,
  { maxEventBytes, readTimeout }: Pick<Settings, "maxEventBytes" | "readTimeout">
): Stream.Stream<Event, TransportError> =>
  Stream.suspend(() => {
    const decoder = new Sse.Decoder({ maxEventBytes, reportAtEnd: Oversized.needsEnd })
    const bytes = Stream.mapError(Decompression.bytesOf(response), (cause) =>
      cutOff("The stream of events was cut off", cause))
    const timed = readTimeout === undefined
      ? bytes
      : Stream.timeoutFail(
        bytes,
        () =>
          cutOff(`The stream of events brought nothing for ${readTimeout} ms`),
        readTimeout
      )
    const events = StreamArrays.mapConcat(timed, (bytes) => decoder.push(bytes))
    return Stream.tap(events, () => EventLoop.received)
  })

const cutOff = (message: string, cause?: unknown): TransportError =>
  new TransportError({ reason: "Read", message, cause: PlatformError.withoutHeaders(cause) })
