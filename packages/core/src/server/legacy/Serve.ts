/**
 * The server's side of a legacy conversation: which messages wait for the handshake, which requests the client may make now, the
 * methods that only this era has, and what its handlers do in their own way: the facts of a client are those of its connection,
 * announcements wait in its queue, and questions are requests to it. Features observe its handshake, its roots, its log level.
 *
 * `MessageServer` serves the messages, `Handshake` knows what waits for `initialize`.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as Exit from "effect/Exit"
import type { Notification, Params, Request } from "../../jsonrpc/Message.js"
import * as Message from "../../jsonrpc/Message.js"
import { none, type Outbound } from "../../jsonrpc/Outbound.js"
import type { Outcome } from "../../jsonrpc/Outcome.js"
import type { Channel, IncomingRequest, RequestSide, Work } from "../../jsonrpc/Side.js"
import * as Capabilities from "../../protocol/Capabilities.js"
import * as Methods from "../../protocol/legacy/Methods.js"
import * as TaskMethods from "../../protocol/legacy/TaskMethods.js"
import { getTaskPayload } from "../../protocol/legacy/TaskMethods.js"
import * as Logging from "../../protocol/Logging.js"
import { InvalidParams, type McpError } from "../../protocol/McpError.js"
import type * as Method from "../../protocol/Method.js"
import { isBrief } from "../../protocol/rules/NeverWaits.js"
import type { Version } from "../../protocol/Version.js"
import type { ClientObserver } from "../Registry.js"
import type { Asker, RequestChannel } from "../runtime/Asker.js"
import { type Era, HandlerContext } from "../runtime/HandlerContext.js"
import * as HandlerName from "../runtime/HandlerName.js"
import { MessageServer } from "../runtime/MessageServer.js"
import * as Pipeline from "../runtime/Pipeline.js"
import * as Reply from "../runtime/Reply.js"
import * as RequestOrigin from "../runtime/RequestOrigin.js"
import * as Route from "../runtime/Route.js"
import { type EraRoute, handlerOf } from "../runtime/Routes.js"
import * as Routes from "../runtime/Routes.js"
import type { Server } from "../runtime/Server.js"
import type { ServerSessionService } from "../ServerSession.js"
import type { Connection } from "./Connection.js"
import * as Handshake from "./Handshake.js"
import * as Initialize from "./Initialize.js"
import * as Questions from "./Questions.js"
import * as Subscriptions from "./Subscriptions.js"
import type { Wire } from "./TaskWire.js"

/** How a server serves the messages of any connection. Made once for each server. */
export class LegacyServe extends MessageServer<Connection> {
  /** Serves the requests of one client. */
  to(connection: Connection): RequestSide {
    return {
      onRequest: (request, incoming) => this.serve(connection, request, incoming),
      // MUST respond promptly (2025-11-25 basic/utilities/ping#behavior-requirements)
      neverWaits: (method) => method === Methods.ping.name || isBrief(method),
      ownLimit: ({ method }) =>
        method === getTaskPayload.name && connection.scope !== undefined
          ? connection.taskResults ??= this.server.tasks?.limitOfResults()
          : undefined
    }
  }

  notification(
    connection: Connection,
    notification: Notification,
    channel: Channel
  ): Effect.Effect<void> | undefined {
    const { method, params } = notification
    if (this.server.authenticate !== undefined && RequestOrigin.refusal(channel) !== undefined) return undefined
    if (!connection.accepted && connection.handshake === undefined) return undefined
    if (connection.restored !== undefined && connection.handshake === undefined) {
      const handler = contextOfObserver(connection, this.era, notification, channel)
      return Effect.matchCauseEffect(Handshake.restored(connection, this.restore(handler)), {
        // As after a handshake that failed. The next message tries again.
        onFailure: (cause) =>
          Effect.logDebug(`Dropped "${HandlerName.quotable(method)}": the handler could not be restored`, cause),
        onSuccess: () => this.notification(connection, notification, channel) ?? Effect.void
      })
    }
    if (method === Methods.initialized.name && Either.isRight(Methods.initialized.decodeParams(params))) {
      connection.onInitialized()
    }
    const listener = this.listenerOf(connection, method)
    const observed = ofNotification(this.server.observers, method)
    if (listener === undefined && !this.pipeline.isSurrounded && observed === undefined) return undefined
    const outbound = outboundOf(connection, channel)
    return Handshake.afterNotification(
      connection,
      this.listened(connection, notification, outbound, listener, observed)
    )
  }

