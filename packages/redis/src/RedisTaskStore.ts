/**
 * Implements `TaskStore` with Redis, over a `RedisConnection`. Each task is a hash, which Redis removes when the task expires. For each
 * owner of tasks, Redis also stores three lists: the ids of the tasks in the order of their creation, the ids with the times at which the
 * tasks expire, and the sizes of the tasks. Tasks expire by the clock of Redis, because the clocks of two nodes (processes of the server)
 * may differ.
 *
 * A reader is a stream of `changes` that waits for a change of its task. When a node changes the task, Redis sends a message to each reader
 * of the task, and the reader reads the task again. Because a message may be lost, each reader also reads its task when no message has
 * arrived for 5 seconds.
 *
 * @since 0.1.0
 */
import {
  type StoredTask,
  type TaskPage,
  TaskStore,
  TaskStoreError,
  type TaskStoreService
} from "@effect-mcp/core/TaskStore"
import * as TimeLimit from "@effect-mcp/core/unstable/kit/TimeLimit"
import * as Stored from "@effect-mcp/core/unstable/server/Stored"
import * as StoreText from "@effect-mcp/core/unstable/server/StoreText"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"
import type { Reply, Script } from "./RedisCommand.js"
import { RedisConnection, type RedisConnectionService } from "./RedisConnection.js"
import type { RedisError } from "./RedisError.js"

/**
 * The options of `make` and `layerWith`.
 *
 * @category models
 */
export interface Options {
  /** How many tasks one owner may have, including ended tasks that are still stored. Default: 1,000. */
  readonly maxTasks?: number | undefined
  /** How many characters one task may have as JSON. Default: 4 Mi (4,194,304). */
  readonly maxTaskSize?: number | undefined
  /** How many characters all tasks of one owner may have together as JSON. Default: 16 Mi (16,777,216). */
  readonly maxOwnerSize?: number | undefined
}

/** Creates a task. KEYS: the task. ARGV: the owner, the version, the task as JSON, the milliseconds to live. */
const creating: Script = {
  keys: 1,
  types: ["hash"],
  lua: `
    if redis.call("EXISTS", KEYS[1]) == 1 then return 0 end
    redis.call("HSET", KEYS[1], "owner", ARGV[1], "version", ARGV[2], "task", ARGV[3])
    redis.call("PEXPIRE", KEYS[1], ARGV[4])
    return 1`
}

/**
 * Replaces a task, and sends a message to its readers. KEYS: the task. ARGV: the owner, the old version, the new version, the new task as
 * JSON, the channel of the message.
 */
const replacing: Script = {
  keys: 1,
  types: ["hash"],
  lua: `
    local found = redis.call("HMGET", KEYS[1], "owner", "version")
    if found[1] ~= ARGV[1] or found[2] ~= ARGV[2] then return 0 end
    redis.call("HSET", KEYS[1], "version", ARGV[3], "task", ARGV[4])
    redis.call("PUBLISH", ARGV[5], "")
    return 1`
}

/**
 * The beginning of a script. The beginning reads the time of Redis, and defines the function `sum`. `sum` returns how many characters all
 * unexpired tasks of an owner have together. The sum leaves out the task `without`.
 */
const SUM = `
    local time = redis.call("TIME")
    local now = time[1] * 1000 + math.floor(time[2] / 1000)
    local function sum(untilKey, sizes, without)
      local skipped = { [without] = true }
      for _, task in ipairs(redis.call("ZRANGEBYSCORE", untilKey, "-inf", now)) do skipped[task] = true end
      local all = redis.call("HGETALL", sizes)
      local size = 0
      for at = 1, #all, 2 do
        if not skipped[all[at]] then size = size + (tonumber(all[at + 1]) or 0) end
      end
      return size
    end`

