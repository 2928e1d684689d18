/**
 * Thirty calls of nearly 4 MB that arrive at the same moment: the server reads them one after another, and serves the canary in between.
 * The suite counts the canary's calls, and measures no time, because times depend on the machine.
 */
import * as net from "node:net"
import { call, type Canary, open } from "./Canary.js"
import { request } from "./Readers.js"
import type { Outcome } from "./Report.js"
import type { Victim } from "./Victim.js"

const CALLS = 30

/** How many calls of the canary the server answers at least meanwhile. */
const SONGS = 4

/** A call with many values, which the server checks one by one, and with much text. */
const body = (id: number): object =>
  call(id, "choose", {
    mode: "a",
    deep: Array.from({ length: 45_000 }, (_, n) => ({ n: n + 0.123456789012345, _: "x".repeat(55) }))
  })

/** Sends a call without its last byte. The function that it returns sends the last byte, and waits for the answer. */
const begin = async (port: number, session: string, id: number): Promise<() => Promise<void>> => {
  const text = request(session, body(id))
  const socket = net.connect(port, "127.0.0.1")
  await new Promise<void>((resolve, reject) => {
    socket.once("error", reject)
    socket.write(text.slice(0, -1), () => resolve())
  })
  return () =>
    new Promise<void>((resolve) => {
      const end = (): void => {
        socket.destroy()
        resolve()
      }
      socket.once("data", end).once("close", end)
      socket.write(text.slice(-1))
    })
}

export const run = async (shape: string, { port }: Victim, canary: Canary): Promise<Outcome> => {
  const faults: Array<string> = []
  const session = await open(port)
  const calls: Array<() => Promise<void>> = []
  for (let id = 0; id < CALLS; id++) calls.push(await begin(port, session, id))
  await canary.sing()
  let songs = 0
  let isOver = false
  const answers = Promise.all(calls.map((send) => send())).then(() => {
    isOver = true
  })
  while (!isOver) {
    await canary.sing().catch((error: unknown) => faults.push(`the canary: ${String(error)}`))
    songs++
  }
  await answers
  if (songs < SONGS) faults.push(`the server answered ${songs} calls of the canary meanwhile`)
  return { name: `${CALLS} calls of 4 MB at the same moment (${shape}): ${songs} songs`, faults }
}
