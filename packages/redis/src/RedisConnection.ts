/**
 * The connections of a node to Redis 7 or later, or to a cluster of them, for the other modules of this package. A command that Redis does
 * not answer fails after a while; nothing waits without a bound, and a lost connection never ends the process.
 *
 * `RedisClient` has one client, `ChannelListeners` the channels. A key that begins with the prefix, but has another type than this package
 * gives the key, holds no data of a node. The first command that finds such a key removes and logs the key, and runs again. Keys without
 * the prefix are never removed.
 *
 * @since 0.1.0
 */
import * as ClientLogger from "@effect-mcp/core/ClientLogger"
import * as Readiness from "@effect-mcp/core/Readiness"
import * as Config from "effect/Config"
import type { ConfigError } from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import * as ChannelListeners from "./connection/ChannelListeners.js"
import * as RedisClient from "./connection/RedisClient.js"
import type { KeyType, Reply, Script } from "./RedisCommand.js"
import { RedisError } from "./RedisError.js"

/** @category models */
export interface RedisConnectionService {
  /** Comes before the names of all keys. */
  readonly prefix: string
  readonly command: (name: string, ...args: ReadonlyArray<string | number>) => Effect.Effect<Reply, RedisError>
  /** Runs a command once with each list of arguments, all in one round trip. Fails when one of them has failed. */
  readonly each: (
    name: string,
    all: ReadonlyArray<ReadonlyArray<string | number>>
  ) => Effect.Effect<void, RedisError>
  /** Runs a script, whose keys come first among the arguments. All keys of one call need one hash tag. */
  readonly run: (script: Script, ...args: ReadonlyArray<string | number>) => Effect.Effect<Reply, RedisError>
  /**
   * `run` on a connection of its own, without the limits of `maxWaiting` and `maxWaitingSize`. It is for leases, and for other commands
   * that keep a node a member of the nodes: these commands are small, and never wait behind data. A request that one node passes to another
   * node asks here whether the other node lives.
   */
  readonly upkeep: Pick<RedisConnectionService, "command" | "run">
  /**
   * A connection of its own for a command that blocks, until the scope closes: the command gets `wait` milliseconds more than other
   * commands, 2,000 at most.
   */
  readonly blocking: Effect.Effect<
    (wait: number, name: string, ...args: ReadonlyArray<string | number>) => Effect.Effect<Reply, RedisError>,
    RedisError,
    Scope.Scope
  >
  /**
   * Calls back with each message of a channel, until the scope closes. Messages are lost while the connection is lost: the function is
   * called once more when the connection listens again.
   */
  readonly subscribe: (
    channel: string,
    listener: () => void
  ) => Effect.Effect<void, RedisError, Scope.Scope>
}

/** @category tags */
export class RedisConnection
  extends Context.Tag("@effect-mcp/redis/RedisConnection")<RedisConnection, RedisConnectionService>()
{}

/** @category models */
export interface Options {
  /**
   * Where Redis is: `redis://user:password@host:6379/0`, `rediss://` with TLS. Several addresses are nodes of a cluster.
   * Default: redis://127.0.0.1:6379.
   */
  readonly url?: string | Redacted.Redacted | ReadonlyArray<string | Redacted.Redacted> | undefined
  /**
   * Comes before the names of all keys: servers that share one Redis need different prefixes. With the same prefix, one server would serve
   * the sessions and get the changes of the other. Default: "mcp:".
   */
  readonly prefix?: string | undefined
  /**
   * How long a command waits for its answer, also while the connection is lost. A connection on which nothing arrives for this
   * time, although commands were sent, is replaced. Default: 2 seconds.
   */
  readonly timeout?: Duration.DurationInput | undefined
  /**
   * How many commands may have no answer yet, or wait for a connection. Further commands fail at once with a `RedisError`, and are not
   * sent. Each of the four or five connections of a node has this limit, except the connection of the leases, which has none. Default:
   * 10,000.
   */
  readonly maxWaiting?: number | undefined
  /** How many characters these commands may have, and one command more. Default: 64 Mi (67,108,864). */
  readonly maxWaitingSize?: number | undefined
}

/** An address that is not an address of Redis: the driver would take it for the path of a socket. */
const OTHER = /^(?!rediss?:)[a-z][a-z0-9+.-]*:\/\//i

/** The address is not in the message: it may have a password. */
const noAddress = new RedisError({
  message:
    "The option `url` is not the address of a Redis: write it as redis://user:password@host:6379, or rediss:// for TLS"
})

/**
 * Connects, and disconnects when the scope closes. Fails when Redis cannot be reached within the timeout. The process is ready,
 * by the option `health` of an HTTP server, while Redis takes writes. Logs a warning when Redis may drop keys for want of memory.
 *
 * @category constructors
 */
