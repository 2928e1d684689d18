/**
 * Parses Accept as a list and Content-Type as a type, for `dispatch/Stages`, `JsonOrStream`, `legacy/Http` and `modern/Http`. A media type
 * counts only when it is a whole element of the list, not when it is a part of another text.
 */
import type { Headers } from "./HttpExchange.js"

/** The forms of an answer that a client accepts. */
export interface Accepted {
  readonly json: boolean
  readonly events: boolean
}

/**
 * Parses an Accept header. Wildcards count. A weight of zero (`q=0`) forbids a type. A client without an Accept header, or with an empty
 * Accept header, accepts everything (RFC 9110, 12.5.1).
 */
export const accepted = (accept: string | undefined): Accepted => {
  if (accept === last.accept) return last.accepted
  const parsed = parse(accept)
  last = { accept, accepted: parsed }
  return parsed
}

// A client sends the same header with each request, so this module caches the last result.
let last: { readonly accept: string | undefined; readonly accepted: Accepted } = {
  accept: undefined,
  accepted: { json: true, events: true }
}

/**
 * The form of the response to a POST. `auto`: JSON, or an event stream when the server sends a message before the response. `json`: always
 * JSON. `stream`: always an event stream.
 */
export type Form = "auto" | "json" | "stream"

/**
 * Gives the form of the response to a POST. When the client accepts both forms, gives the form that the endpoint prefers. When the client
 * accepts only one form, gives this form. (Clients MUST accept both forms, but many clients accept only one.) Gives `undefined` when the
 * client accepts no form.
 */
export const formOf = (accept: string | undefined, preferred: Form): Form | undefined => {
  const { events, json } = accepted(accept)
  if (json) return events ? preferred : "json"
  return events ? "stream" : undefined
}

const parse = (accept = ""): Accepted => {
  const types = new Map<string, boolean>()
  if (/^[\s,]*$/.test(accept)) types.set("*/*", true)
  for (const range of accept.toLowerCase().split(",")) {
    const [type, ...parameters] = range.split(";").map((part) => part.trim())
    types.set(type!, !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter)))
  }
  // The most specific type decides.
  const allows = (type: string, any: string) => types.get(type) ?? types.get(any) ?? types.get("*/*") ?? false
  return { json: allows("application/json", "application/*"), events: allows("text/event-stream", "text/*") }
}

/**
 * Whether the Content-Type is JSON in UTF-8, without a Content-Encoding. The endpoint refuses other types, because a page of another site
 * may send a type such as `text/plain` without a preflight request.
 */
export const isJson = (headers: Headers): boolean => {
  const type = headers["content-type"]
  const encoding = headers["content-encoding"]
  if (encoding !== undefined && encoding.trim().toLowerCase() !== "identity") return false
  return type === "application/json" || (type !== undefined && isJsonType(type))
}

const isJsonType = (value: string): boolean => {
  const [type, ...parameters] = value.toLowerCase().split(";").map((part) => part.trim())
  return type === "application/json" && parameters.every(isParameter)
}

// An empty parameter is allowed (RFC 9110, 5.6.6).
const isParameter = (parameter: string): boolean =>
  parameter === "" || /^charset=("utf-?8"|utf-?8)$/.test(parameter) ||
  (/^[!#$%&'*+.^_`|~\w-]+=([!#$%&'*+.^_`|~\w-]+|"[^"\\]*")$/.test(parameter) && !parameter.startsWith("charset="))
