/**
 * Whether the answer to a POST is JSON or an event stream, as both eras decide it (`legacy/Post`, `modern/Http`): JSON where nothing was
 * sent before the response, unless the endpoint prefers streams; a stream as soon as something was sent. A refusal has a status, so it is
 * JSON while it can be.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server
 */
import type * as MediaType from "./MediaType.js"

/** Whether something may be sent before the response. */
export const mayStream = (form: MediaType.Form): boolean => form !== "json"

/** Whether a stream begins before there is anything to send, so that the client sees that its request was taken. */
export const beginsAsStream = (form: MediaType.Form): boolean => form === "stream"

/** Whether the response leaves as JSON. */
export const isJson = (form: MediaType.Form, hasStream: boolean, isRefusal: boolean): boolean =>
  !hasStream && (isRefusal || form !== "stream")
