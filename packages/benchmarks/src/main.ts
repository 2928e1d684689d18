/**
 * The benchmarks: `npm run bench`. Each row compares Effect MCP with the official SDKs at the same work, in new processes
 * that take turns, so that load on the machine affects all of them. Compare the ratios; the microseconds depend on the
 * machine.
 *
 * `nodes.ts` has the rows about the state that several nodes share, `startup.ts` the row about the start of a server.
 *
 * `--smoke` makes few calls: it checks that everything runs, and fails when a row of `nodes.ts` is far over its budget. Otherwise
 * each row over its budget ends with exit code 1.
 * With a text, only the rows run whose names contain it: `npm run bench -- 2026-07-28`.
 */
import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import * as nodes from "./nodes.js"
import * as startup from "./startup.js"

interface Row {
  readonly name: string
  readonly inFlight: number
  readonly calls: number
  readonly own: string
  readonly peers: ReadonlyArray<string>
  /** The limit of our processor time, as a fraction of each peer's. */
  readonly budget: Readonly<Record<string, number>>
}

const all: ReadonlyArray<Row> = [
  {
    name: "tools/call, 64 in flight over a pair of transports",
    inFlight: 64,
    calls: 40_000,
    own: "own-pair",
    peers: ["sdk1-pair", "sdk2-pair"],
    budget: { "sdk2-pair": 0.25 }
  },
  {
    name: "tools/call, one at a time, in process",
    inFlight: 1,
    calls: 40_000,
    own: "own-direct",
    peers: ["sdk1-pair", "sdk2-pair"],
    budget: { "sdk2-pair": 0.25 }
  },
  {
    name: "tools/call at 2026-07-28, 64 in flight over a pair of transports",
    inFlight: 64,
    calls: 40_000,
    own: "own-pair-modern",
    peers: ["sdk2-pair-modern"],
    budget: { "sdk2-pair-modern": 0.25 }
  },
  {
    name: "tools/call at 2026-07-28, one at a time, in process",
    inFlight: 1,
    calls: 40_000,
    own: "own-direct-modern",
    peers: ["sdk2-pair-modern"],
    budget: { "sdk2-pair-modern": 0.25 }
  },
  {
    name: "tools/call over HTTP in a session, 16 in flight, the server alone, on Node's HTTP server",
    inFlight: 16,
    calls: 8_000,
    own: "own-http-legacy",
    peers: ["sdk1-http-legacy"],
    budget: { "sdk1-http-legacy": 0.33 }
  },
  {
    name: "tools/call over HTTP in a session, 16 in flight, the server alone, on @effect/platform's HTTP server",
    inFlight: 16,
    calls: 8_000,
    own: "own-app-http-legacy",
    peers: ["sdk1-http-legacy"],
    budget: { "sdk1-http-legacy": 0.66 }
  },
  {
    name: "tools/call over HTTP at 2026-07-28, 16 in flight, the server alone, on Node's HTTP server",
    inFlight: 16,
    calls: 8_000,
    own: "own-http-modern",
    peers: ["sdk2-http-modern", "node-http-modern"],
    budget: { "sdk2-http-modern": 0.25, "node-http-modern": 2.5 }
  },
  {
    name: "tools/call over HTTP at 2026-07-28, 16 in flight, the server alone, on @effect/platform's HTTP server",
    inFlight: 16,
    calls: 4_000,
    own: "own-app-http-modern",
    peers: ["sdk2-http-modern"],
    budget: { "sdk2-http-modern": 0.66 }
  },
  {
    name: "tools/call over HTTP at 2026-07-28, 16 in flight, the server alone, both as web handlers on Hono's adapter",
    inFlight: 16,
    calls: 4_000,
    own: "own-web-http-modern",
    peers: ["sdk2-http-modern"],
    budget: { "sdk2-http-modern": 0.5 }
  },
  {
    name:
      "tools/call over HTTP at 2026-07-28 with a verified access token, 16 in flight, beside a server that reads none",
    inFlight: 16,
    calls: 8_000,
    own: "protected-bearer",
    peers: ["own-bearer"],
    budget: { "own-bearer": 1.5 }
  },
  {
    name: "tools/call over HTTP without a session, 16 in flight, the server alone",
    inFlight: 16,
    calls: 8000,
    own: "own-stateless-http-stateless",
    peers: ["sdk1-stateless-http-stateless", "node-http-stateless"],
    budget: { "node-http-stateless": 1.8 }
  },
  {
    name: "tools/call over HTTP in a session, with progress before the result, 16 in flight, the server alone",
    inFlight: 16,
    calls: 8000,
    own: "own-streamed",
    peers: ["sdk1-streamed", "node-streamed"],
    budget: { "node-streamed": 1.8 }
  },
  ...[1, 64].map((inFlight): Row => ({
    name: `tools/call over stdio, ${inFlight} in flight, the server alone`,
    inFlight,
    calls: 20_000,
    own: "own-stdio",
    peers: ["sdk1-stdio", "sdk2-stdio", "node-stdio"],
    budget: { "node-stdio": 1.5 }
  })),
  {
    name: "tools/call over HTTP in a session, 64 in flight, the client alone",
    inFlight: 64,
    calls: 8000,
    own: "own-client-http",
    peers: ["sdk1-client-http", "sdk2-client-http", "platform-client-http"],
    budget: { "platform-client-http": 1.3 }
  },
  {
    name: "tools/call over stdio, 64 in flight, the client alone",
    inFlight: 64,
    calls: 20_000,
    own: "own-client-stdio",
    peers: ["sdk1-client-stdio", "sdk2-client-stdio", "lines-client-stdio"],
    budget: {}
  },
  {
    name: "validate the parameters of a tools/call",
    inFlight: 1,
    calls: 400_000,
    own: "own-decode",
    peers: ["hand-decode", "sdk1-decode", "sdk2-decode"],
    budget: {}
  },
  {
    name: "validate a tools/list of 1,000 tools",
    inFlight: 1,
    calls: 300,
    own: "own-list",
    peers: ["own-checked-list", "sdk1-list"],
    // That it could have been mended costs nothing.
    budget: { "own-checked-list": 1.3, "sdk1-list": 0.5 }
  },
  {
    // The official SDKs refuse the whole list.
    name: "validate a tools/list of 1,000 tools, 100 of which are mended",
    inFlight: 1,
    calls: 300,
    own: "own-mended-list",
    peers: ["own-list"],
    budget: {}
  },
  {
    // The official SDKs do not narrow results to a revision; they validate them before sending.
    name: "narrow the result of a tools/call to 2025-03-26",
    inFlight: 1,
    calls: 400_000,
    own: "own-project",
    peers: ["hand-project", "sdk1-project", "sdk2-project"],
    budget: {}
  }
]

