/**
 * Whether a call costs more when a server has more sessions or more tools: the same server is measured with few and with many. No other
 * library is measured here, because the question is how our cost grows, not how fast we are.
 */
import { A_CALL, type Work } from "./Work.js"

export const growth: ReadonlyArray<Work> = [
  {
    topic: "growth",
    name: "tools/call over HTTP in a session, beside 5,000 idle sessions in place of 10, the server alone",
    unit: A_CALL,
    kind: "among-sessions",
    inFlight: 16,
    owns: [{ subject: "5000", floor: "10", budget: { 10: 1.2 } }],
    peers: []
  },
  {
    topic: "growth",
    name: "tools/call over HTTP in a session, of a server with 1,000 tools in place of 1, the server alone",
    unit: A_CALL,
    kind: "among-tools",
    inFlight: 16,
    owns: [{ subject: "1000", floor: "1", budget: { 1: 1.2 } }],
    peers: []
  }
]
