/**
 * The rows about several nodes: what the state that they share costs, in memory, in Redis and in PostgreSQL. The servers of a row run at
 * the same time and get the same calls in turn, so that load on the machine affects all of them. A ratio compares two turns of the same
 * round, and each row prints the median of the rounds.
 */
import { Effect } from "effect"
import * as Database from "./Database.js"
import * as Redis from "./Redis.js"
import { isOver, median, type Options, type Report, type Result, resultOf } from "./Report.js"
import * as ServedProcess from "./ServedProcess.js"
import * as sessions from "./sessions.js"

/** What is compared in a row. */
interface Variant {
  readonly name: string
  /** Makes so many calls. */
  readonly run: (calls: number) => Promise<void>
  /** The processes whose time counts. */
  readonly nodes: ReadonlyArray<ServedProcess.Served>
}

interface Row {
  readonly calls: number
  /** The other variants are compared with the first. */
  readonly variants: ReadonlyArray<Variant>
  /** How many times the processor time of the first variant the other variants may take, by their names. */
  readonly budget: Readonly<Record<string, number>>
  /** Whether only the busiest node counts: on processors of its own, this node limits how many calls there can be. */
  readonly busiest?: boolean
}

type Store = "Redis" | "PostgreSQL"

interface NamedRow {
  readonly name: string
  readonly store: Store
  readonly make: (start: Start) => Promise<Row>
}

const PROGRESS = { progressToken: 1 }

/** The number of a node that shares its state with no other. */
const ALONE = 3

/** How many turns each variant gets. */
const ROUNDS = 11

/** In a smoke run, a ratio may be over its budget by this factor: there are few calls. */
const MARGIN = 1.3

/** How many microseconds a call it costs a store to tell its processor time: a figure of a store that is lower is left out. */
const READING = 10

/** How often a smoke run measures a row that is over its budget: other processes may have slowed down one variant. */
const ATTEMPTS = 3

/** How many sessions call one node, each one call at a time. */
const IN_FLIGHT = 16

/** Makes calls in all sessions at the same time, one call at a time in each session. */
const spread = (
  nodes: ReadonlyArray<ServedProcess.Served>,
  clients: ReadonlyArray<ServedProcess.Additions>,
  /** The node that gets a call of a session. */
  nodeOf: (client: number, call: number) => number,
  tool: string,
  _meta?: object
) =>
async (calls: number): Promise<void> => {
  let next = 1
  await Promise.all(clients.map(async (client, at) => {
    while (next <= calls) {
      const call = next++
      await ServedProcess.call(nodes[nodeOf(at, call)]!, client, call, tool, _meta)
    }
  }))
}

const begin = (nodes: ReadonlyArray<ServedProcess.Served>, era: ServedProcess.Begin) =>
  Promise.all(Array.from({ length: IN_FLIGHT * nodes.length }, (_, at) => era(nodes[at % nodes.length]!.post)))

/** A variant in which each call arrives at the node that serves its session. */
const affine = async (
  name: string,
  nodes: ReadonlyArray<ServedProcess.Served>,
  era: ServedProcess.Begin,
  tool: string,
  _meta?: object
): Promise<Variant> => {
  const clients = await begin(nodes, era)
  return { name, nodes, run: spread(nodes, clients, (client) => client % nodes.length, tool, _meta) }
}

