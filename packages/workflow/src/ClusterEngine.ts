/**
 * The engine of durable tools for several processes, on the same machine or on several: `@effect/cluster` over one PostgreSQL. A task goes on
 * at another process when its process was killed, was shut down, or has stopped. A process takes part as soon as it has this layer.
 *
 * The processes talk through PostgreSQL only: no process opens a port for the others.
 *
 * `runtime/ClusterRows` keeps the tables, and `runtime/PatientStorage` waits while PostgreSQL is away.
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

/** @category models */
export interface Options {
  /** What the names of the tables begin with. Equal at all processes. Default: `mcp_workflow`. */
  readonly prefix?: string | undefined
  /**
   * How long PostgreSQL may hear nothing of a process until the others run its tasks. A process renews it three times meanwhile, and each
   * renewal may take a third of it: a shorter lease finds a dead process sooner, and interrupts more steps when PostgreSQL is slow. After
   * `kill -9` a task goes on at another process after this time and up to 3 seconds. Equal at all processes. Default: 7 seconds.
   */
  readonly lease?: Duration.DurationInput | undefined
  /**
   * How often a process looks for what others have left for it: an answer or a cancellation that came to another process, a wait that is
   * over. Default: 1 second.
   */
  readonly pollInterval?: Duration.DurationInput | undefined
  /**
   * How long a process that shuts down lets its steps go on. Then it interrupts them, and they begin again at another process. The tasks of
   * the process do not go on meanwhile. Default: 3 seconds.
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
      // A name: nothing listens there.
      runnerAddress: Option.some(RunnerAddress.make(globalThis.crypto.randomUUID(), 0)),
      shardsPerGroup: ClusterRows.SHARDS,
      shardLockRefreshInterval: Duration.unsafeDivide(lease, 3),
      shardLockExpiration: lease,
      // An advisory lock is held as long as its connection: a stopped process would keep its tasks.
      shardLockDisableAdvisory: true,
      entityMessagePollInterval: pollInterval,
      refreshAssignmentsInterval: pollInterval,
      entityTerminationTimeout: stopTimeout,
      // A process without durable tools fails no task: the task waits until another process has it.
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
 * The engine, over PostgreSQL 15 or later. It creates its tables, and fails when it cannot. One connection of the client is for the lease
 * alone: the client needs three at least. The tables hold the arguments of tasks and what their steps gave, and, on a server without users,
 * the ids with which a task can be read, answered and cancelled.
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
