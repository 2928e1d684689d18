/**
 * Which `file:` addresses may be followed: those that lead down from a folder, whatever is written into them. An address
 * is read once, segment by segment, and one that could be read in two ways is refused.
 *
 * Nothing here touches a disk: whoever opens what is found must still mind links that lead out of a folder.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/resources#security-considerations
 * @since 0.1.0
 */
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"
import * as Option from "effect/Option"

const MAX_LENGTH = 65_536
const scheme = /^file:(?:\/\/(?:localhost)?\/|\/(?!\/))/i

/**
 * The names that an address leads through, from the root of the disk, decoded; or why it must not be followed: another
 * scheme or machine, a way up, a separator or a control character in a name, an empty name.
 *
 * @since 0.1.0
 * @category decoding
 */
export const segments = (uri: string): Either.Either<ReadonlyArray<string>, string> => {
  if (uri.length > MAX_LENGTH) return Either.left("the address is too long")
  const opening = scheme.exec(uri)
  if (opening === null) return Either.left("not a file of this machine")
  const path = uri.slice(opening[0].length)
  if (path.includes("?") || path.includes("#")) return Either.left("a file has no query and no fragment")
  // A folder may end with a slash.
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
    ? Either.left("the address leads up")
    : isClean(name)
    ? Either.right(name)
    : Either.left("a name has a separator or a control character in it")

const isClean = (name: string): boolean => {
  for (let i = 0; i < name.length; i++) {
    const code = name.charCodeAt(i)
    if (code < 0x20 || code === 0x7f || code === 0x2f || code === 0x5c) return false
  }
  return true
}

/**
 * The names that lead from a folder to an address in it; none for the folder itself. None at all when it is not in the
 * folder, or either must not be followed.
 *
 * @since 0.1.0
 * @category getters
 */
export const below = (folder: string, uri: string): Option.Option<ReadonlyArray<string>> => {
  const above = segments(folder)
  const names = segments(uri)
  return Either.isRight(above) && Either.isRight(names) && above.right.every((name, i) => names.right[i] === name)
    ? Option.some(names.right.slice(above.right.length))
    : Option.none()
}

/**
 * Whether an address is one of these folders or lies in one: the roots that a client gave, say.
 *
 * @since 0.1.0
 * @category predicates
 */
export const isWithin = (folders: ReadonlyArray<string>, uri: string): boolean =>
  folders.some((folder) => Option.isSome(below(folder, uri)))

const drive = /^[A-Za-z]:/

/**
 * Whether a text that a peer chose, decoded, is a path that stays below the folder it is put behind: the value of a
 * variable of a template, say. Slashes separate names; an empty text is no path.
 *
 * @since 0.1.0
 * @category predicates
 */
export const isRelative = (path: string): boolean =>
  path.length <= MAX_LENGTH && !drive.test(path) && path.split("/").every((name) => Either.isRight(plain(name)))
