/**
 * The server's side of modern messages: reads the envelope of each request, and serves the request by itself. Nothing is
 * remembered from one request to the next.
 *
 * `Routes` knows what serves a method, `Pipeline` what surrounds a handler, `Ask` how a question ends a request.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#_meta
 */
import * as JsonRpcError from "@effect-mcp/jsonrpc/JsonRpcError"
import type { Notification, Request } from "@effect-mcp/jsonrpc/Message"
import * as Outbound from "@effect-mcp/jsonrpc/Outbound"
import type { Outcome } from "@effect-mcp/jsonrpc/Outcome"
import type { Channel, IncomingRequest, RequestSide, Work } from "@effect-mcp/jsonrpc/Side"
import * as Capabilities from "@effect-mcp/protocol/Capabilities"
import { ExtendedResult } from "@effect-mcp/protocol/Extension"
import * as McpError from "@effect-mcp/protocol/McpError"
import * as Method from "@effect-mcp/protocol/Method"
import type { Envelope } from "@effect-mcp/protocol/modern/Envelope"
import { decode } from "@effect-mcp/protocol/modern/Envelope"
import * as InputRequired from "@effect-mcp/protocol/modern/InputRequired"
import * as Methods from "@effect-mcp/protocol/modern/Methods"
import { extension as TasksExtension } from "@effect-mcp/protocol/modern/Tasks"
import { isBrief } from "@effect-mcp/protocol/unstable/NeverWaits"
import * as ResultMeta from "@effect-mcp/protocol/unstable/ResultMeta"
import * as Version from "@effect-mcp/protocol/Version"
import * as Cause from "effect/Cause"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import type { Refuses } from "../Authenticator.js"
import type { Headers } from "../http/HttpExchange.js"
import type { Kind } from "../Registry.js"
import * as Pipeline from "../runtime/Pipeline.js"
import * as Reply from "../runtime/Reply.js"
import * as RequestOrigin from "../runtime/RequestOrigin.js"
import { RequestScope } from "../runtime/RequestScope.js"
import * as Route from "../runtime/Route.js"
import type { Server } from "../runtime/Server.js"
import * as Subject from "../runtime/Subject.js"
import * as Ask from "./Ask.js"
import * as ExtendedResults from "./ExtendedResults.js"
import * as ParamHeaders from "./ParamHeaders.js"
import * as Routes from "./Routes.js"
import { ModernServerSession } from "./ServerSession.js"
import * as Status from "./Status.js"
import type { Client } from "./Subscriptions.js"
import { Subscriptions } from "./Subscriptions.js"
import * as Tasks from "./Tasks.js"

/** What was read of a POST before its request is served. */
export interface Posted {
  readonly envelope: Read
  /** What must repeat arguments; `undefined` where there are no headers. */
  readonly headers: Headers | undefined
}

/** How a server serves modern messages. Made once for each server. */
export interface Serving {
  /** Serves the requests of pipes. */
  readonly piped: RequestSide
  /** Serves the request of one POST. */
  readonly posted: (posted: Posted) => RequestSide
  /** Answers a request with an error. The middleware sees both. */
  readonly refuse: (request: Request, incoming: IncomingRequest, error: McpError.McpError) => Work
  readonly notification: (
    notification: Notification,
    channel: Channel,
    isPosted: boolean
  ) => Effect.Effect<void> | undefined
  /** The open subscriptions of all clients. */
  readonly subscriptions: Subscriptions
}

