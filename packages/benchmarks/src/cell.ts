/**
 * One measurement, in a process of its own: `node --expose-gc cell.js <kind> <subject> <in flight> <amount>` prints one figure.
 *
 * For a subject that makes calls, the figure is the processor time of one call, in microseconds. The amount is how many milliseconds of
 * processor time the calls take, of both sides together: a slow subject makes fewer calls than a fast subject, and load on the machine does
 * not shorten a measurement. Before it is measured, the subject makes calls for at least the same time, so that its code is compiled.
 *
 * For a subject that holds something open (sessions, streams, calls), the figure is the heap that one of them takes, in bytes. The amount
 * is how many are held open.
 */
import type { Holder, Subject } from "./Workload.js"

type Open = (subject: string, amount: number) => Promise<Subject | Holder>

const named = (
  load: () => Promise<Readonly<Record<string, (() => Subject | Holder | Promise<Subject | Holder>) | undefined>>>
): Open =>
async (subject) => {
  const open = (await load())[subject]
  if (open === undefined) throw new Error(`There is no subject "${subject}" of this kind`)
  return open()
}

const http = () => import("./subjects/http.js")

const [memory, own, sdk1, sdk2] = [
  () => import("./subjects/memory.js"),
  () => import("./subjects/own.js"),
  () => import("./subjects/sdk1.js"),
  () => import("./subjects/sdk2.js")
]

const decoding = (work: string): Open =>
  named(async () => (await import("./subjects/decoding.js")).decoding[work] ?? {})

/** The kinds of measurements, and how each opens a subject. */
const kinds: Readonly<Record<string, Open>> = {
  decode: decoding("decode"),
  "validate-list": decoding("validate-list"),
  project: decoding("project"),
  server: named(async () => (await memory()).servers),
  client: named(async () => (await memory()).clients),
  pair: named(async () => ({
    own: async () => (await own()).overPair("2025-11-25"),
    "own-direct": async () => (await own()).overDirect("2025-11-25"),
    "own-promises": async () => (await own()).fromPromises(),
    sdk1: async () => (await sdk1()).start(),
    sdk2: async () => (await sdk2()).legacy(),
    bare: async () => (await memory()).servers.bare!()
  })),
  "pair-modern": named(async () => ({
    own: async () => (await own()).overPair("2026-07-28"),
    "own-direct": async () => (await own()).overDirect("2026-07-28"),
    sdk2: async () => (await sdk2()).modern()
  })),
  "progress-pair": named(async () => ({
    own: async () => (await own()).progressOfPair(),
    sdk1: async () => (await sdk1()).progressOfPair(),
    sdk2: async () => (await sdk2()).progressOfPair(),
    bare: async () => (await memory()).bareProgress()
  })),
  cancel: named(async () => ({
    own: async () => (await own()).cancel(),
    sdk1: async () => (await sdk1()).cancel(),
    sdk2: async () => (await sdk2()).cancel(),
    bare: async () => (await memory()).bareCancel()
  })),
  "memory-call": named(async () => ({
    own: async () => (await own()).hold(),
    sdk1: async () => (await sdk1()).hold(),
    sdk2: async () => (await sdk2()).hold(),
    bare: async () => (await memory()).bareHold()
  })),
  "http-legacy": async (server) => (await http()).start(server, (await http()).eras.legacy),
  "http-stateless": async (server) => (await http()).start(server, (await http()).eras.stateless),
  "http-modern": async (server) => (await http()).start(server, (await http()).eras.modern),
  "http-bearer": async (server) => (await http()).start(server, (await http()).eras.bearer),
  "http-streamed": async (server) => (await http()).start(server, (await http()).eras.legacy, "addSlowly"),
  "http-progress": async (server) => (await http()).progress(server),
  "http-list": async (server) => (await http()).list(server),
  "among-sessions": async (sessions) => (await http()).amongSessions("own-wide", Number(sessions)),
  "among-tools": async (tools) => (await http()).amongTools("own", tools),
  "memory-session": async (server) => (await http()).holdSessions(server),
  "memory-stream": async (server, count) => (await http()).holdStreams(server, count),
  "memory-answer": async (server, count) => (await http()).holdAnswers(server, count),
  stdio: async (server) => (await import("./subjects/stdio.js")).start(server),
  "stdio-progress": async (server) => (await import("./subjects/stdio.js")).progress(server),
  "stdio-list": async (server) => (await import("./subjects/stdio.js")).list(server),
  "client-http": named(async () => (await import("./subjects/clients.js")).overHttp),
  "client-stdio": named(async () => (await import("./subjects/clients.js")).overStdio)
}

const ownUsage = () => {
  const { system, user } = process.cpuUsage()
  return Promise.resolve(user + system)
}

/**
 * How many times as long a server in another process warms up: its client takes a part of the time, and Node's HTTP server is slow at
 * first.
 */
const LONGER = 6

/** How many calls a subject makes at least before it is measured: otherwise the code of a slow subject would not be compiled yet. */
const FEWEST = 6000

/** After how many milliseconds of processor time a subject is measured although it has made fewer calls than `FEWEST`. */
const LONGEST = 6000

/** A measurement that takes fewer milliseconds says nothing about speed, so that it needs no `FEWEST` calls before. */
const BRIEF = 100

/** The processor time of one call. */
const time = async (subject: Subject, inFlight: number, milliseconds: number): Promise<number> => {
  const step = subject.step ?? inFlight
  const { used } = subject
  /** The processor time of both sides: the server may have a process of its own. */
  const spent = async () => await ownUsage() + (used === undefined ? 0 : await used())
  const run = async (calls: number): Promise<number> => {
    const before = await spent()
    await subject.run(calls, inFlight)
    return (await spent() - before) / 1000
  }
  let calls = step
  let took = await run(calls)
  /** How many calls take this time, if they are as fast as the last calls. */
  const callsIn = (milliseconds: number) => Math.max(1, Math.ceil(calls * milliseconds / took / step)) * step
  const warm = milliseconds * (used === undefined ? 1 : LONGER)
  const fewest = milliseconds < BRIEF ? 0 : FEWEST
  let made = calls
  for (let all = took; all < warm || (made < fewest && all < LONGEST); all += took, made += calls) {
    // The first calls are slow. The more calls were made, the better the estimate of the next number is.
    calls = Math.min(callsIn(milliseconds / 4), 4 * calls)
    took = await run(calls)
  }
  const measured = callsIn(milliseconds)
  const count = used ?? ownUsage
  const before = await count()
  await subject.run(measured, inFlight)
  return (await count() - before) / measured
}

/** The bytes of heap that one thing takes that the subject holds open. */
const weigh = async (holder: Holder, count: number): Promise<number> => {
  const first = Math.ceil(count / 10)
  await holder.hold(first)
  const before = await holder.heapBytes()
  await holder.hold(count - first)
  return (await holder.heapBytes() - before) / (count - first)
}

const [kind = "", name = "", inFlight = "1", amount = "100"] = process.argv.slice(2)
const open = kinds[kind]
if (open === undefined) throw new Error(`There is no kind "${kind}": ${Object.keys(kinds).join(", ")}`)

const subject = await open(name, Number(amount))
const figure = "hold" in subject
  ? await weigh(subject, Number(amount))
  : await time(subject, Number(inFlight), Number(amount))
await subject.close()
console.log(JSON.stringify({ figure }))
process.exit(0)
