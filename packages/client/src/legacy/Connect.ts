/**
 * Makes a session of the legacy era over an open conversation: makes the handshake (`Initialize`), unless an earlier
 * connection has made it, and answers the server's requests with the client's features.
 */
import * as Methods from "@effect-mcp/protocol/legacy/Methods"
import type { LegacyVersion } from "@effect-mcp/protocol/Version"
import * as Version from "@effect-mcp/protocol/Version"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type { ConnectError } from "../ClientError.js"
import * as Features from "../Features.js"
import * as Calls from "../session/Calls.js"
import * as ExtensionVerbs from "../session/ExtensionVerbs.js"
import type { NegotiatedSession, Options, ServerFacts } from "../session/NegotiatedSession.js"
import type { Opening } from "../session/Opening.js"
import * as Spans from "../session/Spans.js"
import * as InboundHandlers from "./InboundHandlers.js"
import * as Initialize from "./Initialize.js"
import * as MethodTable from "./MethodTable.js"

export const connect = (
  { conversation, hub, setEra, transport }: Opening,
  options: Options<LegacyVersion>
): Effect.Effect<NegotiatedSession, ConnectError> =>
  Effect.gen(function*() {
    const { enforceCapabilities, extensions, features, prior, refuseUnassociated, timeouts, versions } = options
    const resumed = transport.isResumed === true && prior !== undefined && isSpoken(prior, versions) ? prior : undefined
    // Requests that arrive before the handshake is over are answered in the requested revision.
    let version = resumed?.version ?? Initialize.requestedOf(versions)
    setEra({
      onRequest: InboundHandlers.make({
        conversation,
        features,
        extensions,
        refuseUnassociated,
        report: hub.report,
        version: () => version
      }),
      ping: Methods.ping.name,
      // MUST support receiving batches (2025-03-26 basic#batching)
      hasBatches: () => Version.hasBatches(version)
    })
    const outbound = options.telemetry
      ? Spans.traced(conversation, () => version, Spans.methodsOf(Methods.table, extensions))
      : conversation
    const capabilities = Features.capabilities(features, extensions.declared(version))
    const facts = resumed ?? (yield* Initialize.run(outbound, {
      clientInfo: options.clientInfo,
      capabilities,
      versions,
      timeout: timeouts.get(Methods.initialize.name),
      report: hub.report
    }))
    version = facts.version
    const declared = { client: capabilities, server: facts.serverCapabilities }
    const calls = Calls.make({
      outbound,
      version,
      timeouts,
      report: hub.report,
      table: MethodTable.calls,
      refusal: Calls.refusals(Methods.table, version, declared, enforceCapabilities, extensions)
    })
    return {
      facts,
      ...calls,
      extended: ExtensionVerbs.make({
        extensions,
        enforceCapabilities,
        facts,
        request: calls.request,
        notify: outbound.notify,
        report: hub.report,
        notifications: hub.listen,
        era: {
          call: calls.request,
          // No result of this era has a type.
          either: ({ method }, params, options) =>
            Effect.map(calls.call(method, params as never, options), Either.right),
          subscribe: undefined
        }
      }),
      notify: outbound.notify,
      notifications: hub.streams,
      report: hub.report,
      awaitSubscription: Effect.void,
      ended: conversation.ended
    }
  })

const isSpoken = (prior: ServerFacts, versions: ReadonlyArray<LegacyVersion>): prior is ServerFacts<LegacyVersion> =>
  (versions as ReadonlyArray<string>).includes(prior.version)
