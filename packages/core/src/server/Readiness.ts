/**
 * Checks whether a process can serve clients, for example whether the process can reach a store. A layer adds a check. The HTTP servers to
 * which the application provides this layer run the check when they get a request of the path "/readyz" (option `health`, `http/Health`).
 *
 * The layers of `@effect-mcp/redis` and `@effect-mcp/sql` add their own checks.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as EffectInternals from "../kit/EffectInternals.js"

/** @category models */
export interface Check {
  /** The name of the checked thing, such as a store. When the check fails, the log contains this name. */
  readonly name: string
  readonly run: Effect.Effect<unknown, unknown>
}

// A set in a fiber-local reference, as Effect keeps its loggers.
const checks = EffectInternals.localSet<Check>("@effect-mcp/core/Readiness")

/**
 * Adds a check until the scope closes. Call this function in the layer of a store. The process counts as ready only if the effect succeeds,
 * within `timeout` of the option `health` (default: 1 second). At most one run of the effect is active at any time.
 *
 * @category utils
 */
export const add = <E, R>(
  name: string,
  check: Effect.Effect<unknown, E, R>
): Effect.Effect<void, never, Exclude<R, Scope.Scope> | Scope.Scope> =>
  Effect.contextWithEffect((context) =>
    EffectInternals.addTo(checks, {
      name,
      run: Effect.scoped(Effect.provide(check as Effect.Effect<unknown, E>, context))
    })
  )

/**
 * Makes a layer that adds a check. Provide this layer to the layer of the HTTP server.
 *
 * @example
 * ```ts
 * import * as McpServer from "@effect-mcp/core/McpServer"
 * import * as Readiness from "@effect-mcp/core/Readiness"
 * import * as HttpServer from "@effect-mcp/node/HttpServer"
 * import { Context, Effect, Layer } from "effect"
 *
 * class Catalogue extends Context.Tag("Catalogue")<Catalogue, { readonly ping: Effect.Effect<void, Error> }>() {}
 *
 * const Server = McpServer.layer({ name: "shop", version: "1.0.0" }, Layer.empty)
 *
 * export const Live = HttpServer.layer({ port: 3000, health: true }).pipe(
 *   Layer.provide([Server, Readiness.layer("catalogue", Effect.flatMap(Catalogue, ({ ping }) => ping))])
 * )
 * ```
 * @category layers
 */
export const layer = <E, R>(
  name: string,
  check: Effect.Effect<unknown, E, R>
): Layer.Layer<never, never, Exclude<R, Scope.Scope>> => Layer.scopedDiscard(add(name, check))

/**
 * Gives the checks of all layers that the application has provided to the current layer.
 *
 * @category utils
 */
export const current: Effect.Effect<ReadonlyArray<Check>> = EffectInternals.valuesIn(checks)
