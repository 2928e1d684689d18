/**
 * The environment of a launched server: a list of allowed variables, so that no secret of the application reaches a server that the
 * application did not give it to. `StdioClient` makes the environment; `Launch` starts programs with this environment.
 * The lists are the lists of the reference SDK.
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

/** The variables that a launched server inherits. Values that start with `()`, shell functions, are left out. */
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

/** `others` win; `undefined` removes a variable. On Windows, `Path` and `PATH` are one variable. */
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
