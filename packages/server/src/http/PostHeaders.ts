/**
 * The refusal of a POST that its headers alone decide, before its body is read: the client accepts no answer that this server
 * sends, or the body is of another type, in another coding or too large.
 */
import type { HttpRefusal } from "../HttpRefusal.js"
import type { Headers } from "./HttpExchange.js"
import * as MediaType from "./MediaType.js"
import * as Refusal from "./Refusal.js"

/** `unaccepted` are the media types of answers, where the client does not accept them. */
export const refusal = (
  headers: Headers,
  unaccepted: string | undefined,
  maxBodyBytes: number
): HttpRefusal | undefined => {
  if (unaccepted !== undefined) return Refusal.notAcceptable(unaccepted)
  // Node removes the last coding, which must be chunked, and leaves the others to us.
  const coding = headers["transfer-encoding"]
  if (coding !== undefined && coding.trim().toLowerCase() !== "chunked") return Refusal.unsupportedTransferCoding
  if (!MediaType.isJson(headers)) return Refusal.unsupportedMediaType
  return Number(headers["content-length"] ?? 0) > maxBodyBytes ? Refusal.tooLarge(maxBodyBytes) : undefined
}