/**
 * Adds a task to the lists of its owner. KEYS: the tasks in the order of their creation, the tasks by the time of Redis at which each task
 * expires, the sizes of the tasks. ARGV: the id of the task, the milliseconds after which the task expires, how many tasks the owner may
 * have, how many expired tasks one call removes at most, the size of the task, the limit for the sum of the sizes. The lists expire
 * together with the last task.
 */
const enlisting: Script = {
  keys: 3,
  types: ["zset", "zset", "hash"],
  lua: `${SUM}
    local gone = redis.call("ZRANGEBYSCORE", KEYS[2], "-inf", now, "LIMIT", 0, ARGV[4])
    -- Of the last task, also when it is removed now: a reader's page may end with it, and the next task comes after that.
    local last = redis.call("ZREVRANGE", KEYS[1], 0, 0, "WITHSCORES")[2] or 0
    if #gone > 0 then
      redis.call("ZREM", KEYS[1], unpack(gone))
      redis.call("ZREM", KEYS[2], unpack(gone))
      redis.call("HDEL", KEYS[3], unpack(gone))
    end
    if redis.call("ZSCORE", KEYS[1], ARGV[1]) then return "known" end
    if redis.call("ZCARD", KEYS[1]) >= tonumber(ARGV[3]) then return "many" end
    if sum(KEYS[2], KEYS[3], ARGV[1]) + ARGV[5] > tonumber(ARGV[6]) then return "large" end
    redis.call("ZADD", KEYS[1], math.max(last + 1, now), ARGV[1])
    redis.call("ZADD", KEYS[2], now + ARGV[2], ARGV[1])
    redis.call("HSET", KEYS[3], ARGV[1], ARGV[5])
    for _, key in ipairs(KEYS) do
      if redis.call("PTTL", key) < tonumber(ARGV[2]) then redis.call("PEXPIRE", key, ARGV[2]) end
    end
    return "enlisted"`
}

/**
 * Changes the stored size of a task. KEYS: the tasks of the owner by the time of Redis at which each task expires, the sizes of the tasks.
 * ARGV: the id of the task, the new size, the limit for the sum of the sizes.
 */
const resizing: Script = {
  keys: 2,
  types: ["zset", "hash"],
  lua: `${SUM}
    local before = redis.call("HGET", KEYS[2], ARGV[1])
    if not before then return "resized" end
    local isMore = tonumber(ARGV[2]) > (tonumber(before) or 0)
    if isMore and sum(KEYS[1], KEYS[2], ARGV[1]) + ARGV[2] > tonumber(ARGV[3]) then return "large" end
    redis.call("HSET", KEYS[2], ARGV[1], ARGV[2])
    return "resized"`
}

/**
 * How many expired tasks one script removes from a list. During the script Redis does nothing else, so the number is limited. Each creation
 * of a task removes up to this number of expired tasks.
 */
const PORTION = 500

const known = (taskId: string) => new TaskStoreError({ reason: "Unavailable", message: StoreText.taken(taskId) })

/** How long a reader waits for a message before it reads its task without a message, in milliseconds. */
const LOOK = 5000

interface Self extends RedisConnectionService {
  readonly maxTasks: number
  readonly maxTaskSize: number
  readonly maxOwnerSize: number
  /** Logs that a stored task cannot be decoded. */
  readonly report: (key: string) => Effect.Effect<void>
}

/** @category constructors */
export const make = (options: Options = {}): Effect.Effect<TaskStoreService, never, RedisConnection> =>
  Effect.map(RedisConnection, (connection) => {
    const self: Self = {
      ...connection,
      maxTasks: options.maxTasks ?? 1000,
      maxTaskSize: options.maxTaskSize ?? 4 * 1024 * 1024,
      maxOwnerSize: options.maxOwnerSize ?? 16 * 1024 * 1024,
      report: Stored.reporter()
    }
    return {
      create: (task) => failing(create(self, task)),
      get: (owner, taskId) => failing(get(self, owner, taskId)),
      replace: (task) => failing(replace(self, task)),
      list: (owner, page) => failing(list(self, owner, page)),
      changes: (owner, taskId) => changes(self, owner, taskId)
    }
  })

