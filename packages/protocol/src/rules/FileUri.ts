/**
 * Which `file:` URIs a program may open: those whose path cannot leave its folder, however it is written. A URI that
 * could be read in two ways is refused. This module reads no disk: the program must still check symbolic links.
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/resources#security-considerations
 */
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"
import * as Option from "effect/Option"

const MAX_LENGTH = 65_536
const scheme = /^file:(?:\/\/(?:localhost)?\/|\/(?!\/))/i

/** The decoded names in the path of a URI, from the root of the disk. Left: why the URI is not safe. */
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

/**
 * The names that lead from a folder to a URI in it; an empty list for the folder itself. None when the URI is not in
 * the folder, or one of the two is not safe.
 */
export const below = (folder: string, uri: string): Option.Option<ReadonlyArray<string>> => {
  const above = segments(folder)
  const names = segments(uri)
  return Either.isRight(above) && Either.isRight(names) && beginsWith(names.right, above.right)
    ? Option.some(names.right.slice(above.right.length))
    : Option.none()
}

const beginsWith = (names: ReadonlyArray<string>, above: ReadonlyArray<string>): boolean =>
  above.every((name, i) => names[i] === name)

/** Whether a URI is one of these folders or lies in one: for instance in a root of the client. */
export const isWithin = (folders: ReadonlyArray<string>, uri: string): boolean =>
  Either.match(segments(uri), {
    onLeft: () => false,
    onRight: (names) =>
      folders.some((folder) => Option.exists(Either.getRight(segments(folder)), (above) => beginsWith(names, above)))
  })

const machine = /^file:\/\/[^/]+\//i

/**
 * Why a URI must not be a root of a client; `undefined` when it may. A root may lie on another machine.
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/roots#security-considerations
 */
export const rootProblem = (uri: string): string | undefined =>
  /^file:\/\//i.test(uri)
    ? Either.getOrUndefined(Either.flip(segments(uri.replace(machine, "file:///"))))
    : "it does not begin with file://"

const drive = /^[A-Za-z]:/

/**
 * Whether a decoded text from a peer is a path that stays below the folder it is appended to, such as the value of a
 * URI template's variable. Slashes separate names; an empty text is not a path.
 */
export const isRelative = (path: string): boolean =>
  path.length <= MAX_LENGTH && !drive.test(path) && path.split("/").every((name) => Either.isRight(plain(name)))
