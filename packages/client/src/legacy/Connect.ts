/**
 * Makes a session of the legacy era over an open conversation: makes the handshake (`Initialize`), unless an earlier
 * connection has made it, and answers the server's requests with the client's features.
 */
import * as Methods from "@effect-mcp/protocol/legacy/Methods"
import { getTaskPayload } from "@effect-mcp/protocol/legacy/TaskMethods"
import type { LegacyVersion } from "@effect-mcp/protocol/Version"
import * as Version from "@effect-mcp/protocol/Version"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Scope from "effect/Scope"
import type { ConnectError } from "../ClientError.js"
import * as Calls from "../session/Calls.js"
import * as DeclaredCapabilities from "../session/DeclaredCapabilities.js"
import * as ExtensionVerbs from "../session/ExtensionVerbs.js"
import type { NegotiatedSession, Options, ServerFacts } from "../session/NegotiatedSession.js"
import type { EraHandlers, Opening } from "../session/Opening.js"
import * as Spans from "../session/Spans.js"
import * as InboundHandlers from "./InboundHandlers.js"
import * as InboundTasks from "./InboundTasks.js"
import * as Initialize from "./Initialize.js"
import * as MethodTable from "./MethodTable.js"
import * as Tasks from "./Tasks.js"

export const connect = (
  { conversation, hub, scope, setEra, transport }: Opening,
  options: Options<LegacyVersion>
): Effect.Effect<NegotiatedSession, ConnectError> =>
  Effect.gen(function*() {
    const { enforceCapabilities, extensions, features, prior, refuseUnassociated, timeouts, versions } = options
    const resumed = transport.isResumed === true && prior !== undefined && isSpoken(prior, versions) ? prior : undefined
    const tasks = features.tasks === undefined ? undefined : yield* Scope.extend(
      InboundTasks.make(features.tasks, {
        notify: conversation.notify,
        report: hub.report,
        ended: conversation.ended,
        closeTimeout: options.closeTimeout
      }),
      scope
    )
    // Requests that arrive before the handshake is over are answered in the requested revision.
    let version = resumed?.version ?? Initialize.requestedOf(versions)
    const handlers: EraHandlers = {
      onRequest: InboundHandlers.make({
        conversation,
        features,
        extensions,
        refuseUnassociated,
        report: hub.report,
        tasks,
        version: () => version
      }),
      ownLimit: ({ method }) => method === getTaskPayload.name ? tasks?.resultLimit : undefined,
      // MUST support receiving batches (2025-03-26 basic#batching)
      hasBatches: () => Version.hasBatches(version)
    }
    setEra(handlers)
    const outbound = options.telemetry
      ? Spans.traced(conversation, () => version, Spans.methodsOf(Methods.table, extensions))
      : conversation
    const capabilities = DeclaredCapabilities.of(features, extensions.declared(version))
    const facts = resumed ?? (yield* Initialize.run(outbound, {
      clientInfo: options.clientInfo,
      capabilities,
      versions,
      timeout: timeouts.get(Methods.initialize.name),
      report: hub.report
    }))
    version = facts.version
    // A server that still starts would count as gone.
    setEra({ ...handlers, ping: Methods.ping.name })
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
      tasks: Tasks.make({ calls, version, serverCapabilities: facts.serverCapabilities, report: hub.report }),
      notify: outbound.notify,
      notifications: hub.streams,
      report: hub.report,
      awaitSubscription: Effect.void,
      ended: conversation.ended
    }
  })

const isSpoken = (prior: ServerFacts, versions: ReadonlyArray<LegacyVersion>): prior is ServerFacts<LegacyVersion> =>
  (versions as ReadonlyArray<string>).includes(prior.version)
