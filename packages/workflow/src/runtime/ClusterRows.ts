/**
 * Manages the rows of durable tasks in the tables of `@effect/cluster`, for `ClusterEngine`. `@effect/cluster` divides the tasks into
 * groups, called shards. At each time only one process runs the tasks of a shard. The parts of a task communicate by messages, which are
 * rows. This module corrects two problems of `@effect/cluster` 0.60:
 *
 * - **A message may wait for ten minutes.** A process may claim a message and then not process the message, for example because the process
 *   has just lost the shard. Then no process reads the message for ten minutes. So with this module each process looks for messages of its
 *   shards that were claimed some seconds ago and are not processed. The process makes these messages readable again.
 * - **Rows are never removed.** This module stores in its own table when the time to live of each task ends. After this time the module
 *   removes the rows of the task.
 */
import * as MachineId from "@effect/cluster/MachineId"
import * as ShardId from "@effect/cluster/ShardId"
import * as Sharding from "@effect/cluster/Sharding"
import * as Snowflake from "@effect/cluster/Snowflake"
import { SqlClient } from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import type { Fragment } from "@effect/sql/Statement"
import { WorkflowEngine } from "@effect/workflow/WorkflowEngine"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import { McpTask } from "./McpTask.js"

/**
 * The number of shards. The processes divide the shards among themselves, and each task is in one shard. Each time a process renews its
 * lease, the process writes a row for each of its shards. All processes must have the same number of shards.
 */
export const SHARDS = 60

/** How often a process gives back claimed messages. */
const LOOK = Duration.seconds(2)

/**
 * How long a process may have claimed a message before a process gives the message back. During a long step, the process of the step gives
 * back one message after each such time.
 */
const CLAIMED = "4 seconds"

/** How often the rows of ended tasks are removed. */
const SWEEP = Duration.seconds(10)

/**
 * How many milliseconds after the end of a task's time to live this module removes the rows of the task. `Tasks` interrupts a running step
 * before the removal.
 */
const GRACE = 10_000

/**
 * How long a process may hang, in milliseconds. When the process continues, the process may write rows of a task whose rows were already
 * removed. This module removes the new rows, too.
 */
const AWAY = 600_000

/** The first number of the advisory lock. The second number is a hash of the prefix. */
const LOCK = 0x6d6371

/**
 * Builds the stores, and creates the table of this module. Only one process at a time does this, because the process holds an advisory
 * lock. Without the lock, one of two processes that create the table at the same time would fail. Dies when the database is not
 * PostgreSQL.
 */
export const stores = <A, E, R>(
  prefix: string,
  layer: Layer.Layer<A, E, R>
): Layer.Layer<A, E | SqlError, R | SqlClient> =>
  Layer.scopedContext(Effect.gen(function*() {
    const scope = yield* Effect.scope
    const sql = yield* SqlClient
    if (sql.onDialectOrElse({ pg: () => false, orElse: () => true })) {
      return yield* Effect.dieMessage("`ClusterEngine` needs PostgreSQL: provide a client of @effect/sql-pg")
    }
    return yield* Effect.scoped(Effect.gen(function*() {
      const connection = yield* sql.reserve
      const lock = (name: string) =>
        Effect.map(
          connection.executeValues(`SELECT ${name}($1, hashtext($2))`, [LOCK, prefix]),
          ([row]) => row![0] === true
        )
      yield* Effect.acquireRelease(
        Effect.repeat(lock("pg_try_advisory_lock"), {
          until: (isTaken) => isTaken,
          schedule: Schedule.spaced("100 millis")
        }),
        () => Effect.ignore(lock("pg_advisory_unlock"))
      )
      const context = yield* Layer.buildWithScope(layer, scope)
      yield* sql`CREATE TABLE IF NOT EXISTS ${sql(`${prefix}_tasks`)} (
        execution_id VARCHAR(255) PRIMARY KEY,
        ends_at BIGINT NOT NULL
      )`
      yield* sql`CREATE INDEX IF NOT EXISTS ${sql(`${prefix}_tasks_ends_at`)} ON ${sql(`${prefix}_tasks`)} (ends_at)`
      yield* sql`CREATE INDEX IF NOT EXISTS ${sql(`${prefix}_messages_entity_id`)}
        ON ${sql(`${prefix}_messages`)} (entity_id)`
      return context
    }))
  }))

