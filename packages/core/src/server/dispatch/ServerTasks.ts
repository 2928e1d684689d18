/**
 * The tasks of a server: the runner of the tasks, and the code that only a server with tasks needs, for calls and for each protocol era.
 * `TasksServer.layer` gives all of this to the `TasksPlace` of its server. `Build` makes the place and `Dispatch` reads it, so that servers
 * without tasks load no code of tasks.
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
 * Where a server finds its tasks. Features get a place beside the registry, and ask for it as an optional service, so that no public type
 * names the place. Mutable fields: the tasks, from their registration until their scope closes, and the engines of detached tasks, by their
 * names.
 */
export class TasksPlace {
  private registered: ServerTasks | undefined
  readonly engines: Map<string, Engine> = new Map()

  constructor(
    /** The name and version of the server, as results of revision 2026-07-28 name it. */
    readonly info: Implementation
  ) {}

  get tasks(): ServerTasks | undefined {
    return this.registered
  }

  /** Registers an engine, which is told of its detached tasks until the scope closes. Dies when the server has an engine of this name. */
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

  /** Gives the server its tasks until the scope closes, which ends the tasks. Dies when the server has tasks already. */
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
