/**
 * Whether the answer to a POST is JSON or an event stream. Both protocol eras decide it in the same way (`legacy/Post`, `modern/Http`). The
 * answer is JSON when nothing was sent before the response and the endpoint does not prefer streams. It is a stream as soon as something
 * was sent before. A refusal has a status, so it is JSON as long as no stream has begun.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server
 */
import type * as MediaType from "./MediaType.js"

/** Whether a message may be sent before the response. */
export const mayStream = (form: MediaType.Form): boolean => form !== "json"

/** Whether a stream begins before there is a message to send, so that the client sees that its request was accepted. */
export const beginsAsStream = (form: MediaType.Form): boolean => form === "stream"

/** Whether the response leaves as JSON. */
export const isJson = (form: MediaType.Form, hasStream: boolean, isRefusal: boolean): boolean =>
  !hasStream && (isRefusal || form !== "stream")
