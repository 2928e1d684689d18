/**
 * Decides whether the answer to a POST is JSON or an event stream, for `legacy/Post` and `modern/Http`. When the server sends a message
 * before the response, the answer is a stream. When the server sends nothing before the response, the answer is JSON, unless the endpoint
 * prefers streams. A refusal that comes before a stream has begun is always JSON, because the refusal needs its own HTTP status.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server
 */
import type * as MediaType from "./MediaType.js"

/** Whether the server may send a message before the response. */
export const mayStream = (form: MediaType.Form): boolean => form !== "json"

/** Whether the server begins a stream before it has a message to send. The client then knows that the server has accepted the request. */
export const beginsAsStream = (form: MediaType.Form): boolean => form === "stream"

/** Whether the server sends the response as JSON. */
export const isJson = (form: MediaType.Form, hasStream: boolean, isRefusal: boolean): boolean =>
  !hasStream && (isRefusal || form !== "stream")
