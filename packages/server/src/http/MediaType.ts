/**
 * Accept and Content-Type, read as the lists and types they are: a media type that merely occurs in one is not meant.
 *
 * It knows what the endpoint needs of them and no more.
 *
 * @since 0.1.0
 */
import type { Headers } from "./HttpExchange.js"

/**
 * What a client can be answered with.
 *
 * @since 0.1.0
 * @category models
 */
export interface Accepted {
  readonly json: boolean
  readonly events: boolean
}

/**
 * What an Accept header allows. Wildcards count; a weight of zero says no. Without one nothing is allowed: the
 * specification requires it, and the official SDKs insist on it, too.
 *
 * @since 0.1.0
 * @category parsing
 */
export const accepted = (accept: string | undefined): Accepted => {
  if (accept === last.accept) return last.accepted
  const parsed = parse(accept)
  last = { accept, accepted: parsed }
  return parsed
}

// Clients say the same in each request.
let last: { readonly accept: string | undefined; readonly accepted: Accepted } = {
  accept: undefined,
  accepted: { json: false, events: false }
}

const parse = (accept = ""): Accepted => {
  const types = new Map<string, boolean>()
  for (const range of accept.toLowerCase().split(",")) {
    const [type, ...parameters] = range.split(";").map((part) => part.trim())
    types.set(type!, !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter)))
  }
  // The most specific one decides.
  const allows = (type: string, any: string) => types.get(type) ?? types.get(any) ?? types.get("*/*") ?? false
  return { json: allows("application/json", "application/*"), events: allows("text/event-stream", "text/*") }
}

/**
 * Whether the body says that it is JSON, in UTF-8, as it is.
 *
 * A page of another site may send `text/plain` without asking first, so nothing but the type itself will do.
 *
 * @since 0.1.0
 * @category predicates
 */
export const isJson = (headers: Headers): boolean => {
  const type = headers["content-type"]
  const encoding = headers["content-encoding"]
  if (encoding !== undefined && encoding.trim().toLowerCase() !== "identity") return false
  return type === "application/json" || (type !== undefined && isJsonType(type))
}

const isJsonType = (value: string): boolean => {
  const [type, ...parameters] = value.toLowerCase().split(";").map((part) => part.trim())
  return type === "application/json" &&
    parameters.every((parameter) => !parameter.startsWith("charset=") || /^charset="?utf-?8"?$/.test(parameter))
}
