/**
 * The context that a handler runs in: what its layer was built with, then the session's services, then what the middleware
 * has added, then those of the request. Each comes before what is of the same name and was there earlier.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Scope from "effect/Scope"
import { RequestContext } from "../RequestContext.js"
import type { ServerSessionService } from "../ServerSession.js"
import { ServerSession } from "../ServerSession.js"

/**
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  captured: Context.Context<never>,
  session: Context.Context<never> | undefined,
  request: ServerSessionService,
  scope: Scope.Scope,
  middleware?: ReadonlyMap<string, unknown>
): Context.Context<never> => {
  const services = new Map(captured.unsafeMap)
  if (session !== undefined) { for (const [key, service] of session.unsafeMap) services.set(key, service) }
  if (middleware !== undefined) { for (const [key, service] of middleware) services.set(key, service) }
  services.set(RequestContext.key, request)
  services.set(ServerSession.key, request)
  services.set(Scope.Scope.key, scope)
  return Context.unsafeMake(services)
}
