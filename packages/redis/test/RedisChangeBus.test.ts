import { assert, describe, it } from "@effect/vitest"
import * as RedisChangeBus from "@effect-mcp/redis/RedisChangeBus"
import * as RedisConnection from "@effect-mcp/redis/RedisConnection"
import * as ChangeBusLaws from "@effect-mcp/testing/ChangeBusLaws"
import { Chunk, Effect, Exit, Fiber, Option, Scope, Stream } from "effect"
import * as RedisProcess from "./RedisProcess.js"

describe("a bus in Redis", () => {
  for (const { check, name } of ChangeBusLaws.laws) {
    it.scopedLive(name, () => check(RedisProcess.pair(RedisChangeBus.make())))
  }
})

describe("RedisChangeBus", () => {
  it.scopedLive("goes on when Redis has lost its data, after a change that is not known", () =>
    Effect.gen(function*() {
      // It writes to its disk: the time of its clock, which is in the ids of entries, goes on between two changes.
      const connection = yield* RedisProcess.connection(yield* RedisProcess.make())
      const bus = yield* Effect.provideService(RedisChangeBus.make(), RedisConnection.RedisConnection, connection)
      const [one, two] = [yield* bus.join, yield* bus.join]
      const change = (uri: string) => ({ _tag: "Resource", uri }) as const
      for (const uri of ["a", "b"]) yield* one.publish(change(uri))
      const received = yield* Stream.toPull(two.changes)
      yield* received
      yield* connection.command("DEL", `${connection.prefix}{changes}`, `${connection.prefix}{changes}:number`)
      yield* one.publish(change("c"))
      const later = yield* Effect.repeat(received, { until: (changes) => Chunk.size(changes) > 0 })
      assert.deepStrictEqual(Chunk.toReadonlyArray(later), [{ _tag: "Unknown" }, change("c")])
    }))

  it.scopedLive("gives Unknown to the others, once Redis answers again, in place of a change that it has not stored", () =>
    Effect.gen(function*() {
      const connection = yield* RedisProcess.connection(yield* RedisProcess.shared)
      let fails = false
      const run: typeof connection.run = (...args) => fails ? connection.command("NO SUCH") : connection.run(...args)
      const over = (connection: RedisConnection.RedisConnectionService) =>
        Effect.provideService(RedisChangeBus.make(), RedisConnection.RedisConnection, connection)
      const two = yield* (yield* over(connection)).join
      const one = yield* (yield* over({ ...connection, run })).join
      fails = true
      yield* one.publish({ _tag: "Resource", uri: "a" })
      fails = false
      assert.deepStrictEqual(yield* Stream.runHead(two.changes), Option.some({ _tag: "Unknown" } as const))
    }))

  it.scopedLive("gives Unknown to the others also when the node closes right after a change that it has not stored", () =>
    Effect.gen(function*() {
      const connection = yield* RedisProcess.connection(yield* RedisProcess.shared)
      let fails = false
      let failures = 0
      const run: typeof connection.run = (...args) =>
        fails
          ? Effect.tapError(connection.command("NO SUCH"), () => Effect.sync(() => failures++))
          : connection.run(...args)
      const over = (connection: RedisConnection.RedisConnectionService) =>
        Effect.provideService(RedisChangeBus.make(), RedisConnection.RedisConnection, connection)
      const two = yield* (yield* over(connection)).join
      const scope = yield* Scope.make()
      const one = yield* Scope.extend((yield* over({ ...connection, run })).join, scope)
      fails = true
      yield* one.publish({ _tag: "Resource", uri: "a" })
      // The attempt that follows at once has failed, too.
      yield* Effect.iterate(0, { while: () => failures < 2, body: () => Effect.as(Effect.sleep(1), 0) })
      fails = false
      yield* Scope.close(scope, Exit.void)
      assert.deepStrictEqual(yield* Stream.runHead(two.changes), Option.some({ _tag: "Unknown" } as const))
    }))

  it.scopedLive("gives Unknown to the others also when the node closes while it stores a change", () =>
    Effect.gen(function*() {
      const connection = yield* RedisProcess.connection(yield* RedisProcess.shared)
      const isAway = yield* Effect.makeLatch()
      let isLost = false
      const run: typeof connection.run = (...args) =>
        Effect.suspend(() => {
          if (!isLost) return connection.run(...args)
          isLost = false
          return Effect.zipRight(isAway.open, Effect.never)
        })
      const over = (connection: RedisConnection.RedisConnectionService) =>
        Effect.provideService(RedisChangeBus.make(), RedisConnection.RedisConnection, connection)
      const two = yield* (yield* over(connection)).join
      const scope = yield* Scope.make()
      const one = yield* Scope.extend((yield* over({ ...connection, run })).join, scope)
      isLost = true
      const publishing = yield* Effect.fork(one.publish({ _tag: "Resource", uri: "a" }))
      yield* isAway.await
      yield* Fiber.interrupt(publishing)
      yield* Scope.close(scope, Exit.void)
      const received = yield* Effect.timeout(Stream.runHead(two.changes), "10 seconds")
      assert.deepStrictEqual(received, Option.some({ _tag: "Unknown" } as const))
    }))

  it.scopedLive("keeps a bounded number of changes, and gives Unknown in place of those before them", () =>
    Effect.gen(function*() {
      const connection = yield* RedisProcess.connection(yield* RedisProcess.shared)
      const bus = yield* Effect.provideService(
        RedisChangeBus.make({ maxChanges: 100 }),
        RedisConnection.RedisConnection,
        connection
      )
      const [one, two] = [yield* bus.join, yield* bus.join]
      const change = (n: number) => ({ _tag: "Resource", uri: `${n}` }) as const
      const count = 1000
      yield* Effect.forEach(Array.from({ length: count }), (_, n) => one.publish(change(n)), {
        concurrency: "unbounded"
      })
      // Redis removes entries in portions of 100.
      const kept = Number(yield* connection.command("XLEN", `${connection.prefix}{changes}`))
      assert.isTrue(kept >= 100 && kept <= 200, `${kept} are kept`)
      const received = yield* Stream.runCollect(Stream.take(two.changes, 1 + kept))
      assert.deepStrictEqual(Chunk.toReadonlyArray(received), [
        { _tag: "Unknown" },
        ...Array.from({ length: kept }, (_, n) => change(count - kept + n))
      ])
    }))
})
