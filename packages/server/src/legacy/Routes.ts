/**
 * The methods that a legacy server serves: per revision one table, in which each route is joined with its row of
 * `protocol/legacy/Methods` and with the encoder of its results. The tables have the routes of the features, which
 * belong to no era, and the methods of this era only: the handshake, `ping`, the log level, subscriptions.
 */
import type { Outcome } from "@effect-mcp/jsonrpc/Outcome"
import type { ClientCapabilities } from "@effect-mcp/protocol/Capabilities"
import * as Capabilities from "@effect-mcp/protocol/Capabilities"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import * as Methods from "@effect-mcp/protocol/legacy/Methods"
import * as TaskMethods from "@effect-mcp/protocol/legacy/TaskMethods"
import * as Method from "@effect-mcp/protocol/Method"
import type { LegacyVersion } from "@effect-mcp/protocol/Version"
import * as Effect from "effect/Effect"
import * as Pipeline from "../runtime/Pipeline.js"
import * as Route from "../runtime/Route.js"
import type { RequestHandler } from "../runtime/Router.js"
import type { Server } from "../runtime/Server.js"
import type { Connection } from "./Connection.js"
import * as Encode from "./Encode.js"
import * as Initialize from "./Initialize.js"
import * as Observers from "./Observers.js"
import type { LegacyServerSession } from "./ServerSession.js"
import * as Subscriptions from "./Subscriptions.js"
import * as Tasks from "./Tasks.js"

/** A route as clients of one revision see it. */
export interface LegacyRoute {
  readonly method: Method.Request
  readonly serve: (params: any, session: LegacyServerSession, raw: JsonObject | undefined) => Route.Served
  /** Whether the server advertised the capability of the method to this client. */
  readonly isOffered: (connection: Connection) => boolean
  /** The capabilities that a client must have declared. */
  readonly requires?: ClientCapabilities | undefined
  /** Whether it is served before `initialize` has succeeded. */
  readonly isEarly: boolean
  /** Whether the client may cancel it. */
  readonly isCancellable: boolean
  /** Encodes a result for the client of a connection. */
  readonly encode: (result: unknown, connection: Connection) => Outcome
}

export interface Routes {
  /**
   * The route of a method for the client of a connection; `undefined` when the server did not advertise its capability to
   * this client.
   */
  readonly find: (method: string, connection: Connection) => LegacyRoute | undefined
}

export const make = (server: Server): Routes => {
  const { router } = server
  const own = ownRoutes(server)
  const tables = new Map<LegacyVersion, Table>()
  return {
    find: (name, connection) => {
      const { version } = connection
      let table = tables.get(version)
      if (table === undefined) tables.set(version, table = makeTable(server, own, version))
      const handler = router.handler(name)
      const route = table.ofHandler(handler) ?? table.routes.get(name)
      return route !== undefined && route.isOffered(connection) ? route : table.ofHandler(router.fallback())
    }
  }
}

interface Table {
  readonly routes: ReadonlyMap<string, LegacyRoute>
  readonly ofHandler: (handler: RequestHandler | undefined) => LegacyRoute | undefined
}

