/**
 * The server's side of modern messages: serves each request by itself, for the client that its envelope describes. Nothing is
 * remembered from one request to the next. It has the methods that only this era has, and what its handlers do in their own way.
 *
 * `RequestFacts` reads the envelope, `MessageServer` serves the messages, `Questions` knows how a question ends a request.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#_meta
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as JsonRpcError from "../../jsonrpc/JsonRpcError.js"
import type { Notification, Params, Request } from "../../jsonrpc/Message.js"
import { none } from "../../jsonrpc/Outbound.js"
import * as Outbound from "../../jsonrpc/Outbound.js"
import type { Outcome } from "../../jsonrpc/Outcome.js"
import type { Requests } from "../../jsonrpc/runtime/Requests.js"
import type { Channel, IncomingRequest, RequestSide, Side, Work } from "../../jsonrpc/Side.js"
import { closed } from "../../jsonrpc/Transport.js"
import * as Capabilities from "../../protocol/Capabilities.js"
import { ExtendedResult } from "../../protocol/Extension.js"
import * as ExtensionTable from "../../protocol/extension/ExtensionTable.js"
import type { JsonObject } from "../../protocol/Json.js"
import * as Logging from "../../protocol/Logging.js"
import { type HeaderMismatch, MissingClientCapability } from "../../protocol/McpError.js"
import * as McpError from "../../protocol/McpError.js"
import type * as Method from "../../protocol/Method.js"
import * as Caching from "../../protocol/modern/Caching.js"
import type { DiscoverResult } from "../../protocol/modern/Discover.js"
import type { Envelope } from "../../protocol/modern/Envelope.js"
import * as Headers from "../../protocol/modern/Headers.js"
import * as InputRequired from "../../protocol/modern/InputRequired.js"
import * as Methods from "../../protocol/modern/Methods.js"
import * as ParamHeaders from "../../protocol/modern/ParamHeaders.js"
import * as Stamp from "../../protocol/modern/Stamp.js"
import { isBrief } from "../../protocol/rules/NeverWaits.js"
import * as ResultMeta from "../../protocol/rules/ResultMeta.js"
import type { ModernVersion } from "../../protocol/Version.js"
import * as Version from "../../protocol/Version.js"
import type { Refuses } from "../Authenticator.js"
import * as AdvertisedCapabilities from "../features/AdvertisedCapabilities.js"
import type * as HttpExchange from "../http/HttpExchange.js"
import type { Kind } from "../Registry.js"
import type { Era, HandlerContext } from "../runtime/HandlerContext.js"
import * as HandlerName from "../runtime/HandlerName.js"
import { MessageServer } from "../runtime/MessageServer.js"
import * as MethodHints from "../runtime/MethodHints.js"
import * as QuestionCapability from "../runtime/QuestionCapability.js"
import * as Reply from "../runtime/Reply.js"
import * as RequestOrigin from "../runtime/RequestOrigin.js"
import * as Route from "../runtime/Route.js"
import * as Routes from "../runtime/Routes.js"
import { type EraRoute, listenerOf } from "../runtime/Routes.js"
import type { Server } from "../runtime/Server.js"
import type { KeptSession } from "../runtime/SessionLayer.js"
import { Round, type Rounds } from "./Questions.js"
import * as Questions from "./Questions.js"
import { envelopeOf, type Posted, RequestFacts } from "./RequestFacts.js"
import * as Status from "./Status.js"
import { resultOf, Subscriptions } from "./Subscriptions.js"
import type { Wire } from "./TaskWire.js"

/** How a server serves modern messages. Made once for each server. */
export class ModernServe extends MessageServer<RequestFacts> {
  private readonly ownLimit: RequestSide["ownLimit"] = ({ method }, channel) =>
    method === Methods.listen.name ? this.subscriptions.limitOf(RequestOrigin.principalOf(channel)) : undefined
  private readonly stamp: Stamp.Stamp
  private readonly paramHeaders: ReturnType<typeof paramHeaders>

  constructor(
    server: Server,
    /** The open subscriptions of all clients. */
    readonly subscriptions: Subscriptions,
    private readonly rounds: Questions.Rounds,
    wire: Wire | undefined
  ) {
    super(server, eraOf(server, rounds, subscriptions, wire), routes(server, subscriptions))
    this.stamp = Stamp.make("", { serverInfo: server.info })
    this.paramHeaders = paramHeaders(server)
  }

  /** Serves the messages of a pipe, which closes with the scope. */
  piped(scope: Scope.Scope): Side {
    const pipe = this.server.session?.within(scope)
    return {
      onRequest: (request, incoming) => this.serve(request, incoming, undefined, pipe),
      onNotification: (notification, channel) => this.notification(notification, channel, false, pipe),
      neverWaits: isBrief,
      ownLimit: ({ method }, channel) =>
        method === Methods.listen.name ? this.subscriptions.limitOf(channel) : undefined,
      unavailableCode
    }
  }