export const make = (server: Server): Serving => {
  const { authenticate, extensions, logging, router, versions } = server
  const subscriptions = new Subscriptions(server)
  const routes = Routes.make(server, subscriptions)
  const pipeline = Pipeline.make(server)
  const paramHeaders = ParamHeaders.make(server)
  const shared = {
    extensions,
    logging,
    rounds: Ask.make(server.rounds, server.sealKeys),
    tasks: extensions.byId.has(TasksExtension.id) ? Tasks.dialect : undefined,
    listChanged: (client: Client, kind: Kind) => subscriptions.changedFor(client, kind)
  }
  const limitOfPost: RequestSide["ownLimit"] = (request, channel) =>
    isListen(request) ? subscriptions.limitOf(RequestOrigin.of(channel).principal?.id) : undefined
  const unknownClient: Envelope = {
    version: Version.latestModern,
    capabilities: {},
    clientInfo: undefined,
    logLevel: undefined
  }

  const serve = (request: Request, incoming: IncomingRequest, posted?: Posted): Work => {
    const refusal = authenticate === undefined ? undefined : RequestOrigin.refusal(incoming.channel)
    if (refusal !== undefined) return failed(refusal)
    const envelope = posted?.envelope ?? envelopeOf(request.params, versions)
    if (Either.isLeft(envelope)) return refuse(request, incoming, envelope.left)
    const isPosted = posted !== undefined
    const route = routes.find(request.method, envelope.right.version)
    if (route === undefined) {
      const error = new McpError.MethodNotFound({ method: Subject.quotable(request.method) })
      return refuse(request, incoming, error, envelope.right, isPosted)
    }
    const mismatch = posted?.headers === undefined ? undefined : paramHeaders(request, posted.headers)
    if (mismatch !== undefined) {
      const unseen = server.unseenTool(String(request.params?.name))
      return unseen === undefined
        ? refuse(request, incoming, mismatch, envelope.right, isPosted)
        : work(
          envelope.right,
          request,
          incoming,
          route,
          () => Route.served(Effect.flatMap(unseen, (unknown) => Effect.fail(unknown ?? mismatch))),
          isPosted
        )
    }
    const { requires } = route
    const required = requires === undefined
      ? undefined
      : Capabilities.missing(envelope.right.capabilities, requires)
    if (required !== undefined) {
      return refuse(request, incoming, new McpError.MissingClientCapability({ required }), envelope.right, isPosted)
    }
    const handle = (session: ModernServerSession): Route.Served => {
      const params = route.method.decodeParams(request.params)
      if (Either.isLeft(params)) return Route.failed(McpError.ofIssue(params.left.issue))
      const served = route.serve(params.right, session, request.params)
      session.hints = served.hints
      // Of other methods these are members that an extension may have given another meaning.
      if (!InputRequired.mayRequireInput(request.method)) return served
      const { inputResponses, requestState } = params.right
      if (inputResponses === undefined && requestState === undefined) return served
      const resumed = session.questions.resume({ inputResponses, requestState })
      return resumed === undefined ? served : { ...served, effect: Effect.zipRight(resumed, served.effect) }
    }
    return work(envelope.right, request, incoming, route, handle, isPosted)
  }

  const refuse = (
    request: Request,
    incoming: IncomingRequest,
    error: McpError.McpError,
    envelope: Envelope = unknownClient,
    isPosted = false
  ): Work =>
    pipeline.isSurrounded
      ? work(envelope, request, incoming, undefined, () => Route.failed(error), isPosted, Status.of(error))
      : failed(error)

  const work = (
    envelope: Envelope,
    request: Request,
    incoming: IncomingRequest,
    route: Routes.ModernRoute | undefined,
    serve: (session: ModernServerSession) => Route.Served,
    isPosted: boolean,
    /** The HTTP status of an error, where the request is refused. */
    status?: number
  ): Work => {
    const session = new ModernServerSession(envelope, request, incoming, shared, isPosted)
    const scope = new RequestScope()
    const { context, effect } = pipeline.start(session, scope, undefined, true, serve)
    const encode = (result: unknown): Outcome =>
      route === undefined ? unchecked(result) : route.encode(result, session.hints)
    const outcomeOf = (exit: Exit.Exit<unknown, unknown>): Outcome => {
      const round = session.existingRound
      if (round?.failure !== undefined) return { error: McpError.toWire(round.failure, "modern") }
      if (round?.hasQuestions !== true) return withStatus(replyOf(request, session, exit, encode), status)
      // The question has interrupted the handler. A finalizer may have died then.
      const bug = exit._tag === "Failure" && Cause.isDie(exit.cause)
        ? { died: exit.cause, subject: Subject.of(request) }
        : undefined
      return routes.stamp({ result: round.result as {}, ...bug })
    }
    session.outcomeOf = outcomeOf
    return {
      effect: InputRequired.mayRequireInput(request.method) ? tracked(session, effect) : effect,
      context,
      release: (exit) => {
        const released = scope.release(exit)
        session.hasEnded = true
        const sealed = session.existingRound?.seal
        return released === undefined || sealed === undefined
          ? released ?? sealed
          : Effect.ensuring(released, sealed)
      },
      reply: outcomeOf,
      closing: () => route?.closing === undefined ? closing() : route.encode(route.closing(session))
    }
  }

  const replyOf = (
    request: Request,
    session: ModernServerSession,
    exit: Exit.Exit<unknown, unknown>,
    encode: (result: unknown) => Outcome
  ): Outcome => {
    const failure = exit._tag === "Success" ? undefined : Option.getOrUndefined(Cause.failureOption(exit.cause))
    const special = failure instanceof ExtendedResult
      ? ExtendedResults.resultOf(session, failure)
      : failure instanceof McpError.UrlElicitationRequired
      ? urlsOf(session, failure)
      : undefined
    if (special === undefined) {
      const outcome = Reply.ofRequest(request, exit, "modern", encode)
      // The result of a tool that died was not encoded.
      return outcome.died === undefined ? outcome : routes.stamp(outcome)
    }
    return McpError.isMcpError(special)
      ? { error: McpError.toWire(special, "modern") }
      : routes.stamp({ ...ResultMeta.outcome(special as {}), subject: Subject.of(request) })
  }

  return {
    subscriptions,
    piped: {
      onRequest: serve,
      neverWaits: isBrief,
      ownLimit: (request, channel) => isListen(request) ? subscriptions.limitOf(channel) : undefined,
      unavailableCode
    },
    posted: (posted) => ({
      onRequest: (request, incoming) => serve(request, incoming, posted),
      neverWaits: isBrief,
      ownLimit: limitOfPost,
      unavailableCode
    }),
    refuse,
    notification: ({ method, params }, channel, isPosted) => {
      if (authenticate !== undefined && RequestOrigin.refusal(channel) !== undefined) return undefined
      const listener = router.listener(method)
      if (listener === undefined && !pipeline.isSurrounded) return undefined
      return Effect.suspend(() => {
        const received: Notification = { jsonrpc: "2.0", method, ...(params === undefined ? undefined : { params }) }
        const envelope = Either.getOrElse(envelopeOf(params, versions), () => unknownClient)
        const session = new ModernServerSession(envelope, received, { ...Outbound.none, channel }, shared, isPosted)
        const scope = new RequestScope()
        const { context, effect } = pipeline.start(session, scope, undefined, true, () => {
          const isAllowed = listener !== undefined && Method.isIn(listener.method, envelope.version) &&
            Capabilities.missing(envelope.capabilities, listener.requires ?? {}) === undefined
          const decoded = isAllowed ? listener.method.decodeParams(params) : undefined
          // Malformed parameters: a notification has no response that could say so.
          return listener === undefined || decoded === undefined || Either.isLeft(decoded)
            ? Route.served(Effect.void)
            : { effect: listener.run(decoded.right, params, method), context: listener.context }
        })
        return Effect.mapInputContext(
          Effect.onExit(effect, (exit) => scope.release(exit) ?? Effect.void),
          (_: Context.Context<never>) => context
        )
      }).pipe(
        // The middleware refused the notification: there is no response that could say so.
        Effect.catchAll((error) => Reply.isProtocolError(error) ? Effect.void : Effect.die(error)),
        Effect.asVoid
      )
    }
  }
}

