/**
 * Implements a client of Redis or of a Redis cluster, over the driver `ioredis`. `RedisConnection` makes several clients for a node. A
 * client sends each command only once. When the connection is lost before the reply arrives, the command fails, because Redis may have run
 * the command.
 *
 * When there is no connection, commands wait for the next connection until their timeout. The client limits the number and the total size
 * of the commands that wait for a reply. When nothing arrives for longer than the slowest command may take, the client replaces the
 * connection.
 *
 * `waiting` is the number of the waiting commands, and `size` is their total size. A command counts until the driver has reported its end,
 * which may be later than the timeout of the command.
 */
import * as Deadlines from "@effect-mcp/core/unstable/kit/Deadlines"
import { raceFirst } from "@effect-mcp/core/unstable/kit/Race"
import * as TimeLimit from "@effect-mcp/core/unstable/kit/TimeLimit"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { Cluster, Redis, type RedisOptions } from "ioredis"
import { createHash } from "node:crypto"
import type { Reply, Script } from "../RedisCommand.js"
import { RedisError } from "../RedisError.js"

/** How much longer than other commands a blocking command may take, in milliseconds. */
export const MAX_WAIT = 2000

/**
 * A connection may be silent for the time limit of its slowest command and this number of milliseconds. So the command fails before the
 * client replaces the connection.
 */
const GRACE = 100

export interface Settings {
  /** How long a command waits for its reply, in milliseconds. */
  readonly timeout: number
  readonly maxWaiting: number
  /** How many characters the waiting commands may have together. */
  readonly maxWaitingSize: number
}

type Arguments = ReadonlyArray<string | number>

export class Client {
  private held = false
  private waiting = 0
  private size = 0
  private lost: unknown
  private refused: unknown

  constructor(
    readonly driver: Redis | Cluster,
    private readonly settings: Settings,
    private readonly deadlines: Deadlines.Deadlines
  ) {
    // Without a listener an error would end the process. The driver connects again by itself.
    driver.on("error", (error: Error & { readonly command?: { readonly name: string } }) => {
      if (error.command?.name !== "select") {
        this.lost = error
        return
      }
      // The database in the address does not exist. Without the disconnection the driver would use another database.
      this.refused = error
      driver.disconnect(true)
    })
    driver.on("ready", () => {
      this.refused = undefined
    })
    // Each command that waits for a connection adds a listener, so there is no limit.
    driver.setMaxListeners(0)
    if (driver instanceof Redis) handled(driver)
    else driver.on("+node", handled)
  }

  readonly command = (name: string, ...args: Arguments): Effect.Effect<Reply, RedisError> =>
    this.send(this.settings.timeout, name, [args])

  /** Sends a command that Redis may answer `wait` milliseconds later than other commands. */
  readonly blocking = (wait: number, name: string, ...args: Arguments): Effect.Effect<Reply, RedisError> =>
    this.send(this.settings.timeout + wait, name, [args])

  readonly run = (script: Script, ...args: Arguments): Effect.Effect<Reply, RedisError> =>
    Effect.catchAll(
      this.send(this.settings.timeout, "EVALSHA", [[digestOf(script), script.keys, ...args]]),
      // Redis does not have the script. Nothing has run, so the client sends the whole script.
      (error) =>
        error.cause?.startsWith("NOSCRIPT") === true
          ? this.send(this.settings.timeout, "EVAL", [[script.lua, script.keys, ...args]])
          : Effect.fail(error)
    )

  /** Waits until there is a connection. Fails after `timeout`. */
  readonly ready: Effect.Effect<void, RedisError> = Effect.suspend(() => {
    if (this.driver.status === "ready") return Effect.void
    const connected = Effect.async<void>((resume) => {
      const listener = () => resume(Effect.void)
      this.driver.once("ready", listener)
      return Effect.sync(() => this.driver.off("ready", listener))
    })
    return Effect.acquireUseRelease(
      Effect.suspend(() => this.isFull() ? Effect.fail(this.tooMany("any command")) : Effect.succeed(this.waiting++)),
      () =>
        // The wait is interruptible even in a finalizer, because the time limit must be able to interrupt it.
        Effect.interruptible(raceFirst(
          connected,
          Effect.delay(Effect.suspend(() => Effect.fail(this.unreachable())), this.settings.timeout)
        )),
      () => Effect.sync(() => this.waiting--)
    )
  })

  /**
   * Makes the error when there is no connection. Only its cause has the address and the reason, because an application may show the message
   * to its users.
   */
  private unreachable(): RedisError {
    const error = this.refused ?? this.lost
    // The error of Node has no message when Node has tried several addresses of one name.
    const why = failed("", error).cause?.replace(/\.$/, "") || "it does not answer"
    const isAnswer = error instanceof Error && error.name === "ReplyError"
    const advice = isAnswer
      ? "correct the option `url` or the settings of Redis"
      : "start Redis there, or correct the option `url`"
    return new RedisError({
      message: "There is no connection to Redis",
      isRefused: true,
      cause: `${location(this.driver)}: ${why}: ${advice}`
    })
  }