  /** Serves the request of one POST. */
  posted(posted: Posted): RequestSide {
    return {
      onRequest: (request, incoming) => this.serve(request, incoming, posted),
      neverWaits: isBrief,
      ownLimit: this.ownLimit,
      unavailableCode
    }
  }

  notification(
    { method, params }: Notification,
    channel: Channel,
    isPosted: boolean,
    pipe?: KeptSession
  ): Effect.Effect<void> | undefined {
    const { authenticate, versions } = this.server
    if (authenticate !== undefined && RequestOrigin.refusal(channel) !== undefined) return undefined
    if (listenerOf(this.server, method) === undefined && !this.pipeline.isSurrounded) return undefined
    return Effect.suspend(() => {
      const received: Notification = { jsonrpc: "2.0", method, ...(params === undefined ? undefined : { params }) }
      const envelope = Either.getOrElse(envelopeOf(params, versions), () => unknownClient)
      const facts = new RequestFacts(envelope, channel, isPosted, undefined, pipe)
      return this.listened(facts, received, { ...Outbound.none, channel }, this.listenerOf(facts, method))
    })
  }

  /** Answers a request of an unknown client with an error. The middleware sees both. */
  refuseUnknown(request: Request, incoming: IncomingRequest, error: McpError.McpError): Work {
    return this.refuse(unknown(incoming), request, incoming, error)
  }

  private serve(request: Request, incoming: IncomingRequest, posted?: Posted, pipe?: KeptSession): Work {
    const { authenticate, versions } = this.server
    const refusal = authenticate === undefined ? undefined : RequestOrigin.refusal(incoming.channel)
    if (refusal !== undefined) return this.failed(refusal)
    const envelope = posted?.envelope ?? envelopeOf(request.params, versions)
    if (Either.isLeft(envelope)) return this.refuseUnknown(request, incoming, envelope.left)
    const { channel } = incoming
    const facts = new RequestFacts(envelope.right, channel, posted !== undefined, posted?.headers, pipe)
    return this.plan(facts, request, incoming)
  }

  protected refusal(
    facts: RequestFacts,
    request: Request,
    route: EraRoute<RequestFacts>
  ): McpError.McpError | Route.Served | undefined {
    const mismatch = facts.headers === undefined ? undefined : this.paramHeaders(request, facts.headers, route.seen)
    if (mismatch === undefined) {
      return route.requires === undefined ? undefined : this.lacking(facts, route.requires)
    }
    const unseen = this.server.unseenTool(String(request.params?.name))
    return unseen === undefined
      ? mismatch
      : Route.served(Effect.flatMap(unseen, (unknown) => Effect.fail(unknown ?? mismatch)))
  }

  /** SHOULD ignore unexpected responses: a response is read when its key is asked for. */
  protected override mended({ method: name, params = {} }: Request, method: Method.Request) {
    const { inputResponses } = params
    if (!InputRequired.methods.has(name) || !Predicate.isRecord(inputResponses)) return undefined
    const decoded = method.decodeParams({ ...params, inputResponses: undefined })
    return Either.map(decoded, (read: {}) => ({ ...read, inputResponses }))
  }

  protected override served(handler: HandlerContext<RequestFacts>, params: any, served: Route.Served): Route.Served {
    handler.facts.hints = served.hints
    // Of other methods these are members that an extension may have given another meaning.
    if (!InputRequired.methods.has(handler.method)) return served
    const { inputResponses, requestState } = params
    if (inputResponses === undefined && requestState === undefined) return served
    const resumed = roundOf(handler, this.rounds).resume({ inputResponses, requestState })
    return resumed === undefined ? served : { ...served, effect: Effect.zipRight(resumed, served.effect) }
  }

  protected override released(
    facts: RequestFacts,
    released: Effect.Effect<void> | undefined
  ): Effect.Effect<void> | undefined {
    facts.hasEnded = true
    const sealed = facts.round?.seal
    return released === undefined || sealed === undefined ? released ?? sealed : Effect.ensuring(released, sealed)
  }

  protected override closing(handler?: HandlerContext<RequestFacts>, route?: EraRoute<RequestFacts>): Outcome {
    return handler === undefined || route?.closing === undefined
      ? { error: { code: unavailableCode(), message: "Connection closed" } }
      : route.encode(route.closing(handler), undefined, handler.facts)
  }

