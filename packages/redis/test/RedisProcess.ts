/**
 * Servers, connections and clusters of Redis for tests.
 */
import type { Reply } from "@effect-mcp/redis/RedisCommand"
import * as RedisConnection from "@effect-mcp/redis/RedisConnection"
import type { RedisError } from "@effect-mcp/redis/RedisError"
import { Clock, Effect, Schedule, type Scope, TestServices } from "effect"
import { inject } from "vitest"
import { asDocumented, freePort, make, type RedisProcess } from "./RedisServer.js"

export { make }

/** Files that run in several processes share the server. The documented user has the keys that begin with "mcp:". */
export const nextPrefix = () => `mcp:${crypto.randomUUID()}:`

/** The addresses for the user that the documentation gives the nodes. */
export const documented = (url: string | ReadonlyArray<string>): string | ReadonlyArray<string> =>
  typeof url === "string" ? asDocumented(url) : url.map(asDocumented)

/** Generous, because machines are busy with other things. */
const TIMEOUT = "10 seconds"

/** The server that `install` has started. Tests that end, stop or fill a server start one of their own. */
export const shared = Effect.sync((): Pick<RedisProcess, "url"> => ({ url: inject("redis") }))

/** A connection to an empty part of a server. */
export const connection = ({ url }: Pick<RedisProcess, "url">, options: RedisConnection.Options = {}) =>
  RedisConnection.make({ url, prefix: nextPrefix(), ...options })

/**
 * Two services, as two nodes have them: each with a connection of its own, to the same part of a server. They may do what the
 * documentation lets nodes do.
 */
export const pair = <A, E, R>(service: Effect.Effect<A, E, R>) =>
  Effect.flatMap(shared, ({ url }) => pairAt(url, service))

export const pairAt = <A, E, R>(url: string | ReadonlyArray<string>, service: Effect.Effect<A, E, R>) => {
  const prefix = nextPrefix()
  const one = Effect.flatMap(
    RedisConnection.make({ url: documented(url), prefix, timeout: TIMEOUT }),
    (connection) => Effect.provideService(service, RedisConnection.RedisConnection, connection)
  )
  return Effect.zip(one, one)
}

/** As `pairAt`, for services that have the time of the test, over connections that have the real one. */
export const pairInTestTime = <A, E, R>(url: string | ReadonlyArray<string>, service: Effect.Effect<A, E, R>) => {
  const one = nodeInTestTime({ url: documented(url), prefix: nextPrefix(), timeout: TIMEOUT }, service)
  return Effect.zip(one, one)
}

export const nodeInTestTime = <A, E, R>(options: RedisConnection.Options, service: Effect.Effect<A, E, R>) =>
  Effect.flatMap(
    TestServices.provideLive(RedisConnection.make(options)),
    ({ command, run, ...rest }) =>
      Effect.provideService(service, RedisConnection.RedisConnection, {
        ...rest,
        command: (...args) => TestServices.provideLive(command(...args)),
        run: (script, ...args) =>
          Effect.flatMap(TestServices.provideLive(run(script, ...args)), (reply) =>
            script.lua.endsWith(`redis.call("TIME")}`) ? inTestTime(reply) : Effect.succeed(reply))
      })
  )

/** A reply that ends with the time of Redis, with the time of the test in its place. */
const inTestTime = (reply: Reply) =>
  Effect.map(Clock.currentTimeMillis, (now): Reply => [
    ...(reply as ReadonlyArray<Reply>).slice(0, -1),
    [String(Math.floor(now / 1000)), String((now % 1000) * 1000)]
  ])

export interface RedisCluster {
  readonly urls: ReadonlyArray<string>
  readonly nodes: ReadonlyArray<RedisProcess & { readonly id: string; readonly command: Command }>
  /** Waits until all nodes serve their slots again. */
  readonly settled: Effect.Effect<void>
  /** The one of the nodes that has the slot of a key. */
  readonly nodeOf: (key: string) => Effect.Effect<number, RedisError>
}

type Command = RedisConnection.RedisConnectionService["command"]

const SLOTS = 16_384

/** Starts a server that a cluster can have. */
export const makeOfCluster = (...options: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    // By default it is that of the clients and 10,000, which another program may use.
    const bus = yield* freePort
    const place = ["--cluster-announce-ip", "127.0.0.1", "--cluster-port", `${bus}`]
    return { bus, ...yield* make(["--cluster-enabled", "yes", ...place, ...options]) }
  })

/** Starts three servers that share the slots of one cluster, which ends with the scope. */
export const cluster: Effect.Effect<RedisCluster, RedisError, Scope.Scope> = Effect.gen(function*() {
  const nodes = yield* Effect.forEach([0, 1, 2], (at) =>
    Effect.gen(function*() {
      const process = yield* makeOfCluster("--cluster-node-timeout", "1000")
      const { command } = yield* connection(process)
      const [from, to] = [at, at + 1].map((part) => Math.floor((SLOTS * part) / 3))
      yield* command("CLUSTER", "SET-CONFIG-EPOCH", at + 1)
      yield* command("CLUSTER", "ADDSLOTSRANGE", from!, to! - 1)
      return { ...process, command, id: String(yield* command("CLUSTER", "MYID")) }
    }))
  for (const { bus, url } of nodes.slice(1)) {
    yield* nodes[0]!.command("CLUSTER", "MEET", "127.0.0.1", new URL(url).port, bus)
  }
  const settled = Effect.forEach(
    nodes,
    ({ command }) =>
      Effect.repeat(Effect.orElseSucceed(command("CLUSTER", "INFO"), () => null), {
        until: (info) => /cluster_state:ok[^]*cluster_known_nodes:3/.test(String(info)),
        schedule: Schedule.spaced("20 millis")
      }),
    { discard: true }
  )
  yield* settled
  return {
    urls: nodes.map(({ url }) => url),
    nodes,
    settled,
    nodeOf: (key) =>
      Effect.map(nodes[0]!.command("CLUSTER", "KEYSLOT", key), (slot) => Math.floor((Number(slot) * 3) / SLOTS))
  }
})
