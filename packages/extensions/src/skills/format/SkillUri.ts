/**
 * Reads and makes the URIs of skills, of their files and of their directories. This module refuses a URI that programs could understand in
 * different ways, for example a URI with an empty name, `..`, an encoded slash, or a query. A host may write the files of a skill to a
 * disk. So this module also refuses names that are unsafe on any system, such as the name of a device, or a name that programs treat
 * specially. `SkillsClient` and `SkillCheck` read these URIs. `SkillFiles` and `SkillRegistration` make them. `SkillIndex` makes the tree
 * of directories from them.
 */
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"
import { FILE } from "../Skills.js"

/** Returns the URI of a path below `skill://`; `undefined` when the path has an unsafe name. */
export const fromPath = (path: string): string | undefined => {
  const names = path.split("/")
  return names.every(isSafe) ? `skill://${names.map(encode).join("/")}` : undefined
}

/** Returns whether a name is safe as the name of a file or directory on every system. */
const isSafe = (name: string): boolean =>
  name !== "" && name.length <= LONGEST_NAME && !UNSAFE.test(name) && !DEVICE.test(name) &&
  (!name.startsWith(".") || isHarmless(name))

/** Returns whether a name that begins with a dot is safe. Such a name is safe if no program runs or obeys a file with this name. */
export const isHarmless = (name: string): boolean => HARMLESS.has(name.toLowerCase())

/** Most file systems limit a name to 255 bytes. */
const LONGEST_NAME = 255

/**
 * Finds an unsafe name. An unsafe name contains a separator, a drive or a stream of Windows, a wildcard, or a hidden character. Or it
 * begins with a character that a shell expands or reads as an option. Or it ends with a dot or a space, which Windows removes. Or it is a
 * short name such as `GIT~1`.
 */
const UNSAFE = /[/\\:*?"<>|\p{Cc}\p{Cs}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|^[~$%\s-]|[.\s]$|~\d/u

/** The name of a device of Windows, with any extension. */
const DEVICE = /^(?:con|prn|aux|nul|conin\$|conout\$|clock\$|com[\d¹²³]|lpt[\d¹²³])\s*(?:\.|$)/i

/**
 * The safe names that begin with a dot. Other names that begin with a dot are not safe, because programs run or obey such files, for
 * example `.git/config`, `.ssh`, `.bashrc` and `.env`.
 */
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

/** Returns a path in a form for comparison. When two paths are the same file on some system, their forms are equal. */
export const folded = (path: string): string => path.normalize("NFKC").toLowerCase()

// Encodes all characters except those that RFC 3986 allows both in a host name and in a path.
const encode = (name: string): string =>
  encodeURIComponent(name).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`)

/**
 * Returns the URI of the directory of a skill. `uri` is the URI of the skill's `SKILL.md`. Returns `undefined` when `uri` is not the URI of
 * a `SKILL.md`.
 */
export const root = (uri: string): string | undefined => {
  const directory = uri.endsWith(`/${FILE}`) ? uri.slice(0, -FILE.length - 1) : undefined
  return directory !== undefined && namesOf(directory) !== undefined ? directory : undefined
}

/** Returns the last name in a path or a URI. */
export const nameOf = (directory: string): string => directory.slice(directory.lastIndexOf("/") + 1)

/** Returns the directories that contain a path or a URI of a skill, the innermost first. */
export const directories = (path: string): ReadonlyArray<string> => {
  const found: Array<string> = []
  const scheme = path.indexOf("://")
  const first = scheme === -1 ? 0 : scheme + 3
  for (let end = path.lastIndexOf("/"); end > first; end = path.lastIndexOf("/", end - 1)) {
    found.push(path.slice(0, end))
  }
  return found
}

/** Returns the decoded path of a file below a directory; `undefined` when the URI of the file is not below the directory. */
export const within = (directory: string, uri: string): string | undefined =>
  uri.startsWith(`${directory}/`) ? decoded(uri.slice(directory.length + 1))?.join("/") : undefined

const LONGEST = 8192

const namesOf = (uri: string): ReadonlyArray<string> | undefined => {
  const scheme = /^[A-Za-z][A-Za-z0-9+.-]*:\/\//.exec(uri)
  // The first name may be a host with a port.
  return scheme === null
    ? undefined
    : decoded(uri.slice(scheme[0].length).replace(/^([\w.-]{1,255}):\d{1,5}(?=\/)/, "$1"))
}

const decoded = (path: string): ReadonlyArray<string> | undefined => {
  if (path.length > LONGEST || /[?#]/.test(path)) return undefined
  const names = path.split("/").map((name) => Either.getOrUndefined(Encoding.decodeUriComponent(name)))
  return names.every((name): name is string => name !== undefined && isSafe(name)) ? names : undefined
}