  private serve(connection: Connection, request: Request, incoming: IncomingRequest): Work {
    const refusal = this.server.authenticate === undefined ? undefined : RequestOrigin.refusal(incoming.channel)
    if (refusal !== undefined) return this.failed(refusal)
    const { handshake } = connection
    if (connection.restored !== undefined && handshake === undefined) {
      const handler = new HandlerContext(connection, request, incoming, this.era)
      return Handshake.restoring(connection, this.restore(handler), () => this.plan(connection, request, incoming))
    }
    if (this.pipeline.isBare && handshake === undefined) return this.plan(connection, request, incoming)
    if (handshake !== undefined && request.method !== Methods.ping.name) {
      return request.method === Methods.initialize.name
        ? this.failed(Handshake.underWay)
        : Handshake.afterRequest(handshake, () => this.plan(connection, request, incoming))
    }
    const work = this.plan(connection, request, incoming)
    return request.method === Methods.initialize.name && !connection.accepted
      ? Handshake.begin(connection, work)
      : work
  }

  protected refusal(
    connection: Connection,
    { method }: Request,
    { isEarly, requires }: EraRoute<Connection>
  ): McpError | undefined {
    return connection.accepted || isEarly === true || method === Methods.ping.name
      ? requires && this.lacking(connection, requires)
      : new InvalidParams({
        message: `Invalid request parameters: "${HandlerName.quotable(method)}" was sent before "initialize"`
      })
  }

  outcomeOf(handler: HandlerContext<Connection>, exit: Exit.Exit<unknown, unknown>): Outcome {
    return Reply.ofRequest(handler, exit, "legacy")
  }

  protected refused(exit: Exit.Exit<unknown, unknown>): Outcome {
    return Reply.fromExit(exit, "legacy", Reply.passedOn)
  }

  /** What the session layer and the features of resources keep for a client, anew at this node. */
  private restore(handler: HandlerContext<Connection>): Effect.Effect<void, unknown> {
    const { restored = [], scope, services } = handler.facts
    const { session: layer, subscriptions } = this.server
    const built = layer === undefined || scope === undefined || services !== undefined
      ? Effect.void
      : Initialize.build(layer, handler, scope)
    return subscriptions === undefined ? built : Effect.zipRight(
      built,
      // A resource that is gone, or that the client does not see any more, has no subscription.
      Effect.forEach(restored, (uri) => Effect.ignore(Subscriptions.subscribe(handler, { uri }, subscriptions)), {
        discard: true
      })
    )
  }
}

export const make = (server: Server, wire?: Wire): LegacyServe => {
  const era = eraOf(server, wire)
  return new LegacyServe(server, era, routes(server, era, wire))
}

type Joined = Routes.Joined<Connection>

export const routes = (server: Server, era: Era<Connection>, wire?: Wire): Routes.Routes<Connection> =>
  Routes.make(server, {
    methods: Methods.table,
    capabilities: Initialize.advertised(server),
    own: ownRoutes(server, era, wire)
  })

