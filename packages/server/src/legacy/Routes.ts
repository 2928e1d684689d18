/**
 * What only this era has, and every server serves: the handshake, `ping`, how much a client wants to hear, subscriptions.
 * What both eras have is found by `Router`.
 *
 * @since 0.1.0
 */
import * as Methods from "@effect-mcp/protocol/legacy/Methods"
import type * as Method from "@effect-mcp/protocol/Method"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { Route } from "../runtime/Router.js"
import type { Connection } from "./Connection.js"
import * as Initialize from "./Initialize.js"
import type { Server } from "./Serve.js"
import type { LegacyServerSession } from "./ServerSession.js"
import * as Subscriptions from "./Subscriptions.js"

/**
 * What serves a method of this era's own; `undefined` where it is not offered, or not in this connection.
 *
 * @since 0.1.0
 * @category models
 */
export interface Routes {
  readonly find: (method: string, connection: Connection) => Route | undefined
}

/**
 * Made once for each server: what is known of the client comes with its session.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (server: Server): Routes => {
  const { logging, subscriptions } = server
  const own = <P, A>(
    method: Method.Request<string, P, A>,
    // All sessions of this era are of `Session`'s making.
    serve: (params: P, session: LegacyServerSession) => Effect.Effect<A, unknown>,
    rules?: Pick<Route, "cancellable" | "early">
  ): [string, Route] => [
    method.name,
    {
      method,
      trusted: true,
      serve: (params, session) => ({
        effect: Effect.suspend(() => serve(params, session as LegacyServerSession)),
        context: Context.empty()
      }),
      ...rules
    }
  ]
  const always = new Map([
    // MUST NOT be cancelled by the client (2025-11-25 basic/utilities/cancellation#behavior-requirements)
    own(Methods.initialize, (params, session) => Initialize.serve(server, session, params), {
      early: true,
      cancellable: false
    }),
    own(Methods.ping, () => Effect.succeed({}), { early: true }),
    ...(logging
      ? [own(Methods.setLevel, ({ level }, { connection }) => {
        connection.level = level
        return Effect.succeed({})
      })]
      : [])
  ])
  // Of a client that comes back, to a server that has something to subscribe to.
  const subscribing = new Map(
    subscriptions === undefined ? [] : [
      own(Methods.subscribe, (params, { connection }) => Subscriptions.subscribe(connection, params, subscriptions)),
      own(Methods.unsubscribe, (params, { connection }) => Subscriptions.unsubscribe(connection, params))
    ]
  )
  return {
    find: (method, connection) => {
      const found = always.get(method)
      if (found !== undefined || connection.scope === undefined) return found
      const route = subscribing.get(method)
      return route !== undefined && server.router.find(Methods.readResource.name) !== undefined ? route : undefined
    }
  }
}
