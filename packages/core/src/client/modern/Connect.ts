/**
 * Makes a session of the modern era (revision 2026-07-28), for `Negotiation`, when a conversation with the server is open and the client
 * has the server's description. The client sends no message to open the session. The subscription for changes of the server's lists
 * (`Listen`) opens in the background. `ModernCalls` calls methods.
 *
 * `enveloped` writes the envelope that every request of this era carries: the revision, the capabilities and the name of the client, and
 * the log level that the client wants. The features of the client answer the questions of the server with `FeatureAnswers`.
 */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { MAX_IN_FLIGHT } from "../../jsonrpc/Conversation.js"
import { Diagnostic } from "../../jsonrpc/Diagnostic.js"
import type { Params, RequestId } from "../../jsonrpc/Message.js"
import type { Outbound } from "../../jsonrpc/Outbound.js"
import { ClientCapabilities } from "../../protocol/Capabilities.js"
import * as ExtensionTable from "../../protocol/extension/ExtensionTable.js"
import type { JsonObject } from "../../protocol/Json.js"
import type { LoggingLevel } from "../../protocol/Logging.js"
import * as McpError from "../../protocol/McpError.js"
import type { RequestMeta } from "../../protocol/Meta.js"
import type * as Method from "../../protocol/Method.js"
import * as Envelope from "../../protocol/modern/Envelope.js"
import * as InputRequired from "../../protocol/modern/InputRequired.js"
import * as Methods from "../../protocol/modern/Methods.js"
import * as Projection from "../../protocol/schema/Projection.js"
import type { ModernVersion } from "../../protocol/Version.js"
import { fromCall } from "../ClientError.js"
import type { FeatureHandler, FeaturesService } from "../ClientFeatures.js"
import type { CallOptions } from "../ClientSession.js"
import { FeatureContext, type FeatureContextService } from "../FeatureContext.js"
import * as DeclaredCapabilities from "../session/DeclaredCapabilities.js"
import type { Report } from "../session/Decoding.js"
import * as ExtensionMethods from "../session/ExtensionMethods.js"
import * as FeatureAnswers from "../session/FeatureAnswers.js"
import * as MethodCalls from "../session/MethodCalls.js"
import type { NegotiatedSession, Options, ServerFacts } from "../session/NegotiatedSession.js"
import type { Opening } from "../session/Opening.js"
import * as InputRounds from "./InputRounds.js"
import * as Listen from "./Listen.js"
import { ModernCalls } from "./ModernCalls.js"
import { ResponseCache } from "./ResponseCache.js"
import * as ResultReaders from "./ResultReaders.js"
import * as TaskExtension from "./TaskExtension.js"
import * as ToolHeaders from "./ToolHeaders.js"

export interface Enveloped extends Outbound {
  /**
   * Sets the least severe level of the log messages that later requests ask for. Before a level is set, requests ask for no log messages,
   * or for level `info` if the client reads log messages.
   */
  readonly setLogLevel: (level: LoggingLevel) => void
}

/**
 * Returns an `Outbound` whose requests and notifications carry the envelope of a client in a revision. A client with the feature `logging`
 * asks for log messages of level `info` and above.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#_meta
 */
export const enveloped = ({ conversation }: Opening, options: Options, version: ModernVersion): Enveloped => {
  const { clientInfo, extensions, features, tracing } = options
  const outbound = tracing?.traced(conversation, () => version, Methods.table, extensions) ?? conversation
  const capabilities = declaredBy(options, version)
  // A new level makes a new writer, so that each request needs at most one comparison.
  let current = {
    version,
    clientInfo,
    capabilities,
    logLevel: features.logging === undefined ? undefined : "info" as LoggingLevel
  }
  let write = Envelope.writer(current)
  return {
    setLogLevel: (logLevel) => {
      current = { ...current, logLevel }
      write = Envelope.writer(current)
    },
    request: (method, params, options?: CallOptions) => {
      const { capabilities, logLevel } = options ?? noOptions
      const writing = capabilities === undefined && logLevel === undefined ? write : Envelope.writer({
        ...current,
        capabilities: capabilities ?? current.capabilities,
        logLevel: logLevel ?? current.logLevel
      })
      return outbound.request(method, writing(params ?? noParams) as Params, options)
    },
    // The modern era has no notification of changed roots, because the server asks for the roots again in the next call. Other
    // notifications get the envelope, so that a server of both eras can tell the era of the notification.
    notify: (method, params) =>
      method === ROOTS_CHANGED ? Effect.void : outbound.notify(method, write(params ?? noParams) as Params)
  }
}

const noParams: Params = {}

const noOptions: CallOptions = {}

const ROOTS_CHANGED = "notifications/roots/list_changed"

/** Returns the capabilities of a client, with the members that this revision has. */
const declaredBy = ({ extensions, features }: Options, version: ModernVersion): ClientCapabilities =>
  Projection.compile(ClientCapabilities, version)(
    DeclaredCapabilities.of(features, extensions.declared(version))
  ) as ClientCapabilities

/** Returns the types of results of the extensions that both sides have declared. */
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

