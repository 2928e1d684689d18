/**
 * `TaskStore` in Redis: a hash for each task, which Redis removes when its time has passed, and two lists of the tasks of each owner.
 * A reader that waits for a task is woken by a message, and reads the task anew; every 5 seconds it looks without one.
 *
 * @since 0.1.0
 */
import type { StoredTask, TaskPage, TaskStoreService } from "@effect-mcp/server/TaskStore"
import { TaskStore, TaskStoreError } from "@effect-mcp/server/TaskStore"
import * as StoreText from "@effect-mcp/server/unstable/StoreText"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"
import type { Reply, Script } from "./RedisCommand.js"
import { RedisConnection } from "./RedisConnection.js"
import type { RedisError } from "./RedisError.js"

/** @category models */
export interface Options {
  /** The limit of the tasks of one owner, ended ones included. Default: 1,000. */
  readonly maxTasks?: number | undefined
  /** The limit of the characters of one task, as JSON. Default: 4 Mi (4,194,304). */
  readonly maxTaskSize?: number | undefined
}

/** KEYS: task. ARGV: owner, version, task, milliseconds to live. */
const create: Script = {
  keys: 1,
  lua: `
    if redis.call("EXISTS", KEYS[1]) == 1 then return 0 end
    redis.call("HSET", KEYS[1], "owner", ARGV[1], "version", ARGV[2], "task", ARGV[3])
    redis.call("PEXPIRE", KEYS[1], ARGV[4])
    return 1`
}

/** KEYS: task. ARGV: owner, the version before, version, task, channel. */
const replace: Script = {
  keys: 1,
  lua: `
    local found = redis.call("HMGET", KEYS[1], "owner", "version")
    if found[1] ~= ARGV[1] or found[2] ~= ARGV[2] then return 0 end
    redis.call("HSET", KEYS[1], "version", ARGV[3], "task", ARGV[4])
    redis.call("PUBLISH", ARGV[5], "")
    return 1`
}

/**
 * KEYS: the tasks of an owner in their order, the same by the time at which each expires. ARGV: task, the time at which it expires,
 * now, the limit of tasks, how many of those that have expired are removed at most, milliseconds to live. Both live as long as their
 * last task.
 */
const enlist: Script = {
  keys: 2,
  lua: `
    local gone = redis.call("ZRANGEBYSCORE", KEYS[2], "-inf", ARGV[3], "LIMIT", 0, ARGV[5])
    -- Of the last task, also when it is removed now: a reader's page may end with it, and the next task comes after that.
    local last = redis.call("ZREVRANGE", KEYS[1], 0, 0, "WITHSCORES")[2] or 0
    if #gone > 0 then
      for _, key in ipairs(KEYS) do redis.call("ZREM", key, unpack(gone)) end
    end
    if redis.call("ZSCORE", KEYS[1], ARGV[1]) then return "known" end
    if redis.call("ZCARD", KEYS[1]) >= tonumber(ARGV[4]) then return "full" end
    redis.call("ZADD", KEYS[1], math.max(last + 1, tonumber(ARGV[3])), ARGV[1])
    redis.call("ZADD", KEYS[2], ARGV[2], ARGV[1])
    for _, key in ipairs(KEYS) do
      if redis.call("PTTL", key) < tonumber(ARGV[6]) then redis.call("PEXPIRE", key, ARGV[6]) end
    end
    return "enlisted"`
}

/** How many tasks one script removes from a list: Redis does nothing else meanwhile. Each new task makes room for as many. */
const PORTION = 500

const known = (taskId: string) => new TaskStoreError({ reason: "Unavailable", message: StoreText.taken(taskId) })

/** How often one that waits for a task looks without having been woken, in milliseconds. */
const LOOK = 5000

