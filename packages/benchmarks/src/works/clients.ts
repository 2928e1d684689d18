/**
 * A call of a tool as the client sees it. The server is a function, or a program in another process, that answers and checks nothing: only
 * the client is measured.
 */
import { A_CALL, type Work } from "./Work.js"

export const clients: ReadonlyArray<Work> = [
  {
    topic: "clients",
    name: "tools/call in memory, 64 in flight, the client alone",
    unit: A_CALL,
    kind: "client",
    inFlight: 64,
    owns: [{ subject: "own", floor: "bare" }],
    peers: ["sdk1", "sdk2"]
  },
  {
    topic: "clients",
    name: "tools/call over HTTP in a session, 64 in flight, the client alone",
    unit: A_CALL,
    kind: "client-http",
    inFlight: 64,
    owns: [{ subject: "own", floor: "platform", budget: { platform: 1.3 } }],
    peers: ["sdk1", "sdk2"]
  },
  {
    topic: "clients",
    name: "tools/call over stdio, 64 in flight, the client alone",
    unit: A_CALL,
    kind: "client-stdio",
    inFlight: 64,
    owns: [{ subject: "own", floor: "lines" }],
    peers: ["sdk1", "sdk2"]
  }
]
