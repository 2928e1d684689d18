/**
 * The URIs of skills and of their files. A URI that could be read in two ways is no file of a skill: with an empty name, a
 * `..`, an encoded slash, a query.
 */
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"
import { FILE } from "../Skills.js"

/** The URI of a path below `skill://`. `undefined` for a path with an unsafe name. */
export const fromPath = (path: string): string | undefined => {
  const names = path.split("/")
  return names.every(isSafe) ? `skill://${names.map(encode).join("/")}` : undefined
}

/** A name that means itself in a path. */
export const isSafe = (name: string): boolean =>
  name !== "" && name !== "." && name !== ".." && !/[/\\\p{Cc}\p{Cs}]/u.test(name)

// The characters of RFC 3986 that a host name and a path may both have.
const encode = (name: string): string =>
  encodeURIComponent(name).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`)

/** The URI of the directory of a skill; `undefined` when no `SKILL.md` of a skill has this URI. */
export const root = (uri: string): string | undefined => {
  const directory = uri.endsWith(`/${FILE}`) ? uri.slice(0, -FILE.length - 1) : undefined
  return directory !== undefined && namesOf(directory) !== undefined ? directory : undefined
}

/** The last name in the URI of a directory. */
export const nameOf = (directory: string): string => directory.slice(directory.lastIndexOf("/") + 1)

/** The path of a file below a directory, decoded; `undefined` when the URI is not below it. */
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