const isListen = ({ method }: Request): boolean => method === Methods.listen.name

// SHOULD NOT send a code from -32000 to -32019.
const unavailableCode = (): number => JsonRpcError.INTERNAL_ERROR

type Read = Either.Either<Envelope, McpError.McpError>

/** The envelope of a message, or why the message is refused. */
export const envelopeOf = (params: Request["params"], versions: ReadonlyArray<string>): Read =>
  Either.mapLeft(decode(params, versions), (error) =>
    error._tag === "UnsupportedVersion"
      ? new McpError.UnsupportedVersion({ requested: Subject.quotable(error.requested), supported: error.supported })
      : error)

/** The outcome of a request that is refused with an HTTP status, unless the outcome has one. */
const withStatus = (outcome: Outcome, status: number | undefined): Outcome =>
  status === undefined || outcome.error === undefined || outcome.notes !== undefined
    ? outcome
    : { ...outcome, notes: { status } }

/** The work of a request that fails before any code of the application runs. */
const failed = (error: Refuses): Work => ({
  effect: Effect.fail(error),
  reply: (exit) => withStatus(Reply.fromExit(exit, "modern", unchecked), Status.of(error)),
  closing
})

/** Tells the session its fiber, which a question interrupts. */
const tracked = <A, E>(session: ModernServerSession, effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
  Effect.withFiberRuntime((fiber) => {
    session.fiber = fiber
    return effect
  })

/** The URLs that a handler wants a person to open, as questions: this era has no error for them. */
const urlsOf = (
  { method, supports }: ModernServerSession,
  failure: McpError.UrlElicitationRequired
): InputRequired.InputRequiredResult | McpError.MissingClientCapability | undefined => {
  // `Reply` reports an invalid URL.
  if (!InputRequired.mayRequireInput(method) || Reply.invalidUrl(failure) !== undefined) return undefined
  const required = { elicitation: { url: {} } }
  return supports(required)
    ? InputRequired.ofUrlElicitations(failure.elicitations)
    : new McpError.MissingClientCapability({ required })
}

const unchecked = (result: unknown): Outcome => ({ result: result as {} })

const closing = (): Outcome => ({ error: { code: unavailableCode(), message: "Connection closed" } })