  private isFull(): boolean {
    return this.waiting >= this.settings.maxWaiting || this.size > this.settings.maxWaitingSize
  }

  private tooMany(name: string): RedisError {
    return new RedisError({
      isRefused: true,
      message: `Redis did not get ${name}: too many commands wait for its answers`,
      cause:
        `${this.waiting} commands with ${this.size} characters: wait until Redis answers, or give \`maxWaiting\` or ` +
        "`maxWaitingSize` a higher value"
    })
  }

  private send(timeout: number, name: string, all: ReadonlyArray<Arguments>): Effect.Effect<Reply, RedisError> {
    const sent = Effect.suspend(() => this.isFull() ? Effect.fail(this.tooMany(name)) : this.sent(timeout, name, all))
    return Effect.suspend(() => this.driver.status === "ready" ? sent : Effect.zipRight(this.ready, sent))
  }

  /** Runs a command once for each list of arguments. Fails with the first failure. */
  readonly each = (name: string, all: ReadonlyArray<Arguments>): Effect.Effect<void, RedisError> =>
    all.length === 0 ? Effect.void : Effect.asVoid(this.send(this.settings.timeout, name, all))

  /** Sends a command once for each list of arguments, and gives the last reply. */
  private sent(timeout: number, name: string, all: ReadonlyArray<Arguments>): Effect.Effect<Reply, RedisError> {
    return Effect.async<Reply, RedisError>((resume) => {
      const deadline = this.deadlines.schedule(
        timeout,
        () => resume(Effect.fail(failed(`Redis has not answered ${name} within ${timeout} milliseconds`)))
      )
      const end = (result: Effect.Effect<Reply, RedisError>) => {
        if (this.deadlines.unwatch(deadline)) resume(result)
      }
      let left = all.length
      this.hold()
      for (const args of all) {
        const size = sizeOf(args)
        this.waiting++
        this.size += size
        this.driver.call(lower(name), ...args, (error: Error | null | undefined, reply: unknown) => {
          this.waiting--
          this.size -= size
          if (error) end(Effect.fail(failed(`Redis has not run ${name}`, error, all.length === 1 && isRefusal(error))))
          else if (--left === 0) end(Effect.succeed(reply as Reply))
        })
      }
      return Effect.sync(() => this.deadlines.unwatch(deadline))
    })
  }

  /** The answer to `INFO memory` of each Redis server that stores data; "" when a server does not answer. */
  readonly memory: Effect.Effect<ReadonlyArray<string>> = Effect.suspend(() =>
    Effect.forEach(
      this.driver instanceof Cluster ? this.driver.nodes("master") : [this.driver],
      (node) =>
        TimeLimit.call(
          Effect.orElseSucceed(Effect.tryPromise(() => node.info("memory")), () => ""),
          this.settings.timeout,
          () => Effect.succeed("")
        )
    )
  )

  /** Collects all commands of one turn of the event loop, so that they are written to the socket with one system call. */
  private hold(): void {
    if (this.held || !(this.driver instanceof Redis)) return
    const { stream } = this.driver
    if (stream === undefined) return
    this.held = true
    stream.cork()
    setImmediate(() => {
      this.held = false
      stream.uncork()
    })
  }
}

/**
 * Returns the name of a command in lower case. The driver needs this form to recognize the commands that change the state of the
 * connection.
 */
const lower = (name: string): string => name.toLowerCase()

const sizeOf = (args: Arguments): number => {
  let size = 0
  for (const one of args) if (typeof one === "string") size += one.length
  return size
}

const digests = new WeakMap<Script, string>()

/** Returns the SHA-1 digest by which Redis identifies a script. */
const digestOf = (script: Script): string => {
  let digest = digests.get(script)
  if (digest === undefined) digests.set(script, digest = createHash("sha1").update(script.lua).digest("hex"))
  return digest
}

/** Begins to connect and does not wait for the connection. Disconnects when the scope closes. */
const begin = (open: () => Redis | Cluster, settings: Settings): Effect.Effect<Client, never, Scope.Scope> =>
  Effect.gen(function*() {
    const deadlines = yield* Deadlines.make()
    return yield* Effect.acquireRelease(
      Effect.sync(() => new Client(open(), settings, deadlines)),
      ({ driver }) => Effect.sync(() => driver.disconnect())
    )
  })

/** Connects, and disconnects when the scope closes. `wait` is how long commands may block at Redis, in milliseconds. */
export const connect = (
  urls: ReadonlyArray<string>,
  settings: Settings,
  wait = 0
): Effect.Effect<Client, RedisError, Scope.Scope> =>
  Effect.tap(begin(() => open(urls, optionsOf(settings, wait)), settings), ({ ready }) => ready)

/**
 * Begins to connect for channels, and does not wait for the connection. Disconnects when the scope closes. After a lost connection this
 * client does not subscribe again, because `ChannelListeners` subscribes again.
 */
