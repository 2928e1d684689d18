/**
 * Sends any bytes to a port, and reads HTTP responses from what comes back. No HTTP client is used, because it would refuse to send what
 * an attacker sends. `HttpRequests` decides whether the responses are right.
 */
import * as net from "node:net"

export interface Exchange {
  /** The status codes of the responses, in order. */
  readonly statuses: ReadonlyArray<number>
  /** Whether the server has closed the connection. */
  readonly closed: boolean
  readonly text: string
}

const heads = /HTTP\/1\.[01] (\d{3}) /g

const statusesOf = (text: string): ReadonlyArray<number> => [...text.matchAll(heads)].map((match) => Number(match[1]))

/** Whether the first response is complete, as far as its headers say how long it is. */
const isComplete = (text: string): boolean => {
  const end = text.indexOf("\r\n\r\n")
  if (end === -1) return false
  const head = text.slice(0, end)
  const length = /^content-length: (\d+)/im.exec(head)
  if (length !== null) return Buffer.byteLength(text.slice(end + 4)) >= Number(length[1])
  return /^HTTP\/1\.[01] (?:204|304)/.test(head) || !/event-stream/i.test(head) || text.includes("\n\n", end + 4)
}

/** How long to wait, in milliseconds. */
export interface Patience {
  /** For a response, and for each response that follows while `isPart` is true. */
  readonly patience: number
  /** For the rest of a response whose end is not seen. */
  readonly rest: number
  /** After a complete response, for what should not come. */
  readonly grace: number
  /** Whether further responses are expected after responses with these statuses. */
  readonly isPart: (statuses: ReadonlyArray<number>) => boolean
}

/** Sends the pieces one after another. Ends when the server closes the connection, or when nothing has come for the time in `Patience`. */
export const send = (
  port: number,
  pieces: ReadonlyArray<string | Uint8Array>,
  { grace, isPart, patience, rest }: Patience
): Promise<Exchange> =>
  new Promise((resolve) => {
    let text = ""
    let timer = setTimeout(() => finish(false), patience)
    const socket = net.connect(port, "127.0.0.1", () => {
      socket.setNoDelay(true)
      const next = (at: number): void => {
        if (at >= pieces.length || socket.destroyed) return
        socket.write(pieces[at]!)
        setImmediate(next, at + 1)
      }
      next(0)
    })
    const finish = (closed: boolean): void => {
      clearTimeout(timer)
      socket.destroy()
      resolve({ statuses: statusesOf(text), closed, text })
    }
    socket.on("data", (chunk) => {
      text = (text + chunk.toString("latin1")).slice(0, 1_000_000)
      const statuses = statusesOf(text)
      if (statuses.length === 0) return
      clearTimeout(timer)
      timer = setTimeout(() => finish(false), isPart(statuses) ? patience : isComplete(text) ? grace : rest)
    })
    socket.on("error", () => {})
    socket.on("close", () => finish(true))
  })
