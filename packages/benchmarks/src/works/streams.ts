/**
 * Works about more than one answer to a call: notifications before the answer, long lists, and cancelled calls.
 *
 * Notifications of progress stand for all that a handler sends: log messages and changes of resources take the same way through the
 * server, the transport and the client. Only notifications that are sent to all clients at once are different: several of them may be
 * merged, and their cost depends on how many are merged.
 */
import { A_CALL, A_NOTIFICATION, type Work } from "./Work.js"

const SERVER = "the server alone"

export const streams: ReadonlyArray<Work> = [
  {
    topic: "streams",
    name: `tools/call over HTTP in a session, with progress before the result, 16 in flight, ${SERVER}`,
    unit: A_CALL,
    kind: "http-streamed",
    inFlight: 16,
    tool: "addSlowly",
    owns: [{ subject: "own", floor: "node-streamed", budget: { "node-streamed": 1.8 } }],
    peers: ["sdk1-streamed"]
  },
  {
    topic: "streams",
    name: "1,000 notifications of progress before a result, over a pair of transports",
    unit: A_NOTIFICATION,
    kind: "progress-pair",
    tool: "report",
    owns: [{ subject: "own", floor: "bare", budget: { sdk1: 1 } }],
    peers: ["sdk1", "sdk2"]
  },
  {
    topic: "streams",
    name: `1,000 notifications of progress before a result, over stdio, ${SERVER}`,
    unit: A_NOTIFICATION,
    kind: "stdio-progress",
    tool: "report",
    owns: [{ subject: "own", floor: "node", budget: { sdk1: 1, sdk2: 1 } }],
    peers: ["sdk1", "sdk2"]
  },
  {
    topic: "streams",
    name: `1,000 notifications of progress before a result, over HTTP in a session, ${SERVER}`,
    unit: A_NOTIFICATION,
    kind: "http-progress",
    tool: "report",
    owns: [{
      subject: "own",
      floor: "node-streamed",
      budget: { "sdk1-streamed": 1, "sdk2-streamed": 1 }
    }],
    peers: ["sdk1-streamed", "sdk2-streamed"]
  },
  {
    topic: "streams",
    name: "cancel 1,000 calls in flight, over a pair of transports",
    unit: "ms for all",
    kind: "cancel",
    calls: 1000,
    tool: "park",
    owns: [{ subject: "own", floor: "bare", budget: { sdk1: 1 } }],
    peers: ["sdk1", "sdk2"]
  },
  {
    topic: "streams",
    name: `tools/list of 1,000 tools over HTTP in a session, ${SERVER}`,
    unit: "ms a list",
    kind: "http-list",
    tools: 1000,
    owns: [{ subject: "own", floor: "node", smoke: { sdk1: 1, "sdk2-sessions": 1 } }],
    peers: ["sdk1", "sdk2-sessions"]
  },
  {
    topic: "streams",
    name: `tools/list of 1,000 tools over stdio, ${SERVER}`,
    unit: "ms a list",
    kind: "stdio-list",
    tools: 1000,
    owns: [{ subject: "own", floor: "node", smoke: { sdk1: 1, sdk2: 1 } }],
    peers: ["sdk1", "sdk2"]
  }
]