/** Measures a row. */
const measure = async (
  { name, store }: NamedRow,
  { budget, busiest, calls, variants }: Row,
  /** The processor time of the store. */
  used: Effect.Effect<number>,
  smoke: boolean
): Promise<Result> => {
  const share = Math.ceil(calls / (smoke ? 100 : ROUNDS))
  const rounds = smoke ? 5 : ROUNDS
  const usage = async ({ nodes }: Variant) => ({
    nodes: await Promise.all(nodes.map(async (node) => (await node.used()).microseconds)),
    store: await Effect.runPromise(used)
  })
  const times = variants.map(() => ({ nodes: [] as Array<number>, store: [] as Array<number> }))
  for (const { run } of variants) await run(smoke ? 2 * share : calls / 4)
  for (let round = 0; round < rounds; round++) {
    for (const [at, variant] of variants.entries()) {
      const before = await usage(variant)
      await variant.run(share)
      const after = await usage(variant)
      const used = after.nodes.map((time, node) => time - before.nodes[node]!)
      times[at]!.nodes.push((busiest === true ? Math.max(...used) : used.reduce((all, one) => all + one, 0)) / share)
      times[at]!.store.push((after.store - before.store) / share)
    }
  }
  const [first, second] = [variants[0]!.name, variants[1]!.name]
  return resultOf({
    topic: "nodes",
    name,
    unit: busiest === true ? "µs a call, of the busiest node" : "µs a call",
    own: second,
    floor: first,
    samples: new Map(variants.flatMap((variant, at): Array<[string, Array<number>]> => {
      const { nodes, store: stored } = times[at]!
      return median(stored) < READING
        ? [[variant.name, nodes]]
        : [[variant.name, nodes], [`${variant.name}: ${store} itself`, stored]]
    })),
    compared: variants.slice(1).map((variant) => {
      const most = budget[variant.name]
      return {
        own: variant.name,
        other: first,
        ...(most === undefined ? {} : { most: smoke ? Number((most * MARGIN).toFixed(2)) : most })
      }
    })
  })
}

/** Starts a server, or finds the server of this name and number that was started before: the rows share the servers. */
type Start = (
  server: "nodes-alone" | "nodes-memory" | "nodes-redis" | "nodes-postgres",
  number?: number
) => Promise<ServedProcess.Served>

const SERVERS = { Redis: "nodes-redis", PostgreSQL: "nodes-postgres" } as const

const rowsOf = (smoke: boolean): ReadonlyArray<NamedRow> => {
  const { legacy, modern } = ServedProcess
  const named = (store: Store, name: string, make: NamedRow["make"]): NamedRow => ({
    name: store === "Redis" ? `nodes: ${name}` : `nodes: ${store}: ${name}`,
    store,
    make
  })
  const ofOneNode = (
    store: Store,
    name: string,
    calls: number,
    budget: number | undefined,
    era: ServedProcess.Begin,
    tool: string,
    _meta?: object
  ): NamedRow =>
    named(store, name, async (start) => ({
      calls,
      variants: [
        await affine("memory", [await start("nodes-memory")], era, tool, _meta),
        await affine(store, [await start(SERVERS[store])], era, tool, _meta),
        await affine("no state", [await start("nodes-alone")], era, tool, _meta)
      ],
      budget: budget === undefined ? {} : { [store]: budget }
    }))
  const three = (start: Start, store: Store) => Promise.all([0, 1, 2].map((number) => start(SERVERS[store], number)))
  const forwarded = (store: Store, tool: "add" | "later"): NamedRow =>
    named(
      store,
      `tools/call that another node serves and answers ${tool === "add" ? "at once" : "later"}`,
      async (start) => {
        const nodes = (await three(start, store)).slice(0, 2)
        const clients = await begin(nodes, legacy)
        return {
          calls: 4_000,
          variants: [
            await affine("its own node", nodes, legacy, tool),
            { name: "another node", nodes, run: spread(nodes, clients, (client) => (client + 1) % 2, tool) }
          ],
          budget: {}
        }
      }
    )
  const resumed = (store: Store): NamedRow =>
    named(
      store,
      "resuming one of 1,000 streams, with 10 events each that the client has not read",
      async (start) => {
        const streams = smoke ? 100 : 1000
        const [one, two] = await three(start, store)
        return {
          calls: 4_000,
          variants: [
            await resuming("memory", streams, [await start("nodes-memory")]),
            await resuming(store, streams, [one!]),
            await resuming(`${store}, another node`, streams, [one!, two!])
          ],
          budget: {}
        }
      }
    )
  const AT_ONCE = "tools/call that is answered at once"
  const LATER = "tools/call that is answered later on a stream that can be resumed"
  return [
    ofOneNode("Redis", AT_ONCE, 20_000, 1.5, legacy, "add"),
    ofOneNode(
      "Redis",
      "tools/call with 10 notifications on a stream that can be resumed",
      4_000,
      1.5,
      legacy,
      "count",
      PROGRESS
    ),
    ofOneNode("Redis", LATER, 12_000, 2.5, legacy, "later"),
    ofOneNode("Redis", "tools/call at 2026-07-28", 20_000, 1.5, modern(), "add"),
    forwarded("Redis", "add"),
    forwarded("Redis", "later"),
    named(
      "Redis",
      "growth from 1 to 3 over Redis, each on processors of its own; the busiest node",
      async (start) => {
        const nodes = await three(start, "Redis")
        const clients = await begin(nodes, legacy)
        const modernClients = await begin(nodes, modern())
        const anywhere = (_: number, call: number) => call % 3
        return {
          calls: 12_000,
          busiest: true,
          variants: [
            await affine("1 node", [await start("nodes-redis", ALONE)], legacy, "add"),
            await affine("3, affinity", nodes, legacy, "add"),
            { name: "3, no affinity", nodes, run: spread(nodes, clients, anywhere, "add") },
            { name: "3, at 2026-07-28", nodes, run: spread(nodes, modernClients, anywhere, "add") }
          ],
          budget: {}
        }
      }
    ),
    resumed("Redis"),
    ofOneNode("PostgreSQL", AT_ONCE, 20_000, undefined, legacy, "add"),
    ofOneNode("PostgreSQL", LATER, 6_000, undefined, legacy, "later"),
    forwarded("PostgreSQL", "add"),
    resumed("PostgreSQL")
  ]
}

