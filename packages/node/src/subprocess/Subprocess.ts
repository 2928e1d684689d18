import type { TransportError } from "@effect-mcp/jsonrpc/LocalError"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import type * as ChildProcess from "node:child_process"
import type { Readable, Writable } from "node:stream"
import * as Launch from "./Launch.js"
import * as ProcessGroup from "./ProcessGroup.js"
import * as Wait from "./Wait.js"

/**
 * How long each step of ending a program may take.
 *
 * @since 0.1.0
 * @category models
 */
export interface Patience {
  /** From the end of its input until it is told to stop. Default: 2 seconds. */
  readonly grace?: Duration.DurationInput | undefined
  /** From `SIGTERM` to `SIGKILL`. Default: 2 seconds. */
  readonly terminate?: Duration.DurationInput | undefined
  /** From `SIGKILL` until it is given up. Default: 2 seconds. */
  readonly kill?: Duration.DurationInput | undefined
}

/**
 * How a program ended: one of the two is given.
 *
 * @since 0.1.0
 * @category models
 */
export interface Status {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/**
 * @since 0.1.0
 * @category models
 */
export interface Subprocess {
  readonly pid: number
  readonly stdin: Writable
  readonly stdout: Readable
  /** Absent when the program inherits ours. */
  readonly stderr: Readable | undefined
  /** Waits until the program has ended; those it started may live on. */
  readonly exited: Effect.Effect<Status>
}

const defaults = Duration.seconds(2)

/**
 * Starts the program; closing the scope ends it, and everything in its process group. Being in a group of its own it
 * has no terminal: what is typed at ours, Ctrl-C too, reaches us alone.
 *
 * 1. its input ends, or is cut off if it has not read it, and it may end by itself within `grace`;
 * 2. what is left of the group gets `SIGTERM` and may end within `terminate`;
 * 3. what is left of it gets `SIGKILL`; what is still there after `kill` is left behind, with a warning.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  command: Launch.Command,
  patience: Patience = {}
): Effect.Effect<Subprocess, TransportError, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.gen(function*() {
      const exited = yield* Deferred.make<Status>()
      return new Running(yield* Launch.launch(command), exited)
    }),
    (running) => Effect.ensuring(end(running, command.command, patience), Effect.sync(() => running.release()))
  )

const end = (running: Running, name: string, patience: Patience): Effect.Effect<void> =>
  Effect.gen(function*() {
    running.endInput()
    if (yield* running.isGone(patience.grace ?? defaults)) return
    running.signal("SIGTERM")
    if (yield* running.isGone(patience.terminate ?? defaults)) return
    running.signal("SIGKILL")
    if (yield* running.isGone(patience.kill ?? defaults)) return
    yield* Effect.logWarning(`${JSON.stringify(name)} (pid ${running.pid}) could not be ended and was left behind`)
  })

class Running implements Subprocess {
  readonly pid: number
  readonly stdin: Writable
  readonly stdout: Readable
  readonly stderr: Readable | undefined
  readonly exited: Effect.Effect<Status>
  private status: Status | undefined
  /** Whether the leader left others behind. When it did not, its id may be somebody else's by now. */
  private leftOthers = true

  constructor(
    private readonly child: ChildProcess.ChildProcess,
    private readonly ending: Deferred.Deferred<Status>
  ) {
    // All of these are there once the program has started with pipes.
    this.pid = child.pid!
    this.stdin = child.stdin!
    this.stdout = child.stdout!
    this.stderr = child.stderr ?? undefined
    this.exited = Deferred.await(ending)
    child.on("exit", this.onExit)
    // It may have been quicker than we.
    if (child.exitCode !== null || child.signalCode !== null) this.onExit(child.exitCode, child.signalCode)
  }

  /** Ends its input. What it has not read by now it will not read: cutting it off is the only way to tell it. */
  endInput(): void {
    if (this.stdin.writableLength > 0) this.stdin.destroy()
    else this.stdin.end()
  }

  /** Whether the whole group is gone within the time. */
  isGone(within: Duration.DurationInput): Effect.Effect<boolean> {
    return Effect.map(Wait.atMost(Effect.zipRight(this.exited, this.othersGone(5)), within), Option.isSome)
  }

  signal(signal: "SIGTERM" | "SIGKILL"): void {
    if (this.status !== undefined && !this.leftOthers) return
    // The leader alone, if the group as a whole may not be signalled.
    if (!ProcessGroup.signal(this.pid, signal) && this.status === undefined) this.child.kill(signal)
  }

  release(): void {
    this.child.off("exit", this.onExit)
    for (const pipe of [this.stdin, this.stdout, this.stderr]) pipe?.destroy()
    // A program left behind does not keep ours alive.
    if (this.status === undefined) this.child.unref()
  }

  // Nobody tells us when a process ends that is not our child.
  private othersGone(millis: number): Effect.Effect<void> {
    return Effect.suspend(() => {
      this.leftOthers = this.leftOthers && ProcessGroup.isAlive(this.pid)
      if (!this.leftOthers) return Effect.void
      return Effect.zipRight(Effect.sleep(Duration.millis(millis)), this.othersGone(Math.min(millis * 2, 100)))
    })
  }

  private readonly onExit = (code: number | null, signal: NodeJS.Signals | null): void => {
    this.status = { code, signal }
    this.leftOthers = ProcessGroup.isAlive(this.pid)
    Deferred.unsafeDone(this.ending, Effect.succeed(this.status))
  }
}
