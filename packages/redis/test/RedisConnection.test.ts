import { assert, describe, it } from "@effect/vitest"
import * as Readiness from "@effect-mcp/core/Readiness"
import * as RedisConnection from "@effect-mcp/redis/RedisConnection"
import * as RedisNodes from "@effect-mcp/redis/RedisNodes"
import { Config, ConfigProvider, Deferred, Effect, Exit, Fiber, Layer, Option, Schedule, Scope } from "effect"
import * as RedisProcess from "./RedisProcess.js"
import * as RedisProxy from "./RedisProxy.js"

const echo = { keys: 0, lua: "return {ARGV[1], 7, false}" }

// Most of the tests wait for a timeout: they wait together.
describe.concurrent("a connection to Redis", () => {
  it.scopedLive("runs commands and scripts, also after Redis has forgotten the scripts", () =>
    Effect.gen(function*() {
      const redis = yield* RedisProcess.make()
      const { command, run } = yield* RedisProcess.connection(redis)
      assert.strictEqual(yield* command("PING"), "PONG")
      for (const _ of [1, 2]) {
        assert.deepStrictEqual(yield* run(echo, "a"), ["a", 7, null])
        yield* command("SCRIPT", "FLUSH")
      }
    }))

  it.scopedLive("keeps what an application has at keys without the prefix, and at keys of another type than a command of nodes needs", () =>
    Effect.gen(function*() {
      const connection = yield* RedisProcess.connection(yield* RedisProcess.make())
      const { command, prefix, run } = connection
      const count = { keys: 1, lua: `return redis.call("INCR", KEYS[1])`, types: ["string"] } as const
      for (const key of ["shop:cart", `x${prefix}cart`, `${prefix}cart`]) {
        yield* command("HSET", key, "apples", 3)
        assert.include((yield* Effect.flip(command("INCR", key))).cause, "WRONGTYPE")
        if (!key.startsWith(prefix)) {
          for (const failing of [command("GET", key), run(count, key), connection.upkeep.command("GET", key)]) {
            assert.include((yield* Effect.flip(failing)).cause, "WRONGTYPE")
          }
        }
        assert.strictEqual(yield* command("HGET", key, "apples"), "3")
      }
      assert.isNull(yield* command("GET", `${prefix}cart`))
    }))

  it.scopedLive("keeps a key that has the right type when it is to be removed", () =>
    Effect.gen(function*() {
      const { url } = yield* RedisProcess.shared
      const other = yield* RedisProcess.connection({ url })
      const key = `${other.prefix}mended`
      // Between the command that fails and what removes the key, another node stores its own.
      const proxy = yield* RedisProxy.make(url, ({ pass, text }) =>
        /\b(evalsha|del)\b/i.test(text)
          ? Effect.runFork(
            Effect.ensuring(Effect.orDie(other.command("SET", key, "of a node")), Effect.sync(() => pass()))
          )
          : pass())
      const { command } = yield* RedisConnection.make({ url: proxy.url, prefix: other.prefix })
      yield* command("HSET", key, "odd", 1)
      assert.include((yield* Effect.flip(command("GET", key))).cause, "WRONGTYPE")
      assert.strictEqual(yield* command("GET", key), "of a node")
    }))

  it.scopedLive("refuses the address of something else at once, without its password", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(RedisConnection.make({ url: "http://ada:secret@127.0.0.1:1" }))
      assert.match(error.message, /`url` is not the address of a Redis server: write it as redis:/)
    }))

  it.effect("takes its options from the configuration of the program", () =>
    Effect.gen(function*() {
      const live = Layer.provide(
        RedisNodes.layerConfig({ url: Config.redacted("REDIS") }),
        Layer.setConfigProvider(ConfigProvider.fromMap(new Map([["REDIS", "http://127.0.0.1:1"]])))
      )
      assert.include(String(yield* Effect.flip(Effect.scoped(Layer.build(live)))), "is not the address of a Redis")
    }))

  for (const nodes of [1, 2]) {
    it.scopedLive(`speaks TLS at rediss://, with ${nodes === 1 ? "one address" : "the addresses of a cluster"}`, () =>
      Effect.gen(function*() {
        const first = yield* Deferred.make<string>()
        const { url } = yield* RedisProxy.make((yield* RedisProcess.shared).url, ({ cut, text }) => {
          Deferred.unsafeDone(first, Effect.succeed(text))
          cut()
        })
        const addresses = Array.from({ length: nodes }, () => url.replace("redis:", "rediss:"))
        yield* Effect.flip(RedisConnection.make({ url: addresses, timeout: 1000 }))
        // How a TLS connection begins.
        assert.strictEqual((yield* Deferred.await(first)).charCodeAt(0), 22)
      }))
  }

  it.scopedLive("fails when there is no Redis, and in time", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(
        RedisProcess.connection({ url: "redis://ada:secret@127.0.0.1:1" } as any, { timeout: 1000 })
      )
      // An application may show the message to its users.
      assert.strictEqual(error.message, "There is no connection to Redis")
      assert.strictEqual(
        error.cause,
        "127.0.0.1:1: connect ECONNREFUSED 127.0.0.1:1: start Redis there, or correct the option `url`"
      )
    }))

  it.scopedLive("fails when Redis refuses the password, and names the option", () =>
    Effect.gen(function*() {
      const { host } = new URL((yield* RedisProcess.shared).url)
      const error = yield* Effect.flip(
        RedisProcess.connection({ url: `redis://ada:secret@${host}` }, { timeout: 1000 })
      )
      assert.match(
        error.cause ?? "",
        /: WRONGPASS invalid username-password pair[^:]*[^.]: correct the option `url` or the settings of Redis$/
      )
    }))

  it.scopedLive("fails when Redis has no such database, and stores nothing in another one", () =>
    Effect.gen(function*() {
      const { url } = yield* RedisProcess.shared
      const error = yield* Effect.flip(RedisProcess.connection({ url: `${url}/4711` }, { timeout: 1000 }))
      assert.match(error.report, /There is no connection to Redis: .*DB index is out of range/)
    }))

  it.scopedLive("is there again when Redis has been restarted; commands meanwhile wait, or fail in time", () =>
    Effect.gen(function*() {
      const redis = yield* RedisProcess.make()
      const { command } = yield* RedisProcess.connection(redis)
      yield* command("SET", "k", "v")
      const restarted = yield* Effect.fork(redis.restart)
      yield* Effect.repeat(Effect.option(command("GET", "k")), { until: (found) => found._tag === "None" }).pipe(
        Effect.timeoutOption("1 second")
      )
      yield* restarted
      assert.strictEqual(yield* Effect.retry(command("GET", "k"), { times: 20 }), "v")
    }))

  it.scopedLive("does not wait for a Redis that has stopped, in a finalizer neither", () =>
    Effect.gen(function*() {
      const redis = yield* RedisProcess.make()
      const { command } = yield* RedisProcess.connection(redis, { timeout: 1000 })
      yield* redis.pause
      const pings = [command("PING"), Effect.uninterruptible(command("PING"))].map(Effect.flip)
      for (const { message } of yield* Effect.all(pings, { concurrency: "unbounded" })) {
        assert.include(message, "has not answered PING within 1000 milliseconds")
      }
      yield* redis.resume
    }))

  it.scopedLive("waits longer than its timeout for a command that blocks, on the same connection", () =>
    Effect.gen(function*() {
      const { blocking } = yield* RedisProcess.connection(yield* RedisProcess.shared, { timeout: 1000 })
      const command = yield* blocking
      const id = yield* command(0, "CLIENT", "ID")
      assert.isNull(yield* command(5000, "BLPOP", "empty", 1.5))
      assert.strictEqual(yield* command(0, "CLIENT", "ID"), id)
    }))

  it.scopedLive("makes the readiness of the process depend on Redis", () =>
    Effect.gen(function*() {
      const redis = yield* RedisProcess.make()
      yield* RedisProcess.connection(redis, { timeout: 1000 })
      const [check] = yield* Readiness.current
      assert.strictEqual(check!.name, "Redis")
      assert.strictEqual(yield* check!.run, "OK")
      yield* redis.pause
      assert.isTrue(Exit.isFailure(yield* Effect.exit(check!.run)))
      yield* redis.resume
    }))

  for (const end of ["has stopped", "has ended"] as const) {
    it.scopedLive(`does not hold up a release that sends commands when Redis ${end}`, () =>
      Effect.gen(function*() {
        const place = yield* Scope.make()
        const redis = yield* Scope.extend(RedisProcess.make(), place)
        const { command } = yield* RedisProcess.connection(redis, { timeout: 1000 })
        const scope = yield* Scope.make()
        const ping = Effect.ignore(command("PING"))
        yield* Scope.extend(Effect.acquireRelease(ping, () => ping), scope)
        yield* end === "has stopped" ? redis.pause : Scope.close(place, Exit.void)
        yield* ping
        const closed = yield* Effect.timeoutOption(Effect.disconnect(Scope.close(scope, Exit.void)), "20 seconds")
        if (end === "has stopped") yield* redis.resume
        yield* Scope.close(place, Exit.void)
        assert.isTrue(Option.isSome(closed))
      }))
  }

  it.scopedLive("sends a command once to a cluster: it fails when its connection is lost", () =>
    Effect.gen(function*() {
      const redis = yield* RedisProcess.makeOfCluster()
      const single = yield* RedisProcess.connection(redis)
      yield* single.command("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
      yield* Effect.retry(single.command("SET", "k", "v"), { times: 50, schedule: Schedule.spaced("100 millis") })
      const cluster = yield* RedisConnection.make({ url: [redis.url, redis.url], timeout: "10 seconds" })
      yield* cluster.command("GET", "k")
      const waiting = yield* Effect.fork(Effect.flip(cluster.command("BLPOP", "empty", 0)))
      yield* Effect.repeat(single.command("CLIENT", "LIST"), { until: (list) => String(list).includes("cmd=blpop") })
      yield* single.command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
      assert.include((yield* Fiber.join(waiting)).message, "has not run BLPOP")
    }))

  it.scopedLive("listens to a channel, although Redis did not answer when it was needed first", () =>
    Effect.gen(function*() {
      const redis = yield* RedisProcess.make()
      const { command, prefix, subscribe } = yield* RedisProcess.connection(redis, { timeout: 1000 })
      const woken = yield* Deferred.make<void>()
      const listener = () => void Deferred.unsafeDone(woken, Effect.void)
      yield* redis.pause
      yield* Effect.flip(subscribe("c", () => {}))
      yield* redis.resume
      yield* Effect.retry(subscribe("c", listener), { times: 20 })
      yield* command("PUBLISH", `${prefix}c`, "")
      yield* Deferred.await(woken)
    }))

  it.scopedLive("wakes the listeners of a channel, until their scopes close", () =>
    Effect.gen(function*() {
      const redis = yield* RedisProcess.make()
      const { command, prefix, subscribe } = yield* RedisProcess.connection(redis)
      const woken = yield* Deferred.make<void>()
      const scope = yield* Scope.make()
      yield* Scope.extend(subscribe("c", () => void Deferred.unsafeDone(woken, Effect.void)), scope)
      assert.strictEqual(yield* command("PUBLISH", `${prefix}c`, ""), 1)
      yield* Deferred.await(woken)
      yield* Scope.close(scope, Exit.void)
      assert.strictEqual(yield* command("PUBLISH", `${prefix}c`, ""), 0)
    }))
})