/** Provides an engine that also stores when the time to live of each task ends, gives back messages, and removes rows. */
export const layer = (
  prefix: string
): Layer.Layer<WorkflowEngine, never, WorkflowEngine | Sharding.Sharding | SqlClient> =>
  Layer.scoped(
    WorkflowEngine,
    Effect.gen(function*() {
      const engine = yield* WorkflowEngine
      const sharding = yield* Sharding.Sharding
      const sql = (yield* SqlClient).withoutTransforms()
      const running = new Set<string>()
      const rows = makeRows(sql, prefix)
      const givingBack = Effect.flatMap(
        Effect.suspend(() => rows.giveBack(shards.filter(sharding.hasShardId).map(String), [...running])),
        (count) => count > 0 ? sharding.pollStorage : Effect.void
      )
      yield* Effect.forkScoped(inBackground(givingBack, LOOK))
      yield* sharding.registerSingleton(`${McpTask.name}/rows`, inBackground(rows.remove, SWEEP))
      return WorkflowEngine.of({
        ...engine,
        register: (workflow, execute) =>
          engine.register(workflow, (payload, executionId) =>
            Effect.acquireUseRelease(
              Effect.sync(() => running.add(executionId)),
              () => execute(payload, executionId),
              () => Effect.sync(() => running.delete(executionId))
            )),
        execute: (workflow, options) =>
          Effect.zipRight(
            workflow.name === McpTask.name
              ? Effect.orDie(
                rows.add(options.executionId, (options.payload as typeof McpTask.payloadSchema.Type).endsAt)
              )
              : Effect.void,
            engine.execute(workflow, options)
          )
      })
    })
  )

const shards = Array.from(
  { length: SHARDS },
  (_, n) => ShardId.make("default", n + 1)
)

/** Repeats the effect for ever. Logs a failure at level Debug, because the database may be unreachable for a while. */
const inBackground = <E, R>(
  effect: Effect.Effect<unknown, E, R>,
  every: Duration.Duration
): Effect.Effect<void, never, R> =>
  effect.pipe(
    Effect.catchAllCause((cause) => Effect.logDebug("Cannot keep the rows of durable tasks", cause)),
    Effect.repeat(Schedule.spaced(every)),
    Effect.asVoid
  )

const makeRows = (sql: SqlClient, prefix: string) => {
  const tasks = sql(`${prefix}_tasks`)
  const messages = sql(`${prefix}_messages`)
  const replies = sql(`${prefix}_replies`)
  const body = `Workflow/${McpTask.name}`
  return {
    add: (executionId: string, endsAt: number) =>
      sql`INSERT INTO ${tasks} (execution_id, ends_at) VALUES (${executionId}, ${endsAt}) ON CONFLICT DO NOTHING`,

    /**
     * Gives back the claimed messages of these shards, and returns the number of these messages. The message that has started a body in
     * this process stays claimed. This message has the arguments of the body, which no process needs to read again.
     */
    giveBack: (shards: ReadonlyArray<string>, running: ReadonlyArray<string>): Effect.Effect<number, SqlError> =>
      shards.length === 0 ? Effect.succeed(0) : Effect.map(
        sql`UPDATE ${messages} SET last_read = NULL
          WHERE ${sql.in("shard_id", shards)} AND NOT processed
            AND last_read < NOW() - INTERVAL '${sql.literal(CLAIMED)}'
            AND NOT (tag = 'run' AND entity_type = ${body} AND ${
          running.length === 0 ? sql`FALSE` : sql.in("entity_id", running)
        })
          RETURNING id`,
        (rows) => rows.length
      ),

    /** Removes the rows of tasks whose time to live has passed, and rows that a process has written after the removal of their task. */
    remove: Effect.gen(function*() {
      const now = yield* Clock.currentTimeMillis
      const removed = (which: Fragment) =>
        sql`WITH gone AS (DELETE FROM ${messages} WHERE ${which} RETURNING id)
          DELETE FROM ${replies} WHERE request_id IN (SELECT id FROM gone)`
      yield* removed(sql`entity_id IN (SELECT execution_id FROM ${tasks} WHERE ends_at < ${now - GRACE})`)
      yield* sql`DELETE FROM ${tasks} WHERE ends_at < ${now - GRACE}`
      const since = String(Snowflake.make({ machineId: MachineId.make(0), sequence: 0, timestamp: now - AWAY }))
      yield* removed(
        sql`id > ${since} AND (entity_type = ${body} OR payload LIKE ${`%"workflowName":"${McpTask.name}"%`})
        AND NOT EXISTS (SELECT 1 FROM ${tasks} WHERE execution_id = entity_id)`
      )
      yield* sql`DELETE FROM ${replies} WHERE id > ${since}
        AND NOT EXISTS (SELECT 1 FROM ${messages} WHERE ${messages}.id = request_id)`
    })
  }
}
