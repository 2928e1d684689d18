/**
 * Starts the server of `victim/server` as a process, and reads what the server measures of itself. `main` does so once for each of
 * the server's shapes; the suites send the attacks.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"

export interface Measure {
  /** Milliseconds of processor time since the start. */
  readonly cpu: number
  /** The bytes that the process holds after a collection; 0 for a measure without a collection. */
  readonly held: number
  readonly conversations: number
  readonly sockets: number
  readonly timers: number
}

export interface Victim {
  readonly child: ChildProcess
  readonly port: number
  readonly measure: (collect?: boolean) => Promise<Measure>
  /**
   * Sends SIGTERM, and returns the exit code and the milliseconds until the end. Kills the process after 30 seconds: `code` is `null` then.
   */
  readonly stop: () => Promise<{ readonly millis: number; readonly code: number | null }>
  readonly stderr: () => string
}

/** How long a process may take until it answers. */
const LIMIT = 60_000

/** The next message of a process. Fails when the process ends before, and after a minute without a message; then the process is killed. */
export const reported = <A>(child: ChildProcess, name: string, said: () => string = () => ""): Promise<A> =>
  new Promise((resolve, reject) => {
    const fail = (what: string): void => {
      settle()
      child.kill("SIGKILL")
      reject(new Error(`${name} ${what}\n${said()}`))
    }
    const late = setTimeout(() => fail(`has not answered within ${LIMIT / 1000} s`), LIMIT)
    const onMessage = (message: unknown): void => {
      settle()
      resolve(message as A)
    }
    const onError = (error: Error): void => fail(`could not be reached: ${error.message}`)
    const onExit = (code: number | null, signal: string | null): void => fail(`has ended with ${signal ?? code}`)
    const settle = (): void => {
      clearTimeout(late)
      child.off("message", onMessage).off("error", onError).off("exit", onExit)
    }
    child.once("message", onMessage).once("error", onError).once("exit", onExit)
    if (child.exitCode !== null || child.signalCode !== null) onExit(child.exitCode, child.signalCode)
  })

/**
 * What serves the server: `HttpServer` of the package node, an endpoint of `@effect/platform`, a web handler, or standard streams.
 */
export type Shape = "node" | "platform" | "web" | "stdio"

/** Starts a server. `maxInFlight` is how many requests of one client run at once; by default it is the library's default. */
export const start = async (shape: Shape, maxInFlight?: number): Promise<Victim> => {
  const program = fileURLToPath(new URL("victim/server.js", import.meta.url))
  const child = spawn(process.execPath, [
    program,
    shape,
    ...(maxInFlight === undefined ? [] : [String(maxInFlight)])
  ], {
    stdio: [shape === "stdio" ? "pipe" : "ignore", "pipe", "pipe", "ipc"]
  })
  let stderr = ""
  child.stderr!.setEncoding("utf8").on("data", (text: string) => stderr = (stderr + text).slice(-4000))
  if (shape !== "stdio") child.stdout!.resume()
  const { port } = await reported<{ readonly port: number }>(child, `The victim (${shape})`, () => stderr)
  const measure = async (collect = false): Promise<Measure> => {
    const answer = reported<Measure>(child, `The victim (${shape}), asked for its measures,`, () => stderr)
    child.send(collect ? "collect" : "measure")
    return await answer
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
