/**
 * The rows about idle sessions: how much memory one costs in Redis and on its node, and whether the directory in Redis is as fast
 * with 100,000 sessions as with 1,000.
 */
import * as RedisConnection from "@effect-mcp/redis/RedisConnection"
import * as RedisSessionDirectory from "@effect-mcp/redis/RedisSessionDirectory"
import type * as SessionDirectory from "@effect-mcp/server/SessionDirectory"
import { Effect, Option } from "effect"
import { monitorEventLoopDelay } from "node:perf_hooks"
import type { Redis } from "./Redis.js"
import * as ServedProcess from "./ServedProcess.js"

export interface Options {
  readonly text: string
  readonly smoke: boolean
}

/** How many bytes of Redis an idle session may cost. */
const MAX_BYTES = 2048

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

const idle = (redis: Redis, smoke: boolean) =>
  Effect.gen(function*() {
    const sessions = smoke ? 200 : 5000
    console.log(`\nnodes: memory of an idle session, mean of ${sessions}`)
    let over = false
    for (const [server, name] of [["nodes-memory", "memory"], ["nodes-redis", "Redis"]] as const) {
      const served = yield* Effect.promise(() =>
        ServedProcess.start(server, { REDIS_URL: redis.url, REDIS_PREFIX: "idle:" })
      )
      const open = (count: number) =>
        Effect.promise(async () => {
          let left = count
          await Promise.all(Array.from({ length: 16 }, async () => {
            while (left-- > 0) {
              await ServedProcess.call(served, await ServedProcess.legacy(served.post, capabilities), 1)
            }
          }))
        })
      yield* open(100)
      const before = yield* Effect.promise(() => served.used(true))
      yield* open(sessions)
      const after = yield* Effect.promise(() => served.used(true))
      const heap = (after.heapBytes - before.heapBytes) / sessions
      const bytes = name === "Redis" ? (yield* bytesOf(redis, "idle:*session:*")) / (sessions + 100) : 0
      const verdict = name !== "Redis" ? "" : bytes > MAX_BYTES ? `  OVER ${MAX_BYTES}` : `  within ${MAX_BYTES}`
      over ||= verdict.includes("OVER")
      console.log(
        `  ${name.padEnd(12)} ${heap.toFixed(0).padStart(8)} bytes of the node, ${
          bytes.toFixed(0).padStart(6)
        } bytes of Redis${verdict}`
      )
      served.close()
    }
    return over
  })

const facts = {
  version: "2025-11-25",
  clientInfo: { name: "bench", version: "1.0.0" },
  clientCapabilities: capabilities
}

/** By how much an operation may cost more with 100,000 sessions than with 1,000. */
const MAX_GROWTH = 2

interface Measured {
  /** The processor time of one operation at the node and in Redis, in microseconds. */
  readonly cost: number
  readonly figures: string
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
    const own = (user + system) / operations
    const inRedis = ((yield* redis.used) - redisBefore) / operations
    const all = ((user + system) / 1000).toFixed(0)
    const pause = (delays.max / 1_000_000).toFixed(0)
    return {
      cost: own + inRedis,
      figures: `${own.toFixed(1)} µs and Redis ${inRedis.toFixed(1)} µs (${all} ms in all, longest pause ${pause} ms)`
    }
  })

const directory = (redis: Redis, smoke: boolean) =>
  Effect.scoped(Effect.gen(function*() {
    const costs = new Map<string, number>()
    let over = false
    // The first of the two is slow, because its code is not compiled yet.
    for (const [at, sessions] of (smoke ? [1000] : [1000, 1000, 100_000]).entries()) {
      console.log(`\nnodes: a directory of ${sessions} sessions, each operation`)
      const connection = yield* RedisConnection.make({ url: redis.url, prefix: `directory${at}:` })
      const service = yield* Effect.provideService(
        RedisSessionDirectory.make(),
        RedisConnection.RedisConnection,
        connection
      )
      const one = yield* service.join("one")
      const two = yield* service.join("two")
      const ids = Array.from({ length: sessions }, () => crypto.randomUUID())
      const some = ids.filter((_, at) => at % (sessions / 1000) === 0)
      const each = (ids: ReadonlyArray<string>, f: (id: string) => Effect.Effect<unknown, unknown>) =>
        Effect.forEach(ids, f, { concurrency: 16, discard: true })
      const print = (name: string, { cost, figures }: Measured) => {
        const before = costs.get(name)
        costs.set(name, cost)
        const ratio = before === undefined ? 0 : cost / before
        over ||= ratio > MAX_GROWTH
        const verdict = `  ${ratio.toFixed(2)} ${ratio > MAX_GROWTH ? "OVER" : "within"} ${MAX_GROWTH}`
        console.log(`  ${name.padEnd(8)} ${figures}${before === undefined ? "" : verdict}`)
      }
      print("create", yield* measured(redis, each(ids, (id) => one.create(id, facts)), sessions))
      print("find", yield* measured(redis, each(some, (id) => found(two, id)), some.length))
      print("touch", yield* measured(redis, one.touch(ids), sessions))
      yield* each(some, (id) => one.release(id, 1))
      print("claim", yield* measured(redis, each(some, (id) => two.claim(id, 1)), some.length))
    }
    return over
  }))

const found = (membership: SessionDirectory.Membership, id: string) =>
  Effect.filterOrDieMessage(membership.find(id), Option.isSome, "A session is not in the directory")

/** Runs the rows; whether one is over its budget. */
export const run = (redis: Redis, { smoke, text }: Options): Promise<boolean> =>
  Effect.runPromise(Effect.gen(function*() {
    const isHeavy = "nodes: memory of an idle session".includes(text) && (yield* idle(redis, smoke))
    const isSlow = "nodes: a directory of 100000 sessions".includes(text) && (yield* directory(redis, smoke))
    return isHeavy || isSlow
  }))
