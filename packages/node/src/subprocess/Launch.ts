/**
 * Starts a program with pipes for its standard streams. When the start fails, the error says why, and what the user can do.
 *
 * On Windows, `cross-spawn` finds programs and runs batch files such as `npx`. `ProcessGroup` tells whether the system has process groups.
 * `Subprocess` launches programs with this module, and ends the programs.
 */
import { TransportError } from "@effect-mcp/core/LocalError"
import type CrossSpawn from "cross-spawn"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import { createRequire } from "node:module"
import * as Path from "node:path"
import type { Variables } from "./Environment.js"
import * as ProcessGroup from "./ProcessGroup.js"

export interface Command {
  readonly command: string
  readonly args: ReadonlyArray<string>
  /** The whole environment of the program. */
  readonly env: Variables
  readonly cwd?: string | undefined
  readonly stderr: "pipe" | "inherit"
}

/**
 * Starts a program as the leader of a new process group. On Windows there are no process groups. Fails with reason `Open`, and then leaves
 * no stream open.
 */
export const launch = (command: Command): Effect.Effect<ChildProcess.ChildProcess, TransportError> =>
  Effect.uninterruptible(Effect.gen(function*() {
    const problem = problemOf(command)
    if (problem !== undefined) return yield* refused(command, problem)
    const invocation = invocationOf(command)
    return typeof invocation === "string" ? yield* refused(command, invocation) : yield* started(command, invocation)
  }))

interface Invocation {
  readonly command: string
  readonly args: ReadonlyArray<string>
  /** Whether the arguments are already quoted, so that Node must not quote them again. */
  readonly verbatim: boolean
}

const start = (command: Command, invocation: Invocation): ChildProcess.ChildProcess =>
  ChildProcess.spawn(invocation.command, invocation.args, {
    env: { ...command.env },
    stdio: ["pipe", "pipe", command.stderr],
    detached: ProcessGroup.supported,
    shell: false,
    windowsHide: true,
    windowsVerbatimArguments: invocation.verbatim,
    ...(command.cwd === undefined ? undefined : { cwd: command.cwd })
  })

/** Returns how the system runs a command. Returns a text with the reason when the system cannot run the command. */
const invocationOf = (command: Command): Invocation | string =>
  process.platform === "win32" ? onWindows(command) : { command: command.command, args: command.args, verbatim: false }

/**
 * Loads `cross-spawn`. Only Windows calls this function, because `cross-spawn` is a CommonJS package, and a bundle of ES modules could not
 * load it at its start.
 */
const crossSpawn = (): typeof CrossSpawn => createRequire(import.meta.url)("cross-spawn")

const onWindows = (given: Command): Invocation | string => {
  const { args, command, file, options } = crossSpawn()._parse(given.command, given.args, {
    env: given.env,
    cwd: given.cwd
  })
  const verbatim = options.windowsVerbatimArguments === true
  // Without this check, only `cmd.exe` would report the missing program, on the stderr of the program.
  if (file === undefined || file === null) return missing(given)
  return verbatim && given.args.some((arg) => /[\r\n]/.test(arg))
    ? "a batch file takes no argument with a line break in it"
    : { command, args, verbatim }
}

// The listeners are added in the same turn as the start, because Node reports the result in a later turn.
const started = (
  command: Command,
  invocation: Invocation
): Effect.Effect<ChildProcess.ChildProcess, TransportError> =>
  Effect.async<ChildProcess.ChildProcess, TransportError>((resume) => {
    const fail = (error: unknown) => resume(Effect.fail(refused(command, reasonOf(command, error), error)))
    const attempt = Either.try({ try: () => start(command, invocation), catch: (error) => error })
    if (Either.isLeft(attempt)) return fail(attempt.left)
    const child = attempt.right
    const pipes = [child.stdin, child.stdout, child.stderr]
    const onSpawn = () => {
      child.off("error", onError)
      resume(Effect.succeed(child))
    }
    const onError = (error: Error) => {
      child.off("spawn", onSpawn)
      for (const pipe of pipes) pipe?.destroy()
      fail(error)
    }
    child.once("spawn", onSpawn).once("error", onError)
    // The child and its pipes may emit error events at any time, and an error event without a listener would end this process.
    child.on("error", ignore)
    for (const pipe of pipes) pipe?.on("error", ignore)
  })

const ignore = (): void => {}

// Node also reports these problems, but its message contains the value, which may be a secret.
const problemOf = ({ args, command, cwd, env }: Command): string | undefined => {
  if (command === "") return "the command is empty"
  const bad = (text: string | undefined): boolean => text !== undefined && text.includes("\0")
  if (bad(command)) return "the command has a NUL byte in it"
  const arg = args.findIndex(bad)
  if (arg !== -1) return `argument ${arg + 1} has a NUL byte in it`
  if (bad(cwd)) return "the working directory has a NUL byte in it"
  const variable = Object.keys(env).find((name) => bad(name) || bad(env[name]))
  return variable === undefined
    ? undefined
    : `the environment variable ${JSON.stringify(variable)} has a NUL byte in it`
}

const refused = (command: Command, reason: string, cause?: unknown): TransportError =>
  new TransportError({
    reason: "Open",
    message: `Cannot start ${JSON.stringify(command.command)}: ${reason}`,
    cause
  })

const reasonOf = (command: Command, error: unknown): string => {
  const { code, message } = error as NodeJS.ErrnoException
  if (code === "ENOENT" || code === "ENOTDIR") return missing(command)
  if (code === "EACCES" || code === "EPERM") return forbidden(command)
  if (code === "E2BIG") return "its arguments and environment are too long"
  if (code === "EMFILE" || code === "ENFILE") {
    return "too many files are open; close some, or raise the limit (ulimit -n)"
  }
  if (code === "EAGAIN") return "too many processes are running; end some, or raise the limit (ulimit -u)"
  return message
}

const stat = Option.liftThrowable(Fs.statSync)

const access = Option.liftThrowable(Fs.accessSync)

const isFolder = (path: string): boolean => Option.exists(stat(path), (found) => found?.isDirectory() === true)

const missing = ({ command, cwd }: Command): string => {
  if (cwd !== undefined && !isFolder(cwd)) return `its working directory ${JSON.stringify(cwd)} is not a folder`
  if (/^[^\s\\/]+ /.test(command)) return "there is no such program; give what follows the first space in `args`"
  if (!/[\\/]/.test(command)) return "there is no such program on its PATH; install it, or give the path of the file"
  return Fs.existsSync(Path.resolve(cwd ?? "", command))
    ? "the file exists, but the interpreter in its first line does not exist"
    : "there is no such file; a relative path starts at the working directory"
}

const forbidden = ({ command, cwd }: Command): string => {
  if (cwd !== undefined && Option.isNone(access(cwd, Fs.constants.X_OK))) {
    return `this process is not allowed to enter its working directory ${JSON.stringify(cwd)}`
  }
  return isFolder(Path.resolve(cwd ?? "", command))
    ? "it is a folder"
    : "the file may not be executed; allow it (chmod +x), or launch its interpreter with the file as argument"
}
