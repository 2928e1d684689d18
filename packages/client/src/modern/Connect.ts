/**
 * Makes a session of the modern era over an open conversation with a server whose description is known. No message is
 * exchanged for it. The subscription for changes of the server's lists opens in the background.
 */
import { MAX_IN_FLIGHT } from "@effect-mcp/jsonrpc/Conversation"
import { ClientCapabilities } from "@effect-mcp/protocol/Capabilities"
import * as Methods from "@effect-mcp/protocol/modern/Methods"
import * as Narrow from "@effect-mcp/protocol/modern/Narrow"
import type { ModernVersion } from "@effect-mcp/protocol/Version"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { FeaturesService } from "../Features.js"
import * as Features from "../Features.js"
import * as Calls from "../session/Calls.js"
import type { NegotiatedSession, Options, ServerFacts } from "../session/NegotiatedSession.js"
import type { Opening } from "../session/Opening.js"
import * as Spans from "../session/Spans.js"
import * as InputAnswers from "./InputAnswers.js"
import * as InputRounds from "./InputRounds.js"
import * as Listen from "./Listen.js"
import * as ResponseCache from "./ResponseCache.js"
import * as Stamped from "./Stamped.js"
import * as Verbs from "./Verbs.js"

/** An `Outbound` of a client in a revision. A client that reads log messages asks for those of level `info` and above. */
export const stamped = (
  { conversation }: Opening,
  { clientInfo, features, telemetry }: Options,
  version: ModernVersion
): Stamped.Stamped =>
  Stamped.make(telemetry ? Spans.traced(conversation, () => version, Methods.table) : conversation, {
    version,
    clientInfo,
    capabilities: declaredBy(features, version),
    logLevel: features.logging === undefined ? undefined : "info"
  })

/** The capabilities of a client, as this revision knows them. */
const declaredBy = (features: FeaturesService, version: ModernVersion): ClientCapabilities =>
  Narrow.compile(ClientCapabilities, version)(Features.capabilities(features)) as ClientCapabilities

/** The subscription ends with the scope. */
export const connect = (
  opening: Opening,
  outbound: Stamped.Stamped,
  facts: ServerFacts<ModernVersion>,
  options: Options
): Effect.Effect<NegotiatedSession, never, Scope.Scope> =>
  Effect.gen(function*() {
    const { conversation, hub, setEra } = opening
    const { version } = facts
    const cache = ResponseCache.make()
    const publish: Options["onNotification"] = (notification) => {
      cache.onNotification(notification)
      options.onNotification(notification)
      hub.publish(notification)
    }
    const listen = yield* Listen.make(outbound, facts.serverCapabilities, publish)
    // Without a handler of requests: a modern server MUST NOT send any.
    setEra({
      onNotification: (notification) => {
        cache.onNotification(notification)
        return notification.method === Methods.acknowledged.name ? listen.acknowledge(notification.params) : undefined
      }
    })
    yield* listen.open
    const client = declaredBy(options.features, version)
    const rounds: InputRounds.Options = {
      answer: InputAnswers.make(options.features, client, version),
      maxInFlight: options.maxInFlight ?? MAX_IN_FLIGHT,
      maxRounds: InputRounds.MAX_ROUNDS
    }
    const declared = { client, server: facts.serverCapabilities }
    const refusal = Calls.refusals(Methods.table, version, declared, options.enforceCapabilities)
    const { timeout, timeouts } = options
    const request = Calls.requests({ outbound, refusal, timeouts })
    return {
      facts,
      call: Verbs.make({ version, outbound, request, listen, timeout, timeouts, cache, rounds, report: hub.report }),
      request,
      refusal,
      notify: outbound.notify,
      notifications: hub.streams,
      report: hub.report,
      ended: conversation.ended
    }
  })
