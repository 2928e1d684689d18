/**
 * Connects a node (a process of the server) to Redis 7 or later, or to a Redis cluster, for the other modules of this package. A command
 * that Redis does not answer fails after the time in the option `timeout`. The number of waiting commands is limited. A lost connection
 * never ends the process.
 *
 * The names of all keys of this package begin with the option `prefix`, and each key has a fixed type. When a command finds a key with the
 * prefix and with a wrong type, the key does not come from this package. Then this module removes the key, logs the name of the key, and
 * runs the command again. This module never removes keys without the prefix. `RedisClient` implements one connection, and
 * `ChannelListeners` listens to channels.
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

/**
 * The connections of a node. A command or script fails with a `RedisError` when Redis does not answer in time, or refuses the command or
 * script.
 *
 * @category models
 */
export interface RedisConnectionService {
  /** The text at the beginning of the names of all keys; see the option `prefix`. */
  readonly prefix: string
  /** Sends one command and gives the reply. */
  readonly command: (name: string, ...args: ReadonlyArray<string | number>) => Effect.Effect<Reply, RedisError>
  /** Runs a command once for each list of arguments, in one round trip. Fails when one of these runs has failed. */
  readonly each: (
    name: string,
    all: ReadonlyArray<ReadonlyArray<string | number>>
  ) => Effect.Effect<void, RedisError>
  /** Runs a script. The keys are the first arguments. In a cluster, all keys of one call must have the same hash tag. */
  readonly run: (script: Script, ...args: ReadonlyArray<string | number>) => Effect.Effect<Reply, RedisError>
  /**
   * The functions `command` and `run` on a separate connection, without the limits `maxWaiting` and `maxWaitingSize`. This connection is
   * for small commands by which a node stays a member of its server, such as the renewal of a lease. (A lease is the right of a node to
   * keep its sessions for a limited time.) These commands never wait until other commands have sent their data. With this connection a node
   * also checks whether another node is alive, before it forwards a request to the other node.
   */
  readonly upkeep: Pick<RedisConnectionService, "command" | "run">
  /**
   * Opens a separate connection for commands that block, and closes the connection with the scope. The result is a function that sends one
   * command and gives the reply. The time limit of this command is the option `timeout` plus `wait` milliseconds. `wait` is at most 2,000.
   */
  readonly blocking: Effect.Effect<
    (wait: number, name: string, ...args: ReadonlyArray<string | number>) => Effect.Effect<Reply, RedisError>,
    RedisError,
    Scope.Scope
  >
  /**
   * Calls `listener` for each message of a channel, until the scope closes. Messages that are sent while the connection is lost do not
   * arrive. So `listener` is also called when the connection listens again.
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

/**
 * The options of `make` and `layerWith`.
 *
 * @category models
 */
export interface Options {
  /**
   * The address of Redis: `redis://user:password@host:6379/0`, or `rediss://` with TLS. Several addresses are nodes of one cluster.
   * Default: redis://127.0.0.1:6379.
   */
  readonly url?: string | Redacted.Redacted | ReadonlyArray<string | Redacted.Redacted> | undefined
  /**
   * The text at the beginning of the names of all keys. Servers that share one Redis need different prefixes. With the same prefix, each
   * server would serve the sessions of the other server, and get the changes of the other server. Default: "mcp:".
   */
  readonly prefix?: string | undefined
  /**
   * How long a command waits for its reply. The time in which the command waits for a connection counts, too. When a connection has sent
   * commands and receives nothing for this time, the node replaces the connection. Default: 2 seconds.
   */
  readonly timeout?: Duration.DurationInput | undefined
  /**
   * How many commands may wait for a reply or for a connection. Further commands are not sent, and fail at once with a `RedisError`. Each
   * of the four or five connections of a node has this limit, except for the connection `upkeep`, which has no limit. Default: 10,000.
   */
  readonly maxWaiting?: number | undefined
  /**
   * How many characters the waiting commands may have together. A command is refused only when the waiting commands already have more than
   * this number, so the last accepted command may exceed the limit. Default: 64 Mi (67,108,864) characters.
   */
  readonly maxWaitingSize?: number | undefined
}

/** Finds an address with another scheme than `redis` or `rediss`. The driver would use such an address as the path of a socket. */
const OTHER = /^(?!rediss?:)[a-z][a-z0-9+.-]*:\/\//i

/** The message does not contain the address, because the address may have a password. */
const noAddress = new RedisError({
  message:
    "The option `url` is not the address of a Redis server: write it as redis://user:password@host:6379, or rediss:// for TLS"
})

/**
 * Connects to Redis, and disconnects when the scope closes. Fails when Redis cannot be reached within `timeout`. Logs a warning when Redis
 * may drop keys because its memory is full (the setting `maxmemory-policy`). An HTTP server with the option `health` reports that the
 * process is ready while Redis accepts writes.
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
    // `beginSubscriber` cannot fail. (`Effect.cached` would cache a failure for ever.)
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

/** Returns the values of `maxmemory-policy` of those servers that drop keys when their memory is full. */
const evicting = (infos: ReadonlyArray<string>): ReadonlySet<string> =>
  new Set(infos.flatMap((info) => {
    const policy = /^maxmemory_policy:(\S+)/m.exec(info)?.[1]
    return policy === undefined || policy === "noeviction" || !/^maxmemory:[1-9]/m.test(info) ? [] : [policy]
  }))

const mayEvict = (policy: string): string =>
  `Redis has \`maxmemory-policy ${policy}\`: when its memory is full, it drops sessions, events, tasks and keys without an error. Set ` +
  "`maxmemory-policy noeviction`, which refuses writes then"

/**
 * Removes the keys that begin with the prefix and do not have the expected type. ARGV: the prefix, the expected types of the keys. Returns
 * the names of the removed keys.
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

/** The types of keys that commands of this package need, by the name of the command. The key is the first argument of the command. */
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

/** Returns the functions `command` and `run`. When a key has a wrong type, these functions remove the key and send the command again. */
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
 * Does the same as `layer`, with options from the configuration (`Config`) of your program.
 *
 * @category layers
 */
export const layerConfig = (
  options: Config.Config.Wrap<Options>
): Layer.Layer<RedisConnection, RedisError | ConfigError> =>
  Layer.unwrapEffect(Effect.map(Config.unwrap(options), layerWith))
