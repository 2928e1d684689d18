/**
 * Makes a session of the modern era over an open conversation with a server whose description is known. No message is
 * exchanged for it. The subscription for changes of the server's lists opens in the background.
 */
import { MAX_IN_FLIGHT } from "@effect-mcp/jsonrpc/Conversation"
import { ClientCapabilities } from "@effect-mcp/protocol/Capabilities"
import * as Methods from "@effect-mcp/protocol/modern/Methods"
import * as Narrow from "@effect-mcp/protocol/modern/Narrow"
import * as ExtensionTable from "@effect-mcp/protocol/unstable/ExtensionTable"
import type { ModernVersion } from "@effect-mcp/protocol/Version"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { fromCall } from "../ClientError.js"
import * as Calls from "../session/Calls.js"
import * as DeclaredCapabilities from "../session/DeclaredCapabilities.js"
import * as ExtensionVerbs from "../session/ExtensionVerbs.js"
import type { NegotiatedSession, Options, ServerFacts } from "../session/NegotiatedSession.js"
import type { Opening } from "../session/Opening.js"
import * as Spans from "../session/Spans.js"
import * as InputAnswers from "./InputAnswers.js"
import * as InputRounds from "./InputRounds.js"
import * as Listen from "./Listen.js"
import * as ResponseCache from "./ResponseCache.js"
import * as ResultReaders from "./ResultReaders.js"
import * as Stamped from "./Stamped.js"
import * as Tasks from "./Tasks.js"
import * as Verbs from "./Verbs.js"

/** An `Outbound` of a client in a revision. A client that reads log messages asks for those of level `info` and above. */
export const stamped = (
  { conversation }: Opening,
  options: Options,
  version: ModernVersion
): Stamped.Stamped => {
  const { clientInfo, extensions, features, telemetry } = options
  const methods = Spans.methodsOf(Methods.table, extensions)
  return Stamped.make(telemetry ? Spans.traced(conversation, () => version, methods) : conversation, {
    version,
    clientInfo,
    capabilities: declaredBy(options, version),
    logLevel: features.logging === undefined ? undefined : "info"
  })
}

/** The capabilities of a client, as this revision knows them. */
const declaredBy = ({ extensions, features }: Options, version: ModernVersion): ClientCapabilities =>
  Narrow.compile(ClientCapabilities, version)(
    DeclaredCapabilities.of(features, extensions.declared(version))
  ) as ClientCapabilities

/** The types of results that the extensions add which both sides have declared. */
const resultTypes = (
  { enforceCapabilities, extensions }: Options,
  { serverCapabilities, version }: ServerFacts<ModernVersion>
): InputRounds.Options["resultTypes"] =>
  new Map([...extensions.resultTypes].map(([method, types]) => [
    method,
    new Map(
      [...types].filter(([, one]) =>
        ExtensionTable.isIn(one, version) &&
        (!enforceCapabilities || serverCapabilities.extensions?.[one.extension] !== undefined)
      )
    )
  ]))

/** The subscription ends with the scope. */
export const connect = (
  opening: Opening,
  outbound: Stamped.Stamped,
  facts: ServerFacts<ModernVersion>,
  options: Options
): Effect.Effect<NegotiatedSession, never, Scope.Scope> =>
  Effect.gen(function*() {
    const { conversation, hub, setEra, transport } = opening
    const { version } = facts
    const cache = ResponseCache.make({ credentials: transport.credentials, timeout: options.timeout })
    const publish: Options["onNotification"] = (notification) => {
      cache.onNotification(notification)
      options.onNotification(notification)
      hub.publish(notification)
    }
    const listen = yield* Listen.make(outbound, facts.serverCapabilities, publish, hub.report)
    // Without a handler of requests: a modern server MUST NOT send any.
    setEra({
      onNotification: (notification) => {
        cache.onNotification(notification)
        switch (notification.method) {
          case Methods.acknowledged.name:
            return listen.acknowledge(notification.params)
          case Methods.cancelled.name:
            return listen.cancelled(notification.params)
          default:
            return undefined
        }
      }
    })
    yield* listen.open
    const client = declaredBy(options, version)
    const rounds: InputRounds.Options = {
      answer: InputAnswers.make(options.features, client, version, hub.report),
      maxInFlight: options.maxInFlight ?? MAX_IN_FLIGHT,
      maxRounds: options.maxRounds ?? InputRounds.MAX_ROUNDS,
      resultTypes: resultTypes(options, facts),
      report: hub.report
    }
    const declared = { client, server: facts.serverCapabilities }
    const refusal = Calls.refusals(Methods.table, version, declared, options.enforceCapabilities, options.extensions)
    const request = Calls.requests({ outbound, refusal, timeouts: options.timeouts })
    const readers = ResultReaders.make(options.features, () => extended)
    const verbs = Verbs.make({
      ...options,
      serverCapabilities: facts.serverCapabilities,
      version,
      outbound,
      request,
      listen,
      cache,
      rounds,
      readers,
      report: hub.report
    })
    const era: ExtensionVerbs.EraCalls = {
      ...verbs.extended,
      subscribe: (filter, keys, onReopened) => Effect.mapError(listen.include(filter, keys, onReopened), fromCall)
    }
    const extended = ExtensionVerbs.make({
      extensions: options.extensions,
      enforceCapabilities: options.enforceCapabilities,
      facts,
      request,
      notify: outbound.notify,
      report: hub.report,
      notifications: hub.listen,
      era
    })
    return {
      facts,
      call: verbs.call,
      extended,
      tasks: Tasks.make({
        call: verbs.call,
        extended: era,
        extensions: options.extensions,
        features: options.features,
        rounds,
        version
      }),
      request,
      refusal,
      notify: outbound.notify,
      notifications: hub.streams,
      report: hub.report,
      awaitSubscription: listen.opened,
      ended: conversation.ended
    }
  })
