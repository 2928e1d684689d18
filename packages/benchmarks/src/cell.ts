/**
 * One measurement, in a process of its own: `node cell.js <subject> <in flight> <calls>` prints the processor time of one
 * call in microseconds, after as many calls to warm up.
 */
import type { Subject } from "./Workload.js"

const subjects: Readonly<Record<string, () => Promise<Subject>>> = {
  ...Object.fromEntries(
    ["own", "hand", "sdk1", "sdk2"].flatMap((subject) => ["decode", "project"].map((work) => `${subject}-${work}`)).map(
      (
        name
      ) => [
        name,
        () => import("./subjects/decoding.js").then(({ decoding }) => decoding[name]!())
      ]
    )
  ),
  "own-pair": () => import("./subjects/own.js").then(({ overPair }) => overPair()),
  ...Object.fromEntries(
    ["own-http", "own-app", "sdk1-http"].map((name) => [
      name,
      () => import("./subjects/http.js").then(({ start }) => start(name)())
    ])
  ),
  "own-direct": () => import("./subjects/own.js").then(({ overDirect }) => overDirect()),
  "sdk1-pair": () => import("./subjects/sdk1.js").then(({ start }) => start()),
  "sdk2-pair": () => import("./subjects/sdk2.js").then(({ start }) => start())
}

const [name = "", inFlight = "1", calls = "1000"] = process.argv.slice(2)
const start = subjects[name]
if (start === undefined) throw new Error(`There is no subject "${name}": ${Object.keys(subjects).join(", ")}`)

const subject = await start()
await subject.run(Number(calls), Number(inFlight))
const used = subject.used ?? (() => {
  const { system, user } = process.cpuUsage()
  return Promise.resolve(user + system)
})
const before = await used()
await subject.run(Number(calls), Number(inFlight))
const microseconds = (await used()) - before
await subject.close()
console.log(JSON.stringify({ microseconds: microseconds / Number(calls) }))
process.exit(0)
