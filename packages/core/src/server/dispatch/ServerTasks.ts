/**
 * The tasks of a server: what runs them, and the code for calls and for each era that only a server with tasks needs. `Tasks.layer`
 * registers all of it, so that other servers load none.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type * as TaskCall from "../features/TaskCall.js"
import type * as LegacyWire from "../legacy/TaskWire.js"
import type * as ModernWire from "../modern/TaskWire.js"
import type { RegistryService } from "../Registry.js"
import type { TaskRunner } from "../tasks/TaskRunner.js"

export interface ServerTasks {
  readonly runner: TaskRunner
  readonly call: typeof TaskCall
  readonly legacy: typeof LegacyWire
  readonly modern: typeof ModernWire
}

/** The tasks of servers, by the registry of the server. */
const registered = new WeakMap<RegistryService, ServerTasks>()

export const of = (registry: RegistryService): ServerTasks | undefined => registered.get(registry)

/** Gives a server its tasks until the scope closes, which ends them. Dies when the server has tasks already. */
export const register = (registry: RegistryService, tasks: ServerTasks): Effect.Effect<void, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.suspend(() => {
      if (registered.has(registry)) return Effect.dieMessage("A server has `Tasks.layer` twice among its features")
      registered.set(registry, tasks)
      return Effect.void
    }),
    () => {
      registered.delete(registry)
      return tasks.runner.shutdown
    }
  )
