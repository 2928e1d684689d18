/**
 * Starts the server of `victim/server` as a process, and reads what it measures of itself.
 * It sends no attack.
 */
import type { ChildProcess } from "node:child_process"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"

export interface Measure {
  /** Milliseconds of processor time since the start. */
  readonly cpu: number
  /** Milliseconds of processor time of the longest turn since the last measure. */
  readonly longest: number
  readonly rss: number
  readonly held: number
  readonly conversations: number
  readonly sockets: number
  readonly timers: number
}

export interface Victim {
  readonly child: ChildProcess
  readonly port: number
  readonly measure: (collect?: boolean) => Promise<Measure>
  /** Sends SIGTERM; the milliseconds until the process has ended, and its exit code. */
  readonly stop: () => Promise<{ readonly millis: number; readonly code: number | null }>
  readonly stderr: () => string
}

export type Shell = "node" | "platform" | "web" | "stdio"

/** `maxInFlight` is how many requests of one client run at once. Default: that of the library. */
export const start = async (shell: Shell, maxInFlight?: number): Promise<Victim> => {
  const program = fileURLToPath(new URL("victim/server.js", import.meta.url))
  const child = spawn(process.execPath, [
    "--expose-gc",
    program,
    shell,
    ...(maxInFlight === undefined ? [] : [String(maxInFlight)])
  ], {
    stdio: [shell === "stdio" ? "pipe" : "ignore", "pipe", "pipe", "ipc"]
  })
  let stderr = ""
  child.stderr!.setEncoding("utf8").on("data", (text: string) => stderr = (stderr + text).slice(-4000))
  if (shell !== "stdio") child.stdout!.resume()
  const [{ port }] = await once(child, "message")
  const measure = async (collect = false): Promise<Measure> => {
    child.send(collect ? "collect" : "measure")
    const [message] = await once(child, "message", { signal: AbortSignal.timeout(60_000) })
    return message
  }
  return {
    child,
    port,
    measure,
    stderr: () => stderr,
    stop: async () => {
      const begin = performance.now()
      const exited = child.exitCode === null && child.signalCode === null ? once(child, "exit") : undefined
      child.kill("SIGTERM")
      await Promise.race([exited, sleep(30_000, undefined, { ref: false })])
      const millis = performance.now() - begin
      const { exitCode: code } = child
      child.kill("SIGKILL")
      return { millis, code }
    }
  }
}
