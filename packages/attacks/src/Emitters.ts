/**
 * A thousand handlers that emit for ever to clients that never read: SIGTERM ends the server within its deadline. Over HTTP
 * each call has a connection of its own; over standard streams one client sends all calls.
 */
import * as net from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { call, initialize, open } from "./Canary.js"
import { request } from "./Readers.js"
import type { Outcome } from "./Report.js"
import * as Victim from "./Victim.js"

const EMITTERS = 1000

/** How many calls of one session run at once. */
const PER_SESSION = 50

const overHttp = async ({ port }: Victim.Victim): Promise<() => void> => {
  const sockets: Array<net.Socket> = []
  const sessions: Array<string> = []
  while (sessions.length < EMITTERS / PER_SESSION) sessions.push(await open(port))
  for (let n = 0; n < EMITTERS; n++) {
    const session = sessions[n % sessions.length]!
    const socket = net.connect(port, "127.0.0.1").on("error", () => {}).pause()
    socket.write(request(session, call(n, "emit")))
    sockets.push(socket)
  }
  return () => sockets.forEach((socket) => socket.destroy())
}

const overStdio = async ({ child }: Victim.Victim): Promise<() => void> => {
  child.stdout!.pause()
  const initialized = { jsonrpc: "2.0", method: "notifications/initialized" }
  const calls = Array.from({ length: EMITTERS }, (_, n) => call(n, "emit"))
  child.stdin!.on("error", () => {})
  child.stdin!.write(
    [initialize("initialize"), initialized, ...calls].map((one) => JSON.stringify(one) + "\n").join("")
  )
  return () => {}
}

export const run = async (shape: Victim.Shape): Promise<Outcome> => {
  const faults: Array<string> = []
  const victim = await Victim.start(shape, shape === "stdio" ? EMITTERS : undefined)
  const release = await (shape === "stdio" ? overStdio : overHttp)(victim)
  // Then the buffers of the sockets are full, and the stall timeout of the victim has passed.
  await sleep(5000)
  const { code, millis } = await victim.stop()
  if (code !== 0 || millis > 7000) faults.push(`SIGTERM ended the server with ${code} after ${millis.toFixed(0)} ms`)
  release()
  return { name: `${EMITTERS} handlers emit to clients that read nothing (${shape})`, faults, cost: millis }
}
