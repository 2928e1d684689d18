/**
 * Tasks: calls of tools that go on after their request was answered. A client reads the status of a task, answers its questions, cancels
 * the task, and fetches its result. The client can do so also after it has lost its connection.
 *
 * A tool takes part when its definition has the option `task`. `layer`, among the features of a server, runs the tasks (`tasks/TaskRunner`,
 * `dispatch/ServerTasks`). This is enough for clients of revision 2025-11-25. With revision 2026-07-28 or later, tasks are the extension
 * `io.modelcontextprotocol/tasks`, and the server also needs `extension` among its `extensions`.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks
 * @since 0.1.0
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { JsonObject } from "../protocol/Json.js"
import * as TasksExtension from "../protocol/modern/TasksExtension.js"
import * as Version from "../protocol/Version.js"
import * as ServerTasks from "./dispatch/ServerTasks.js"
import * as Feature from "./Feature.js"
import * as TaskCall from "./features/TaskCall.js"
import * as LegacyTaskWire from "./legacy/TaskWire.js"
import type { TaskLimits } from "./Limits.js"
import * as MethodHandler from "./MethodHandler.js"
import * as ModernTaskWire from "./modern/TaskWire.js"
import * as NodeTasks from "./nodes/NodeTasks.js"
import { Registry, type RegistryService } from "./Registry.js"
import { RequestContext } from "./RequestContext.js"
import type { HandlerContext } from "./runtime/HandlerContext.js"
import * as TaskViewer from "./runtime/TaskViewer.js"
import * as StoredTasks from "./tasks/StoredTasks.js"
import * as TaskRunner from "./tasks/TaskRunner.js"
import { TaskStore } from "./TaskStore.js"

/** @category models */
export interface Options {
  /** Limits how many tasks run, and how long a task may be stored. A limit that is not given has its default. */
  readonly limits?: TaskLimits | undefined
  /** How long a task is stored after its creation, where the client does not say how long. Default: 1 hour. */
  readonly ttl?: Duration.DurationInput | undefined
  /** How long clients should wait between two requests about a task. Default: 1 second. */
  readonly pollInterval?: Duration.DurationInput | undefined
}

/**
 * The extension for tasks, for the option `extensions` of a server. Clients of revision 2026-07-28 or later need it.
 *
 * @category constants
 */
export const extension: typeof TasksExtension.extension = TasksExtension.extension

const LATE =
  "`TasksServer.layer` was added to a server that runs: put it among the features that the server begins with"

/**
 * `layer` with options.
 *
 * @category layers
 */
export const layerWith = (options: Options = {}): Layer.Layer<never, never, Registry | TaskStore> =>
  Layer.unwrapScoped(Effect.gen(function*() {
    const registry = yield* Registry
    // `Registry.add` provides no place, because a running server has read its place already.
    const found = yield* Effect.serviceOption(ServerTasks.Place)
    if (Option.isNone(found)) return yield* Effect.dieMessage(LATE)
    const place = found.value
    const store = yield* NodeTasks.make(StoredTasks.logging(yield* TaskStore), () => place.tasks?.runner.ids() ?? [])
    const runner = new TaskRunner.TaskRunner(store, TaskRunner.settings(options), place.engines)
    yield* place.register({ runner, call: TaskCall, legacy: LegacyTaskWire.wire, modern: ModernTaskWire.wire })
    return requests(registry, runner.tasks)
  }))

/**
 * Runs the tasks of a server, and stores them in the `TaskStore`. When the server shuts down, tasks that still run end as `failed`. On
 * several nodes, the tasks of a node that was killed end as `failed` when clients read them. For a client that polls each second, this
 * happens within 3 seconds after the lease of the node has ended, or within 12 seconds when the store was restarted, too. No notification
 * tells the client that such a task has ended.
 *
 * @example
 * ```ts
 * import * as McpServer from "@effect-mcp/core/McpServer"
 * import * as TasksServer from "@effect-mcp/core/TasksServer"
 * import * as TaskStore from "@effect-mcp/core/TaskStore"
 * import * as Tool from "@effect-mcp/core/Tool"
 * import { Effect, Layer } from "effect"
 *
 * const Report = Tool.make("report", { task: "optional" })
 * const ReportLive = McpServer.tool(Report, () => Effect.delay(Effect.succeed("a long report"), "10 minutes"))
 *
 * export const Server = McpServer.layer({ name: "reports", version: "1.0.0" }, Layer.merge(ReportLive, TasksServer.layer), {
 *   extensions: [TasksServer.extension]
 * }).pipe(Layer.provide(TaskStore.layerMemory))
 * ```
 * @category layers
 */
export const layer: Layer.Layer<never, never, Registry | TaskStore> = layerWith()

/**
 * The requests about tasks of revision 2026-07-28 or later, as handlers of the extension. In revision 2025-11-25 these requests are methods
 * of the revision itself (`legacy/TaskWire`).
 */
const requests = (registry: RegistryService, tasks: StoredTasks.StoredTasks): Layer.Layer<never, never, Registry> => {
  const { cancel, get, update } = extension.requests
  const { changed } = extension.notifications
  const viewer = Effect.map(
    RequestContext,
    // Handlers get more members than their types know.
    (request) => TaskViewer.make(request as HandlerContext, Version.isModern)
  )
  return Layer.mergeAll(
    Feature.make(() =>
      tasks.onChange((task) =>
        Version.isModern(task.revision) ? registry.notify(changed, ModernTaskWire.toDetailedTask(task)) : Effect.void
      )
    ),
    MethodHandler.request(
      get,
      ({ taskId }) =>
        Effect.flatMap(viewer, (viewer) => Effect.map(tasks.get(viewer, taskId), ModernTaskWire.toDetailedTask))
    ),
    MethodHandler.request(
      cancel,
      ({ taskId }) => Effect.flatMap(viewer, (viewer) => Effect.as(tasks.cancel(viewer, taskId), {}))
    ),
    MethodHandler.request(update, ({ inputResponses, taskId }) => {
      const answerOf = (key: string) =>
        Object.hasOwn(inputResponses, key) ? { result: inputResponses[key] as JsonObject } : undefined
      return Effect.flatMap(viewer, (viewer) => Effect.as(tasks.answer(viewer, taskId, answerOf), {}))
    }),
    MethodHandler.subscription(
      changed,
      (taskIds) =>
        Effect.flatMap(
          viewer,
          (viewer) => Effect.filter(taskIds, (taskId) => Effect.isSuccess(tasks.get(viewer, taskId)))
        )
    )
  )
}
