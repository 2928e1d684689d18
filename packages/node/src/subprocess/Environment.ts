/**
 * What a launched server sees of our environment: an allow-list, so that no secret of the application reaches a program
 * that was not given it.
 *
 * @since 0.1.0
 */

/**
 * @since 0.1.0
 * @category models
 */
export type Variables = Readonly<Record<string, string | undefined>>

/**
 * @since 0.1.0
 * @category constants
 */
export const POSIX: ReadonlyArray<string> = ["HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"]

/**
 * @since 0.1.0
 * @category constants
 */
export const WINDOWS: ReadonlyArray<string> = [
  "APPDATA",
  "HOMEDRIVE",
  "HOMEPATH",
  "LOCALAPPDATA",
  "PATH",
  "PATHEXT",
  "PROCESSOR_ARCHITECTURE",
  "SYSTEMDRIVE",
  "SYSTEMROOT",
  "TEMP",
  "USERNAME",
  "USERPROFILE"
]

/**
 * The variables that a launched server inherits. A value that starts with `()` is a shell function and is left out.
 *
 * @since 0.1.0
 * @category constructors
 */
export const defaultEnvironment = (
  from: Variables = process.env,
  platform: NodeJS.Platform = process.platform
): Record<string, string> =>
  Object.fromEntries(
    (platform === "win32" ? WINDOWS : POSIX).flatMap((name) => {
      const value = from[name]
      return value === undefined || value.startsWith("()") ? [] : [[name, value]]
    })
  )

/**
 * The inherited variables with others over them; `undefined` takes one away. On Windows `Path` is over `PATH`.
 *
 * @since 0.1.0
 * @category combinators
 */
export const merge = (
  inherited: Variables,
  others: Variables,
  platform: NodeJS.Platform = process.platform
): Record<string, string> => {
  const key = platform === "win32" ? (name: string) => name.toUpperCase() : (name: string) => name
  const overridden = new Set(Object.keys(others).map(key))
  const kept = Object.entries(inherited).filter(([name]) => !overridden.has(key(name)))
  return Object.fromEntries(
    [...kept, ...Object.entries(others)].filter((entry): entry is [string, string] => entry[1] !== undefined)
  )
}