  outcomeOf(handler: HandlerContext<RequestFacts>, exit: Exit.Exit<unknown, unknown>, refused?: Refuses): Outcome {
    const { facts: { round }, received } = handler
    if (round?.failure !== undefined) return { error: McpError.toWire(round.failure, "modern") }
    if (round?.hasQuestions === true) {
      // The question has interrupted the handler. A finalizer may have died then.
      const bug = exit._tag === "Failure" && Cause.isDie(exit.cause)
        ? { died: exit.cause, subject: HandlerName.of(received) }
        : undefined
      return this.stamped({ result: round.result as {}, ...bug })
    }
    const failure = exit._tag === "Success" ? undefined : Option.getOrUndefined(Cause.failureOption(exit.cause))
    const special = failure instanceof ExtendedResult
      ? extended(handler, this.server.extensions, failure)
      : failure instanceof McpError.UrlElicitationRequired
      ? urlsOf(handler, failure)
      : undefined
    const replied = special === undefined
      ? Reply.ofRequest(handler, exit, "modern")
      : McpError.isMcpError(special)
      ? { error: McpError.toWire(special, "modern") }
      : { ...ResultMeta.outcome(special as {}), subject: HandlerName.of(received) }
    // The result of a tool that died was not encoded, nor was that of an extension.
    const outcome = special !== undefined || replied.died !== undefined ? this.stamped(replied) : replied
    return refused === undefined ? outcome : withStatus(outcome, refused)
  }

  protected refused(exit: Exit.Exit<unknown, unknown>, error: Refuses): Outcome {
    return withStatus(Reply.fromExit(exit, "modern", Reply.passedOn), error)
  }

  /** Adds what every result of this era has to a result that no route has encoded. */
  private stamped(outcome: Outcome): Outcome {
    return outcome.result === undefined ? outcome : { ...outcome, result: this.stamp(outcome.result) }
  }
}

export const make = (server: Server, wire?: Wire): ModernServe =>
  new ModernServe(server, new Subscriptions(server), Questions.make(server), wire)

/** Handles a notification, on a channel on which nothing can be sent. */
export const notify = (
  requests: Requests,
  serving: ModernServe,
  notification: Notification,
  origin: RequestOrigin.RequestOrigin
): void => {
  const channel = { origin, unsafeSend: () => false, send: () => Effect.fail(closed), canRequest: () => false }
  const handler = serving.notification(notification, channel, true)
  if (handler !== undefined) requests.handle(notification.method, handler)
}

const unknownClient: Envelope = {
  version: Version.latestModern,
  capabilities: {},
  clientInfo: undefined,
  logLevel: undefined
}

const unknown = ({ channel }: IncomingRequest): RequestFacts => new RequestFacts(unknownClient, channel, false)

// SHOULD NOT send a code from -32000 to -32019.
const unavailableCode = (): number => JsonRpcError.INTERNAL_ERROR

/** The outcome of a request that is refused, with the HTTP status of the refusal, unless middleware has died or given a status. */
const withStatus = (outcome: Outcome, refused: Refuses): Outcome =>
  outcome.error === undefined || outcome.notes !== undefined || outcome.died !== undefined
    ? outcome
    : { ...outcome, notes: { status: Status.of(refused) } }

/** The URLs that a handler wants a person to open, as questions: this era has no error for them. */
const urlsOf = (
  { client, method }: HandlerContext<RequestFacts>,
  failure: McpError.UrlElicitationRequired
): InputRequired.InputRequiredResult | McpError.MissingClientCapability | undefined => {
  // `Reply` reports an invalid URL.
  if (!InputRequired.methods.has(method) || Reply.invalidUrl(failure) !== undefined) return undefined
  const required = { elicitation: { url: {} } }
  return client.supports(required)
    ? InputRequired.ofUrlElicitations(failure.elicitations)
    : new McpError.MissingClientCapability({ required })
}

/**
 * Gives the error of a request whose headers differ from its arguments, where only the tables of the server know such headers: those that
 * repeat arguments of tools whose schema marks them with `x-mcp-header`, and `Mcp-Name` of the methods of extensions. Which headers a tool
 * has is computed once for each schema. `seen` gives the arguments as the handler of the tool gets them.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports#custom-headers-from-tool-parameters
 */
const paramHeaders = (
  { extensions: { nameParameters }, inputSchema }: Pick<Server, "extensions" | "inputSchema">
): (request: Request, sent: HttpExchange.Headers, seen: Route.Route["seen"]) => HeaderMismatch | undefined => {
  const headers = new WeakMap<JsonObject, ReadonlyArray<ParamHeaders.ParamHeader>>()
  const headersOf = (schema: JsonObject): ReadonlyArray<ParamHeaders.ParamHeader> => {
    let found = headers.get(schema)
    if (found === undefined) headers.set(schema, found = Either.getOrElse(ParamHeaders.of(schema), () => []))
    return found
  }
  return (request, sent, seen) => {
    const { method, params } = request
    if (nameParameters.has(method)) {
      return Option.getOrUndefined(Either.getLeft(Headers.check(request, (name) => sent[name], nameParameters)))
    }
    if (method !== Methods.callTool.name) return undefined
    const schema = typeof params?.name === "string" ? inputSchema(params.name) : undefined
    const marked = schema === undefined ? [] : headersOf(schema)
    if (marked.length === 0) return undefined
    const args = (seen === undefined ? params : seen(params))?.arguments as JsonObject | undefined
    const checked = ParamHeaders.check(marked, args, (name) => sent[name])
    return Either.isLeft(checked) ? checked.left : undefined
  }
}

