/**
 * What the sessions of the legacy era do in their own way: the facts of a client are those of its connection, announcements wait in
 * its queue, and questions are requests to it. Without a conversation no request can be sent, because no response could come back.
 */
import type { Params } from "@effect-mcp/jsonrpc/Message"
import type { Outbound } from "@effect-mcp/jsonrpc/Outbound"
import { none } from "@effect-mcp/jsonrpc/Outbound"
import * as Capabilities from "@effect-mcp/protocol/Capabilities"
import * as Methods from "@effect-mcp/protocol/legacy/Methods"
import * as Logging from "@effect-mcp/protocol/Logging"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { Asker, RequestChannel } from "../runtime/Asker.js"
import { handlerOf } from "../runtime/Routes.js"
import type { Server } from "../runtime/Server.js"
import type { Era } from "../runtime/Session.js"
import * as Ask from "./Ask.js"
import * as AskedTask from "./AskedTask.js"
import type { Connection, LegacySession } from "./Connection.js"
import * as Subscriptions from "./Subscriptions.js"
import * as Tasks from "./Tasks.js"

/** Marks what the handler of a task sends. */
type Mark = (params: Params | undefined) => Params

export const make = (server: Server): Era<Connection> => {
  const { extensions, logging, tasks } = server

  const requestOn = (connection: Connection, outbound: Outbound): Outbound["request"] => (method, params, options) =>
    Ask.send(connection, outbound, server, method, params, options)

  const asker = (connection: Connection, outbound: Outbound, mark: Mark = (params) => params ?? {}): Asker => {
    const asking = connection.scope === undefined ? none : outbound
    return {
      ask: (questions, options) =>
        Effect.forEach(questions, ([, question]) => Ask.ask(connection, asking, server, question, options)),
      askAsTask: (question, options) =>
        AskedTask.make(connection, mark, question, options, (asked, { isWaiting }) => {
          const timeout = isWaiting ? Duration.infinity : options?.timeout
          const on = (outbound: Outbound) => Ask.post(connection, outbound, server, asked, { timeout })
          // The request of the handler may have ended.
          return Effect.catchTag(on(asking), "NoBackChannel", () => on(connection.outbound))
        }),
      request: requestOn(connection, asking),
      round: undefined
    }
  }

  /** After its response, the notifications of a handler leave outside of the request. */
  const detached = ({ facts: connection, outbound }: LegacySession, mark: Mark) => {
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
    tasks: (session) =>
      tasks !== undefined && Tasks.isIn(session.version)
        ? Tasks.dialect(session, (mark) => detached(session, mark))
        : undefined
  }
}
