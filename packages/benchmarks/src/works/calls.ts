/**
 * A call of a tool, over each transport: client and server together, or the server alone. `streams.ts` has the works with more than one
 * answer to a call.
 */
import { A_CALL, type Work } from "./Work.js"

const SERVER = "the server alone"

/** The limit of a smoke run where we are usually four times as fast: also on a busy machine we are not slower. */
const NOT_SLOWER = { sdk2: 1 }

export const calls: ReadonlyArray<Work> = [
  ...[1, 64].map((inFlight): Work => ({
    topic: "calls",
    name: `tools/call over a pair of transports, ${inFlight} in flight`,
    unit: A_CALL,
    kind: "pair",
    inFlight,
    owns: [{ subject: "own", budget: { sdk1: inFlight === 1 ? 1 : 0.5, sdk2: inFlight === 1 ? 0.5 : 0.25 } }],
    peers: ["sdk1", "sdk2"]
  })),
  {
    topic: "calls",
    name: "tools/call in process, one at a time",
    unit: A_CALL,
    kind: "pair",
    owns: [
      { name: "in one fiber", subject: "own-direct", floor: "bare", budget: { sdk2: 0.25 }, smoke: NOT_SLOWER },
      { name: "from promises", subject: "own-promises", floor: "bare", budget: { sdk1: 0.5, sdk2: 0.5 } }
    ],
    peers: ["sdk1", "sdk2"]
  },
  {
    topic: "calls",
    name: "tools/call at 2026-07-28 over a pair of transports, 64 in flight",
    unit: A_CALL,
    kind: "pair-modern",
    inFlight: 64,
    owns: [{ subject: "own", budget: { sdk2: 0.25 } }],
    peers: ["sdk2"]
  },
  {
    topic: "calls",
    name: "tools/call at 2026-07-28 in process, one at a time",
    unit: A_CALL,
    kind: "pair-modern",
    owns: [{ subject: "own-direct", budget: { sdk2: 0.25 }, smoke: NOT_SLOWER }],
    peers: ["sdk2"]
  },
  ...[1, 64].map((inFlight): Work => ({
    topic: "calls",
    name: `tools/call in memory, ${inFlight} in flight, ${SERVER}`,
    unit: A_CALL,
    kind: "server",
    inFlight,
    // Three times the floor is out of reach: one fiber of Effect with a context of its own, and the text of the result, take 2.1 µs.
    owns: [{ subject: "own", floor: "bare", budget: { bare: 9, sdk1: 0.33, sdk2: 0.25 } }],
    peers: ["sdk1", "sdk2"]
  })),
  ...[1, 64].map((inFlight): Work => ({
    topic: "calls",
    name: `tools/call over stdio, ${inFlight} in flight, ${SERVER}`,
    unit: A_CALL,
    kind: "stdio",
    inFlight,
    // We want 1.5, and reach 1.53 to 1.6 with 64 in flight: the fiber of the handler takes a third of our time.
    owns: [{ subject: "own", floor: "node", budget: { node: 1.65 } }],
    peers: ["sdk1", "sdk2", "effect-ai", "fastmcp", "tmcp"]
  })),
  {
    topic: "calls",
    name: `tools/call over HTTP in a session, 16 in flight, ${SERVER}`,
    unit: A_CALL,
    kind: "http-legacy",
    inFlight: 16,
    owns: [
      {
        name: "on Node's HTTP server",
        subject: "own",
        floor: "node",
        budget: { node: 1.6, sdk1: 0.33 },
        smoke: { "sdk2-sessions": 1 }
      },
      {
        name: "on @effect/platform's HTTP server",
        subject: "own-app",
        floor: "platform",
        budget: { platform: 1.3, sdk1: 0.66 }
      }
    ],
    peers: ["sdk1", "sdk2-sessions", "effect-ai", "fastmcp", "tmcp"]
  },
  {
    topic: "calls",
    name: `tools/call over HTTP without a session, 16 in flight, ${SERVER}`,
    unit: A_CALL,
    kind: "http-stateless",
    inFlight: 16,
    owns: [{ subject: "own-stateless", floor: "node", budget: { node: 1.8 }, smoke: { "sdk1-stateless": 1 } }],
    peers: ["sdk1-stateless"]
  },
  {
    topic: "calls",
    name: `tools/call over HTTP at 2026-07-28, 16 in flight, ${SERVER}`,
    unit: A_CALL,
    kind: "http-modern",
    inFlight: 16,
    owns: [
      {
        name: "on Node's HTTP server",
        subject: "own",
        floor: "node",
        budget: { node: 1.8, sdk2: 0.25 },
        smoke: NOT_SLOWER
      },
      {
        name: "on @effect/platform's HTTP server",
        subject: "own-app",
        floor: "platform",
        budget: { platform: 1.3, sdk2: 0.66 }
      },
      {
        name: "as web handlers on Hono's adapter",
        subject: "own-web",
        floor: "node-web",
        budget: { "node-web": 2, sdk2: 0.5 }
      }
    ],
    peers: ["sdk2"]
  },
  {
    topic: "calls",
    name: `tools/call over HTTP at 2026-07-28 with a verified access token, 16 in flight, ${SERVER}`,
    unit: A_CALL,
    kind: "http-bearer",
    inFlight: 16,
    // The floor is our server without protection, which does not read the token.
    owns: [{ subject: "protected", floor: "own", budget: { own: 1.5 } }],
    peers: []
  }
]
