/**
 * Runs a handler inside everything that surrounds it: the services of the session layer, the middleware, and the context
 * of the request. The same for both eras, and for requests and notifications.
 *
 * The services of a handler come from five sources; where two have the same service, the later source wins: the context that the
 * feature's layer was built with, what the application gave with the HTTP request, the session layer, the user, the request itself.
 * Middleware adds services after these; only the services of the request win over them (`MiddlewareContext`). The parameters of a message
 * are decoded on its fiber: `serve` decodes and finds the handler, and the handler runs when the middleware runs `next`.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as ExecutionStrategy from "effect/ExecutionStrategy"
import type * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import { pipeArguments } from "effect/Pipeable"
import * as Scope from "effect/Scope"
import type { Call } from "../Middleware.js"
import { RequestContext } from "../RequestContext.js"
import { ServerSession, type ServerSessionService } from "../ServerSession.js"
import type { ClientFacts } from "./HandlerContext.js"
import * as MiddlewareContext from "./MiddlewareContext.js"
import type { RequestOrigin } from "./RequestOrigin.js"
import type { Served } from "./Route.js"
import type { Server } from "./Server.js"

/** The message as its handler sees it, and where the message came from. */
export type Handler = ServerSessionService & {
  readonly call: Call
  readonly origin: Pick<RequestOrigin, "services" | "user">
  fiber: Fiber.RuntimeFiber<any, any> | undefined
}

/** The services that the session layer built for the client, if it built any. */
type Services = Context.Context<never> | undefined

export interface Pipeline {
  /** Whether the server has neither middleware nor a session layer, so that nothing surrounds a handler. */
  readonly isBare: boolean
  /** Whether there is middleware around messages. */
  readonly isSurrounded: boolean
  /**
   * The effect of a message, and the context to start its fiber with. Where the session of the client exists and has no services yet,
   * the session layer is built before. The effect sets the fiber of the handler.
   */
  readonly start: <H extends Handler>(
    handler: H,
    scope: RequestScope,
    client: Pick<ClientFacts, "accepted" | "pipe" | "services">,
    serve: (handler: H) => Served
  ) => {
    readonly effect: Effect.Effect<unknown, unknown>
    readonly context: Context.Context<never>
  }
}

/** Whether a result is as its handler returned it: middleware may replace the result. */
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
    start: (handler, scope, { accepted: inSession, pipe, services }, serve) => {
      const built = layer === undefined || !inSession || services !== undefined
        ? undefined
        : pipe?.get(handler) ?? layer.ofRequest(handler, scope)
      if (isSurrounded || built !== undefined) {
        return {
          context: filled(services, handler, scope),
          effect: Effect.withFiberRuntime((fiber) => {
            handler.fiber = fiber
            return built === undefined
              ? surrounded(middlewares, handler, scope, services, inSession, serve)
              : Effect.flatMap(built, (services) => surrounded(middlewares, handler, scope, services, inSession, serve))
          })
        }
      }
      // Known when the handler is found. It is changed in place, because the fiber already runs with it, and a second context for the
      // same fiber costs more than finding the handler.
      const context: Context.Context<never> = Context.unsafeMake(noServices)
      return {
        context,
        effect: Effect.withFiberRuntime((fiber) => {
          handler.fiber = fiber
          const served = serve(handler)
          ;(context as { unsafeMap: Map<string, unknown> }).unsafeMap = servicesOf(
            served.context,
            services,
            handler,
            scope
          )
          return served.effect as Effect.Effect<unknown, unknown>
        })
      }
    }
  }
}

/** The handler inside the middleware. */
const surrounded = <H extends Handler>(
  { middleware, sessionMiddleware }: Around,
  handler: H,
  scope: RequestScope,
  services: Services,
  inSession: boolean,
  serve: (handler: H) => Served
): Effect.Effect<unknown, unknown> => {
  const served = (request: Context.Context<never>): Effect.Effect<unknown, unknown> =>
    Effect.suspend(() => {
      const { context, effect } = serve(handler)
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

/** The context of what surrounds a handler: without the services that the feature's layer was built with. */
const filled = (
  session: Context.Context<never> | undefined,
  request: Omit<Handler, "call" | "fiber">,
  scope: Scope.Scope
): Context.Context<never> => Context.unsafeMake(servicesOf(Context.empty(), session, request, scope))

/** The services of a handler, from the five sources. */
export const servicesOf = (
  captured: Context.Context<never>,
  session: Context.Context<never> | undefined,
  request: Omit<Handler, "call" | "fiber">,
  scope: Scope.Scope
): Map<string, unknown> => {
  const services = new Map(captured.unsafeMap)
  const { origin } = request
  if (origin.services !== undefined) {
    for (const [key, service] of origin.services.unsafeMap) services.set(key, service)
  }
  if (session !== undefined) { for (const [key, service] of session.unsafeMap) services.set(key, service) }
  if (origin.user !== undefined) { for (const [key, service] of origin.user.unsafeMap) services.set(key, service) }
  services.set(RequestContext.key, request)
  services.set(ServerSession.key, request)
  services.set(Scope.Scope.key, scope)
  return services
}

const noServices: Map<string, unknown> = new Map()

export class RequestScope implements Scope.Scope {
  readonly [Scope.ScopeTypeId]: Scope.ScopeTypeId = Scope.ScopeTypeId
  private made: Scope.CloseableScope | undefined
  private ended: Exit.Exit<unknown, unknown> | undefined
  private kept = false

  get strategy(): ExecutionStrategy.ExecutionStrategy {
    return ExecutionStrategy.sequential
  }

  /** The state of the scope inside, which `Effect.forkIn` and `Effect.forkScoped` read directly. */
  get state(): unknown {
    return (this.inner as unknown as { readonly state: unknown }).state
  }

  /** `Scope.fork` calls it. */
  fork(strategy: ExecutionStrategy.ExecutionStrategy): Effect.Effect<Scope.CloseableScope> {
    return Effect.suspend(() => Scope.fork(this.inner, strategy))
  }

  /** `Scope.addFinalizer` calls it. */
  addFinalizer(finalizer: Scope.Scope.Finalizer): Effect.Effect<void> {
    return Effect.suspend(() => Scope.addFinalizerExit(this.inner, finalizer))
  }

  /** Closes the scope. Gives the effect that runs its finalizers, when something was added to it. */
  release(exit: Exit.Exit<unknown, unknown>): Effect.Effect<void> | undefined {
    if (this.kept) return undefined
    this.ended = exit
    return this.made === undefined ? undefined : Scope.close(this.made, exit)
  }

  /** Keeps the scope open after its request, until the effect of the function that this gives has run. */
  keep(): (exit: Exit.Exit<unknown, unknown>) => Effect.Effect<void> {
    this.kept = true
    return (exit) =>
      Effect.suspend(() => {
        this.kept = false
        return this.release(exit) ?? Effect.void
      })
  }

  pipe() {
    return pipeArguments(this, arguments)
  }

  // A fiber that outlives its request finds the scope closed.
  private get inner(): Scope.CloseableScope {
    if (this.made === undefined) {
      this.made = Effect.runSync(Scope.make())
      if (this.ended !== undefined) Effect.runSync(Scope.close(this.made, this.ended))
    }
    return this.made
  }
}
