/**
 * The server's side of a legacy conversation: which messages wait for the handshake, and which requests the client may make now.
 *
 * `runtime/Serve` serves them, `Handshake` knows what waits for `initialize`.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle
 */
import type { Notification, Request } from "@effect-mcp/jsonrpc/Message"
import type { Outcome } from "@effect-mcp/jsonrpc/Outcome"
import type { Channel, IncomingRequest, RequestSide, Work } from "@effect-mcp/jsonrpc/Side"
import * as Methods from "@effect-mcp/protocol/legacy/Methods"
import { getTaskPayload } from "@effect-mcp/protocol/legacy/TaskMethods"
import type { McpError } from "@effect-mcp/protocol/McpError"
import { InvalidParams } from "@effect-mcp/protocol/McpError"
import { isBrief } from "@effect-mcp/protocol/unstable/NeverWaits"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as Exit from "effect/Exit"
import * as Reply from "../runtime/Reply.js"
import * as RequestOrigin from "../runtime/RequestOrigin.js"
import type { EraRoute } from "../runtime/Routes.js"
import { Serve } from "../runtime/Serve.js"
import type { Server } from "../runtime/Server.js"
import { Session } from "../runtime/Session.js"
import * as Subject from "../runtime/Subject.js"
import type { Connection, LegacySession } from "./Connection.js"
import * as Era from "./Era.js"
import * as Handshake from "./Handshake.js"
import * as Initialize from "./Initialize.js"
import * as Observers from "./Observers.js"
import * as Routes from "./Routes.js"
import * as Subscriptions from "./Subscriptions.js"

/** How a server serves the messages of any connection. Made once for each server. */
export class LegacyServe extends Serve<Connection> {
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
      const session = Observers.session(connection, this.era, notification, channel)
      return Effect.matchCauseEffect(Handshake.restored(connection, this.restore(session)), {
        // As after a handshake that failed. The next message tries again.
        onFailure: (cause) =>
          Effect.logDebug(`Dropped "${Subject.quotable(method)}": the session could not be restored`, cause),
        onSuccess: () => this.notification(connection, notification, channel) ?? Effect.void
      })
    }
    if (method === Methods.initialized.name && Either.isRight(Methods.initialized.decodeParams(params))) {
      connection.onInitialized()
    }
    const listener = this.listenerOf(connection, method)
    const observed = Observers.ofNotification(this.server.observers, method)
    if (listener === undefined && !this.pipeline.isSurrounded && observed === undefined) return undefined
    const outbound = Observers.outbound(connection, channel)
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
      const session = new Session(connection, request, incoming, this.era)
      return Handshake.restoring(connection, this.restore(session), () => this.plan(connection, request, incoming))
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
        message: `Invalid request parameters: "${Subject.quotable(method)}" was sent before "initialize"`
      })
  }

  outcomeOf(session: LegacySession, exit: Exit.Exit<unknown, unknown>): Outcome {
    return Reply.ofRequest(session, exit, "legacy")
  }

  protected refused(exit: Exit.Exit<unknown, unknown>): Outcome {
    return Reply.fromExit(exit, "legacy", Reply.passedOn)
  }

  /** What the session layer and the features of resources keep for a client, anew at this node. */
  private restore(session: LegacySession): Effect.Effect<void, unknown> {
    const { restored = [], scope, services } = session.facts
    const { session: layer, subscriptions } = this.server
    const built = layer === undefined || scope === undefined || services !== undefined
      ? Effect.void
      : Initialize.build(layer, session, scope)
    return subscriptions === undefined ? built : Effect.zipRight(
      built,
      // A resource that is gone, or that the client does not see any more, has no subscription.
      Effect.forEach(restored, (uri) => Effect.ignore(Subscriptions.subscribe(session, { uri }, subscriptions)), {
        discard: true
      })
    )
  }
}

export const make = (server: Server): LegacyServe => {
  const era = Era.make(server)
  return new LegacyServe(server, era, Routes.make(server, era))
}