/**
 * The result, or the error of a client that has not declared the extension. `undefined` when the server does not have the
 * type for this method, or the value does not conform to its schema: both are mistakes of the handler.
 */
const extended = (
  { facts: { clientCapabilities, version }, method }: HandlerContext<RequestFacts>,
  extensions: ExtensionTable.ExtensionTable,
  { resultType, value }: ExtendedResult
): JsonObject | MissingClientCapability | undefined => {
  const { extension, type, value: schema } = resultType
  const known = extensions.resultTypes.get(method)?.get(type)
  if (known?.extension !== extension || !ExtensionTable.isIn(known, version)) return undefined
  const required = Capabilities.missing(clientCapabilities, ExtensionTable.capability(extension))
  if (required !== undefined) return new MissingClientCapability({ required })
  const encoded = Schema.encodeUnknownEither(schema)(value)
  return Either.isLeft(encoded) ? undefined : { ...encoded.right, resultType: type }
}

const routes = (server: Server, subscriptions: Subscriptions): Routes.Routes<RequestFacts> =>
  Routes.make(server, {
    methods: Methods.table,
    capabilities: server.capabilities,
    stamp: (method) =>
      Stamp.make(method, {
        serverInfo: server.info,
        hints: MethodHints.ofMethod(server.cache, method) as {},
        isCacheable: isCacheable(server, method)
      }) as (result: Params) => Params,
    own: [
      {
        method: Methods.discover,
        isTrusted: true,
        isStable: false,
        serve: (_, { version }) => Route.served(Effect.sync(() => discover(server, version)))
      },
      {
        method: Methods.listen,
        isTrusted: true,
        isStable: false,
        serve: (params, handler) => Route.served(subscriptions.listen(params, handler)),
        closing: ({ id }) => resultOf(id!)
      }
    ]
  })

/** The revisions that the server supports, and its capabilities. A client may ask for them first; no other request needs them. */
const discover = (
  { capabilities, extensions, instructions, versions }: Server,
  version: ModernVersion
): DiscoverResult => {
  const text = instructions()
  return {
    supportedVersions: versions,
    capabilities: AdvertisedCapabilities.withExtensions(capabilities(), extensions.declared(version)),
    ...(text === undefined ? undefined : { instructions: text })
  }
}

const isCacheable = ({ extensions }: Server, method: string): boolean => {
  const added = extensions.methods.get(method)
  return added?.kind === "request" ? added.isCacheable : Caching.isCacheable(method)
}

const eraOf = (
  { extensions, logging }: Pick<Server, "extensions" | "logging">,
  rounds: Rounds,
  subscriptions: Subscriptions,
  wire: Wire | undefined
): Era<RequestFacts> => {
  const hasTasks = wire?.isGiven(extensions) === true
  return {
    extensions,
    notifications: Methods,
    // MUST NOT send log messages for a request that names no level.
    receives: ({ logLevel }, level) => logging && logLevel !== undefined && Logging.isAtLeast(level, logLevel),
    allows: () => true,
    standalone: () => none,
    changed: ({ facts }) => {
      const changed = (kind: Kind) => Effect.suspend(() => subscriptions.changedFor(facts.subscriber, kind))
      return {
        tools: changed("tools"),
        resources: changed("resources"),
        prompts: changed("prompts"),
        // The server announces updates itself to the clients that listen to a resource.
        resource: () => Effect.void
      }
    },
    elicitationComplete: () => Effect.void,
    asker: (handler) => ({
      ask: (questions) => roundOf(handler, rounds).ask(questions),
      askAsTask: (question) =>
        Effect.fail(new MissingClientCapability({ required: QuestionCapability.asTask(question) })),
      request: none.request,
      get round() {
        return InputRequired.methods.has(handler.method) ? roundOf(handler, rounds).passed : undefined
      }
    }),
    tasks: (handler) => hasTasks ? wire?.dialect(handler) : undefined
  }
}

const roundOf = (handler: HandlerContext<RequestFacts>, rounds: Rounds): Round =>
  handler.facts.round ??= new Round(rounds, handler)