const makeTable = (server: Server, own: ReadonlyArray<OwnRoute>, version: LegacyVersion): Table => {
  const join = (
    method: Method.Request,
    options: Joined
  ): LegacyRoute => ({
    method,
    serve: options.serve,
    isOffered: gate(server, method, version),
    requires: options.requires,
    isEarly: options.isEarly ?? method.name === Methods.ping.name,
    isCancellable: options.isCancellable !== false,
    encode: options.encode ?? Encode.make(method, version, {
      // Middleware may replace a result by one of its own.
      isTrusted: options.isTrusted && Pipeline.leavesResults(server),
      problem: options.problem,
      isStable: options.isStable
    })
  })
  const all: ReadonlyArray<readonly [Method.Method | undefined, Joined]> = [
    ...own.map(({ method, options }) => [method, options] as const),
    ...server.router.routes.map(({ method, ...route }) => [Methods.table.get(method), route] as const)
  ]
  const routes = all.flatMap(([method, options]) =>
    method?.kind === "request" && Method.isIn(method, version) ? [[method.name, join(method, options)] as const] : []
  )
  const handlers = new WeakMap<RequestHandler, LegacyRoute>()
  return {
    routes: new Map(routes),
    ofHandler: (handler) => {
      if (handler === undefined || !Method.isIn(handler.method, version)) return undefined
      let route = handlers.get(handler)
      if (route === undefined) {
        handlers.set(
          handler,
          route = join(handler.method, {
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
  & Pick<LegacyRoute, "serve">
  & Pick<Route.Route, "isTrusted" | "isStable" | "problem">
  & Partial<Pick<LegacyRoute, "requires" | "isEarly" | "isCancellable" | "encode">>

interface OwnRoute {
  readonly method: Method.Request
  readonly options: Joined
}

/** The methods that only this era has. */
const ownRoutes = (server: Server): ReadonlyArray<OwnRoute> => {
  const { pageSize, subscriptions, tasks } = server
  const own = <P, A>(
    method: Method.Request<string, P, A>,
    serve: (params: P, session: LegacyServerSession) => Effect.Effect<A, unknown>,
    options?: Partial<Joined>
  ): OwnRoute => ({
    method,
    options: {
      serve: (params, session) => Route.served(Effect.suspend(() => serve(params, session))),
      isTrusted: true,
      isStable: false,
      ...options
    }
  })
  const initializeEncoder = (version: LegacyVersion) =>
    Encode.make(Methods.initialize, version, { isTrusted: Pipeline.leavesResults(server), isStable: false })
  return [
    // MUST NOT be cancelled by the client (2025-11-25 basic/utilities/cancellation#behavior-requirements)
    own(
      Methods.initialize,
      (params, session) => stored(session.connection, Initialize.serve(server, session, params)),
      {
        isEarly: true,
        isCancellable: false,
        // In the revision that it has agreed on, not in the one of the table that it was found in.
        encode: (result, { version }) => initializeEncoder(version)(result)
      }
    ),
    own(Methods.ping, () => Effect.succeed({})),
    own(Methods.setLevel, ({ level }, { connection }) => {
      connection.level = level
      return stored(connection, Effect.as(Observers.logLevel(server, connection), {}))
    }),
    ...(tasks === undefined ? [] : [
      own(TaskMethods.getTask, (params, session) => Tasks.get(tasks.tasks, params, session)),
      own(TaskMethods.getTaskPayload, (params, session) => Tasks.result(tasks.tasks, params, session)),
      own(TaskMethods.cancelTask, (params, session) => Tasks.cancel(tasks.tasks, params, session)),
      own(TaskMethods.listTasks, (params, session) => Tasks.list(tasks.tasks, params, session, pageSize))
    ]),
    ...(subscriptions === undefined ? [] : [
      own(
        Methods.subscribe,
        (params, session) => stored(session.connection, Subscriptions.subscribe(session, params, subscriptions))
      ),
      own(
        Methods.unsubscribe,
        (params, { connection }) => stored(connection, Subscriptions.unsubscribe(connection, params))
      )
    ])
  ]
}

/** Other nodes know what the request has changed before its client knows. */
const stored = <A>(connection: Connection, change: Effect.Effect<A, unknown>): Effect.Effect<A, unknown> =>
  connection.persist === undefined ? change : Effect.zipLeft(change, connection.persist)

/** Whether the server advertised to the client of a connection the capability that a method needs in a revision. */
const gate = (server: Server, method: Method.Request, version: LegacyVersion): LegacyRoute["isOffered"] => {
  const { capability, gatedSince } = method
  if (capability === undefined || version < gatedSince) return always
  return (connection) => Capabilities.declares(Initialize.advertised(server, connection), capability)
}

const always = () => true
