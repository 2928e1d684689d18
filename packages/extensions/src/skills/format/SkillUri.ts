/**
 * The URIs of skills, of their files and of their directories. A URI that can be understood in two ways names no file of a skill:
 * for example with an empty name, `..`, an encoded slash, or a query.
 */
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"
import { FILE } from "../Skills.js"

/** The URI of a path below `skill://`. `undefined` for a path with an unsafe name. */
export const fromPath = (path: string): string | undefined => {
  const names = path.split("/")
  return names.every(isSafe) ? `skill://${names.map(encode).join("/")}` : undefined
}

/** Whether a name in a path has no special meaning. */
const isSafe = (name: string): boolean =>
  name !== "" && name !== "." && name !== ".." && !/[/\\\p{Cc}\p{Cs}]/u.test(name)

// Leaves only the characters of RFC 3986 that are allowed in a host name and in a path.
const encode = (name: string): string =>
  encodeURIComponent(name).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`)

/** The URI of the directory of a skill, by the URI of its `SKILL.md`; `undefined` when the URI is not that of a `SKILL.md`. */
export const root = (uri: string): string | undefined => {
  const directory = uri.endsWith(`/${FILE}`) ? uri.slice(0, -FILE.length - 1) : undefined
  return directory !== undefined && namesOf(directory) !== undefined ? directory : undefined
}

/** The last name in the URI of a directory. */
export const nameOf = (directory: string): string => directory.slice(directory.lastIndexOf("/") + 1)

/** The directories that contain a path or a URI of a skill, the innermost first. */
export const directories = (path: string): ReadonlyArray<string> => {
  const found: Array<string> = []
  const scheme = path.indexOf("://")
  const first = scheme === -1 ? 0 : scheme + 3
  for (let end = path.lastIndexOf("/"); end > first; end = path.lastIndexOf("/", end - 1)) {
    found.push(path.slice(0, end))
  }
  return found
}

/** The decoded path of a file below a directory; `undefined` when the URI of the file is not below the directory. */
export const within = (directory: string, uri: string): string | undefined =>
  uri.startsWith(`${directory}/`) ? decoded(uri.slice(directory.length + 1))?.join("/") : undefined

const LONGEST = 8192

const namesOf = (uri: string): ReadonlyArray<string> | undefined => {
  const scheme = /^[A-Za-z][A-Za-z0-9+.-]*:\/\//.exec(uri)
  return scheme === null ? undefined : decoded(uri.slice(scheme[0].length))
}

const decoded = (path: string): ReadonlyArray<string> | undefined => {
  if (path.length > LONGEST || /[?#]/.test(path)) return undefined
  const names = path.split("/").map((name) => Either.getOrUndefined(Encoding.decodeUriComponent(name)))
  return names.every((name): name is string => name !== undefined && isSafe(name)) ? names : undefined
}
