/**
 * The heap of what stays open: calls, sessions and streams. Each is measured once, because the heap after a collection of garbage is the
 * same each time.
 */
import type { Work } from "./Work.js"

const EACH = "kB each"

export const memory: ReadonlyArray<Work> = [
  {
    topic: "memory",
    name: "a call in flight, of 10,000 over a pair of transports",
    unit: EACH,
    kind: "memory-call",
    count: 10_000,
    tool: "park",
    // Two fibers of Effect that wait, one for each side, and nothing of ours take 7.1.
    owns: [{ subject: "own", floor: "bare", most: 8.5 }],
    peers: ["sdk1", "sdk2"]
  },
  {
    topic: "memory",
    name: "an idle session over HTTP, of 10,000, the server alone",
    unit: EACH,
    kind: "memory-session",
    count: 10_000,
    owns: [{ subject: "own-wide", floor: "node-sessions", most: 3.5, smoke: { sdk1: 1, "sdk2-sessions": 1 } }],
    peers: ["sdk1", "sdk2-sessions"]
  },
  {
    topic: "memory",
    name: "an open stream of a session over HTTP, of 1,000, the server alone",
    unit: EACH,
    kind: "memory-stream",
    count: 1000,
    owns: [{ subject: "own", floor: "node-streamed", most: 30 }],
    peers: ["sdk1-streamed", "sdk2-streamed"]
  },
  {
    topic: "memory",
    name: "an open streamed answer over HTTP, of 1,000, the server alone",
    unit: EACH,
    kind: "memory-answer",
    count: 1000,
    tool: "park",
    owns: [{ subject: "own", floor: "node-streamed", most: 30 }],
    peers: ["sdk1-streamed", "sdk2-streamed"]
  }
]
