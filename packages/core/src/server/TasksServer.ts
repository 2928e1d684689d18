/**
 * Tasks: calls of tools that go on after the server has answered the request. A client reads the status of a task, answers the task's
 * questions, cancels the task, and fetches the result. A client that has lost its connection can connect again and use the task.
 *
 * Calls of a tool can become tasks under two conditions: the tool's definition has the option `task`, and `layer` is one of the features of
 * the server. This is enough for clients of revision 2025-11-25. With revision 2026-07-28 or later, tasks are the extension
 * `io.modelcontextprotocol/tasks`. For these clients, add `extension` to the option `extensions` of the server. `tasks/TaskRunner` and
 * `dispatch/ServerTasks` run the tasks.
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
  /** How many tasks may run, and how long the server stores a task at most. Each limit has its own default. */
  readonly limits?: TaskLimits | undefined
  /** How long the server stores a task after its creation, when the client does not request a time. Default: 1 hour. */
  readonly ttl?: Duration.DurationInput | undefined
  /** How long clients should wait between two requests about a task. Default: 1 second. */
  readonly pollInterval?: Duration.DurationInput | undefined
}

/**
 * The extension for tasks. Add it to the option `extensions` of a server, for clients of revision 2026-07-28 or later.
 *
 * @category constants
 */
export const extension: typeof TasksExtension.extension = TasksExtension.extension

const LATE =
  "`TasksServer.layer` was added to a running server: give it to McpServer.layer together with the other features"

/**
 * Makes the same layer as `layer`, with options.
 *
 * @category layers
 */
export const layerWith = (options: Options = {}): Layer.Layer<never, never, Registry | TaskStore> =>
  Layer.unwrapScoped(Effect.gen(function*() {
    const registry = yield* Registry
    // `Registry.add` provides no `ServerTasks.Place`, because a running server has already read the place.
    const found = yield* Effect.serviceOption(ServerTasks.Place)
    if (Option.isNone(found)) return yield* Effect.dieMessage(LATE)
    const place = found.value
    const store = yield* NodeTasks.make(StoredTasks.logging(yield* TaskStore), () => place.tasks?.runner.ids() ?? [])
    const runner = new TaskRunner.TaskRunner(store, TaskRunner.settings(options), place.engines)
    yield* place.register({ runner, call: TaskCall, legacy: LegacyTaskWire.wire, modern: ModernTaskWire.wire })
    return requests(registry, runner.tasks)
  }))

/**
 * Runs the tasks of a server, and stores them in the `TaskStore`. When the server shuts down, tasks that still run end as `failed`. When
 * one of several nodes was killed, its tasks get the status `failed` as soon as a client reads them after the end of the node's lease. A
 * client that polls each second gets this status within 3 seconds after this end, or within 12 seconds when the store was also restarted.
 * The server sends no notification of this status.
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
 * The handlers of the requests about tasks, with revision 2026-07-28 or later: methods of the extension. For the methods of revision
 * 2025-11-25, see `legacy/TaskWire`.
 */
const requests = (registry: RegistryService, tasks: StoredTasks.StoredTasks): Layer.Layer<never, never, Registry> => {
  const { cancel, get, update } = extension.requests
  const { changed } = extension.notifications
  const viewer = Effect.map(
    RequestContext,
    // The object that a handler gets has more members than its type declares.
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