/** A variant that resumes finished streams of the first node at the last node. */
const resuming = async (
  name: string,
  count: number,
  nodes: ReadonlyArray<ServedProcess.Served>
): Promise<Variant> => {
  const clients = await begin(nodes.slice(0, 1), ServedProcess.legacy)
  const streams: Array<ServedProcess.Headers> = []
  await Promise.all(clients.map(async (client) => {
    while (streams.length < count) {
      const text = await ServedProcess.call(nodes[0]!, client, 1, "count", PROGRESS)
      const ids = [...text.matchAll(/^id: (.*)$/gm)].map(([, id]) => id!)
      streams.push({ ...client.headers, "last-event-id": ids[ids.length - UNREAD - 1]! })
    }
  }))
  let next = 0
  return {
    name,
    nodes,
    run: async (calls) => {
      const end = next + calls
      await Promise.all(clients.map(async () => {
        while (next < end) {
          const { body } = await nodes.at(-1)!.get(streams[next++ % streams.length]!)
          const events = body.split("\ndata: ").length - 1
          if (events !== UNREAD) throw new Error(`A stream has ${events} events: ${body}`)
        }
      }))
    }
  }
}

const UNREAD = 10

/** Runs the rows. */
export const run = (report: Report, { smoke, text }: Options): Promise<void> =>
  Effect.runPromise(Effect.scoped(Effect.gen(function*() {
    const redis = yield* Redis.make
    const database = yield* Effect.cached(Database.make)
    const started = new Map<string, Promise<ServedProcess.Served>>()
    const startOn = (url: string): Start => (server, number = 0) => {
      const key = `${server} ${number}`
      const served = started.get(key) ?? ServedProcess.start(server, {
        REDIS_URL: redis.url,
        REDIS_PREFIX: number === ALONE ? "alone:" : "nodes:",
        DATABASE_URL: url
      })
      started.set(key, served)
      return served
    }
    for (const row of rowsOf(smoke)) {
      if (!row.name.includes(text)) continue
      const { url, used } = row.store === "Redis" ? { ...redis, url: "" } : yield* database
      const made = yield* Effect.promise(() => row.make(startOn(url)))
      const result = yield* Effect.repeat(Effect.promise(() => measure(row, made, used, smoke)), {
        times: smoke ? ATTEMPTS - 1 : 0,
        while: isOver
      })
      report.add(result)
    }
    for (const served of started.values()) yield* Effect.promise(async () => (await served).close())
    yield* Effect.promise(() => sessions.run(redis, report, { smoke, text }))
  })))
