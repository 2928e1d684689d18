/**
 * The tasks of a server: what runs them, and the code for calls and for each era that only a server with tasks needs. `TasksServer.layer`
 * gives all of it to the `TasksPlace` of its server, which `Build` makes and `Dispatch` reads, so that other servers load no code of
 * tasks.
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
 * names it. Its mutable fields: the tasks, from their registration until their scope closes, and the engines of detached tasks, by name.
 */
export class TasksPlace {
  private registered: ServerTasks | undefined
  readonly engines: Map<string, Engine> = new Map()

  constructor(
    /** The server, as its results name it. */
    readonly info: Implementation
  ) {}

  get tasks(): ServerTasks | undefined {
    return this.registered
  }

  /** Tells an engine of its detached tasks, until the scope closes. Dies when the server has an engine of this name. */
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

  /** Gives the server its tasks until the scope closes; then they end. Dies when the server has tasks already. */
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
