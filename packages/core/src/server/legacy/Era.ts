/**
 * Makes the record that describes the legacy revisions (up to 2025-11-25) to the shared server code. The record contains the methods that
 * only these revisions have, the check whether a client may send a request now, and the functions with which a handler sends to its client.
 * Notifications of changes wait in a queue of the connection, and questions are requests to the client.
 *
 * `ServerSide` makes the record, and `runtime/Serve` reads it.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Message from "../../jsonrpc/Message.js"
import { none, type Outbound } from "../../jsonrpc/Outbound.js"
import * as Outcome from "../../jsonrpc/Outcome.js"
import * as Capabilities from "../../protocol/Capabilities.js"
import * as Methods from "../../protocol/legacy/Methods.js"
import * as TaskMethods from "../../protocol/legacy/TaskMethods.js"
import * as Logging from "../../protocol/Logging.js"
import { InvalidParams } from "../../protocol/McpError.js"
import type * as Method from "../../protocol/Method.js"
import type { Version } from "../../protocol/Version.js"
import { LOST } from "../nodes/ForwardedRequest.js"
import type { Asker, RequestChannel } from "../runtime/Asker.js"
import type { HandlerContext, Speech } from "../runtime/HandlerContext.js"
import * as HandlerName from "../runtime/HandlerName.js"
import * as HandlerOutcome from "../runtime/HandlerOutcome.js"
import * as Pipeline from "../runtime/Pipeline.js"
import * as Route from "../runtime/Route.js"
import * as Routes from "../runtime/Routes.js"
import * as Serve from "../runtime/Serve.js"
import type { Server } from "../runtime/Server.js"
import type { Connection } from "./Connection.js"
import * as Initialize from "./Initialize.js"
import * as Observers from "./Observers.js"
import * as Questions from "./Questions.js"
import * as Subscriptions from "./Subscriptions.js"
import type { Wire } from "./TaskWire.js"

export const make = (server: Server, wire?: Wire): Serve.Era<Connection> => {
  const speech = speechOf(server, wire)
  return {
    vocabulary: {
      methods: Methods.table,
      own: ownRoutes(server, speech, wire),
      capabilities: Initialize.advertised(server)
    },
    serving: {
      gate: (connection, { method }, { isEarly, requires }) =>
        connection.accepted || isEarly === true || method === Methods.ping.name
          ? requires && Serve.lacking(connection, requires)
          : new InvalidParams({
            message: `Invalid request parameters: "${HandlerName.quotable(method)}" was sent before "initialize"`
          }),
      refused: (exit) => HandlerOutcome.fromExit(exit, "legacy", HandlerOutcome.passedOn),
      closing: (handler) => handler?.facts.isLost() === true ? { error: LOST } : Outcome.closing
    },
    speech
  }
}

type Joined = Routes.Joined<Connection>

/** Makes the routes of the methods that only legacy revisions have. */
const ownRoutes = (
  server: Server,
  speech: Speech<Connection>,
  wire: Wire | undefined
): ReadonlyArray<Joined> => {
  const { limits: { pageSize }, subscriptions, tasks } = server
  const own = <P, A>(
    method: Method.Request<string, P, A>,
    serve: (params: P, handler: HandlerContext<Connection>) => Effect.Effect<A, unknown>,
    options?: Partial<Joined>
  ): Joined => ({
    method,
    serve: (params, handler) => Route.served(Effect.suspend(() => serve(params, handler))),
    isTrusted: true,
    isStable: false,
    ...options
  })
  const initializeEncoder = (version: Version) =>
    HandlerOutcome.encoder(Methods.initialize, version, { isTrusted: Pipeline.leavesResults(server), isStable: false })
  return [
    // MUST NOT be cancelled by the client (2025-11-25 basic/utilities/cancellation#behavior-requirements)
    own(
      Methods.initialize,
      (params, handler) => stored(handler.facts, Initialize.serve(server, handler, params)),
      {
        isEarly: true,
        isCancellable: false,
        // Encodes for the revision that both sides have just agreed on. This route may come from the table of another revision.
        encode: (result, _, { version }) => initializeEncoder(version)(result)
      }
    ),
    own(Methods.ping, () => Effect.succeed({})),
    own(Methods.setLevel, ({ level }, { facts: connection }) => {
      connection.logLevel = level
      const handler = Observers.contextOf(connection, speech, Message.notification(Methods.setLevel.name))
      return stored(connection, Effect.as(Observers.run(server.observers, "onLogLevel", handler), {}))
    }),
    ...(tasks === undefined || wire === undefined ? [] : [
      own(TaskMethods.getTask, (params, handler) => wire.get(tasks.tasks, params, handler)),
      own(TaskMethods.getTaskPayload, (params, handler) => wire.result(tasks.tasks, params, handler)),
      own(TaskMethods.cancelTask, (params, handler) => wire.cancel(tasks.tasks, params, handler)),
      own(TaskMethods.listTasks, (params, handler) => wire.list(tasks.tasks, params, handler, pageSize))
    ]),
    ...(subscriptions === undefined ? [] : [
      own(
        Methods.subscribe,
        (params, handler) => stored(handler.facts, Subscriptions.subscribe(handler, params, subscriptions))
      ),
      own(
        Methods.unsubscribe,
        (params, { facts: connection }) => stored(connection, Subscriptions.unsubscribe(connection, params))
      )
    ])
  ]
}

