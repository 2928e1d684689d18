/**
 * Implements `TaskStore` with SQL, over a `SqlConnection`. Each task is a row, which is deleted some time after the task has expired. A
 * reader is a stream of `changes` that waits for a change of its task. When a node (process of the server) changes the task, each reader of
 * the task gets a notification (`Wake`), and reads the task again. Because a notification may be lost, each reader also reads its task when
 * no notification has arrived for 5 seconds.
 *
 * @since 0.1.0
 */
import type { Fragment, Identifier } from "@effect/sql/Statement"
import {
  type StoredTask,
  type TaskPage,
  TaskStore,
  TaskStoreError,
  type TaskStoreService
} from "@effect-mcp/core/TaskStore"
import * as Stored from "@effect-mcp/core/unstable/server/Stored"
import * as StoreText from "@effect-mcp/core/unstable/server/StoreText"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Attempt from "./connection/Attempt.js"
import * as Sweep from "./connection/Sweep.js"
import { SqlConnection, type SqlConnectionService } from "./SqlConnection.js"
import type { SqlStoreError } from "./SqlStoreError.js"

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
  /**
   * How many characters all tasks of one owner may have together as JSON. When several tasks change at the same moment, the sum may exceed
   * the limit by the characters that these changes add. Default: 16 Mi (16,777,216).
   */
  readonly maxOwnerSize?: number | undefined
}

interface Row {
  readonly number: number | string
  readonly id: string
  readonly task: string
}

interface Self extends SqlConnectionService {
  readonly tasks: Identifier
  readonly maxTasks: number
  readonly maxTaskSize: number
  readonly maxOwnerSize: number
  /** Logs that a stored task cannot be decoded. */
  readonly report: (key: string) => Effect.Effect<void>
}

/** @category constructors */
export const make = (options: Options = {}): Effect.Effect<TaskStoreService, never, SqlConnection | Scope.Scope> =>
  Effect.gen(function*() {
    const connection = yield* SqlConnection
    const self: Self = {
      ...connection,
      tasks: connection.table("tasks"),
      maxTasks: options.maxTasks ?? 1000,
      maxTaskSize: options.maxTaskSize ?? 4 * 1024 * 1024,
      maxOwnerSize: options.maxOwnerSize ?? 16 * 1024 * 1024,
      report: Stored.reporter()
    }
    yield* Sweep.every(connection, "tasks")
    return {
      create: (task) => failing(create(self, task)),
      get: (owner, taskId) => failing(get(self, owner, taskId)),
      replace: (task) => failing(replace(self, task)),
      list: (owner, page) => failing(list(self, owner, page)),
      changes: (owner, taskId) => changes(self, owner, taskId)
    }
  })

const create = Effect.fnUntraced(function*(self: Self, task: StoredTask) {
  const { maxOwnerSize, maxTasks, now, sql, tasks } = self
  const text = yield* sized(self, task)
  const at = yield* now
  // This node has set `createdAt` by its own clock, which may differ from the clock of the database. So the node computes the remaining
  // time by its own clock.
  const left = Math.min(task.createdAt + task.ttl - (yield* Clock.currentTimeMillis), MAX_TTL)
  const [id, owner] = [keyOf(task.taskId), keyOf(task.owner)]
  const created = yield* inTurn(
    self,
    owner,
    sql`
      INSERT INTO ${tasks} (id, owner, version, task, size, expires)
      SELECT ${id}, ${owner}, CAST(${task.version} AS bigint), ${text}, CAST(${text.length} AS bigint),
        ${at} + CAST(${Math.ceil(left)} AS bigint)
      WHERE (SELECT count(*) FROM ${tasks} WHERE owner = ${owner} AND expires > ${at}) < ${maxTasks}
        AND ${sizeOf(self, owner, id, at)} + CAST(${text.length} AS bigint) <= ${maxOwnerSize}
      ON CONFLICT (id) DO NOTHING RETURNING number`
  )
  if (created.length === 0) yield* whyNot(self, task, at)
})

/** Fails with the reason why the database did not create a task. */
const whyNot = Effect.fnUntraced(function*(
  { maxOwnerSize, maxTasks, run, sql, tasks }: Self,
  task: StoredTask,
  at: Fragment
) {
  const [id, owner] = [keyOf(task.taskId), keyOf(task.owner)]
  const [found] = yield* run(
    "read a task",
    sql<{ readonly taken: number | string; readonly count: number | string }>`
      SELECT (SELECT count(*) FROM ${tasks} WHERE id = ${id}) AS taken,
        (SELECT count(*) FROM ${tasks} WHERE owner = ${owner} AND expires > ${at}) AS count`
  )
  return yield* Number(found?.taken) > 0
    ? failed("Unavailable", StoreText.taken(task.taskId))
    : failed(
      "Full",
      Number(found?.count) < maxTasks
        ? StoreText.ownerSize(maxOwnerSize)
        : `This owner has ${maxTasks} tasks, and this is the limit`
    )
})

const get = (self: Self, owner: string | null, taskId: string) => {
  const { now, run, sql, tasks } = self
  return Effect.flatMap(now, (now) =>
    run(
      "read a task",
      sql<Row>`
        SELECT number, id, task FROM ${tasks}
        WHERE id = ${keyOf(taskId)} AND owner = ${keyOf(owner)} AND expires > ${now}`
    )).pipe(
      Effect.flatMap((rows) => toTasks(self, rows)),
      Effect.map(([task]) => Option.fromNullable(task))
    )
}

