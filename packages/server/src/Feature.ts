/**
 * A feature: a layer that registers something with a server, to run in the context that the layer was built in. What
 * exists only while a request is served is not part of that context, and never outlives or shadows the request's own.
 *
 * @since 0.1.0
 */
import type { CallError } from "@effect-mcp/jsonrpc/Outbound"
import type { McpError } from "@effect-mcp/protocol/McpError"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import type { RegistryService } from "./Registry.js"
import { Registry } from "./Registry.js"
import type { RequestContext } from "./RequestContext.js"
import type { ServerSession } from "./ServerSession.js"

/**
 * A layer that keeps something in a server, and needs `R` for it.
 *
 * @since 0.1.0
 * @category models
 */
export type Feature<R = never> = Layer.Layer<never, never, Registry | R>

/**
 * Services that every request brings along: a handler may use them, its layer does not have to provide them.
 *
 * @since 0.1.0
 * @category models
 */
export type RequestServices = RequestContext | ServerSession | Scope.Scope

/**
 * How any handler may fail, whatever it declares: for the calling program.
 *
 * @since 0.1.0
 * @category models
 */
export type Fails = McpError | CallError

/**
 * Registers something until the layer's scope closes. It is given the context that the layer was built in, without the
 * layer's `Scope`.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = <R = never>(
  register: (registry: RegistryService, context: Context.Context<never>) => Effect.Effect<void, never, Scope.Scope>
): Feature<R> =>
  Layer.scopedDiscard(
    Effect.gen(function*() {
      const registry = yield* Registry
      const context = yield* Effect.context<R>()
      yield* register(registry, Context.omit(Scope.Scope)(context as Context.Context<any>) as Context.Context<never>)
    })
  )
