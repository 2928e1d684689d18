/**
 * Contains the tasks of a server: the runner of the tasks, and the code that only a server with tasks needs. `TasksServer.layer` registers
 * all of this in the `TasksPlace` of its server. `Build` makes the `TasksPlace`, and `Dispatch` reads it. So servers without tasks load no
 * code for tasks.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Implementation } from "../../protocol/Implementation.js"
import type * as TaskCall from "../features/TaskCall.js"
import type * as LegacyTaskWire from "../legacy/TaskWire.js"
import type * as ModernTaskWire from "../modern/TaskWire.js"
import type { Engine } from "../tasks/StoredTasks.js"
import type { TaskRunner } from "../tasks/TaskRunner.js"

export interface ServerTasks {
  readonly runner: TaskRunner
  readonly call: typeof TaskCall
  readonly legacy: LegacyTaskWire.Wire
  readonly modern: ModernTaskWire.Wire
}

/**
 * Contains the tasks of a server, if the server has tasks. Features get this object as an optional service, so that no public type contains
 * the service. Mutable fields: the tasks, from their registration until their scope closes, and the engines of detached tasks, by their
 * names.
 */
export class TasksPlace {
  private registered: ServerTasks | undefined
  readonly engines: Map<string, Engine> = new Map()

  constructor(
    /** The name and version of the server, for results of revision 2026-07-28. */
    readonly info: Implementation
  ) {}

  get tasks(): ServerTasks | undefined {
    return this.registered
  }

  /**
   * Registers an engine until the scope closes. The server notifies the engine about its detached tasks. Dies when the server already has
   * an engine with this name.
   */
  attach(name: string, engine: Engine): Effect.Effect<void, never, Scope.Scope> {
    return Effect.acquireRelease(
      Effect.suspend(() => {
        if (this.engines.has(name)) return Effect.dieMessage(`A server has two engines "${name}" for detached tasks`)
        this.engines.set(name, engine)
        return Effect.void
      }),
      () => Effect.sync(() => this.engines.delete(name))
    )
  }

  /** Registers the tasks of the server until the scope closes. Closing the scope ends the tasks. Dies when the server already has tasks. */
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
