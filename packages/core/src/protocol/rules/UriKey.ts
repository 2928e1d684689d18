/**
 * Makes the key under which a resource is found by its URI. URIs that RFC 3986 counts as equal have equal keys. In a key, scheme and host
 * are in lower case, percent-encoded triplets are in upper case, unreserved characters are decoded, other characters are encoded as UTF-8,
 * and the path of a web URL is at least "/".
 *
 * Use a key only for comparisons. Handlers, peers and logs get the original URI. This module never decodes `%2F` and never resolves `..`,
 * because each server decides what the segments of a path mean.
 *
 * @see https://www.rfc-editor.org/rfc/rfc3986#section-6.2
 */
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"

/** How many characters a URI may have to be normalized. A longer URI is its own key, because a peer may send a URI of any length. */
const MAX_LENGTH = 65_536

export const of = (uri: string): string => {
  if (uri.length > MAX_LENGTH) return uri
  const scheme = schemeOf.exec(uri)?.[0] ?? ""
  const rest = uri.slice(scheme.length)
  return normalScheme(scheme, rest) + path(rest.slice(authorityOf(rest).length), pathIsNeeded(scheme, rest))
}

/** Returns the key of the beginning of a URI, such as the text before the first variable of a template. */
export const ofStart = (text: string): string => {
  const key = of(text)
  // The host or the path may continue after the text, so the slash that `of` adds is removed.
  return key.endsWith("/") && !text.endsWith("/") ? key.slice(0, -1) : key
}

const schemeOf = /^[A-Za-z][A-Za-z0-9+.-]*:/

/** Returns the authority of a URI, with the two slashes before it; the empty string when the URI has no authority. */
const authorityOf = (rest: string): string => /^\/\/[^/?#]*/.exec(rest)?.[0] ?? ""

const webPorts: Readonly<Record<string, string>> = { "http:": "80", "https:": "443", "ws:": "80", "wss:": "443" }

const pathIsNeeded = (scheme: string, rest: string): boolean =>
  Object.hasOwn(webPorts, scheme.toLowerCase()) && authorityOf(rest).length > 2

const path = (text: string, isNeeded: boolean): string =>
  isNeeded && !text.startsWith("/") ? `/${ofPart(text)}` : ofPart(text)

/** Normalizes the scheme and the authority. In the authority, only the host is not case-sensitive. */
const normalScheme = (given: string, rest: string): string => {
  const scheme = given.toLowerCase()
  const authority = authorityOf(rest)
  const host = authority.lastIndexOf("@") + 1
  const server = ofPart(authority.slice(host)).replace(
    triplets,
    (part) => part.startsWith("%") ? part : part.toLowerCase()
  )
  const port = /:(\d*)$/.exec(server)
  const isDefault = port !== null && (port[1] === "" || port[1] === webPorts[scheme])
  return scheme + ofPart(authority.slice(0, host)) + (isDefault ? server.slice(0, port.index) : server)
}

/** Percent-encoded triplets, and the text between them. */
const triplets = /%[0-9A-F]{2}|[^%]+/g

/** The parts that a URI can write in more than one way: triplets, and characters that are not allowed in a URI. */
const odd = /%[0-9A-Fa-f]{2}|[^\x21\x23-\x3b\x3d\x3f-\x5b\x5d\x5f\x61-\x7a\x7e]+/gu

/** Returns the key of a part of a URI that follows the host. */
export const ofPart = (text: string): string =>
  text.replace(odd, (part) => part.length === 3 && part.startsWith("%") ? triplet(part) : encoded(part))

const triplet = (text: string): string => {
  const character = String.fromCharCode(Number.parseInt(text.slice(1), 16))
  return /[A-Za-z0-9._~-]/.test(character) ? character : text.toUpperCase()
}

const encoded = (text: string): string =>
  Either.getOrElse(Encoding.encodeUriComponent(text.replace(/\p{Cs}/gu, "\uFFFD")), () => text)