/** @category constructors */
export const make = (options: Options = {}): Effect.Effect<TaskStoreService, never, RedisConnection> =>
  Effect.map(RedisConnection, ({ command, prefix, run, subscribe }) => {
    const { maxTaskSize = 4 * 1024 * 1024, maxTasks = 1000 } = options
    const taskOf = (taskId: string) => `${prefix}task:${taskId}`
    const tasksOf = (owner: string | null) => `${prefix}{tasks:${ownerOf(owner)}}`
    const untilOf = (owner: string | null) => `${tasksOf(owner)}:until`

    /** The tasks of the ids that are there; those of others, and those whose time has passed, are not. */
    const read = (owner: string | null, ids: ReadonlyArray<string>) =>
      Effect.flatMap(
        Clock.currentTimeMillis,
        (now) =>
          Effect.forEach(ids, (id) =>
            Effect.map(command("HMGET", taskOf(id), "owner", "task"), (reply) => {
              const [found, text] = reply as ReadonlyArray<string | null>
              if (found !== ownerOf(owner) || typeof text !== "string") return Option.none<StoredTask>()
              const task = JSON.parse(text) as StoredTask
              return now < task.createdAt + task.ttl ? Option.some(task) : Option.none()
            }), { concurrency: 32 })
      )

    const get = (owner: string | null, taskId: string) => Effect.map(read(owner, [taskId]), ([task]) => task!)

    const sized = (task: StoredTask): Effect.Effect<string, TaskStoreError> => {
      const text = JSON.stringify(task)
      return text.length <= maxTaskSize ? Effect.succeed(text) : Effect.fail(
        new TaskStoreError({ reason: "Full", message: `A task may have ${maxTaskSize} characters` })
      )
    }

    return {
      create: (task) =>
        failing(Effect.gen(function*() {
          const text = yield* sized(task)
          const now = yield* Clock.currentTimeMillis
          const until = Math.ceil(task.createdAt + task.ttl)
          const left = Math.max(1, until - now)
          const lists = [tasksOf(task.owner), untilOf(task.owner)] as const
          const enlisted = yield* run(enlist, ...lists, task.taskId, until, now, maxTasks, PORTION, left)
          if (enlisted === "full") {
            const message = `This owner has ${maxTasks} tasks, and may have no more`
            return yield* new TaskStoreError({ reason: "Full", message })
          }
          if (enlisted === "known") return yield* known(task.taskId)
          const stored = Effect.filterOrFail(
            run(create, taskOf(task.taskId), ownerOf(task.owner), task.version, text, left),
            (reply) => reply === 1,
            () => known(task.taskId)
          )
          // Without it, the name leaves the lists when the task would have expired.
          const delisted = Effect.forEach(lists, (list) => command("ZREM", list, task.taskId), {
            concurrency: "unbounded"
          })
          yield* Effect.onError(stored, () => Effect.ignore(delisted))
        })),
      get: (owner, taskId) => failing(get(owner, taskId)),
      replace: (task) =>
        failing(Effect.gen(function*() {
          const text = yield* sized(task)
          if (Option.isNone(yield* get(task.owner, task.taskId))) return false
          const { owner, taskId, version } = task
          const channel = `${prefix}task:${taskId}`
          return (yield* run(replace, taskOf(taskId), ownerOf(owner), version - 1, version, text, channel)) === 1
        })),
      list: (owner, { after, limit }) =>
        failing(Effect.gen(function*() {
          let last = Number(after ?? 0)
          if (!Number.isSafeInteger(last)) {
            return yield* new TaskStoreError({ reason: "UnknownPage", message: StoreText.noPage(String(after)) })
          }
          const tasks: Array<StoredTask> = []
          // One more than the page tells whether there is another page.
          while (tasks.length <= limit) {
            const page = texts(
              yield* command("ZRANGEBYSCORE", tasksOf(owner), `(${last}`, "+inf", "WITHSCORES", "LIMIT", 0, limit + 1)
            )
            if (page.length === 0) return { tasks, next: undefined } satisfies TaskPage
            const ids = page.filter((_, n) => n % 2 === 0)
            const found = yield* read(owner, ids)
            for (const [n, task] of found.entries()) {
              if (Option.isSome(task)) {
                if (tasks.length === limit) return { tasks, next: String(last) } satisfies TaskPage
                tasks.push(task.value)
              }
              last = Number(page[2 * n + 1])
            }
          }
          return { tasks, next: undefined } satisfies TaskPage
        })),
      changes: (owner, taskId) =>
        Stream.unwrapScoped(failing(Effect.gen(function*() {
          const woken = yield* Queue.sliding<void>(1)
          // Before the first look, so that no change falls between the two.
          yield* subscribe(`task:${taskId}`, () => void Queue.unsafeOffer(woken, undefined))
          const looks = Stream.repeatEffect(Effect.timeoutOption(Queue.take(woken), LOOK))
          return Stream.concat(Stream.void, looks).pipe(
            Stream.mapEffect(() => failing(get(owner, taskId))),
            Stream.takeWhile(Option.isSome),
            Stream.map(({ value }) => value),
            Stream.changesWith((one, other) => one.version === other.version)
          )
        })))
    }
  })

/** @category layers */
export const layer = (options?: Options): Layer.Layer<TaskStore, never, RedisConnection> =>
  Layer.effect(TaskStore, make(options))

/** No owner is another one than the owner "null". */
const ownerOf = (owner: string | null): string => owner === null ? "-" : `=${owner}`

const texts = (reply: Reply): ReadonlyArray<string> => Array.isArray(reply) ? reply : []

const failing = <A, R>(
  effect: Effect.Effect<A, TaskStoreError | RedisError, R>
): Effect.Effect<A, TaskStoreError, R> =>
  Effect.catchTag(
    effect,
    "RedisError",
    ({ report }) => Effect.fail(new TaskStoreError({ reason: "Unavailable", message: report }))
  )
