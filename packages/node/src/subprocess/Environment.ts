/**
 * The environment variables that a launched server inherits. Only the variables of a list are inherited, so that a server gets no secret of
 * the application that the application has not passed to it. `StdioClient` makes the environment, and `Launch` starts programs with it. The
 * lists are those of the reference SDK.
 */

export type Variables = Readonly<Record<string, string | undefined>>

export const POSIX: ReadonlyArray<string> = ["HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"]

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

/** The variables that a launched server inherits. Values that start with `()` are shell functions, and are left out. */
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
 * Adds the variables `others`, which take precedence. The value `undefined` removes a variable. On Windows, `Path` and `PATH` are one
 * variable.
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
