/**
 * Checks of messages alone, as functions: without a transport and without a fiber. A call contains these checks; here they are measured by
 * themselves.
 */
import { A_CALL, type Work } from "./Work.js"

export const validation: ReadonlyArray<Work> = [
  {
    topic: "validation",
    name: "validate the parameters of a tools/call",
    unit: A_CALL,
    kind: "decode",
    owns: [{ subject: "own", floor: "hand" }],
    peers: ["sdk1", "sdk2"]
  },
  {
    topic: "validation",
    name: "validate a tools/list of 1,000 tools",
    unit: "µs a list",
    kind: "validate-list",
    owns: [
      // A list in which nothing must be mended costs little more than a check without mending.
      { subject: "own", floor: "checked", budget: { checked: 1.3, sdk1: 0.5 } },
      // The official SDKs refuse the whole list.
      { name: "100 of which are mended", subject: "mended", peers: ["own"] }
    ],
    peers: ["sdk1"]
  },
  {
    // The official SDKs do not narrow results to a revision; they validate them before sending.
    topic: "validation",
    name: "narrow the result of a tools/call to 2025-03-26",
    unit: A_CALL,
    kind: "project",
    owns: [{ subject: "own", floor: "hand" }],
    peers: ["sdk1", "sdk2"]
  }
]
