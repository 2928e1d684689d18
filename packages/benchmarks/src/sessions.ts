/**
 * The rows about idle sessions: how much memory a session costs in Redis and on its node, and whether the directory in Redis is as fast
 * with 100,000 sessions as with 1,000.
 */
import type * as SessionDirectory from "@effect-mcp/core/SessionDirectory"
import * as RedisConnection from "@effect-mcp/redis/RedisConnection"
import * as RedisSessionDirectory from "@effect-mcp/redis/RedisSessionDirectory"
import { Effect, Option } from "effect"
import { monitorEventLoopDelay } from "node:perf_hooks"
import type { Redis } from "./Redis.js"
import { type Options, type Report, type Result, resultOf } from "./Report.js"
import * as ServedProcess from "./ServedProcess.js"
import { inTurn } from "./Workload.js"

/** How many kB of Redis an idle session may cost. */
const MAX_KILOBYTES = 2

/** What an ordinary client sends. */
const capabilities = { sampling: {}, elicitation: { form: {}, url: {} }, roots: { listChanged: true } }

/** The bytes of all keys whose names match. */
const bytesOf = ({ command }: Redis, pattern: string) =>
  Effect.gen(function*() {
    let bytes = 0
    let cursor = "0"
    do {
      const [next, keys] = (yield* command("SCAN", cursor, "MATCH", pattern, "COUNT", 1000)) as [string, Array<string>]
      for (const key of keys) bytes += Number(yield* command("MEMORY", "USAGE", key, "SAMPLES", 0))
      cursor = next
    } while (cursor !== "0")
    return bytes
  })

const NODE = "nodes: memory of an idle session at its node"
const REDIS = "nodes: memory of an idle session in Redis itself"

const idle = (redis: Redis, smoke: boolean): Effect.Effect<ReadonlyArray<Result>> =>
  Effect.gen(function*() {
    const sessions = smoke ? 200 : 5000
    const heaps = new Map<string, Array<number>>()
    for (const [server, name] of [["nodes-memory", "memory"], ["nodes-redis", "Redis"]] as const) {
      const served = yield* Effect.promise(() =>
        ServedProcess.start(server, { REDIS_URL: redis.url, REDIS_PREFIX: "idle:" })
      )
      const open = (count: number) =>
        Effect.promise(() =>
          inTurn(count, 16, async () =>
            void await ServedProcess.call(served, await ServedProcess.legacy(served.post, capabilities), 1))
        )
      yield* open(100)
      const before = yield* Effect.promise(() =>
        served.used(true)
      )
      yield* open(sessions)
      const after = yield* Effect.promise(() => served.used(true))
      heaps.set(name, [(after.heapBytes - before.heapBytes) / sessions / 1000])
      served.close()
    }
    const kilobytes = (yield* Effect.orDie(bytesOf(redis, "idle:*session:*"))) / (sessions + 100) / 1000
    const row = { topic: "nodes", own: "Redis", unit: "kB each" } as const
    return [
      resultOf({
        ...row,
        name: NODE,
        floor: "memory",
        samples: heaps,
        compared: [{ own: "Redis", other: "memory" }]
      }),
      resultOf({
        ...row,
        name: REDIS,
        most: MAX_KILOBYTES,
        samples: new Map([["Redis", [kilobytes]]]),
        compared: []
      })
    ]
  })

const facts = {
  version: "2025-11-25",
  clientInfo: { name: "bench", version: "1.0.0" },
  clientCapabilities: capabilities
}

/** How many times as much as with 1,000 sessions an operation may cost with 100,000 sessions. */
const MAX_GROWTH = 2

interface Measured {
  /** The processor time of one operation at the node and in Redis, in microseconds. */
  readonly cost: number
  /** The longest pause of the event loop, in milliseconds. */
  readonly pause: number
}

