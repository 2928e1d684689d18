/**
 * The processes of this machine: from `/proc` on Linux, from `ps` on other systems.
 */
import { execFileSync } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"

interface Process {
  readonly pid: number
  readonly args: ReadonlyArray<string>
  readonly isZombie: boolean
}

const fromProc = (pid: string): ReadonlyArray<Process> => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
    const args = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0")
    return [{ pid: Number(pid), args, isZombie: stat[stat.lastIndexOf(")") + 2] === "Z" }]
  } catch {
    // The process has ended meanwhile.
    return []
  }
}

const fromPs = (line: string): ReadonlyArray<Process> => {
  const [pid, state = "", ...args] = line.trim().split(/\s+/)
  return pid ? [{ pid: Number(pid), args, isZombie: state.startsWith("Z") }] : []
}

const list = (): ReadonlyArray<Process> =>
  process.platform === "linux"
    ? readdirSync("/proc").filter((name) => /^\d+$/.test(name)).flatMap(fromProc)
    : execFileSync("ps", ["-axo", "pid=,stat=,args="], { encoding: "utf8" }).split("\n").flatMap(fromPs)

/** Whether the process is alive, and not a zombie. */
export const isRunning = (pid: number): boolean =>
  (process.platform === "linux" ? fromProc(`${pid}`) : list()).some((one) => one.pid === pid && !one.isZombie)

/** The living processes with this argument. */
export const pidsOf = (mark: string): ReadonlyArray<number> =>
  list().filter(({ args, isZombie }) => !isZombie && args.includes(mark)).map(({ pid }) => pid)
