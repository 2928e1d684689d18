/**
 * Forty clients that call for 20 MB each and never read it: the server cuts them, gives the memory back, and goes on serving
 * the canary. Afterwards nothing of any attack may be left, and SIGTERM ends the server.
 */
import * as net from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { call, type Canary, open } from "./Canary.js"
import type { Outcome } from "./Report.js"
import type { Victim } from "./Victim.js"

const READERS = 40

/** How many more bytes than before the attack the server may hold after the attack. */
const MARGIN = 100 * 1024 * 1024

/** How many bytes an endpoint may hold that it has not sent yet. */
const BOUND = 256 * 1024 * 1024

/** A call as an HTTP request. */
export const request = (session: string, message: object): string => {
  const body = JSON.stringify(message)
  return [
    "POST /mcp HTTP/1.1",
    "host: localhost",
    "content-type: application/json",
    "accept: application/json, text/event-stream",
    `mcp-session-id: ${session}`,
    `content-length: ${body.length}`,
    "",
    body
  ].join("\r\n")
}

const stalled = async (port: number): Promise<net.Socket> => {
  const session = await open(port)
  const socket = net.connect(port, "127.0.0.1")
  socket.on("error", () => {})
  socket.pause()
  socket.write(request(session, call(1, "big", { megabytes: 20 })))
  return socket
}

const megabytes = (bytes: number): string => `${Math.round(bytes / 1024 / 1024)} MB`

export const run = async (shape: string, victim: Victim, canary: Canary): Promise<Outcome> => {
  const faults: Array<string> = []
  const before = await victim.measure(true)
  const sockets: Array<net.Socket> = []
  let most = 0
  for (let n = 0; n < READERS; n++) {
    sockets.push(await stalled(victim.port))
    most = Math.max(most, (await victim.measure(true)).held)
    await canary.sing().catch((error: unknown) => faults.push(`the canary: ${String(error)}`))
  }
  // In these ten seconds the server cuts the clients: its stall timeout is 3 seconds, and is checked from time to time.
  for (let n = 0; n < 10; n++) {
    await sleep(1000)
    most = Math.max(most, (await victim.measure(true)).held)
    await canary.sing().catch((error: unknown) => faults.push(`the canary: ${String(error)}`))
  }
  const after = await victim.measure(true)
  if (after.held - before.held > MARGIN) faults.push(`${megabytes(after.held - before.held)} more are held than before`)
  if (most - before.held > BOUND + MARGIN) faults.push(`${megabytes(most - before.held)} were held at once`)
  if (after.sockets > before.sockets + 2) {
    faults.push(`${after.sockets} sockets are open, ${before.sockets} were before`)
  }
  for (const socket of sockets) socket.destroy()
  return { name: `${READERS} readers of 20 MB that read nothing (${shape})`, faults }
}

/** Ends the server, and reports what is left of the attacks when all clients have gone. */
export const end = async (shape: string, victim: Victim): Promise<Outcome> => {
  const faults: Array<string> = []
  // Idle sessions end after 30 seconds: also the sessions that attacks have left behind.
  let left = await victim.measure(true)
  for (let n = 0; n < 60 && left.conversations + left.sockets > 0; n++) {
    await sleep(1000)
    left = await victim.measure()
  }
  if (left.conversations > 0) faults.push(`${left.conversations} conversations are left`)
  if (left.sockets > 0) faults.push(`${left.sockets} sockets are left`)
  const { code, millis } = await victim.stop()
  if (code !== 0 || millis > 7000) faults.push(`SIGTERM ended the server with ${code} after ${millis.toFixed(0)} ms`)
  return { name: `what is left of the attacks (${shape})`, faults }
}