export const make = (options: Options = {}): Effect.Effect<RedisConnectionService, RedisError, Scope.Scope> =>
  Effect.gen(function*() {
    const { prefix = "mcp:", url = "redis://127.0.0.1:6379" } = options
    const settings: RedisClient.Settings = {
      timeout: Duration.toMillis(options.timeout ?? "2 seconds"),
      maxWaiting: options.maxWaiting ?? 10_000,
      maxWaitingSize: options.maxWaitingSize ?? 64 * 1024 * 1024
    }
    const urls = (typeof url === "string" || Redacted.isRedacted(url) ? [url] : url).map((one) =>
      typeof one === "string" ? one : Redacted.value(one)
    )
    if (urls.some((one) => OTHER.test(one))) return yield* noAddress
    const scope = yield* Effect.scope
    const client = yield* RedisClient.connect(urls, settings)
    const upkeep = yield* RedisClient.connect(urls, { ...settings, maxWaiting: Infinity, maxWaitingSize: Infinity })
    const written = upkeep.command("SET", `${prefix}ready`, "", "PX", 60_000)
    yield* Readiness.add("Redis", Effect.mapError(written, ({ report }) => report))
    for (const policy of evicting(yield* upkeep.memory)) yield* Effect.logWarning(mayEvict(policy))
    // It cannot fail: a failure would be cached, too.
    const subscriber = yield* Effect.cached(
      Scope.extend(Effect.flatMap(RedisClient.beginSubscriber(urls, settings, client), ChannelListeners.make), scope)
    )
    return {
      prefix,
      ...mending(client, prefix),
      each: client.each,
      upkeep: mending(upkeep, prefix),
      blocking: Effect.map(RedisClient.connect(urls, settings, RedisClient.MAX_WAIT), ({ blocking }) => blocking),
      subscribe: (channel, listener) =>
        Effect.flatMap(subscriber, (subscriptions) => subscriptions.add(`${prefix}${channel}`, listener))
    }
  })

/** The policies by which a Redis drops keys when its memory is full. */
const evicting = (infos: ReadonlyArray<string>): ReadonlySet<string> =>
  new Set(infos.flatMap((info) => {
    const policy = /^maxmemory_policy:(\S+)/m.exec(info)?.[1]
    return policy === undefined || policy === "noeviction" || !/^maxmemory:[1-9]/m.test(info) ? [] : [policy]
  }))

const mayEvict = (policy: string): string =>
  `Redis has \`maxmemory-policy ${policy}\`: when its memory is full, it drops sessions, events, tasks and keys without a word. Set ` +
  "`maxmemory-policy noeviction`, which refuses writes then"

/**
 * ARGV: the prefix, the types of the keys. Removes the keys that begin with the prefix and have other types, and gives the names of these
 * keys.
 */
const clear = (keys: number): Script => ({
  keys,
  lua: `
    local gone = {}
    for at, key in ipairs(KEYS) do
      local type = redis.call("TYPE", key).ok
      if type ~= "none" and type ~= ARGV[at + 1] and string.sub(key, 1, #ARGV[1]) == ARGV[1] then
        redis.call("DEL", key)
        gone[#gone + 1] = key
      end
    end
    return gone`
})

/** The type of the key that is the first argument, of each command that this package sends and that needs a type. */
const TYPES: ReadonlyMap<string, KeyType> = new Map([
  ["GET", "string"],
  ["HDEL", "hash"],
  ["HMGET", "hash"],
  ["XRANGE", "stream"],
  ["XREVRANGE", "stream"],
  ["ZRANGE", "zset"],
  ["ZRANGEBYSCORE", "zset"],
  ["ZREM", "zset"]
])

/** Commands that run again when they have found a key of another type, which is removed. */
const mending = (client: RedisClient.Client, prefix: string): Pick<RedisConnectionService, "command" | "run"> => {
  const mended = (
    reply: Effect.Effect<Reply, RedisError>,
    args: ReadonlyArray<string | number>,
    types: ReadonlyArray<KeyType> = []
  ) =>
    Effect.catchIf(
      reply,
      ({ cause }) => cause?.includes("WRONGTYPE") === true,
      (error) =>
        Effect.flatMap(client.run(clear(types.length), ...args.slice(0, types.length), prefix, ...types), (gone) =>
          Array.isArray(gone) && gone.length > 0
            ? Effect.zipRight(ClientLogger.forOperator(Effect.logWarning(isOdd(gone))), reply)
            : Effect.fail(error))
    )
  return {
    command: (name, ...args) => {
      const type = TYPES.get(name)
      return mended(client.command(name, ...args), args, type && [type])
    },
    run: (script, ...args) => mended(client.run(script, ...args), args, script.types)
  }
}

const isOdd = (keys: ReadonlyArray<string>): string =>
  `A key in Redis did not have the type that nodes give it, and was removed: ${
    keys.map((key) => JSON.stringify(key)).join(", ")
  }`

/**
 * `layer` with options.
 *
 * @category layers
 */
export const layerWith = (options?: Options): Layer.Layer<RedisConnection, RedisError> =>
  Layer.scoped(RedisConnection, make(options))

/** @category layers */
export const layer: Layer.Layer<RedisConnection, RedisError> = layerWith()

/**
 * `layer`, with options from the configuration of the program.
 *
 * @category layers
 */
export const layerConfig = (
  options: Config.Config.Wrap<Options>
): Layer.Layer<RedisConnection, RedisError | ConfigError> =>
  Layer.unwrapEffect(Effect.map(Config.unwrap(options), layerWith))
