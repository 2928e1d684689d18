/**
 * The methods that a modern server serves: per revision one table, in which each route is joined with its row of
 * `protocol/modern/Methods` and with the encoder of its results. The tables have the routes of the features, which belong
 * to no era, and the methods of this era only: `server/discover` and `subscriptions/listen`.
 */
import type { Outcome } from "@effect-mcp/jsonrpc/Outcome"
import type { ClientCapabilities, ServerCapabilities } from "@effect-mcp/protocol/Capabilities"
import * as Capabilities from "@effect-mcp/protocol/Capabilities"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import * as Method from "@effect-mcp/protocol/Method"
import * as Caching from "@effect-mcp/protocol/modern/Caching"
import * as Methods from "@effect-mcp/protocol/modern/Methods"
import * as Stamp from "@effect-mcp/protocol/modern/Stamp"
import type { ModernVersion } from "@effect-mcp/protocol/Version"
import * as Effect from "effect/Effect"
import * as CacheOptions from "../CacheOptions.js"
import * as Pipeline from "../runtime/Pipeline.js"
import * as Route from "../runtime/Route.js"
import type { RequestHandler } from "../runtime/Router.js"
import type { Server } from "../runtime/Server.js"
import * as Discover from "./Discover.js"
import * as Encode from "./Encode.js"
import type { ModernServerSession } from "./ServerSession.js"
import type { Subscriptions } from "./Subscriptions.js"
import { resultOf } from "./Subscriptions.js"

/** A route as clients of one revision see it. */
export interface ModernRoute {
  readonly method: Method.Request
  readonly serve: (params: any, session: ModernServerSession, raw: JsonObject | undefined) => Route.Served
  readonly isOffered: () => boolean
  /** The capabilities that a client must have declared. */
  readonly requires?: ClientCapabilities | undefined
  readonly encode: Encode.Encoder
  /** The result of a request that the server ends before its handler has. Default: an error. */
  readonly closing?: ((session: ModernServerSession) => unknown) | undefined
}

export interface Routes {
  /** The route of a method; `undefined` when the server does not offer it. */
  readonly find: (method: string, version: ModernVersion) => ModernRoute | undefined
  /** Adds what every result of this era has to one that no route has encoded. */
  readonly stamp: (outcome: Outcome) => Outcome
}

export const make = (server: Server, subscriptions: Subscriptions): Routes => {
  const { router } = server
  const own = ownRoutes(server, subscriptions)
  const tables = new Map<ModernVersion, Table>()
  const stamp = Stamp.make("", { serverInfo: server.info })
  return {
    find: (name, version) => {
      let table = tables.get(version)
      if (table === undefined) tables.set(version, table = makeTable(server, own, version))
      const handler = router.handler(name)
      if (handler !== undefined) return table.ofHandler(handler) ?? table.ofHandler(router.fallback())
      const route = table.routes.get(name)
      return route?.isOffered() === true ? route : table.ofHandler(router.fallback())
    },
    stamp: (outcome) => outcome.result === undefined ? outcome : { ...outcome, result: stamp(outcome.result) }
  }
}

interface Table {
  readonly routes: ReadonlyMap<string, ModernRoute>
  readonly ofHandler: (handler: RequestHandler | undefined) => ModernRoute | undefined
}

const makeTable = (server: Server, own: ReadonlyArray<Joined>, version: ModernVersion): Table => {
  const join = ({ closing, isStable, isTrusted, method, problem, requires, serve }: Joined): ModernRoute => ({
    method,
    serve,
    requires,
    closing,
    isOffered: gate(server, method),
    encode: Encode.make(
      method,
      version,
      Stamp.make(method.name, {
        serverInfo: server.info,
        hints: CacheOptions.ofMethod(server.cache, method.name) as {},
        isCacheable: isCacheable(server, method.name)
      }),
      // Middleware may replace a result by one of its own.
      { isTrusted: isTrusted && Pipeline.leavesResults(server), isStable, problem }
    )
  })
  const features = server.router.routes.flatMap(({ method: name, ...route }): ReadonlyArray<Joined> => {
    const method = Methods.table.get(name)
    return method?.kind === "request" ? [{ ...route, method }] : []
  })
  const handlers = new WeakMap<RequestHandler, ModernRoute>()
  return {
    routes: new Map(
      [...own, ...features].flatMap((joined) =>
        Method.isIn(joined.method, version) ? [[joined.method.name, join(joined)] as const] : []
      )
    ),
    ofHandler: (handler) => {
      if (handler === undefined || !Method.isIn(handler.method, version)) return undefined
      let route = handlers.get(handler)
      if (route === undefined) {
        handlers.set(
          handler,
          route = join({
            method: handler.method,
            isTrusted: false,
            isStable: false,
            requires: handler.requires,
            serve: (params, session, raw) => ({
              effect: Effect.suspend(() => handler.run(params, raw, session.method)),
              context: handler.context
            })
          })
        )
      }
      return route
    }
  }
}

/** What is joined with the row of a method. */
type Joined =
  & Pick<ModernRoute, "method" | "serve" | "closing" | "requires">
  & Pick<Route.Route, "isTrusted" | "isStable" | "problem">

/** The methods that only this era has. */
const ownRoutes = (server: Server, subscriptions: Subscriptions): ReadonlyArray<Joined> => [
  {
    method: Methods.discover,
    isTrusted: true,
    isStable: false,
    serve: (_, { version }) => Route.served(Effect.sync(() => Discover.serve(server, version)))
  },
  {
    method: Methods.listen,
    isTrusted: true,
    isStable: false,
    serve: (params, session) => Route.served(subscriptions.listen(params, session)),
    closing: ({ incoming }) => resultOf(incoming.id)
  }
]

const isCacheable = ({ extensions }: Server, method: string): boolean => {
  const added = extensions.methods.get(method)
  return added?.kind === "request" ? added.isCacheable : Caching.isCacheable(method)
}

/** Whether the server has the capability that a method needs. It is looked up once for all requests until it changes. */
const gate = (server: Server, { capability }: Method.Request): ModernRoute["isOffered"] => {
  if (capability === undefined) return () => true
  let known: ServerCapabilities | undefined
  let declares = false
  return () => {
    const now = server.capabilities()
    if (now !== known) {
      known = now
      declares = Capabilities.declares(now, capability)
    }
    return declares
  }
}
