/**
 * A process and all processes that it has started (the group). This module tells whether a process of the group is alive, and sends a
 * signal to all processes of the group. On POSIX the group is a process group. Windows has no process groups, so on Windows the group is
 * the tree of child processes.
 *
 * `Launch` starts processes, and `Subprocess` waits for them.
 */
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"

/** Whether this system has process groups. */
export const supported: boolean = process.platform !== "win32"

const kill = (pid: number, signal: NodeJS.Signals | 0): string | undefined =>
  Either.match(
    Either.try({ try: () => process.kill(pid, signal), catch: (error) => error as NodeJS.ErrnoException }),
    { onLeft: (error) => error.code ?? error.message, onRight: () => undefined }
  )

/**
 * Whether a process of the group is alive. Always `false` on Windows. On Linux, zombies do not count as alive, because a zombie may stay
 * for ever: for example in a container whose first process does not wait for orphans.
 */
export const isAlive = (leader: number): boolean =>
  supported && kill(-leader, 0) === undefined && Option.getOrElse(countOnLinux(leader), () => 1) > 0

/**
 * Sends a signal to every process of the group. Returns `false` when there is no process to which the signal could be sent. Always returns
 * `true` on Windows.
 */
export const signal = (leader: number, signal: "SIGTERM" | "SIGKILL"): boolean => {
  if (supported) return kill(-leader, signal) === undefined
  // Windows cannot ask a program without a window to end, so both signals kill the tree.
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
          // The name of the program comes first and may contain spaces and parentheses.
          const [state, , group] = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
          return group === String(leader) && state !== "Z" && state !== "X"
        })
      ).length)
