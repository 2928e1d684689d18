/**
 * Opens a legacy session over a transport: runs the conversation, answers the server's requests with the client's
 * features, and makes the handshake (`Initialize`).
 */
import * as Conversation from "@effect-mcp/jsonrpc/Conversation"
import type { Transport } from "@effect-mcp/jsonrpc/Transport"
import * as Methods from "@effect-mcp/protocol/legacy/Methods"
import type { LegacyVersion } from "@effect-mcp/protocol/Version"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { ConnectError } from "../ClientError.js"
import * as Features from "../Features.js"
import * as Calls from "../session/Calls.js"
import * as FeatureFibers from "../session/FeatureFibers.js"
import type { NegotiatedSession, Options } from "../session/NegotiatedSession.js"
import * as NotificationHub from "../session/NotificationHub.js"
import * as Spans from "../session/Spans.js"
import * as InboundHandlers from "./InboundHandlers.js"
import * as Initialize from "./Initialize.js"
import * as MethodTable from "./MethodTable.js"

/** The session ends when the scope closes. */
export const connect = (
  transport: Transport,
  options: Options<LegacyVersion>
): Effect.Effect<NegotiatedSession, ConnectError, Scope.Scope> =>
  Effect.gen(function*() {
    const { closeTimeout, features, maxInFlight, refuseUnassociated, timeout, timeouts } = options
    // Requests that arrive before the handshake is over are answered in the requested revision.
    let version = Initialize.requestedOf(options.versions)
    const hub = yield* NotificationHub.make(MethodTable.notifications)
    const conversation = yield* Conversation.make(transport, (conversation) => ({
      onRequest: InboundHandlers.make({
        conversation,
        features,
        refuseUnassociated,
        report: hub.report,
        version: () => version
      }),
      onNotification: (notification) => {
        options.onNotification(notification)
        return hub.publish(notification)
      }
    }), { timeout, maxInFlight, closeTimeout, report: hub.report })
    yield* Effect.forkScoped(Effect.interruptible(Effect.ensuring(Effect.ignore(conversation.ended), hub.end)))
    // The server may log while it is being initialized.
    yield* FeatureFibers.handleLogs(features, hub.streams.logs)
    if (options.telemetry) yield* Spans.session
    const outbound = options.telemetry ? Spans.traced(conversation, () => version, Methods.table) : conversation
    const capabilities = Features.capabilities(features)
    const facts = yield* Initialize.run(outbound, {
      clientInfo: options.clientInfo,
      capabilities,
      versions: options.versions,
      timeout: timeouts.get(Methods.initialize.name),
      report: hub.report
    })
    version = facts.version
    const declared = { client: capabilities, server: facts.serverCapabilities }
    return {
      facts,
      ...Calls.make({
        outbound,
        version,
        timeouts,
        report: hub.report,
        table: MethodTable.calls,
        refusal: MethodTable.refusals(version, declared, options.enforceCapabilities)
      }),
      notify: outbound.notify,
      notifications: hub.streams,
      ended: conversation.ended
    }
  })