const replace = Effect.fnUntraced(function*(self: Self, task: StoredTask) {
  const { maxOwnerSize, notify, now, run, sql, tasks } = self
  const text = yield* sized(self, task)
  const at = yield* now
  const { taskId, version } = task
  const [id, owner] = [keyOf(taskId), keyOf(task.owner)]
  const size = sql`CAST(${text.length} AS bigint)`
  const limit = StoreText.isSmallEnd(task.status, text.length) ? Number.MAX_SAFE_INTEGER : maxOwnerSize
  const isBefore = sql`id = ${id} AND owner = ${owner} AND version = ${version - 1} AND expires > ${at}`
  const replaced = yield* run(
    "replace a task",
    sql`
      UPDATE ${tasks} SET version = ${version}, task = ${text}, size = ${size}
      WHERE ${isBefore} AND (size >= ${size} OR ${sizeOf(self, owner, id, at)} + ${size} <= ${limit})
      RETURNING number`
  )
  if (replaced.length > 0) return yield* Effect.as(notify(channelOf(taskId)), true)
  const left = yield* run("read a task", sql`SELECT number FROM ${tasks} WHERE ${isBefore}`)
  return left.length === 0 ? false : yield* failed("Full", StoreText.ownerSize(maxOwnerSize))
})

const list = Effect.fnUntraced(function*(
  self: Self,
  owner: string | null,
  { after, limit }: Parameters<TaskStoreService["list"]>[1]
) {
  const { now, run, sql, tasks } = self
  const last = Number(after ?? 0)
  if (!Number.isSafeInteger(last)) return yield* failed("UnknownPage", StoreText.noPage(String(after)))
  const at = yield* now
  // Reads one more task than the page has, to know whether there is another page.
  const rows = yield* run(
    "list tasks",
    sql<Row>`
      SELECT number, id, task FROM ${tasks}
      WHERE owner = ${keyOf(owner)} AND number > ${last} AND expires > ${at}
      ORDER BY number LIMIT ${limit + 1}`
  )
  const page = rows.slice(0, limit)
  const next = rows.length > limit ? String(page.at(-1)?.number ?? last) : undefined
  return { tasks: yield* toTasks(self, page), next } satisfies TaskPage
})

const changes = (self: Self, owner: string | null, taskId: string): Stream.Stream<StoredTask, TaskStoreError> =>
  self.wakes(channelOf(taskId), "5 seconds").pipe(
    Stream.mapEffect(() => failing(get(self, owner, taskId))),
    Stream.takeWhile(Option.isSome),
    Stream.map(({ value }) => value),
    Stream.changesWith((one, other) => one.version === other.version)
  )

/** Returns the task as JSON. Fails when the task is too large. */
const sized = ({ maxTaskSize }: Self, task: StoredTask): Effect.Effect<string, TaskStoreError> => {
  const text = JSON.stringify(task)
  return text.length <= maxTaskSize || StoreText.isSmallEnd(task.status, text.length)
    ? Effect.succeed(text)
    : failed("Full", `The task is too large: a task may have at most ${maxTaskSize} characters`)
}

const toTasks = ({ report, tasks }: Self, rows: ReadonlyArray<Row>) =>
  Effect.map(
    Effect.forEach(rows, ({ id, task }) => Stored.orReport(Stored.task(task), report, `${id} in ${tasks.value}`)),
    (tasks) => tasks.filter((task) => task !== undefined)
  )

/** Returns how many characters all tasks of an owner have together, without the task `id`. */
const sizeOf = ({ sql, tasks }: Self, owner: string, id: string, at: Fragment) =>
  sql`(SELECT coalesce(sum(size), 0) FROM ${tasks} WHERE owner = ${owner} AND id <> ${id} AND expires > ${at})`

/** In PostgreSQL, lets only one node at a time create a task of an owner. So the next creation also counts this task. */
const inTurn = <A, E>({ run, sql, tasks, transaction }: Self, owner: string, statement: Effect.Effect<A, E>) => {
  if (!Attempt.isPg(sql)) return run("store a task", statement)
  const lock = sql`SELECT pg_advisory_xact_lock(hashtextextended(${`${tasks.value} ${owner}`}, 0))`
  return transaction("store a task", Effect.zipRight(lock, statement))
}

/**
 * `layer` with options.
 *
 * @category layers
 */
export const layerWith = (options?: Options): Layer.Layer<TaskStore, never, SqlConnection> =>
  Layer.scoped(TaskStore, make(options))

/** @category layers */
export const layer: Layer.Layer<TaskStore, never, SqlConnection> = layerWith()

/**
 * Returns the stored form of an id or an owner, as JSON. As JSON, a missing owner differs from the owner "null", and the text has no
 * character NUL, which PostgreSQL cannot store.
 */
const keyOf = (text: string | null): string => JSON.stringify(text)

const channelOf = (taskId: string): string => `task:${taskId}`

/**
 * The longest time to live in milliseconds: 140,000 years. The sum of this number and the present time is still an integer that every
 * driver supports.
 */
const MAX_TTL = Number.MAX_SAFE_INTEGER / 2

const failed = (reason: TaskStoreError["reason"], message: string) =>
  Effect.fail(new TaskStoreError({ reason, message }))

const failing = <A, R>(
  effect: Effect.Effect<A, TaskStoreError | SqlStoreError, R>
): Effect.Effect<A, TaskStoreError, R> =>
  Effect.catchTag(
    effect,
    "SqlStoreError",
    ({ isRefused, message }) => failed(isRefused === true ? "Refused" : "Unavailable", message)
  )
