/**
 * The tasks of a server: what runs them, and the code for calls and for each era that only a server with tasks needs. `TasksServer.layer`
 * gives all of it to the `Place` of its server, so that other servers load none.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type * as TaskCall from "../features/TaskCall.js"
import type * as LegacyWire from "../legacy/TaskWire.js"
import type * as ModernWire from "../modern/TaskWire.js"
import type { TaskRunner } from "../tasks/TaskRunner.js"

export interface ServerTasks {
  readonly runner: TaskRunner
  readonly call: typeof TaskCall
  readonly legacy: LegacyWire.Wire
  readonly modern: ModernWire.Wire
}

/**
 * Where a server finds its tasks. Features get a place beside the registry, and ask for it as an optional service, so that no public type
 * names it. Its mutable field: the tasks, from their registration until their scope closes.
 */
export class TasksPlace {
  private registered: ServerTasks | undefined

  get tasks(): ServerTasks | undefined {
    return this.registered
  }

  /** Gives the server its tasks until the scope closes, which ends them. Dies when the server has tasks already. */
  register(tasks: ServerTasks): Effect.Effect<void, never, Scope.Scope> {
    return Effect.acquireRelease(
      Effect.suspend(() => {
        if (this.registered !== undefined) {
          return Effect.dieMessage("A server has `TasksServer.layer` twice among its features")
        }
        this.registered = tasks
        return Effect.void
      }),
      () => {
        this.registered = undefined
        return tasks.runner.shutdown
      }
    )
  }
}

export class Place extends Context.Tag("@effect-mcp/core/server/ServerTasks/Place")<Place, TasksPlace>() {}
