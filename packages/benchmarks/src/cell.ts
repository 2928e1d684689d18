/**
 * One measurement, in a process of its own: `node cell.js <subject> <in flight> <calls>` prints the processor time of one
 * call in microseconds, after as many calls to warm up.
 */
import type { Subject } from "./Workload.js"

const subjects: Readonly<Record<string, () => Promise<Subject>>> = {
  ...Object.fromEntries(
    ["own", "hand", "sdk1", "sdk2"].flatMap((subject) =>
      ["decode", "list", "checked-list", "mended-list", "project"].map((work) => `${subject}-${work}`)
    ).map((name) => [name, () => import("./subjects/decoding.js").then(({ decoding }) => decoding[name]!())])
  ),
  ...Object.fromEntries(
    Object.entries({
      legacy: ["own", "own-app", "sdk1", "node"],
      stateless: ["own-stateless", "sdk1-stateless", "node"],
      modern: ["own", "own-web", "own-app", "sdk2", "node"]
    }).flatMap(([era, servers]) =>
      servers.map((server) => [
        `${server}-http-${era}`,
        () => import("./subjects/http.js").then(({ eras, start }) => start(server, eras[era as keyof typeof eras])())
      ])
    )
  ),
  ...Object.fromEntries(
    Object.entries({ "own-bearer": "own", "protected-bearer": "protected" }).map(([name, server]) => [
      name,
      () => import("./subjects/http.js").then(({ eras, start }) => start(server, eras.bearer)())
    ])
  ),
  ...Object.fromEntries(
    Object.entries({ "own-streamed": "own", "sdk1-streamed": "sdk1-streamed", "node-streamed": "node-streamed" })
      .map(([name, server]) => [
        name,
        () => import("./subjects/http.js").then(({ eras, start }) => start(server, eras.legacy, "addSlowly")())
      ])
  ),
  ...Object.fromEntries(["own", "sdk1", "sdk2", "node"].map((server) => [
    `${server}-stdio`,
    () => import("./subjects/stdio.js").then(({ start }) => start(server))
  ])),
  ...Object.fromEntries(
    [
      ...["own", "sdk1", "sdk2", "platform"].map((client) => `${client}-client-http`),
      ...["own", "sdk1", "sdk2", "lines"].map((client) => `${client}-client-stdio`)
    ].map((name) => [name, () => import("./subjects/clients.js").then(({ clients }) => clients[name]!())])
  ),
  "own-pair": () => import("./subjects/own.js").then(({ overPair }) => overPair("2025-11-25")),
  "own-pair-modern": () => import("./subjects/own.js").then(({ overPair }) => overPair("2026-07-28")),
  "own-direct": () => import("./subjects/own.js").then(({ overDirect }) => overDirect("2025-11-25")),
  "own-direct-modern": () => import("./subjects/own.js").then(({ overDirect }) => overDirect("2026-07-28")),
  "sdk1-pair": () => import("./subjects/sdk1.js").then(({ start }) => start()),
  "sdk2-pair": () => import("./subjects/sdk2.js").then(({ legacy }) => legacy()),
  "sdk2-pair-modern": () => import("./subjects/sdk2.js").then(({ modern }) => modern())
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
