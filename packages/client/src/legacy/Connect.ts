/**
 * Opens a legacy session over a transport: runs the conversation, answers the server's requests with the client's
 * features, and makes the handshake (`Initialize`).
 */
import * as Conversation from "@effect-mcp/jsonrpc/Conversation"
import type { Transport } from "@effect-mcp/jsonrpc/Transport"
import * as Methods from "@effect-mcp/protocol/legacy/Methods"
import type { LegacyVersion } from "@effect-mcp/protocol/Version"
import * as Version from "@effect-mcp/protocol/Version"
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
    const { closeTimeout, features, maxCalls, maxInFlight, maxWaiting, maxWaitingText, timeout } = options
    // Requests that arrive before the handshake is over are answered in the latest revision.
    let version: LegacyVersion = Version.latestLegacy
    const hub = yield* NotificationHub.make(MethodTable.notifications)
    const conversation = yield* Conversation.make(transport, {
      onRequest: InboundHandlers.make(features, () => version),
      onNotification: (notification) => {
        options.onNotification(notification)
        hub.publish(notification)
        return undefined
      },
      neverWaits: (method) => method === Methods.ping.name
    }, { timeout, maxInFlight, maxWaiting, maxWaitingText, maxPending: maxCalls, closeTimeout, report: hub.report })
    yield* Effect.forkScoped(Effect.interruptible(Effect.ensuring(Effect.ignore(conversation.ended), hub.end)))
    // The server may log while it is being initialized.
    yield* FeatureFibers.handleLogs(features, hub.streams.logs)
    if (options.telemetry) yield* Spans.session
    const outbound = options.telemetry ? Spans.traced(conversation, () => version, Methods.table) : conversation
    const facts = yield* Initialize.run(outbound, {
      clientInfo: options.clientInfo,
      capabilities: Features.capabilities(features),
      versions: options.versions
    })
    version = facts.version
    return {
      facts,
      call: Calls.make(outbound, version, MethodTable.calls),
      outbound,
      notifications: hub.streams,
      ended: conversation.ended
    }
  })
