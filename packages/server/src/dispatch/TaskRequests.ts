/**
 * The requests about tasks, from 2026-07-28 on, as handlers of the extension. Those of 2025-11-25 are methods of its own
 * revision, see `legacy/Tasks`.
 */
import type { JsonObject } from "@effect-mcp/protocol/Json"
import { extension } from "@effect-mcp/protocol/modern/Tasks"
import * as Version from "@effect-mcp/protocol/Version"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Feature from "../Feature.js"
import * as Handler from "../Handler.js"
import { toDetailedTask } from "../modern/Tasks.js"
import type { Registry, RegistryService } from "../Registry.js"
import { RequestContext } from "../RequestContext.js"
import type { StoredTasks, Viewer } from "../tasks/StoredTasks.js"

export const layer = (registry: RegistryService, tasks: StoredTasks): Layer.Layer<never, never, Registry> => {
  const { cancel, get, update } = extension.requests
  const { changed } = extension.notifications
  const viewer = Effect.map(RequestContext, ({ principal }): Viewer => ({
    owner: principal?.id ?? null,
    isOfEra: Version.isModern
  }))
  return Layer.mergeAll(
    Feature.make(() =>
      tasks.onChange((task) =>
        Version.isModern(task.revision) ? registry.notify(changed, toDetailedTask(task)) : Effect.void
      )
    ),
    Handler.request(
      get,
      ({ taskId }) => Effect.flatMap(viewer, (viewer) => Effect.map(tasks.get(viewer, taskId), toDetailedTask))
    ),
    Handler.request(
      cancel,
      ({ taskId }) => Effect.flatMap(viewer, (viewer) => Effect.as(tasks.cancel(viewer, taskId), {}))
    ),
    Handler.request(update, ({ inputResponses, taskId }) => {
      const answerOf = (key: string) =>
        Object.hasOwn(inputResponses, key) ? { result: inputResponses[key] as JsonObject } : undefined
      return Effect.flatMap(viewer, (viewer) => Effect.as(tasks.answer(viewer, taskId, answerOf), {}))
    }),
    Handler.subscription(
      changed,
      (taskIds) =>
        Effect.flatMap(
          viewer,
          (viewer) => Effect.filter(taskIds, (taskId) => Effect.isSuccess(tasks.get(viewer, taskId)))
        )
    )
  )
}
