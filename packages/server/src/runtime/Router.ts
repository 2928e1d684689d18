/**
 * From the name of a method to what serves it. From here on both eras and all transports share every room.
 *
 * Which methods exist in which era is in the tables of `@effect-mcp/protocol`; a method whose feature this server does not
 * offer is not found either. What only one era has is served by that era's own rooms. A handler that was registered for a
 * method comes before both.
 *
 * @since 0.1.0
 */
import type { JsonObject } from "@effect-mcp/protocol/Json"
import type * as Method from "@effect-mcp/protocol/Method"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as CompletionFeature from "../features/Completion.js"
import * as PromptsFeature from "../features/Prompts.js"
import * as ResourcesFeature from "../features/Resources.js"
import * as ToolsFeature from "../features/Tools.js"
import type { RegisteredHandler, RegistryService } from "../Registry.js"
import type { ServerSessionService } from "../ServerSession.js"

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
  /** Parameters that the method's schema has taken, what is known of the request, and the parameters as they came. */
  readonly serve: (params: any, session: ServerSessionService, raw: JsonObject | undefined) => Served
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
  /** What the application itself serves in place of the server. */
  readonly handler: (method: string) => Route | undefined
  readonly find: (method: string) => Route | undefined
  /** What serves whatever nothing else does. */
  readonly fallback: () => Route | undefined
  /** What hears the notifications of a method. */
  readonly listener: (method: string) => RegisteredHandler | undefined
}

/**
 * @since 0.1.0
 * @category constructors
 */
export const make = (registry: RegistryService, options: { readonly pageSize: number }): Router => {
  const known = new Map<string, readonly [Route, offered: () => boolean]>()
  const add = (routes: ReadonlyArray<Route>, offered: () => boolean) => {
    for (const route of routes) known.set(route.method.name, [route, offered])
  }
  add(ToolsFeature.routes(registry, options), () => registry.offers("tools"))
  add(ResourcesFeature.routes(registry, options), () => registry.offers("resources"))
  add(PromptsFeature.routes(registry, options), () => registry.offers("prompts"))
  add(CompletionFeature.routes(registry), () => registry.offers("prompts") || registry.offers("resources"))
  const routes = new WeakMap<RegisteredHandler, Route>()
  const handler = (name: string): Route | undefined => {
    if (registry.handlers.size === 0) return undefined
    const handler = registry.handlers.get(name)
    if (handler?.method.kind !== "request") return undefined
    let route = routes.get(handler)
    if (route === undefined) routes.set(handler, route = routeOf(handler, handler.method))
    return route
  }
  return {
    handler,
    fallback: () => handler(ANY),
    find: (name) => {
      const found = known.get(name)
      return found !== undefined && found[1]() ? found[0] : undefined
    },
    listener: (name) => {
      const handler = registry.handlers.get(name)
      return handler?.method.kind === "notification" ? handler : undefined
    }
  }
}

const routeOf = (handler: RegisteredHandler, method: Method.Request): Route => ({
  method,
  trusted: false,
  serve: (params, session, raw) => ({
    effect: Effect.suspend(() => handler.run(params, raw, session.method)),
    context: handler.context
  })
})

/**
 * The name under which a handler of every method that nothing else serves is registered.
 *
 * @since 0.1.0
 * @category constants
 */
export const ANY = "*"
