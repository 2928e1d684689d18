/**
 * The environment variables that a launched server inherits. A server inherits only the variables in a list, so that it does not get
 * secrets from the environment of the application. The list is the list of the reference SDK. `StdioClient` makes the environment with this
 * module, and `Launch` starts programs with the environment.
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

/** Returns the variables that a launched server inherits. Leaves out values that start with `()`, because they are shell functions. */
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