/** Makes the session. Its subscription ends when the scope closes. */
export const connect = (
  opening: Opening,
  outbound: Enveloped,
  facts: ServerFacts<ModernVersion>,
  options: Options
): Effect.Effect<NegotiatedSession, never, Scope.Scope> =>
  Effect.gen(function*() {
    const { conversation, hub, transport } = opening
    const { serverCapabilities, version } = facts
    const { enforceCapabilities, extensions, features, timeouts } = options
    const cache = new ResponseCache({ credentials: transport.exchanges?.credentials, timeout: options.timeout })
    const listen = yield* Listen.make(outbound, facts, publishes(opening, options, cache), hub.report)
    receive(opening, cache, listen)
    yield* listen.open
    const client = declaredBy(options, version)
    const rounds = roundsOf(opening, client, facts, options)
    const declared = { client, server: serverCapabilities }
    const refusal = MethodCalls.refusals(Methods.table, version, declared, enforceCapabilities, extensions)
    const modern = new ModernCalls({
      ...options,
      serverCapabilities,
      version,
      setLogLevel: outbound.setLogLevel,
      request: MethodCalls.requests({ outbound, refusal, timeouts }),
      toolHeaders: ToolHeaders.ofExchanges(transport.exchanges),
      listen,
      responses: cache,
      rounds,
      readers: ResultReaders.make(features, () => extended),
      report: hub.report
    })
    const era: ExtensionMethods.EraCalls = {
      ...modern.extended,
      subscribe: (filter, keys, onReopened) => Effect.mapError(listen.include(filter, keys, onReopened), fromCall)
    }
    const [{ notify }, { request }] = [outbound, modern]
    const extended = ExtensionMethods.make(options, hub, facts, { request, notify }, era)
    return {
      facts,
      call: modern.call,
      extended,
      tasks: TaskExtension.make(options, modern.call, era, rounds, version),
      request,
      refusal,
      notify,
      notifications: hub.streams,
      report: hub.report,
      awaitSubscription: listen.opened,
      ended: conversation.ended
    }
  })

/** Publishes every change that the server may have reported while the subscription was broken. */
const publishes =
  ({ hub }: Opening, options: Options, cache: ResponseCache): Options["onNotification"] => (notification) => {
    cache.onNotification(notification)
    options.onNotification(notification)
    hub.publish(notification)
  }

/** Handles the notifications of the era. There is no handler of requests, because a modern server MUST NOT send requests. */
const receive = ({ setEra }: Opening, cache: ResponseCache, listen: Listen.Listen): void =>
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

/** Makes the options with which the client answers the questions of the server. */
const roundsOf = (
  { hub: { report } }: Opening,
  declared: ClientCapabilities,
  facts: ServerFacts<ModernVersion>,
  options: Options
): InputRounds.Options => ({
  answer: answers({ features: options.features, declared, version: facts.version, report }),
  maxInFlight: options.limits?.maxInFlight ?? MAX_IN_FLIGHT,
  maxRounds: options.limits?.maxRounds ?? InputRounds.MAX_ROUNDS,
  resultTypes: resultTypes(options, facts),
  report
})

interface Answering {
  readonly features: FeaturesService
  /** The capabilities that the client has declared to the server. */
  readonly declared: ClientCapabilities
  readonly version: ModernVersion
  readonly report: Report
}

const answers = (self: Answering): InputRounds.Options["answer"] => (key, request, call) => {
  const { declared, features } = self
  const { roots, sampling } = features
  const context = featureContext(key, request, call)
  switch (request.method) {
    case "sampling/createMessage": {
      if (sampling === undefined) return unsupported(request.method)
      const answer = FeatureAnswers.sample(sampling, declared, request.params)
      return answered(self, InputRequired.createMessage, sampling, context, answer)
    }
    case "elicitation/create": {
      const answer = FeatureAnswers.elicit(features, declared, request.params)
      return answered(self, InputRequired.elicit, undefined, context, answer)
    }
    case "roots/list":
      return roots === undefined
        ? unsupported(request.method)
        : answered(self, InputRequired.listRoots, roots, context, FeatureAnswers.listRoots(roots))
  }
}

/** Runs the handler of a feature in its context. When the handler dies, the defect is reported, and the answer is an error. */
const answered = (
  { report, version }: Answering,
  method: Method.Request,
  feature: Pick<FeatureHandler<unknown>, "context"> | undefined,
  context: FeatureContextService,
  answer: Effect.Effect<any, McpError.McpError, any>
): Effect.Effect<unknown, McpError.McpError> =>
  Effect.mapInputContext(
    Effect.scoped(answer) as Effect.Effect<unknown, McpError.McpError>,
    (caller: Context.Context<never>) =>
      Context.add(
        feature === undefined ? caller : Context.merge(caller, feature.context),
        FeatureContext,
        context
      )
  ).pipe(
    Effect.flatMap((value) =>
      method.isResult(value)
        ? Effect.succeed(method.narrowResult(version)(value))
        : Effect.dieMessage(`The handler of "${method.name}" returned an invalid result`)
    ),
    Effect.catchAllCause((cause) =>
      Cause.isDie(cause) && !Cause.isInterrupted(cause)
        ? Effect.zipRight(
          report(Diagnostic.HandlerDied({ method: method.name, cause: cause as Cause.Cause<never> })),
          Effect.fail(handlerDied)
        )
        : Effect.failCause(cause)
    )
  )

const handlerDied = new McpError.InternalError({
  message: "its handler died, and `diagnostics` or the log has the cause"
})

const unsupported = (method: string) => Effect.fail(new McpError.MethodNotFound({ method }))

const featureContext = (
  id: string,
  { method, params }: InputRequired.InputRequest,
  call: RequestId | undefined
): FeatureContextService => ({
  id,
  method,
  call,
  meta: ((params as JsonObject | undefined)?._meta ?? {}) as RequestMeta,
  cancelReason: Effect.succeedNone,
  progress: () => Effect.void,
  notify: () => Effect.void
})
