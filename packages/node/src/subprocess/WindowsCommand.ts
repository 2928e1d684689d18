/**
 * The command line that starts a program on Windows: finds the file of a name, and escapes the arguments of batch files,
 * such as `npx`, which only `cmd.exe` can run.
 *
 * Pure functions: the caller says which files exist. Only `Launch` uses them, and only on Windows.
 */
import * as path from "node:path/win32"
import type { Variables } from "./Environment.js"

export interface Invocation {
  readonly command: string
  readonly args: ReadonlyArray<string>
  /** Whether the arguments are quoted, so that Node must not quote them. */
  readonly verbatim: boolean
}

export interface System {
  readonly env: Variables
  readonly cwd: string
  readonly exists: (file: string) => boolean
  /** The command interpreter. */
  readonly cmd?: string | undefined
}

const variable = (env: Variables, name: string): string | undefined =>
  Object.entries(env).find(([key]) => key.toUpperCase() === name)?.[1]

const find = (command: string, { cwd, env, exists }: System): string | undefined => {
  const extensions = (variable(env, "PATHEXT") ?? ".COM;.EXE;.BAT;.CMD").split(";").filter((ext) => ext !== "")
  const named = extensions.some((ext) => command.toUpperCase().endsWith(ext.toUpperCase()))
  const folders = /[\\/:]/.test(command) ? [""] : (variable(env, "PATH") ?? "").split(";").filter((dir) => dir !== "")
  for (const folder of folders) {
    const file = path.resolve(cwd, folder, command)
    const found = [...(named ? [file] : []), ...extensions.map((ext) => file + ext)].find(exists)
    if (found !== undefined) return found
  }
  return undefined
}

const meta = /[()\][%!^"`<>&|;, *?]/g

const quoted = (arg: string): string => `"${arg.replace(/(\\*)"/g, "$1$1\\\"").replace(/(\\*)$/, "$1$1")}"`

/**
 * Quotes an argument for the program and escapes the characters that `cmd.exe` interprets; `twice` for a batch file that
 * passes its arguments to another command, as those in `node_modules/.bin` do.
 */
export const escapeArgument = (arg: string, twice: boolean): string => {
  const once = quoted(arg).replace(meta, "^$&")
  return twice ? once.replace(meta, "^$&") : once
}

/** The command and arguments for `spawn`; `undefined` if an argument of a batch file contains a line break. */
export const invocation = (
  command: string,
  args: ReadonlyArray<string>,
  system: System
): Invocation | undefined => {
  const file = find(command, system) ?? command
  if (!/\.(?:cmd|bat)$/i.test(file)) return { command: file, args, verbatim: false }
  if (args.some((arg) => /[\r\n]/.test(arg))) return undefined
  const twice = /node_modules[\\/]\.bin[\\/][^\\/]+\.cmd$/i.test(file)
  const line = [file.replace(meta, "^$&"), ...args.map((arg) => escapeArgument(arg, twice))].join(" ")
  return { command: system.cmd ?? "cmd.exe", args: ["/d", "/s", "/c", `"${line}"`], verbatim: true }
}
