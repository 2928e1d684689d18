/**
 * Runs a program in a scope. When the scope closes, this module ends the program and all processes of its process group.
 *
 * `Launch` starts the program and `ProcessGroup` sends the signals. `StdioClient` reads and writes the streams of the program.
 */
import type { TransportError } from "@effect-mcp/core/LocalError"
import * as EffectInternals from "@effect-mcp/core/unstable/kit/EffectInternals"
import * as TimeLimit from "@effect-mcp/core/unstable/kit/TimeLimit"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import type * as ChildProcess from "node:child_process"
import type { Readable, Writable } from "node:stream"
import * as Launch from "./Launch.js"
import * as ProcessGroup from "./ProcessGroup.js"

/** How long each step of ending a program may take. Default: 2 seconds each. */
export interface Timeouts {
  /** The time between the end of the program's input and `SIGTERM`. */
  readonly grace?: Duration.DurationInput | undefined
  /** The time between `SIGTERM` and `SIGKILL`. */
  readonly terminate?: Duration.DurationInput | undefined
  /** How long the scope waits after `SIGKILL`. */
  readonly kill?: Duration.DurationInput | undefined
}

/** How a program ended. Either the code or the signal is `null`. */
export interface Status {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

export interface Subprocess {
  readonly pid: number
  readonly stdin: Writable
  readonly stdout: Readable
  /** The stderr of the program; `undefined` when the program inherits the stderr of this process. */
  readonly stderr: Readable | undefined
  /** Waits until the program has ended. Other programs that this program has started may still run. */
  readonly exited: Effect.Effect<Status>
}

interface Exit {
  readonly status: Status
  /**
   * Whether other processes of the group still ran when the program ended. With `false`, this module must not send a signal to the group,
   * because a new process may have got the id of the group.
   */
  readonly leftOthers: boolean
}

const DEFAULT_TIMEOUT = Duration.seconds(2)

/**
 * The schedule of the checks: after 5, 10, 20 … milliseconds, and at least every 100 milliseconds. The checks are needed because no event
 * reports the end of a process that is not a child.
 */
const polling = Schedule.union(Schedule.exponential("5 millis"), Schedule.spaced("100 millis"))

/**
 * Starts the program in a new process group, so that signals of the terminal, such as Ctrl-C, do not reach the program. When the scope
 * closes, this module ends the group in three steps:
 *
 * - It ends the input, or destroys the input if the program has not read all of it. The program may exit within `grace`.
 * - It sends `SIGTERM` to the remaining processes. The processes may exit within `terminate`.
 * - It sends `SIGKILL` to the remaining processes. After `kill`, it logs a warning and no longer waits for the processes.
 */
export const make = (
  command: Launch.Command,
  timeouts: Timeouts = {}
): Effect.Effect<Subprocess, TransportError, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.gen(function*() {
        const exit = yield* Deferred.make<Exit>()
        const child = yield* Launch.launch(command)
        yield* Effect.sync(() => observeExit(child, exit))
        return { child, exit }
      }),
      ({ child, exit }) => Effect.ensuring(end(child, exit, command.command, timeouts), release(child, exit))
    ),
    ({ child, exit }) => ({
      // `Launch` starts every program with pipes, so all of these are present.
      pid: child.pid!,
      stdin: child.stdin!,
      stdout: child.stdout!,
      stderr: child.stderr ?? undefined,
      exited: Effect.map(Deferred.await(exit), ({ status }) => status)
    })
  )

const observeExit = (child: ChildProcess.ChildProcess, exit: Deferred.Deferred<Exit>): void => {
  const onExit = (code: number | null, signal: NodeJS.Signals | null): void => {
    const leftOthers = ProcessGroup.isAlive(child.pid!)
    EffectInternals.done(exit, Effect.succeed({ status: { code, signal }, leftOthers }))
  }
  if (child.exitCode === null && child.signalCode === null) child.once("exit", onExit)
  else onExit(child.exitCode, child.signalCode)
}

const end = (
  child: ChildProcess.ChildProcess,
  exit: Deferred.Deferred<Exit>,
  name: string,
  timeouts: Timeouts
): Effect.Effect<void> =>
  Effect.gen(function*() {
    const isGone = (timeout: Duration.DurationInput = DEFAULT_TIMEOUT): Effect.Effect<boolean> =>
      Effect.map(TimeLimit.end(groupGone(child.pid!, exit), timeout), Option.isSome)
    yield* Effect.sync(() => endInput(child.stdin!))
    if (yield* isGone(timeouts.grace)) return
    yield* signal(child, exit, "SIGTERM")
    if (yield* isGone(timeouts.terminate)) return
    yield* signal(child, exit, "SIGKILL")
    if (yield* isGone(timeouts.kill)) return
    yield* Effect.logWarning(`${JSON.stringify(name)} (pid ${child.pid}) could not be ended and was left behind`)
  })

/** Waits until the program and all processes of its group have ended. */
const groupGone = (pid: number, exit: Deferred.Deferred<Exit>): Effect.Effect<void> =>
  Effect.flatMap(Deferred.await(exit), ({ leftOthers }) =>
    leftOthers
      ? Effect.asVoid(Effect.repeat(Effect.sync(() => ProcessGroup.isAlive(pid)), {
        schedule: polling,
        while: (isAlive) => isAlive
      }))
      : Effect.void)

const signal = (
  child: ChildProcess.ChildProcess,
  exit: Deferred.Deferred<Exit>,
  signal: "SIGTERM" | "SIGKILL"
): Effect.Effect<void> =>
  Effect.gen(function*() {
    const exited = yield* Effect.transposeOption(yield* Deferred.poll(exit))
    if (Option.exists(exited, ({ leftOthers }) => !leftOthers)) return
    // When the signal cannot be sent to the group, it is sent only to the program.
    if (!ProcessGroup.signal(child.pid!, signal) && Option.isNone(exited)) child.kill(signal)
  })

// `end` would wait for a program that does not read. If there is unread input, only `destroy` closes the pipe.
const endInput = (stdin: Writable): void => {
  if (stdin.writableLength > 0) stdin.destroy()
  else stdin.end()
}

const release = (child: ChildProcess.ChildProcess, exit: Deferred.Deferred<Exit>): Effect.Effect<void> =>
  Effect.map(Deferred.isDone(exit), (isDone) => {
    // The stderr may still have the last lines. `Stderr` reads and destroys the stream.
    for (const pipe of [child.stdin, child.stdout]) pipe?.destroy()
    // A program that could not be ended must not keep this process alive.
    if (!isDone) child.unref()
  })
