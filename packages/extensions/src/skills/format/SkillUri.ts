/**
 * The URIs of skills, of their files and of their directories, for both sides: `SkillsClient` and `SkillCheck` read such URIs,
 * `SkillFiles` and `SkillRegistration` name files and directories by them, and `SkillIndex` makes the tree of directories. A URI that can
 * be understood in two ways names no file of a skill: for example with an empty name, `..`, an encoded slash, or a query.
 * A host may write the files of a skill to a disk, so a name also means itself on every system: it is not the name of a device, and
 * no program reads it as an instruction.
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
  name !== "" && name.length <= LONGEST_NAME && !UNSAFE.test(name) && !DEVICE.test(name) &&
  (!name.startsWith(".") || isHarmless(name))

/** Whether no program trusts a file of this name, which begins with a dot. */
export const isHarmless = (name: string): boolean => HARMLESS.has(name.toLowerCase())

/** File systems have names of at most 255 bytes. */
const LONGEST_NAME = 255

/**
 * A separator; a drive or a stream of Windows; a wildcard; a hidden character; what a shell expands or reads as an option; a dot or a space
 * that Windows drops; a short name such as `GIT~1`.
 */
const UNSAFE = /[/\\:*?"<>|\p{Cc}\p{Cs}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|^[~$%\s-]|[.\s]$|~\d/u

/** A name of a device of Windows, which has every extension. */
const DEVICE = /^(?:con|prn|aux|nul|conin\$|conout\$|clock\$|com[\d¹²³]|lpt[\d¹²³])\s*(?:\.|$)/i

/** Programs trust other names with a dot: `.git/config`, `.ssh`, `.bashrc`, `.env`. */
const HARMLESS: ReadonlySet<string> = new Set([
  ...[
    ".gitignore",
    ".gitkeep",
    ".keep",
    ".editorconfig",
    ".ds_store",
    ".nojekyll",
    ".dockerignore",
    ".npmignore",
    ".skillignore"
  ],
  ...[".python-version", ".node-version", ".nvmrc"]
])

/** The same text for two names that one file of some systems has. */
export const folded = (path: string): string => path.normalize("NFKC").toLowerCase()

// Leaves only the characters of RFC 3986 that are allowed in a host name and in a path.
const encode = (name: string): string =>
  encodeURIComponent(name).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`)

/** The URI of the directory of a skill, by the URI of its `SKILL.md`; `undefined` when the URI does not name a `SKILL.md`. */
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
  // The name of a server may have a port.
  return scheme === null
    ? undefined
    : decoded(uri.slice(scheme[0].length).replace(/^([\w.-]{1,255}):\d{1,5}(?=\/)/, "$1"))
}

const decoded = (path: string): ReadonlyArray<string> | undefined => {
  if (path.length > LONGEST || /[?#]/.test(path)) return undefined
  const names = path.split("/").map((name) => Either.getOrUndefined(Encoding.decodeUriComponent(name)))
  return names.every((name): name is string => name !== undefined && isSafe(name)) ? names : undefined
}
