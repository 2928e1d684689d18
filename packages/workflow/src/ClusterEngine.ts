/**
 * Provides the workflow engine that runs durable tools in several processes, on one machine or on several machines. The engine is
 * `@effect/cluster` over one PostgreSQL. Every process that has this layer runs tasks. When the process of a task was killed, was shut
 * down, or hangs, the task continues at another process.
 *
 * The processes communicate only through PostgreSQL, so they need no network connections to each other.
 *
 * `runtime/ClusterRows` manages the rows in the tables, and `runtime/PatientStorage` waits while PostgreSQL cannot be reached.
 *
 * @since 0.1.0
 */
import * as ClusterWorkflowEngine from "@effect/cluster/ClusterWorkflowEngine"
import * as RunnerAddress from "@effect/cluster/RunnerAddress"
import * as RunnerHealth from "@effect/cluster/RunnerHealth"
import * as Runners from "@effect/cluster/Runners"
import * as Sharding from "@effect/cluster/Sharding"
import * as ShardingConfig from "@effect/cluster/ShardingConfig"
import * as SqlMessageStorage from "@effect/cluster/SqlMessageStorage"
import * as SqlRunnerStorage from "@effect/cluster/SqlRunnerStorage"
import type { SqlClient } from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import type { WorkflowEngine } from "@effect/workflow/WorkflowEngine"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as ClusterRows from "./runtime/ClusterRows.js"
import * as PatientStorage from "./runtime/PatientStorage.js"

/**
 * The options of `layerWith`.
 *
 * @category models
 */
export interface Options {
  /** The beginning of the names of the tables. All processes must have the same prefix. Default: `mcp_workflow`. */
  readonly prefix?: string | undefined
  /**
   * How long a process keeps its tasks when it does not renew its lease in PostgreSQL. A lease is the right of a process to run its tasks.
   * After this time other processes run the tasks. A process renews its lease after each third of this time, and a renewal may take another
   * third. With a shorter lease, other processes find a dead process sooner, but more steps are interrupted when PostgreSQL is slow. After
   * `kill -9` a task continues at another process after this time and up to 3 seconds more. All processes must have the same value.
   * Default: 7 seconds.
   */
  readonly lease?: Duration.DurationInput | undefined
  /**
   * How often a process reads the news of its tasks from PostgreSQL. The news are answers and cancellations that another process has
   * received, and the ends of waits. Default: 1 second.
   */
  readonly pollInterval?: Duration.DurationInput | undefined
  /**
   * How long the steps of a process that shuts down may still run. After this time the process interrupts the steps, and the steps begin
   * again at another process. During this time the tasks of the process begin no other steps, neither in this process nor in another
   * process. Default: 3 seconds.
   */
  readonly stopTimeout?: Duration.DurationInput | undefined
}

/**
 * `layer` with options.
 *
 * @category layers
 */
export const layerWith = (
  { lease = "7 seconds", pollInterval = "1 second", prefix = "mcp_workflow", stopTimeout = "3 seconds" }: Options = {}
): Layer.Layer<WorkflowEngine, SqlError, SqlClient> => {
  const config = Layer.effect(
    ShardingConfig.ShardingConfig,
    Effect.sync(() => ({
      ...ShardingConfig.defaults,
      // The address is only a name; the process does not listen at this address.
      runnerAddress: Option.some(RunnerAddress.make(globalThis.crypto.randomUUID(), 0)),
      shardsPerGroup: ClusterRows.SHARDS,
      shardLockRefreshInterval: Duration.unsafeDivide(lease, 3),
      shardLockExpiration: lease,
      // PostgreSQL keeps an advisory lock until its connection closes, so a process that hangs would keep its tasks.
      shardLockDisableAdvisory: true,
      entityMessagePollInterval: pollInterval,
      refreshAssignmentsInterval: pollInterval,
      entityTerminationTimeout: stopTimeout,
      // When a process without durable tools gets a task, the task does not fail. The task waits until another process takes the task.
      entityRegistrationTimeout: Duration.infinity
    }))
  )
  const stores = ClusterRows.stores(
    prefix,
    Layer.merge(
      Layer.provide(PatientStorage.layer, SqlMessageStorage.layerWith({ prefix })),
      SqlRunnerStorage.layerWith({ prefix })
    )
  )
  return ClusterRows.layer(prefix).pipe(
    Layer.provide(ClusterWorkflowEngine.layer),
    Layer.provideMerge(Layer.provide(Sharding.layer, [Runners.layerNoop, RunnerHealth.layerNoop])),
    Layer.provide(stores),
    Layer.provide(config)
  )
}

/**
 * Provides the engine, over PostgreSQL 15 or later. The layer creates its tables, and fails when this is not possible. The lease uses one
 * connection of the client alone, so the client needs at least three connections. The tables contain the arguments of tasks and the results
 * of their steps. They also contain the ids of tasks. On a server without users, anyone who knows the id of a task can read the task,
 * answer its questions and cancel it.
 *
 * @example
 * ```ts
 * import * as McpServer from "@effect-mcp/core/McpServer"
 * import * as TasksServer from "@effect-mcp/core/TasksServer"
 * import * as PgNodes from "@effect-mcp/sql/PgNodes"
 * import * as ClusterEngine from "@effect-mcp/workflow/ClusterEngine"
 * import type { WorkflowEngine } from "@effect/workflow/WorkflowEngine"
 * import { Layer } from "effect"
 *
 * declare const Tools: Layer.Layer<never, never, WorkflowEngine>
 *
 * const url = "postgres://shop@postgres.internal/shop"
 *
 * export const Server = McpServer.layer({ name: "shop", version: "1.0.0" }, Layer.merge(Tools, TasksServer.layer), {
 *   extensions: [TasksServer.extension]
 * }).pipe(
 *   Layer.provide(ClusterEngine.layer),
 *   Layer.provide(PgNodes.client({ url })),
 *   Layer.provide(PgNodes.layer({ url }))
 * )
 * ```
 * @category layers
 */
export const layer: Layer.Layer<WorkflowEngine, SqlError, SqlClient> = layerWith()
