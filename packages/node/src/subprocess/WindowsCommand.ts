/**
 * How Windows is told to start a program: which file a name means, and how a batch file, which only `cmd.exe` can
 * run, is given its arguments unharmed. `npx` is a batch file there.
 *
 * Pure: what exists is asked of the caller. Nothing here runs on other systems.
 *
 * @since 0.1.0
 */
import * as path from "node:path/win32"
import type { Variables } from "./Environment.js"

/**
 * @since 0.1.0
 * @category models
 */
export interface Invocation {
  readonly command: string
  readonly args: ReadonlyArray<string>
  /** Whether the arguments are quoted already. */
  readonly verbatim: boolean
}

/**
 * @since 0.1.0
 * @category models
 */
export interface Surroundings {
  readonly env: Variables
  readonly cwd: string
  readonly exists: (file: string) => boolean
  /** The command interpreter. */
  readonly cmd?: string | undefined
}

const variable = (env: Variables, name: string): string | undefined =>
  Object.entries(env).find(([key]) => key.toUpperCase() === name)?.[1]

const find = (command: string, { cwd, env, exists }: Surroundings): string | undefined => {
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
 * One argument as a batch file receives it: quoted for the program, and with every character that `cmd.exe` would act
 * on escaped, twice when the batch file hands its arguments on, as those in `node_modules/.bin` do.
 *
 * @since 0.1.0
 * @category encoding
 */
export const escapeArgument = (arg: string, twice: boolean): string => {
  const once = quoted(arg).replace(meta, "^$&")
  return twice ? once.replace(meta, "^$&") : once
}

/**
 * The command and arguments to start, as `spawn` wants them; `undefined` for a batch file that cannot be given one of
 * its arguments, because it has a line break in it.
 *
 * @since 0.1.0
 * @category constructors
 */
export const invocation = (
  command: string,
  args: ReadonlyArray<string>,
  surroundings: Surroundings
): Invocation | undefined => {
  const file = find(command, surroundings) ?? command
  if (!/\.(?:cmd|bat)$/i.test(file)) return { command: file, args, verbatim: false }
  if (args.some((arg) => /[\r\n]/.test(arg))) return undefined
  const twice = /node_modules[\\/]\.bin[\\/][^\\/]+\.cmd$/i.test(file)
  const line = [file.replace(meta, "^$&"), ...args.map((arg) => escapeArgument(arg, twice))].join(" ")
  return { command: surroundings.cmd ?? "cmd.exe", args: ["/d", "/s", "/c", `"${line}"`], verbatim: true }
}
