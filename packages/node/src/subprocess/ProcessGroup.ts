/**
 * A process and everything it started, as one: whether any of it is left, and how to signal all of it.
 *
 * On POSIX this is the process group of a leader; on Windows, which has none, the tree below the process. It starts and
 * waits for nothing: that is `Subprocess`.
 *
 * @since 0.1.0
 */
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"

/**
 * Whether processes have groups here.
 *
 * @since 0.1.0
 * @category constants
 */
export const supported: boolean = process.platform !== "win32"

const kill = (pid: number, signal: NodeJS.Signals | 0): string | undefined =>
  Either.match(
    Either.try({ try: () => process.kill(pid, signal), catch: (error) => error as NodeJS.ErrnoException }),
    { onLeft: (error) => error.code ?? error.message, onRight: () => undefined }
  )

/**
 * Whether a process of the group is left that could be signalled. One that is dead and that its parent has not asked
 * about does not count: where the first process of a container adopts orphans and never asks, they stay for ever.
 *
 * @since 0.1.0
 * @category getters
 */
export const isAlive = (leader: number): boolean =>
  supported && kill(-leader, 0) === undefined && Option.getOrElse(countOnLinux(leader), () => 1) > 0

/**
 * Signals every process of the group; `false` when there is none that could be.
 *
 * @since 0.1.0
 * @category signals
 */
export const signal = (leader: number, signal: "SIGTERM" | "SIGKILL"): boolean => {
  if (supported) return kill(-leader, signal) === undefined
  // There is no polite way to end a program that has no window: both signals end the tree.
  ChildProcess.spawn("taskkill", ["/pid", String(leader), "/T", "/F"], { stdio: "ignore", windowsHide: true })
    .on("error", () => {})
    .unref()
  return true
}

const read = Option.liftThrowable((pid: string) => Fs.readFileSync(`/proc/${pid}/stat`, "utf8"))

const list = Option.liftThrowable(() => Fs.readdirSync("/proc"))

const countOnLinux = (leader: number): Option.Option<number> =>
  process.platform !== "linux" ?
    Option.none() :
    Option.map(list(), (names) =>
      names.filter((name) =>
        /^\d+$/.test(name) && Option.exists(read(name), (stat) => {
          // The name of the program comes before these and may hold anything, spaces and parentheses too.
          const [state, , group] = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
          return group === String(leader) && state !== "Z" && state !== "X"
        })
      ).length)
