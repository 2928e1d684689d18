/**
 * The methods that only the legacy era has: the handshake, `ping`, the log level, subscriptions to resources, its tasks.
 * `runtime/Routes` joins them with the routes of the features.
 */
import * as Methods from "@effect-mcp/protocol/legacy/Methods"
import * as TaskMethods from "@effect-mcp/protocol/legacy/TaskMethods"
import type * as Method from "@effect-mcp/protocol/Method"
import type { Version } from "@effect-mcp/protocol/Version"
import * as Effect from "effect/Effect"
import * as Pipeline from "../runtime/Pipeline.js"
import * as Reply from "../runtime/Reply.js"
import * as Route from "../runtime/Route.js"
import * as Routes from "../runtime/Routes.js"
import type { Server } from "../runtime/Server.js"
import type { Era } from "../runtime/Session.js"
import type { Connection, LegacySession } from "./Connection.js"
import * as Initialize from "./Initialize.js"
import * as Observers from "./Observers.js"
import * as Subscriptions from "./Subscriptions.js"
import * as Tasks from "./Tasks.js"

type Joined = Routes.Joined<Connection>

export const make = (server: Server, era: Era<Connection>): Routes.Routes<Connection> =>
  Routes.make(server, {
    methods: Methods.table,
    capabilities: Initialize.advertised(server),
    own: ownRoutes(server, era)
  })

/** The methods that only this era has. */
const ownRoutes = (server: Server, era: Era<Connection>): ReadonlyArray<Joined> => {
  const { pageSize, subscriptions, tasks } = server
  const own = <P, A>(
    method: Method.Request<string, P, A>,
    serve: (params: P, session: LegacySession) => Effect.Effect<A, unknown>,
    options?: Partial<Joined>
  ): Joined => ({
    method,
    serve: (params, session) => Route.served(Effect.suspend(() => serve(params, session))),
    isTrusted: true,
    isStable: false,
    ...options
  })
  const initializeEncoder = (version: Version) =>
    Reply.encoder(Methods.initialize, version, { isTrusted: Pipeline.leavesResults(server), isStable: false })
  return [
    // MUST NOT be cancelled by the client (2025-11-25 basic/utilities/cancellation#behavior-requirements)
    own(
      Methods.initialize,
      (params, session) => stored(session.facts, Initialize.serve(server, session, params)),
      {
        isEarly: true,
        isCancellable: false,
        // In the revision that it has agreed on, not in the one of the table that it was found in.
        encode: (result, _, { version }) => initializeEncoder(version)(result)
      }
    ),
    own(Methods.ping, () => Effect.succeed({})),
    own(Methods.setLevel, ({ level }, { facts: connection }) => {
      connection.logLevel = level
      return stored(connection, Effect.as(Observers.logLevel(server.observers, connection, era), {}))
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
        (params, session) => stored(session.facts, Subscriptions.subscribe(session, params, subscriptions))
      ),
      own(
        Methods.unsubscribe,
        (params, { facts: connection }) => stored(connection, Subscriptions.unsubscribe(connection, params))
      )
    ])
  ]
}

/** Other nodes know what the request has changed before its client knows. */
const stored = <A>(connection: Connection, change: Effect.Effect<A, unknown>): Effect.Effect<A, unknown> =>
  connection.persist === undefined ? change : Effect.zipLeft(change, connection.persist)
