/**
 * What a server offers right now. Registering is acquiring: the entry leaves with the scope it was registered in.
 *
 * It is a service of each server, never shared by two; feature layers find it in their context. It knows no wire and no
 * client: who wants to know of changes listens.
 *
 * @since 0.1.0
 */
import type * as Tools from "@effect-mcp/protocol/Tools"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

/**
 * A tool that is kept: what is advertised, and what to run, in which context.
 *
 * @since 0.1.0
 * @category models
 */
export interface RegisteredTool {
  readonly advertised: Tools.Tool
  /** What the handler's layer provides; the request's own services are added to it. */
  readonly context: Context.Context<never>
  /** Runs the handler; the arguments are checked inside. */
  readonly call: (args: unknown, version: string) => Effect.Effect<Tools.CallToolResult, unknown, any>
}

/**
 * What can change.
 *
 * @since 0.1.0
 * @category models
 */
export type Kind = "tools"

/**
 * @since 0.1.0
 * @category models
 */
export interface RegistryService {
  readonly tools: ReadonlyMap<string, RegisteredTool>
  /**
   * Whether there is, or ever was, an entry of this kind. What a server has said that it offers it goes on offering, even
   * when there is nothing left of it.
   */
  readonly offers: (kind: Kind) => boolean
  /** Changes whenever an entry comes or goes: what was worked out from the entries holds as long as this does. */
  readonly revision: () => number
  /** Registers a tool until the scope closes. Dies when the name is taken: two features of a server promise the same. */
  readonly registerTool: (tool: RegisteredTool) => Effect.Effect<void, never, Scope.Scope>
  /** Calls back on every change, until the scope closes. */
  readonly onChange: (listener: (kind: Kind) => void) => Effect.Effect<void, never, Scope.Scope>
}

/**
 * @since 0.1.0
 * @category tags
 */
export class Registry extends Context.Tag("@effect-mcp/server/Registry")<Registry, RegistryService>() {}

/**
 * An empty registry.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make: Effect.Effect<RegistryService> = Effect.sync(() => {
  const tools = new Map<string, RegisteredTool>()
  const listeners = new Set<(kind: Kind) => void>()
  const offered = new Set<Kind>()
  let revision = 0
  const changed = (kind: Kind) => {
    revision++
    offered.add(kind)
    for (const listener of listeners) listener(kind)
  }
  return {
    tools,
    offers: (kind) => offered.has(kind),
    revision: () => revision,
    registerTool: (tool) =>
      Effect.acquireRelease(
        Effect.suspend(() => {
          const { name } = tool.advertised
          if (tools.has(name)) return Effect.dieMessage(`Two features of this server are tools named "${name}"`)
          tools.set(name, tool)
          changed("tools")
          return Effect.void
        }),
        () =>
          Effect.sync(() => {
            tools.delete(tool.advertised.name)
            changed("tools")
          })
      ),
    onChange: (listener) =>
      Effect.acquireRelease(
        Effect.sync(() => listeners.add(listener)),
        () => Effect.sync(() => listeners.delete(listener))
      )
  }
})
