import { describe } from "@effect/vitest"
import * as TaskStore from "@effect-mcp/core/TaskStore"
import { laws } from "@effect-mcp/testing/TaskStoreLaws"
import { Effect, Option, Stream } from "effect"
import { found } from "./Faults.js"

describe("The laws of a store of tasks", () => {
  found(laws, TaskStore.memory(), {
    "gives tasks to every owner": [
      (store) => ({
        get: (owner, taskId) =>
          Effect.flatMap(
            store.get(owner, taskId),
            (found) => Option.isSome(found) ? Effect.succeed(found) : store.get("ada", taskId)
          )
      }),
      "does not find a task that is unknown, of another owner, or expired"
    ],
    "loses what is not text": [
      (store) => ({ create: (task) => store.create({ ...task, questions: {} }) }),
      "finds a task unchanged, with all values that JSON can represent"
    ],
    "answers that every replacement succeeded": [
      (store) => ({ replace: (task) => Effect.as(store.replace(task), true) }),
      "replaces a version once"
    ],
    "ignores a second creation": [
      (store) => ({ create: (task) => Effect.ignore(store.create(task)) }),
      "refuses a second task of the same id"
    ],
    "forgets where a page ended": [
      (store) => ({ list: (owner, { limit }) => store.list(owner, { limit }) }),
      "lists each task of an owner one time, in the order of creation"
    ],
    "gives the first version only": [
      (store) => ({ changes: (owner, taskId) => Stream.take(store.changes(owner, taskId), 1) }),
      "returns the current task, then newer versions, and always the newest version"
    ],
    "refuses the end of a task when it is full": [
      (store) => ({
        replace: (task) =>
          task.status === "failed"
            ? Effect.fail(new TaskStore.TaskStoreError({ reason: "Full", message: "full" }))
            : store.replace(task)
      }),
      "ends a task of an owner who has as many characters as the store allows"
    ]
  })
})
