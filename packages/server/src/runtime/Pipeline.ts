/**
 * Runs a handler inside everything that surrounds it: the services of the session layer, the middleware, and the context
 * of the request. The same for both eras, and for requests and notifications.
 *
 * The parameters of a message are decoded here and nowhere else, on the fiber of the message: `serve` decodes and finds
 * the handler, and it runs after the middleware lets the message pass.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { Call } from "../Middleware.js"
import type { ServerSessionService } from "../ServerSession.js"
import * as HandlerContext from "./HandlerContext.js"
import * as Provided from "./Provided.js"
import type { RequestScope } from "./RequestScope.js"
import type { Served } from "./Route.js"
import type { Server } from "./Server.js"

/** One message, as its surroundings need it. */
export interface Surrounded {
  readonly session: ServerSessionService & { readonly call: Call }
  readonly scope: RequestScope
  /** The services that the session layer built for this client, if it built any. */
  readonly services: Context.Context<never> | undefined
  /** Whether the session layer is built for this message alone, because it belongs to no session. */
  readonly ownSession: boolean
}

export interface Pipeline {
  /** Whether the server has neither middleware nor a session layer, so that nothing surrounds a handler. */
  readonly isBare: boolean
  /** The effect of a message, and the context to start its fiber with. */
  readonly start: (message: Surrounded, serve: () => Served) => {
    readonly effect: Effect.Effect<unknown, unknown>
    readonly context: Context.Context<never>
  }
  /** The same as one effect, for a fiber that was started with another context. */
  readonly run: (message: Surrounded, serve: () => Served) => Effect.Effect<unknown, unknown>
}

export const make = ({ middleware, session: layer }: Pick<Server, "middleware" | "session">): Pipeline => {
  const around = (message: Surrounded, serve: () => Served): Effect.Effect<unknown, unknown> =>
    message.ownSession && layer !== undefined
      ? Effect.flatMap(
        layer.build(message.session, message.scope),
        (services) => inside({ ...message, services }, serve)
      )
      : inside(message, serve)

  const inside = (message: Surrounded, serve: () => Served): Effect.Effect<unknown, unknown> => {
    const { scope, services, session } = message
    const handler = (added?: ReadonlyMap<string, unknown>): Effect.Effect<unknown, unknown> =>
      Effect.suspend(() => {
        const { context, effect } = serve()
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
    run: around,
    start: (message, serve) => {
      const { ownSession, scope, services, session } = message
      if (middleware !== undefined || (ownSession && layer !== undefined)) {
        return {
          context: HandlerContext.make(Context.empty(), services, session, scope),
          effect: around(message, serve)
        }
      }
      const context = HandlerContext.unfilled()
      return {
        context,
        effect: Effect.suspend(() => {
          const served = serve()
          HandlerContext.unsafeFill(context, HandlerContext.make(served.context, services, session, scope))
          return served.effect as Effect.Effect<unknown, unknown>
        })
      }
    }
  }
}
