/**
 * The benchmarks: `npm run bench`. Each row is the same work done by us and by its best peer, in fresh processes that take
 * turns, so that a slow minute of the machine slows all of them. Read the ratios; the microseconds are this machine's.
 *
 * `--smoke` makes few calls and only sees that everything runs. Otherwise a row over its budget ends with exit code 1.
 */
import { execFileSync } from "node:child_process"
import { fileURLToPath } from "node:url"

interface Row {
  readonly name: string
  readonly inFlight: number
  readonly own: string
  readonly peers: ReadonlyArray<string>
  /** At most this part of the processor time of each peer. */
  readonly budget: Readonly<Record<string, number>>
}

const rows: ReadonlyArray<Row> = [
  {
    name: "tools/call, 64 in flight over a pair of transports",
    inFlight: 64,
    own: "own-pair",
    peers: ["sdk1-pair", "sdk2-pair"],
    budget: { "sdk2-pair": 0.25 }
  },
  {
    name: "tools/call, one at a time, in process",
    inFlight: 1,
    own: "own-direct",
    peers: ["sdk1-pair", "sdk2-pair"],
    budget: { "sdk2-pair": 0.25 }
  }
]

const smoke = process.argv.includes("--smoke")
const rounds = smoke ? 1 : 7
const calls = smoke ? 200 : 40_000
const cell = fileURLToPath(new URL("cell.js", import.meta.url))

const measure = (subject: string, inFlight: number): number => {
  const output = execFileSync(process.execPath, [cell, subject, String(inFlight), String(calls)], { encoding: "utf8" })
  return (JSON.parse(output) as { readonly microseconds: number }).microseconds
}

const median = (values: ReadonlyArray<number>): number => [...values].sort((a, b) => a - b)[values.length >> 1]!

console.log(`Node ${process.version}; processor time per call, client and server together; ${rounds} × ${calls} calls`)

let over = false
for (const row of rows) {
  console.log(`\n${row.name}`)
  const subjects = [row.own, ...row.peers]
  const times = new Map<string, Array<number>>(subjects.map((subject) => [subject, []]))
  for (let round = 0; round < rounds; round++) {
    for (const subject of subjects) times.get(subject)!.push(measure(subject, row.inFlight))
  }
  const own = times.get(row.own)!
  console.log(`  ${row.own.padEnd(12)} ${median(own).toFixed(2).padStart(8)} µs`)
  for (const peer of row.peers) {
    const theirs = times.get(peer)!
    // Pair by pair: both halves of a ratio were measured next to each other.
    const ratio = median(own.map((time, round) => time / theirs[round]!))
    const budget = row.budget[peer]
    const verdict = budget === undefined || smoke ? "" : ratio <= budget ? `  within ${budget}` : `  OVER ${budget}`
    over ||= verdict.includes("OVER")
    console.log(
      `  ${peer.padEnd(12)} ${median(theirs).toFixed(2).padStart(8)} µs   ours is ${ratio.toFixed(3)} of it${verdict}`
    )
  }
}
process.exitCode = over ? 1 : 0