/** Runs a change of the session, and then stores the session. So other nodes can read the change before the client gets its response. */
const stored = <A>(connection: Connection, change: Effect.Effect<A, unknown>): Effect.Effect<A, unknown> =>
  connection.persist === undefined ? change : Effect.zipLeft(change, connection.persist)

/** Adds to the parameters of a message the task to which the message belongs. */
type Mark = (params: Message.Params | undefined) => Message.Params

type Limits = Server["limits"]

const requestOn =
  (connection: Connection, outbound: Outbound, limits: Limits): Outbound["request"] => (method, params, options) =>
    Questions.send(connection, outbound, limits, method, params, options)

const askerOf = (
  connection: Connection,
  outbound: Outbound,
  limits: Limits,
  mark: Mark = (params) => params ?? {}
): Asker => {
  const asking = connection.reach === "request" ? none : outbound
  return {
    ask: (questions, options) =>
      Effect.forEach(questions, ([, question]) => Questions.ask(connection, asking, limits, question, options)),
    askAsTask: (question, options) =>
      Questions.asTask(connection, mark, question, options, (asked, { isWaiting }) => {
        const timeout = isWaiting ? Duration.infinity : options?.timeout
        const on = (outbound: Outbound) => Questions.post(connection, outbound, limits, asked, { timeout })
        // The request of the handler may have ended. Then its channel refuses requests.
        return Effect.catchTag(on(asking), "NoBackChannel", () => on(connection.outbound))
      }),
    request: requestOn(connection, asking, limits),
    round: undefined,
    endsRequest: false
  }
}

/**
 * Makes the functions with which a handler sends and asks after the response to its request. These messages do not belong to the request.
 */
const detached = ({ facts: connection, outbound }: HandlerContext<Connection>, limits: Limits, mark: Mark) => {
  const { notify } = connection.outbound
  const after: RequestChannel = {
    ...none,
    notify: (method, params) => notify(method, mark(params)),
    channel: outbound.channel
  }
  return { outbound: after, asker: askerOf(connection, after, limits, mark) }
}

const speechOf = (server: Server, wire: Wire | undefined): Speech<Connection> => {
  const { extensions, limits, logging } = server
  return {
    extensions,
    notifications: Methods,
    // Without a conversation the server does not declare `logging`, because it cannot store the level.
    receives: ({ logLevel, reach }, level) =>
      logging && reach === "conversation" && (logLevel === undefined || Logging.isAtLeast(level, logLevel)),
    allows: (connection, notification) => connection.allows(notification),
    standalone: (connection) => ({
      request: requestOn(connection, connection.outbound, limits),
      notify: connection.outbound.notify
    }),
    changed: ({ facts: connection }) => ({
      tools: connection.announce(Methods.toolListChanged),
      resources: connection.announce(Methods.resourceListChanged),
      prompts: connection.announce(Methods.promptListChanged),
      resource: (uri) =>
        Effect.suspend(() =>
          // Where the application handles subscriptions itself, the server does not know which clients have subscribed.
          Routes.handlerOf(server, Methods.subscribe.name) === undefined
            ? Subscriptions.updated(uri)(connection)
            : connection.announce(Methods.resourceUpdated, { uri }, uri)
        )
    }),
    elicitationComplete: ({ clientCapabilities, outbound }, elicitationId) =>
      Capabilities.declares(clientCapabilities, "elicitation.url")
        ? outbound.notify(Methods.elicitationComplete.name, { elicitationId })
        : Effect.void,
    asker: ({ facts, outbound }) => askerOf(facts, outbound, limits),
    tasks: (handler) =>
      wire?.isIn(handler.version) === true
        ? wire.dialect(handler, (mark) => detached(handler, limits, mark))
        : undefined,
    outcome: (handler, exit) => HandlerOutcome.ofRequest(handler, exit, "legacy")
  }
}