const smoke = process.argv.includes("--smoke")
const text = process.argv.slice(2).find((argument) => !argument.startsWith("--")) ?? ""
const rows = all.filter(({ name }) => name.includes(text))
const rounds = smoke ? 1 : 7
const cell = fileURLToPath(new URL("cell.js", import.meta.url))

/** How long one measurement may last, which takes seconds: a call without an answer would hold up everything. In milliseconds. */
const LIMIT = smoke ? 60_000 : 600_000

const measure = (subject: string, { calls, inFlight }: Row): number => {
  const { error, signal, status, stdout: output } = spawnSync(
    process.execPath,
    [cell, subject, String(inFlight), String(smoke ? 200 : calls)],
    { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"], timeout: LIMIT, killSignal: "SIGKILL" }
  )
  if (status !== 0) throw new Error(`${subject} has ended with ${error?.message ?? signal ?? status}`, { cause: error })
  return (JSON.parse(output) as { readonly microseconds: number }).microseconds
}

const median = (values: ReadonlyArray<number>): number => [...values].sort((a, b) => a - b)[values.length >> 1]!

console.log(`Node ${process.version}; processor time per call, client and server together; median of ${rounds}`)

let over = false
for (const row of rows) {
  console.log(`\n${row.name}`)
  const subjects = [row.own, ...row.peers]
  const times = new Map<string, Array<number>>(subjects.map((subject) => [subject, []]))
  for (let round = 0; round < rounds; round++) {
    for (const subject of subjects) times.get(subject)!.push(measure(subject, row))
  }
  const own = times.get(row.own)!
  console.log(`  ${row.own.padEnd(20)} ${median(own).toFixed(3).padStart(8)} µs`)
  for (const peer of row.peers) {
    const theirs = times.get(peer)!
    // Both times of a ratio come from the same round.
    const ratio = median(own.map((time, round) => time / theirs[round]!))
    const budget = row.budget[peer]
    const verdict = budget === undefined || smoke ? "" : ratio <= budget ? `  within ${budget}` : `  OVER ${budget}`
    over ||= verdict.includes("OVER")
    console.log(
      `  ${peer.padEnd(20)} ${median(theirs).toFixed(3).padStart(8)} µs   ours is ${ratio.toFixed(3)} of it${verdict}`
    )
  }
}
over = await startup.run({ text, smoke }) || over
const nodesAreOver = await nodes.run({ text, smoke })
// What a row has left behind, such as a connection, keeps no verdict waiting.
process.exit(over || nodesAreOver ? 1 : 0)
