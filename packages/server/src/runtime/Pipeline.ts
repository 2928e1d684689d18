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
import * as HandlerContext from "./HandlerContext.js"
import * as Provided from "./Provided.js"
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
  /**
   * The effect of a message, and the context to start its fiber with. With `ownSession` the session layer is built for this
   * message alone, because the message belongs to no session.
   */
  readonly start: <S extends Session>(
    session: S,
    scope: RequestScope,
    services: Services,
    ownSession: boolean,
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
    serve: (session: S) => Served
  ) => Effect.Effect<unknown, unknown>
}

export const make = ({ middleware, session: layer }: Pick<Server, "middleware" | "session">): Pipeline => {
  const run: Pipeline["run"] = (session, scope, services, serve) => {
    const handler = (added?: ReadonlyMap<string, unknown>): Effect.Effect<unknown, unknown> =>
      Effect.suspend(() => {
        const { context, effect } = serve(session)
        return Effect.mapInputContext(
          effect as Effect.Effect<unknown, unknown>,
          (_: Context.Context<never>) => HandlerContext.make(context, services, session, scope, added)
        )
      })
    if (middleware === undefined) return handler()
    const context = HandlerContext.make(middleware.context, services, session, scope)
    const next = Effect.contextWithEffect((now: Context.Context<never>) => handler(Provided.since(context, now)))
    return Effect.mapInputContext(
      Effect.suspend(() => middleware.around.run(session.call, next)) as Effect.Effect<unknown, unknown>,
      () => context
    )
  }

  return {
    isBare: middleware === undefined && layer === undefined,
    run,
    start: (session, scope, services, ownSession, serve) => {
      const built = ownSession ? layer?.build(session, scope) : undefined
      if (middleware !== undefined || built !== undefined) {
        return {
          context: HandlerContext.make(Context.empty(), services, session, scope),
          effect: built === undefined
            ? run(session, scope, services, serve)
            : Effect.flatMap(built, (services) => run(session, scope, services, serve))
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
