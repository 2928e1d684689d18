/**
 * Runs a handler inside everything that surrounds it: the services of the session layer, the middleware, and the context
 * of the request. The same for both eras, and for requests and notifications.
 *
 * The parameters of a message are decoded here and nowhere else, on the fiber of the message: `serve` decodes and finds
 * the handler, and it runs when the middleware runs `next`.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { Call } from "../Middleware.js"
import * as Around from "./Around.js"
import * as HandlerContext from "./HandlerContext.js"
import type { RequestScope } from "./RequestScope.js"
import type { Served } from "./Route.js"
import type { Server } from "./Server.js"

/** The session of a message, which knows the message itself. */
type Session = HandlerContext.Request & { readonly call: Call }

/** The services that the session layer built for the client, if it built any. */
type Services = Context.Context<never> | undefined

export interface Pipeline {
  /** Whether the server has neither middleware nor a session layer, so that nothing surrounds a handler. */
  readonly isBare: boolean
  /** Whether there is middleware around messages. */
  readonly isSurrounded: boolean
  /**
   * The effect of a message, and the context to start its fiber with. `inSession` tells that the session of the message
   * exists, which the handshake begins; without services of its own, the session layer is built for this message alone.
   */
  readonly start: <S extends Session>(
    session: S,
    scope: RequestScope,
    services: Services,
    inSession: boolean,
    serve: (session: S) => Served
  ) => {
    readonly effect: Effect.Effect<unknown, unknown>
    readonly context: Context.Context<never>
  }
  /** The effect of a message of a session, for a fiber that was started with another context. */
  readonly run: <S extends Session>(
    session: S,
    scope: RequestScope,
    services: Services,
    inSession: boolean,
    serve: (session: S) => Served
  ) => Effect.Effect<unknown, unknown>
}

/** Whether a result is as its handler returned it: middleware may replace it by one of its own. */
export const leavesResults = ({ middleware, sessionMiddleware }: Around): boolean =>
  middleware === undefined && sessionMiddleware === undefined

type Around = Pick<Server, "middleware" | "sessionMiddleware">

export const make = (
  { middleware, session: layer, sessionMiddleware }: Around & Pick<Server, "session">
): Pipeline => {
  const isSurrounded = !leavesResults({ middleware, sessionMiddleware })

  const run: Pipeline["run"] = (session, scope, services, inSession, serve) => {
    const handler = (request: Context.Context<never>): Effect.Effect<unknown, unknown> =>
      Effect.suspend(() => {
        const { context, effect } = serve(session)
        return Effect.mapInputContext(
          effect as Effect.Effect<unknown, unknown>,
          (_: Context.Context<never>) => Context.merge(context, request)
        )
      })
    const inside = inSession && sessionMiddleware !== undefined
      ? (request: Context.Context<never>) => around(sessionMiddleware, session, request, handler)
      : handler
    const request = HandlerContext.make(services, session, scope)
    return middleware === undefined ? inside(request) : around(middleware, session, request, inside)
  }

  return {
    isSurrounded,
    isBare: !isSurrounded && layer === undefined,
    run,
    start: (session, scope, services, inSession, serve) => {
      const built = inSession && services === undefined ? layer?.build(session, scope) : undefined
      if (isSurrounded || built !== undefined) {
        return {
          context: HandlerContext.make(services, session, scope),
          effect: built === undefined
            ? run(session, scope, services, inSession, serve)
            : Effect.flatMap(built, (services) => run(session, scope, services, inSession, serve))
        }
      }
      const context = HandlerContext.unfilled()
      return {
        context,
        effect: Effect.suspend(() => {
          const served = serve(session)
          HandlerContext.unsafeFill(context, served.context, services, session, scope)
          return served.effect as Effect.Effect<unknown, unknown>
        })
      }
    }
  }
}

const around = (
  { around, context }: NonNullable<Server["middleware"]>,
  { call }: Session,
  request: Context.Context<never>,
  next: (request: Context.Context<never>) => Effect.Effect<unknown, unknown>
): Effect.Effect<unknown, unknown> => Around.run(around.run, call, context, request, next)