const taskOf = ({ prefix }: Self, taskId: string): string => `${prefix}task:${taskId}`

/**
 * Returns the keys of the three lists of an owner: the tasks in the order of their creation, the tasks by the time at which each task
 * expires, and the sizes of the tasks.
 */
const listsOf = ({ prefix }: Self, owner: string | null) => {
  const tasks = `${prefix}{tasks:${ownerOf(owner)}}`
  return { tasks, until: `${tasks}:until`, sizes: `${tasks}:sizes` }
}

const create = Effect.fnUntraced(function*(self: Self, task: StoredTask) {
  const { maxOwnerSize, maxTasks, run } = self
  const text = yield* sized(self, task)
  // This node has set `createdAt` by its own clock, so this node also computes the remaining time by its own clock.
  const left = Math.ceil(task.createdAt + task.ttl - (yield* Clock.currentTimeMillis))
  if (left <= 0) return
  const { sizes, tasks, until } = listsOf(self, task.owner)
  const args = [task.taskId, left, maxTasks, PORTION, text.length, maxOwnerSize]
  const enlisted = yield* run(enlisting, tasks, until, sizes, ...args)
  if (enlisted === "many") return yield* full(`This owner has ${maxTasks} tasks, and this is the limit`)
  if (enlisted === "large") return yield* large(maxOwnerSize)
  if (enlisted === "known") return yield* known(task.taskId)
  const stored = Effect.filterOrFail(
    run(creating, taskOf(self, task.taskId), ownerOf(task.owner), task.version, text, left),
    (reply) => reply === 1,
    () => known(task.taskId)
  )
  yield* Effect.onError(stored, () => Effect.ignore(delist(self, task)))
})

/** Removes a task from the lists of its owner. When this fails, the task stays in the lists until its time of expiry. */
const delist = (self: Self, { owner, taskId }: StoredTask) => {
  const { sizes, tasks, until } = listsOf(self, owner)
  return Effect.all([
    self.command("ZREM", tasks, taskId),
    self.command("ZREM", until, taskId),
    self.command("HDEL", sizes, taskId)
  ], { concurrency: "unbounded" })
}

const get = (self: Self, owner: string | null, taskId: string) =>
  Effect.map(read(self, owner, [taskId]), ([task]) => task!)

/** Returns the task for each id; `None` for an id whose task is missing or belongs to another owner. */
const read = (self: Self, owner: string | null, ids: ReadonlyArray<string>) =>
  Effect.forEach(ids, (id) => {
    const key = taskOf(self, id)
    return Effect.flatMap(self.command("HMGET", key, "owner", "task"), (reply) => {
      const [found, text] = reply as ReadonlyArray<string | null>
      if (found !== ownerOf(owner)) return Effect.succeedNone
      return Effect.map(Stored.orReport(Stored.task(text), self.report, key), Option.fromNullable)
    })
  }, { concurrency: 32 })

const replace = Effect.fnUntraced(function*(self: Self, task: StoredTask) {
  const { command, maxOwnerSize, run } = self
  const text = yield* sized(self, task)
  const { owner, taskId, version } = task
  const limit = StoreText.isSmallEnd(task.status, text.length) ? Number.MAX_SAFE_INTEGER : maxOwnerSize
  const key = taskOf(self, taskId)
  const found = yield* command("HMGET", key, "owner", "version")
  const [foundOwner, foundVersion] = texts(found)
  if (foundOwner !== ownerOf(owner) || foundVersion !== String(version - 1)) return false
  const { sizes, until } = listsOf(self, owner)
  const resized = yield* run(resizing, until, sizes, taskId, text.length, limit)
  if (resized === "large") return yield* large(maxOwnerSize)
  const channel = `${self.prefix}task:${taskId}`
  return (yield* run(replacing, key, ownerOf(owner), version - 1, version, text, channel)) === 1
})

