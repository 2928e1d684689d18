/**
 * Runs a handler with its services and inside the middleware. `Serve` runs each request and notification through this module. `Routes`
 * calls `leavesResults`. `features/TaskCall` keeps the `RequestScope` of a call that becomes a task.
 *
 * The services of a handler come from six sources: the context of the feature's layer, the services that the application provided with the
 * HTTP request, the session layer, the user, the middleware, and the request itself. When two sources have the same service, the handler
 * gets the service from the source that is later in this list. `servicesOf` joins all sources except the middleware, whose services
 * `MiddlewareContext` adds. `decodeAndFind` decodes the parameters of a message and finds its handler. It runs on the message's fiber, when
 * the middleware runs `next`.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import * as EffectInternals from "../../kit/EffectInternals.js"
import type { Call } from "../Middleware.js"
import { RequestContext } from "../RequestContext.js"
import { ServerSession, type ServerSessionService } from "../ServerSession.js"
import type { ClientFacts } from "./HandlerContext.js"
import * as MiddlewareContext from "./MiddlewareContext.js"
import type { RequestOrigin } from "./RequestOrigin.js"
import type { RequestScope } from "./RequestScope.js"
import type { Served } from "./Route.js"
import type { Server } from "./Server.js"

/** The context of the message's handler, with the origin of the message. */
export type Handler = ServerSessionService & {
  readonly call: Call
  readonly origin: Pick<RequestOrigin, "services" | "user" | "values">
  fiber: Fiber.RuntimeFiber<any, any> | undefined
}

/** The services of the session layer for the client; `undefined` when there are none. */
type Services = Context.Context<never> | undefined

export interface Pipeline {
  /** Whether nothing runs around a handler: the server has no middleware and no session layer. */
  readonly isBare: boolean
  /** Whether the server has middleware around messages. */
  readonly isSurrounded: boolean
  /**
   * Makes the effect that handles a message, and the context for the fiber of the message. When the session of the client exists but has no
   * services yet, the effect first builds the session layer. The effect sets the field `fiber` of the handler's context.
   */
  readonly start: <H extends Handler>(
    handler: H,
    scope: RequestScope,
    client: Pick<ClientFacts, "accepted" | "pipe" | "services">,
    decodeAndFind: (handler: H) => Served
  ) => {
    readonly effect: Effect.Effect<unknown, unknown>
    readonly context: Context.Context<never>
  }
}

/** Whether each result is the value that the handler returned. With middleware, a result may be a different value. */
export const leavesResults = ({ middleware, sessionMiddleware }: Around): boolean =>
  middleware === undefined && sessionMiddleware === undefined

type Around = Pick<Server, "middleware" | "sessionMiddleware">

export const make = (
  { session: layer, ...middlewares }: Around & Pick<Server, "session">
): Pipeline => {
  const isSurrounded = !leavesResults(middlewares)
  return {
    isSurrounded,
    isBare: !isSurrounded && layer === undefined,
    start: (handler, scope, { accepted: inSession, pipe, services }, decodeAndFind) => {
      const built = layer === undefined || !inSession || services !== undefined
        ? undefined
        : pipe?.get(handler) ?? layer.ofRequest(handler, scope)
      // The handshake builds the session layer without the values of a request.
      const valued = (effect: Effect.Effect<unknown, unknown>) => inSession ? withValues(effect, handler) : effect
      if (isSurrounded || built !== undefined) {
        return {
          context: filled(services, handler, scope),
          effect: Effect.withFiberRuntime((fiber) => {
            handler.fiber = fiber
            return built === undefined
              ? valued(surrounded(middlewares, handler, scope, services, inSession, decodeAndFind))
              : Effect.flatMap(
                built,
                (services) => valued(surrounded(middlewares, handler, scope, services, inSession, decodeAndFind))
              )
          })
        }
      }
      // The services are known only after the handler was found. So this code fills the context later: a second context for the same fiber
      // would cost more than finding the handler.
      const context: Context.Context<never> = EffectInternals.contextOf(noServices)
      return {
        context,
        effect: Effect.withFiberRuntime((fiber) => {
          handler.fiber = fiber
          const served = decodeAndFind(handler)
          EffectInternals.fill(fiber, context, servicesOf(served.context, services, handler, scope))
          return valued(served.effect as Effect.Effect<unknown, unknown>)
        })
      }
    }
  }
}

/** Runs the effect with the values that HTTP middleware of the application has set for the fiber of the request. */
const withValues = (
  effect: Effect.Effect<unknown, unknown>,
  { origin: { values } }: Pick<Handler, "origin">
): Effect.Effect<unknown, unknown> => values === undefined ? effect : EffectInternals.withChanged(effect, values)

/** Makes the effect of the handler inside the middleware. */
const surrounded = <H extends Handler>(
  { middleware, sessionMiddleware }: Around,
  handler: H,
  scope: RequestScope,
  services: Services,
  inSession: boolean,
  decodeAndFind: (handler: H) => Served
): Effect.Effect<unknown, unknown> => {
  const served = (request: Context.Context<never>): Effect.Effect<unknown, unknown> =>
    Effect.suspend(() => {
      const { context, effect } = decodeAndFind(handler)
      return Effect.mapInputContext(
        effect as Effect.Effect<unknown, unknown>,
        (_: Context.Context<never>) => Context.merge(context, request)
      )
    })
  const inside = inSession && sessionMiddleware !== undefined
    ? (request: Context.Context<never>) => around(sessionMiddleware, handler, request, served)
    : served
  const request = filled(services, handler, scope)
  return middleware === undefined ? inside(request) : around(middleware, handler, request, inside)
}

const around = (
  { around, context }: NonNullable<Server["middleware"]>,
  { call }: Handler,
  request: Context.Context<never>,
  next: (request: Context.Context<never>) => Effect.Effect<unknown, unknown>
): Effect.Effect<unknown, unknown> => MiddlewareContext.run(around.run, call, context, request, next)

/** Makes the context of middleware, without the services of the feature's layer. */
const filled = (
  session: Context.Context<never> | undefined,
  request: Omit<Handler, "call" | "fiber">,
  scope: Scope.Scope
): Context.Context<never> => EffectInternals.contextOf(servicesOf(Context.empty(), session, request, scope))

/** Joins the services of a handler, from all sources except the middleware. */
export const servicesOf = (
  captured: Context.Context<never>,
  session: Context.Context<never> | undefined,
  request: Omit<Handler, "call" | "fiber">,
  scope: Scope.Scope
): Map<string, unknown> => {
  const services = new Map(EffectInternals.entries(captured))
  const { origin } = request
  if (origin.services !== undefined) {
    for (const [key, service] of EffectInternals.entries(origin.services)) services.set(key, service)
  }
  if (session !== undefined) {
    for (const [key, service] of EffectInternals.entries(session)) {
      services.set(key, service)
    }
  }
  if (origin.user !== undefined) {
    for (const [key, service] of EffectInternals.entries(origin.user)) services.set(key, service)
  }
  services.set(RequestContext.key, request)
  services.set(ServerSession.key, request)
  services.set(Scope.Scope.key, scope)
  return services
}

const noServices: Map<string, unknown> = new Map()