export const beginSubscriber = (
  urls: ReadonlyArray<string>,
  settings: Settings,
  { driver }: Client
): Effect.Effect<Client, never, Scope.Scope> =>
  begin(() => openSubscriber(urls, optionsOf(settings, 0), driver), settings)

/**
 * Handles the failure of commands that the driver itself sends and whose outcome the driver ignores, such as `ASKING` before a command
 * whose slot moves. Without this, such a failure would end the process.
 */
const handled = (driver: Redis): void => {
  const send = driver.sendCommand.bind(driver)
  driver.sendCommand = (command, stream) => {
    command.promise.catch(() => {})
    return send(command, stream)
  }
}

/** Returns the address of Redis, without user and password. */
const location = (driver: Redis | Cluster): string => {
  if (driver instanceof Cluster) return "any address of the cluster"
  const { host, path, port } = driver.options
  return path ?? `${host}:${port}`
}

const optionsOf = ({ timeout }: Settings, wait: number) =>
  ({
    // Redis may have run a command without a reply, so the driver must not send the command again.
    autoResendUnfulfilledCommands: false,
    connectTimeout: timeout,
    maxRetriesPerRequest: 0,
    protocol: 2,
    // Otherwise a connection to a Redis that no longer exists stays open for a quarter of an hour.
    socketTimeout: timeout + wait + GRACE
  }) as const

type DriverOptions = ReturnType<typeof optionsOf>

const open = (urls: ReadonlyArray<string>, options: DriverOptions): Redis | Cluster => {
  if (urls.length === 1) return new Redis(urls[0]!, { ...options, enableOfflineQueue: false, retryStrategy })
  // These settings also hold for nodes of the cluster that are not among the addresses.
  const { password, tls, username } = new Redis(urls[0]!, { lazyConnect: true }).options
  return new Cluster([...urls], {
    // The driver connects to a node of the cluster at the first command for this node. Until then further commands wait, up to their
    // timeout.
    enableOfflineQueue: true,
    clusterRetryStrategy: retryStrategy,
    redisOptions: { ...options, password, tls, username },
    // The driver keeps host names, because certificates contain host names. Otherwise it would connect to IP addresses.
    dnsLookup: (name, found) => found(null, name),
    // Otherwise the driver sends a command again after the connection of the command was lost.
    retryDelayOnFailover: 0
  })
}

/**
 * Opens the connection for channels. In a cluster every node gets all messages. So after a lost connection, the next connection goes to
 * another node.
 */
const openSubscriber = (
  urls: ReadonlyArray<string>,
  options: DriverOptions,
  cluster: Redis | Cluster
): Redis => {
  const turn = (nodes: ReadonlyArray<Redis>) => {
    const at = nodes.findIndex(({ options }) => isSame(options, driver.options))
    const { host, port } = nodes[(at + 1) % nodes.length]?.options ?? driver.options
    Object.assign(driver.options, { host, port })
  }
  const driver = new Redis(urls[0]!, {
    ...options,
    enableOfflineQueue: false,
    autoResubscribe: false,
    retryStrategy: (attempt) => {
      if (cluster instanceof Cluster) turn(cluster.nodes())
      return retryStrategy(attempt)
    }
  })
  if (cluster instanceof Cluster) {
    cluster.on("-node", (node: Redis) => {
      if (isSame(node.options, driver.options)) reconnect(driver)
    })
  }
  return driver
}

const isSame = (one: RedisOptions, other: RedisOptions): boolean => one.host === other.host && one.port === other.port

/** Ends the connection and begins another connection. Does nothing while the client is connecting. */
const reconnect = (driver: Redis | Cluster): void => {
  if (driver.status === "ready") driver.disconnect(true)
}

const retryStrategy = (attempt: number) => Math.min(20 * 2 ** attempt, 1000)

// Keeps only the message of the driver's error, because the error also has the arguments of the command.
const failed = (message: string, error?: unknown, isRefused = false): RedisError =>
  new RedisError({ message, isRefused, cause: error instanceof Error ? error.message.slice(0, 200) : undefined })

/**
 * The beginnings of the errors with which Redis refuses a command before it changes anything. A script that ends with one of these errors
 * has not changed anything either, because Redis does not refuse the rest of a script that has already written.
 */
const REFUSALS =
  /^(OOM|READONLY|MISCONF|NOAUTH|WRONGPASS|NOPERM(?! ACL failure in script)|LOADING|BUSY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|CROSSSLOT|MOVED|ASK|NOREPLICAS|ERR max number of clients reached) ?/

/** The beginnings of errors of the driver about commands that the driver has not sent. */
const UNSENT =
  /^(Stream isn't writeable|Failed to refresh slots cache|None of startup nodes is available|Too many Cluster redirections)/

/** Returns `true` when a command has certainly changed nothing, because Redis has refused the command or did not get it. */
const isRefusal = ({ message, name }: Error): boolean => (name === "ReplyError" ? REFUSALS : UNSENT).test(message)
