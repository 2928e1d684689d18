/**
 * Runs the command line as a user does: in a process, in a folder of its own, in a pipe or at a pseudo-terminal.
 */
import { Effect, type Scope } from "effect"
import { spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const program = fileURLToPath(new URL("../bin/effect-mcp.js", import.meta.url))

const require = createRequire(new URL("../../node/package.json", import.meta.url))

/** The command line as a host launches it. */
export const cli = (...args: ReadonlyArray<string>): ReadonlyArray<string> => [process.execPath, program, ...args]

/** The command line of an official server. */
export const official = (name: string, ...args: ReadonlyArray<string>): ReadonlyArray<string> => [
  process.execPath,
  join(dirname(require.resolve(`@modelcontextprotocol/server-${name}/package.json`)), "dist", "index.js"),
  ...args
]

/** A server of ours: of a template, or with every kind of feature. */
export const ours = (name: "stdio" | "http" | "everything", ...args: ReadonlyArray<string>): ReadonlyArray<string> => [
  process.execPath,
  fileURLToPath(new URL(`../build/${name}.mjs`, import.meta.url)),
  ...args
]

/** A folder that is removed when the scope closes. */
export const folder: Effect.Effect<string, never, Scope.Scope> = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "effect-mcp-cli-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

export interface Ran {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

export interface Running {
  readonly pid: number
  /** What the program has written to standard output and standard error so far. */
  readonly seen: () => Ran
  readonly write: (text: string) => void
  readonly end: () => void
  readonly kill: (signal: NodeJS.Signals) => void
  /** Waits until the program has written a text that matches. */
  readonly sees: (expected: RegExp) => Effect.Effect<RegExpExecArray>
  readonly ended: Effect.Effect<Ran>
}

/** A text without escape sequences. */
export const uncolored = (text: string): string => text.replace(/\p{Cc}\[[\d;?]*[A-Za-z]/gu, "")

interface Options {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
}

/** Starts a program; the end of the scope kills it. */
export const start = (
  [command = "", ...args]: ReadonlyArray<string>,
  { cwd, env }: Options = {}
): Effect.Effect<Running, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const child = spawn(command, args, {
        cwd,
        env: { PATH: process.env.PATH, HOME: cwd ?? tmpdir(), TERM: "xterm", ...env },
        stdio: "pipe"
      })
      let [out, err, code] = ["", "", null as number | null]
      child.stdout.on("data", (data) => out += String(data))
      child.stderr.on("data", (data) => err += String(data))
      child.stdin.on("error", () => {})
      const closed = new Promise<void>((resolve) =>
        child.once("close", (status) => {
          code = status
          resolve()
        })
      )
      const seen = () => ({ code, out, err })
      const both = () => uncolored(out + err)
      return {
        pid: child.pid ?? 0,
        seen,
        write: (text: string) => void child.stdin.write(text),
        end: () => void child.stdin.end(),
        kill: (signal: NodeJS.Signals) => void child.kill(signal),
        sees: (expected: RegExp) =>
          Effect.async<RegExpExecArray>((resume) => {
            const look = () => {
              const found = expected.exec(both())
              if (found === null && child.exitCode === null) return
              child.stdout.off("data", look)
              child.stderr.off("data", look)
              child.off("close", look)
              resume(
                found === null
                  ? Effect.dieMessage(`${expected} was not written:\n${both()}`)
                  : Effect.succeed(found)
              )
            }
            child.stdout.on("data", look)
            child.stderr.on("data", look)
            child.once("close", look)
            look()
          }).pipe(
            Effect.timeoutFail({
              duration: "20 seconds",
              onTimeout: () => new Error(`${expected} was not written in time:\n${both()}`)
            }),
            Effect.orDie
          ),
        ended: Effect.map(Effect.promise(() => closed), seen),
        child
      }
    }),
    ({ child, ended }) => Effect.zipRight(Effect.sync(() => void child.kill("SIGKILL")), ended)
  )

/** Starts the command line with pipes. */
export const launch = (args: ReadonlyArray<string>, options: Options = {}) => start(cli(...args), options)

/** Starts the command line at a pseudo-terminal, of unknown width by default; what it prints is standard output. */
export const atTerminal = (args: ReadonlyArray<string>, options: Options & { readonly columns?: number } = {}) => {
  const quoted = cli(...args).map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ")
  const line = options.columns === undefined ? quoted : `stty cols ${options.columns} && ${quoted}`
  // util-linux and the BSDs have different programs of this name.
  const script = process.platform === "linux" ? ["-qec", line, "/dev/null"] : ["-q", "/dev/null", "sh", "-c", line]
  return start(["script", ...script], options)
}

/** The URL of a server with every kind of feature. */
export const everythingAt: Effect.Effect<string, never, Scope.Scope> = Effect.flatMap(
  Effect.suspend(() => start(ours("everything", "--http"))),
  (server) => Effect.map(server.sees(/at (http\S+)/), ([, url = ""]) => url)
)

/** Types an answer to each question when it is shown. */
export const answer = (
  running: Running,
  answers: ReadonlyArray<readonly [question: RegExp, keys: string]>
): Effect.Effect<void> =>
  Effect.forEach(
    answers,
    ([question, keys]) => Effect.zipRight(running.sees(question), Effect.sync(() => running.write(keys))),
    { discard: true }
  )

/** Runs the command line to its end, with a text as standard input. */
export const run = (args: ReadonlyArray<string>, options: Options & { readonly input?: string } = {}) =>
  Effect.scoped(Effect.gen(function*() {
    const running = yield* launch(args, options)
    running.write(options.input ?? "")
    running.end()
    return yield* running.ended
  }))

/** Whether a process of this id runs. */
export const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