/** The methods that only this era has. */
const ownRoutes = (
  server: Server,
  era: Era<Connection>,
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
    Reply.encoder(Methods.initialize, version, { isTrusted: Pipeline.leavesResults(server), isStable: false })
  return [
    // MUST NOT be cancelled by the client (2025-11-25 basic/utilities/cancellation#behavior-requirements)
    own(
      Methods.initialize,
      (params, handler) => stored(handler.facts, Initialize.serve(server, handler, params)),
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
      const handler = contextOfObserver(connection, era, Message.notification(Methods.setLevel.name))
      return stored(connection, Effect.as(run(server.observers, "onLogLevel", handler), {}))
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

/** Other nodes know what the request has changed before its client knows. */
const stored = <A>(connection: Connection, change: Effect.Effect<A, unknown>): Effect.Effect<A, unknown> =>
  connection.persist === undefined ? change : Effect.zipLeft(change, connection.persist)

/** Marks what the handler of a task sends. */
type Mark = (params: Params | undefined) => Params

export const eraOf = (server: Server, wire?: Wire): Era<Connection> => {
  const { extensions, logging } = server

  const requestOn = (connection: Connection, outbound: Outbound): Outbound["request"] => (method, params, options) =>
    Questions.send(connection, outbound, server.limits, method, params, options)

  const asker = (connection: Connection, outbound: Outbound, mark: Mark = (params) => params ?? {}): Asker => {
    const asking = connection.scope === undefined ? none : outbound
    return {
      ask: (questions, options) =>
        Effect.forEach(
          questions,
          ([, question]) => Questions.ask(connection, asking, server.limits, question, options)
        ),
      askAsTask: (question, options) =>
        Questions.asTask(connection, mark, question, options, (asked, { isWaiting }) => {
          const timeout = isWaiting ? Duration.infinity : options?.timeout
          const on = (outbound: Outbound) => Questions.post(connection, outbound, server.limits, asked, { timeout })
          // The request of the handler may have ended.
          return Effect.catchTag(on(asking), "NoBackChannel", () => on(connection.outbound))
        }),
      request: requestOn(connection, asking),
      round: undefined
    }
  }

  /** After its response, the notifications of a handler leave outside of the request. */
  const detached = ({ facts: connection, outbound }: HandlerContext<Connection>, mark: Mark) => {
    const { notify } = connection.outbound
    const after: RequestChannel = {
      ...none,
      notify: (method, params) => notify(method, mark(params)),
      channel: outbound.channel
    }
    return { outbound: after, asker: asker(connection, after, mark) }
  }

  return {
    extensions,
    notifications: Methods,
    // Without a conversation the server does not declare `logging`: it could not keep the level.
    receives: ({ logLevel, scope }, level) =>
      logging && scope !== undefined && (logLevel === undefined || Logging.isAtLeast(level, logLevel)),
    allows: (connection, notification) => connection.allows(notification),
    standalone: (connection) => ({
      request: requestOn(connection, connection.outbound),
      notify: connection.outbound.notify
    }),
    changed: ({ facts: connection }) => ({
      tools: connection.announce(Methods.toolListChanged),
      resources: connection.announce(Methods.resourceListChanged),
      prompts: connection.announce(Methods.promptListChanged),
      resource: (uri) =>
        Effect.suspend(() =>
          // Where the application handles subscriptions itself, it knows which clients have subscribed.
          handlerOf(server, Methods.subscribe.name) === undefined
            ? Subscriptions.updated(connection, uri)
            : connection.announce(Methods.resourceUpdated, { uri }, uri)
        )
    }),
    elicitationComplete: ({ clientCapabilities, outbound }, elicitationId) =>
      Capabilities.declares(clientCapabilities, "elicitation.url")
        ? outbound.notify(Methods.elicitationComplete.name, { elicitationId })
        : Effect.void,
    asker: ({ facts, outbound }) => asker(facts, outbound),
    tasks: (handler) =>
      wire?.isIn(handler.version) === true
        ? wire.dialect(handler, (mark) => detached(handler, mark))
        : undefined
  }
}

/** What an observer has of a client outside of its requests: what the observer sends reaches the client as long as it is connected. */
const contextOfObserver = (
  connection: Connection,
  era: Era<Connection>,
  notification: Notification,
  channel: Channel = noChannel
): HandlerContext<Connection> => new HandlerContext(connection, notification, outboundOf(connection, channel), era)

/** Sends outside of any request. */
const outboundOf = ({ outbound: { notify, request } }: Connection, channel: Channel): RequestChannel => ({
  request,
  notify,
  channel
})

// What no message began has no HTTP request either.
const noChannel: Channel = { unsafeSend: () => false, send: () => Effect.void }

/** What observers do when this notification arrives; `undefined` when none observes it. */
const ofNotification = (
  observers: ReadonlySet<ClientObserver>,
  method: string
): ((session: ServerSessionService) => Effect.Effect<void>) | undefined => {
  const key = observers.size === 0 ? undefined : events.get(method)
  return key === undefined ? undefined : (handler) => run(observers, key, handler)
}

type Event = Exclude<keyof ClientObserver, "onAnonymous">

const events: ReadonlyMap<string, Event> = new Map([
  [Methods.initialized.name, "onInitialized"],
  [Methods.rootsListChanged.name, "onRootsChanged"]
])

const run = (observers: ReadonlySet<ClientObserver>, key: Event, session: ServerSessionService) =>
  Effect.forEach([...observers], (observer) => observer[key]?.(session) ?? Effect.void, { discard: true })