/** Processor time and the longest pause of the event loop while an effect runs. */
const measured = <A, E>(redis: Redis, effect: Effect.Effect<A, E>, operations: number): Effect.Effect<Measured, E> =>
  Effect.gen(function*() {
    const delays = monitorEventLoopDelay({ resolution: 1 })
    const redisBefore = yield* redis.used
    delays.enable()
    const before = process.cpuUsage()
    yield* effect
    const { system, user } = process.cpuUsage(before)
    delays.disable()
    const inRedis = (yield* redis.used) - redisBefore
    return { cost: (user + system + inRedis) / operations, pause: delays.max / 1_000_000 }
  })

/** What one directory costs, by operation. */
const operations = (redis: Redis, prefix: string, sessions: number) =>
  Effect.scoped(Effect.gen(function*() {
    const connection = yield* RedisConnection.make({ url: redis.url, prefix })
    const service = yield* Effect.provideService(
      RedisSessionDirectory.make(),
      RedisConnection.RedisConnection,
      connection
    )
    const one = yield* service.join("one")
    const two = yield* service.join("two")
    const ids = Array.from({ length: sessions }, () => crypto.randomUUID())
    const some = ids.filter((_, at) => at % (sessions / FEWEST) === 0)
    const each = (ids: ReadonlyArray<string>, f: (id: string) => Effect.Effect<unknown, unknown>) =>
      Effect.forEach(ids, f, { concurrency: 16, discard: true })
    const create = yield* measured(redis, each(ids, (id) => one.create(id, facts)), sessions)
    const find = yield* measured(redis, each(some, (id) => found(two, id)), some.length)
    const touch = yield* measured(redis, one.touch(ids), sessions)
    yield* each(some, (id) => one.release(id, 1))
    const claim = yield* measured(redis, each(some, (id) => two.claim(id, 1)), some.length)
    return { create, find, touch, claim }
  }))

const DIRECTORY = "nodes: a directory of 100,000 sessions in Redis"

const FEWEST = 1000

const directory = (redis: Redis, smoke: boolean): Effect.Effect<ReadonlyArray<Result>> =>
  Effect.gen(function*() {
    // The first directory is slow, because its code is not compiled yet.
    if (!smoke) yield* operations(redis, "directory:warm:", FEWEST)
    const few = yield* operations(redis, "directory:few:", FEWEST)
    const many = yield* operations(redis, "directory:many:", smoke ? FEWEST : 100 * FEWEST)
    return (["create", "find", "touch", "claim"] as const).flatMap((name) => {
      const row = { topic: "nodes", own: "100,000 sessions", floor: "1,000 sessions" } as const
      const samplesOf = (figure: (one: Measured) => number) =>
        new Map([[row.own, [figure(many[name])]], [row.floor, [figure(few[name])]]])
      return [
        resultOf({
          ...row,
          name: `${DIRECTORY}: ${name}`,
          unit: "µs of the node and of Redis",
          samples: samplesOf(({ cost }) => cost),
          compared: [{ own: row.own, other: row.floor, ...(smoke ? {} : { most: MAX_GROWTH }) }]
        }),
        resultOf({
          ...row,
          name: `${DIRECTORY}: ${name}, the longest pause of the node`,
          unit: "ms",
          samples: samplesOf(({ pause }) => pause),
          compared: []
        })
      ]
    })
  }).pipe(Effect.orDie)

const found = (membership: SessionDirectory.Membership, id: string) =>
  Effect.filterOrDieMessage(membership.find(id), Option.isSome, "A session is not in the directory")

/** Runs the rows. */
export const run = (redis: Redis, report: Report, { smoke, text }: Options): Promise<void> =>
  Effect.runPromise(Effect.gen(function*() {
    if (NODE.includes(text) || REDIS.includes(text)) { for (const row of yield* idle(redis, smoke)) report.add(row) }
    if (DIRECTORY.includes(text)) { for (const row of yield* directory(redis, smoke)) report.add(row) }
  }))
