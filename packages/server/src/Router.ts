/**
 * From the name of a method to what serves it. From here on both eras and all transports share every room.
 *
 * Which methods exist in which era is in the tables of `@effect-mcp/protocol`; a method whose feature this server does not
 * offer is not found either. What only one era has is served by that era's own rooms.
 *
 * @since 0.1.0
 */
import type * as Method from "@effect-mcp/protocol/Method"
import type * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as ToolsFeature from "./features/Tools.js"
import type { RegistryService } from "./Registry.js"
import type { ServerSessionService } from "./ServerSession.js"

/**
 * What serves a request: an effect, and the context it is to run in, to which the request's own services are added.
 *
 * @since 0.1.0
 * @category models
 */
export interface Served {
  readonly effect: Effect.Effect<unknown, unknown, any>
  readonly context: Context.Context<never>
}

/**
 * @since 0.1.0
 * @category models
 */
export interface Route {
  readonly method: Method.Request
  /** Whether its results come from our own code only, and need no check. */
  readonly trusted: boolean
  /** Whether it gives the same result again and again: what was made of one for a peer is then kept with it. */
  readonly kept?: boolean
  /** Parameters that the method's schema has taken, and what is known of the request. */
  readonly serve: (params: any, session: ServerSessionService) => Served
  /** Whether it is served before a legacy conversation is initialized. Default: false. */
  readonly early?: boolean
  /** Whether the client may cancel it. Default: true. */
  readonly cancellable?: boolean
}

/**
 * @since 0.1.0
 * @category models
 */
export interface Router {
  readonly find: (method: string) => Route | undefined
}

/**
 * @since 0.1.0
 * @category constructors
 */
export const make = (registry: RegistryService, options: { readonly pageSize: number }): Router => {
  const tools = new Map(ToolsFeature.routes(registry, options).map((route) => [route.method.name, route]))
  return {
    find: (method) => registry.offers("tools") ? tools.get(method) : undefined
  }
}