const list = Effect.fnUntraced(function*(
  self: Self,
  owner: string | null,
  { after, limit }: Parameters<TaskStoreService["list"]>[1]
) {
  const { tasks: key } = listsOf(self, owner)
  let last = Number(after ?? 0)
  if (!Number.isSafeInteger(last)) {
    return yield* new TaskStoreError({ reason: "UnknownPage", message: StoreText.noPage(String(after)) })
  }
  const tasks: Array<StoredTask> = []
  // Reads one more task than the page has, to know whether there is another page.
  while (tasks.length <= limit) {
    const page = texts(
      yield* self.command("ZRANGEBYSCORE", key, `(${last}`, "+inf", "WITHSCORES", "LIMIT", 0, limit + 1)
    )
    if (page.length === 0) return { tasks, next: undefined } satisfies TaskPage
    const ids = page.filter((_, n) => n % 2 === 0)
    const found = yield* read(self, owner, ids)
    for (const [n, task] of found.entries()) {
      if (Option.isSome(task)) {
        if (tasks.length === limit) return { tasks, next: String(last) } satisfies TaskPage
        tasks.push(task.value)
      }
      last = Number(page[2 * n + 1])
    }
  }
  return { tasks, next: undefined } satisfies TaskPage
})

const changes = (self: Self, owner: string | null, taskId: string): Stream.Stream<StoredTask, TaskStoreError> =>
  Stream.unwrapScoped(failing(Effect.gen(function*() {
    const woken = yield* Queue.sliding<void>(1)
    // The subscription begins before the first read, so that the reader misses no change between the two.
    yield* self.subscribe(`task:${taskId}`, () => void Queue.unsafeOffer(woken, undefined))
    const looks = Stream.repeatEffect(TimeLimit.call(Queue.take(woken), LOOK, () => Effect.void))
    return Stream.concat(Stream.void, looks).pipe(
      Stream.mapEffect(() => failing(get(self, owner, taskId))),
      Stream.takeWhile(Option.isSome),
      Stream.map(({ value }) => value),
      Stream.changesWith((one, other) => one.version === other.version)
    )
  })))

/** Returns the task as JSON. Fails when the task is too large. */
const sized = ({ maxTaskSize }: Self, task: StoredTask): Effect.Effect<string, TaskStoreError> => {
  const text = JSON.stringify(task)
  return text.length <= maxTaskSize || StoreText.isSmallEnd(task.status, text.length)
    ? Effect.succeed(text)
    : Effect.fail(full(`The task is too large: a task may have at most ${maxTaskSize} characters`))
}

/**
 * `layer` with options.
 *
 * @category layers
 */
export const layerWith = (options?: Options): Layer.Layer<TaskStore, never, RedisConnection> =>
  Layer.effect(TaskStore, make(options))

/** @category layers */
export const layer: Layer.Layer<TaskStore, never, RedisConnection> = layerWith()

const full = (message: string): TaskStoreError => new TaskStoreError({ reason: "Full", message })

const large = (limit: number): TaskStoreError => full(StoreText.ownerSize(limit))

/** Returns the stored text of an owner. The text for a task without an owner differs from the text for the owner "null". */
const ownerOf = (owner: string | null): string => owner === null ? "-" : `=${owner}`

const texts = (reply: Reply): ReadonlyArray<string> => Array.isArray(reply) ? reply : []

const failing = <A, R>(
  effect: Effect.Effect<A, TaskStoreError | RedisError, R>
): Effect.Effect<A, TaskStoreError, R> =>
  Effect.catchTag(
    effect,
    "RedisError",
    ({ isRefused, report }) =>
      Effect.fail(new TaskStoreError({ reason: isRefused === true ? "Refused" : "Unavailable", message: report }))
  )
