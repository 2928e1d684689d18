/**
 * The services that a handler runs with. They come from five sources; where two have the same service, the later source
 * wins: the context that the feature's layer was built with, what the application gave with the HTTP request, the session
 * layer, the user, the request itself. `Around` adds what middleware provides, which only the request itself precedes.
 */
import * as Context from "effect/Context"
import * as Scope from "effect/Scope"
import { RequestContext } from "../RequestContext.js"
import type { ServerSessionService } from "../ServerSession.js"
import { ServerSession } from "../ServerSession.js"
import type { RequestOrigin } from "./RequestOrigin.js"

/** The request as its handler sees it, the services that the application gave with it, and its user. */
export type Request = ServerSessionService & Pick<RequestOrigin, "services" | "user">

/** The context of what surrounds a handler: without the services that the feature's layer was built with. */
export const make = (
  session: Context.Context<never> | undefined,
  request: Request,
  scope: Scope.Scope
): Context.Context<never> => Context.unsafeMake(services(Context.empty(), session, request, scope))

/** A context to start a fiber with, before the services are known. `unsafeFill` sets them. */
export const unfilled = (): Context.Context<never> => Context.unsafeMake(noServices)

/**
 * Sets the services of an unfilled context. It changes the context in place, because the fiber already runs with it and a
 * second context for the same fiber costs more than finding the handler. Only the first step of a fiber may call it.
 */
export const unsafeFill = (
  context: Context.Context<never>,
  captured: Context.Context<never>,
  session: Context.Context<never> | undefined,
  request: Request,
  scope: Scope.Scope
): void => {
  ;(context as { unsafeMap: Map<string, unknown> }).unsafeMap = services(captured, session, request, scope)
}

const services = (
  captured: Context.Context<never>,
  session: Context.Context<never> | undefined,
  request: Request,
  scope: Scope.Scope
): Map<string, unknown> => {
  const services = new Map(captured.unsafeMap)
  if (request.services !== undefined) {
    for (const [key, service] of request.services.unsafeMap) services.set(key, service)
  }
  if (session !== undefined) { for (const [key, service] of session.unsafeMap) services.set(key, service) }
  if (request.user !== undefined) { for (const [key, service] of request.user.unsafeMap) services.set(key, service) }
  services.set(RequestContext.key, request)
  services.set(ServerSession.key, request)
  services.set(Scope.Scope.key, scope)
  return services
}

const noServices: Map<string, unknown> = new Map()
