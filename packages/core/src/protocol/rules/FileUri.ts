/**
 * Checks which `file:` URIs may be roots of a client (`client/ClientFeatures`). A URI may be a root only if its path cannot lead out of the
 * folder that the URI names. The check refuses a URI that could be interpreted in two ways. This module does not read the disk, so code
 * that opens a file must also check symbolic links.
 */
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"

const MAX_LENGTH = 65_536
const scheme = /^file:(?:\/\/(?:localhost)?\/|\/(?!\/))/i

/** Returns the decoded names in the path of a URI, beginning at the root of the disk. On the left: the reason why the URI is not safe. */
export const segments = (uri: string): Either.Either<ReadonlyArray<string>, string> => {
  if (uri.length > MAX_LENGTH) return Either.left("it is too long")
  const opening = scheme.exec(uri)
  if (opening === null) return Either.left("it is not a file: URI of this machine")
  const path = uri.slice(opening[0].length)
  if (path.includes("?") || path.includes("#")) return Either.left("it has a query or a fragment")
  // The URI of a folder may end with a slash.
  const names = path.endsWith("/") ? path.slice(0, -1).split("/") : path === "" ? [] : path.split("/")
  return Either.all(names.map(segment))
}

const segment = (encoded: string): Either.Either<string, string> => {
  const decoded = Encoding.decodeUriComponent(encoded)
  return Either.isLeft(decoded) ? Either.left("a name is not percent-encoded UTF-8") : plain(decoded.right)
}

const plain = (name: string): Either.Either<string, string> =>
  name === ""
    ? Either.left("a name is empty")
    : name === "." || name === ".."
    ? Either.left("it contains \"..\" or \".\"")
    : isClean(name)
    ? Either.right(name)
    : Either.left("a name contains a separator or a control character")

const isClean = (name: string): boolean => {
  for (let i = 0; i < name.length; i++) {
    const code = name.charCodeAt(i)
    if (code < 0x20 || code === 0x7f || code === 0x2f || code === 0x5c) return false
  }
  return true
}

const machine = /^file:\/\/[^/]+\//i

/**
 * Returns the reason why a URI must not be a root of a client; `undefined` when the URI may be a root. A root may be on another machine.
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/roots#security-considerations
 */
export const rootProblem = (uri: string): string | undefined =>
  /^file:\/\//i.test(uri)
    ? Either.getOrUndefined(Either.flip(segments(uri.replace(machine, "file:///"))))
    : "it does not begin with file://"
