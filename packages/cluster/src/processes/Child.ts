/**
 * Starts a process that ends with its scope, and also when this program ends first. This program gets the standard output of the process
 * line by line. The standard error of the process goes to the standard error of this program.
 */
import * as Data from "effect/Data"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { spawn } from "node:child_process"
import { existsSync } from "node:fs"
import { createInterface } from "node:readline"

export class ProcessError extends Data.TaggedError("ProcessError")<{ readonly message: string }> {}

export interface Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

export interface Child {
  readonly pid: number
  /** Waits until the process has ended. */
  readonly exit: Effect.Effect<Exit>
  /** Sends a signal. SIGSTOP suspends the process, SIGCONT lets the process continue. */
  readonly signal: (name: NodeJS.Signals) => Effect.Effect<void>
  /** Kills the process, even a suspended process, and waits until the process has ended. */
  readonly kill: Effect.Effect<void>
}

export interface Options {
  readonly command: string
  readonly args: ReadonlyArray<string>
  /** Returns `true` for the line of output that shows that the process is ready. Default: the process is ready at once. */
  readonly isReady?: ((line: string) => boolean) | undefined
  /** Gets every line of the output. Default: the lines are ignored. */
  readonly onLine?: ((line: string) => void) | undefined
  /** The signal that ends the process when the scope closes. A process that has child processes needs SIGTERM. Default: SIGKILL. */
  readonly lastSignal?: NodeJS.Signals | undefined
}

/** How long a process may take until it is ready. On a busy machine a start takes many seconds. */
const READY = Duration.seconds(60)

const SETPRIV = "/usr/bin/setpriv"

/**
 * Returns the command line with `setpriv`, if the machine has this program. Then Linux sends the signal when this program ends for any
 * reason.
 */
const endsWithParent = (signal: NodeJS.Signals, command: string, args: ReadonlyArray<string>) =>
  existsSync(SETPRIV)
    ? [SETPRIV, ["--pdeathsig", signal.slice("SIG".length), "--", command, ...args]] as const
    : [command, args] as const

/** The functions that end processes when this program ends without running its finalizers. */
const lasts = new Set<() => void>()
// This listener must run before the listener that removes the folders of the processes.
process.prependOnceListener("exit", () => lasts.forEach((last) => last()))

/** Starts a process, and waits until it is ready. Fails when the process cannot be started, or is not ready within 60 seconds. */
export const start = (options: Options): Effect.Effect<Child, ProcessError, Scope.Scope> =>
  Effect.gen(function*() {
    const { args, command, isReady, lastSignal = "SIGKILL", onLine } = options
    const ready = yield* Deferred.make<void, ProcessError>()
    const ended = yield* Deferred.make<Exit>()
    const child = yield* Effect.acquireRelease(
      Effect.sync(() => {
        const last = () => void child.kill(lastSignal)
        const child = spawn(...endsWithParent(lastSignal, command, args), { stdio: ["pipe", "pipe", "inherit"] })
        // Ignores the error when the process has ended before it has read its input.
        child.stdin.on("error", () => {})
        lasts.add(last)
        child.once("error", ({ message }) => {
          Deferred.unsafeDone(ready, Effect.fail(new ProcessError({ message: `Cannot start ${command}: ${message}` })))
          Deferred.unsafeDone(ended, Effect.succeed({ code: null, signal: null }))
        })
        child.once("exit", (code, signal) => {
          lasts.delete(last)
          const message = `${command} has ended before it was ready, with ${signal ?? `exit code ${code}`}`
          Deferred.unsafeDone(ready, Effect.fail(new ProcessError({ message })))
          Deferred.unsafeDone(ended, Effect.succeed({ code, signal }))
        })
        createInterface({ input: child.stdout }).on("line", (line) => {
          if (isReady?.(line)) Deferred.unsafeDone(ready, Effect.void)
          onLine?.(line)
        })
        child.once("spawn", () => {
          if (isReady === undefined) Deferred.unsafeDone(ready, Effect.void)
        })
        return child
      }),
      (child) => Effect.zipRight(Effect.sync(() => child.kill(lastSignal)), Deferred.await(ended))
    )
    const exit = Deferred.await(ended)
    const signal = (name: NodeJS.Signals) => Effect.sync(() => void child.kill(name))
    yield* Deferred.await(ready).pipe(
      Effect.timeoutFail({
        duration: READY,
        onTimeout: () => new ProcessError({ message: `${command} was not ready after ${Duration.format(READY)}` })
      }),
      // Ends the process before the next attempt, which may need the same port.
      Effect.tapError(() => Effect.zipRight(signal(lastSignal), exit))
    )
    return { pid: child.pid!, exit, signal, kill: Effect.zipRight(signal("SIGKILL"), exit) }
  })
