/**
 * The connection of a node to Redis 7 or later, or to a cluster of them, for the other modules of this package. A command that
 * Redis does not answer fails after a while; nothing waits without a bound, and a lost connection never ends the process.
 *
 * @since 0.1.0
 */
import * as Readiness from "@effect-mcp/server/Readiness"
import * as Config from "effect/Config"
import type { ConfigError } from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import * as Client from "./connection/Client.js"
import * as Subscriptions from "./connection/Subscriptions.js"
import type { Reply, Script } from "./RedisCommand.js"
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
   * A connection of its own for a command that blocks, until the scope closes: the command gets `wait` milliseconds more than
   * others, 2,000 at most.
   */
  readonly blocking: Effect.Effect<
    (wait: number, name: string, ...args: ReadonlyArray<string | number>) => Effect.Effect<Reply, RedisError>,
    RedisError,
    Scope.Scope
  >
  /**
   * Calls back with each message of a channel, until the scope closes. Messages are lost while the connection is: it calls back
   * once more when the connection listens again.
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
   * Comes before the names of all keys: servers that share one Redis need different ones, or one serves the sessions and hears the
   * changes of the other. Default: "mcp:".
   */
  readonly prefix?: string | undefined
  /**
   * How long a command waits for its answer, also while the connection is lost. A connection on which nothing arrives for this
   * time, although commands were sent, is replaced. Default: 2 seconds.
   */
  readonly timeout?: Duration.DurationInput | undefined
  /**
   * How many commands may have no answer yet, or wait for a connection. More fail at once with a `RedisError`, and are not sent.
   * It is a limit of each connection: a node has three or four. Default: 10,000.
   */
  readonly maxWaiting?: number | undefined
  /** How many characters these commands may have, and one command more. Default: 64 Mi (67,108,864). */
  readonly maxWaitingSize?: number | undefined
}

/** An address of something else: the driver would take it for the path of a socket. */
const OTHER = /^(?!rediss?:)[a-z][a-z0-9+.-]*:\/\//i

/** The address is not in the message: it may have a password. */
const noAddress = new RedisError({
  message:
    "The option `url` is not the address of a Redis: write it as redis://user:password@host:6379, or rediss:// for TLS"
})

/**
 * Connects, and disconnects when the scope closes. Fails when Redis cannot be reached within the timeout. The process is ready,
 * by the option `health` of an HTTP server, while Redis answers.
 *
 * @category constructors
 */
export const make = (options: Options = {}): Effect.Effect<RedisConnectionService, RedisError, Scope.Scope> =>
  Effect.gen(function*() {
    const { prefix = "mcp:", url = "redis://127.0.0.1:6379" } = options
    const settings: Client.Settings = {
      timeout: Duration.toMillis(options.timeout ?? "2 seconds"),
      maxWaiting: options.maxWaiting ?? 10_000,
      maxWaitingSize: options.maxWaitingSize ?? 64 * 1024 * 1024
    }
    const urls = (typeof url === "string" || Redacted.isRedacted(url) ? [url] : url).map((one) =>
      typeof one === "string" ? one : Redacted.value(one)
    )
    if (urls.some((one) => OTHER.test(one))) return yield* noAddress
    const scope = yield* Effect.scope
    const client = yield* Client.connect(urls, settings)
    yield* Readiness.add("Redis", client.command("PING"))
    // It cannot fail: a failure would be cached, too.
    const subscriber = yield* Effect.cached(
      Scope.extend(Effect.flatMap(Client.beginSubscriber(urls, settings, client), Subscriptions.make), scope)
    )
    return {
      prefix,
      command: client.command,
      each: client.each,
      run: client.run,
      blocking: Effect.map(Client.connect(urls, settings, Client.MAX_WAIT), ({ blocking }) => blocking),
      subscribe: (channel, listener) =>
        Effect.flatMap(subscriber, (subscriptions) => subscriptions.add(`${prefix}${channel}`, listener))
    }
  })

/** @category layers */
export const layer = (options?: Options): Layer.Layer<RedisConnection, RedisError> =>
  Layer.scoped(RedisConnection, make(options))

/**
 * `layer`, with options from the configuration of the program.
 *
 * @category layers
 */
export const layerConfig = (
  options: Config.Config.Wrap<Options>
): Layer.Layer<RedisConnection, RedisError | ConfigError> =>
  Layer.unwrapEffect(Effect.map(Config.unwrap(options), layer))
