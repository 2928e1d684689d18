/**
 * The server's side of a legacy conversation: which requests the client may make now, and how each is served.
 *
 * `Routes` knows what serves a method, `Pipeline` what surrounds a handler, `Handshake` what waits for `initialize`.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle
 */
import type { Notification, Request } from "@effect-mcp/jsonrpc/Message"
import type { Channel, IncomingRequest, RequestSide, Work } from "@effect-mcp/jsonrpc/Side"
import type { ClientCapabilities } from "@effect-mcp/protocol/Capabilities"
import * as Capabilities from "@effect-mcp/protocol/Capabilities"
import * as Methods from "@effect-mcp/protocol/legacy/Methods"
import { getTaskPayload } from "@effect-mcp/protocol/legacy/TaskMethods"
import type { McpError } from "@effect-mcp/protocol/McpError"
import { InvalidParams, MethodNotFound, MissingClientCapability, ofIssue } from "@effect-mcp/protocol/McpError"
import * as Method from "@effect-mcp/protocol/Method"
import { isBrief } from "@effect-mcp/protocol/unstable/NeverWaits"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as Exit from "effect/Exit"
import type { Refuses } from "../Authenticator.js"
import * as Pipeline from "../runtime/Pipeline.js"
import * as Reply from "../runtime/Reply.js"
import * as RequestOrigin from "../runtime/RequestOrigin.js"
import { RequestScope } from "../runtime/RequestScope.js"
import * as Route from "../runtime/Route.js"
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
import * as Tasks from "./Tasks.js"

/** How a server serves the messages of any connection. Made once for each server. */
export interface Serving {
  /** Serves the requests of one client. */
  readonly to: (connection: Connection) => RequestSide
  /** Answers a request with an error. The middleware sees both. */
  readonly refuse: (connection: Connection, request: Request, incoming: IncomingRequest, error: McpError) => Work
  readonly notification: (
    connection: Connection,
    notification: Notification,
    channel: Channel
  ) => Effect.Effect<void> | undefined
}

export const make = (server: Server): Serving => {
  const { authenticate, router } = server
  const era = Era.make(server)
  const routes = Routes.make(server, era)
  const pipeline = Pipeline.make(server)

  const plan = (connection: Connection, request: Request, incoming: IncomingRequest): Work => {
    const route = routes(request.method, connection)
    if (route === undefined) {
      return refuse(connection, request, incoming, new MethodNotFound({ method: Subject.quotable(request.method) }))
    }
    if (!connection.accepted && route.isEarly !== true && request.method !== Methods.ping.name) {
      return refuse(connection, request, incoming, tooEarly(request), route)
    }
    const required = missing(connection, route.requires)
    if (required !== undefined) {
      return refuse(connection, request, incoming, new MissingClientCapability({ required }), route)
    }
    return work(connection, request, incoming, route, (session) => {
      const params = route.method.decodeParams(request.params)
      return Either.isRight(params)
        ? route.serve(params.right, session, request.params)
        : Route.failed(ofIssue(params.left.issue))
    })
  }

  const refuse = (
    connection: Connection,
    request: Request,
    incoming: IncomingRequest,
    error: McpError,
    route?: Routes.LegacyRoute
  ): Work =>
    pipeline.isSurrounded
      ? work(connection, request, incoming, route, () => Route.failed(error))
      : failed(error)

  const work = (
    connection: Connection,
    request: Request,
    incoming: IncomingRequest,
    route: Routes.LegacyRoute | undefined,
    serve: (session: LegacySession) => Route.Served
  ): Work => {
    const session = new Session(connection, request, incoming, era)
    const scope = new RequestScope()
    const { accepted, services } = connection
    const { context, effect } = pipeline.start(session, scope, services, accepted, serve)
    const encode = (result: unknown) =>
      result instanceof Tasks.CreatedTask
        ? unchecked(result.result)
        : route === undefined
        ? unchecked(result)
        : route.encode(result, undefined, connection)
    const outcomeOf = (exit: Exit.Exit<unknown, unknown>) => Reply.ofRequest(request, exit, "legacy", encode)
    session.outcomeOf = outcomeOf
    return {
      effect,
      context,
      cancellable: route?.isCancellable,
      release: (exit) => scope.release(exit),
      reply: outcomeOf
    }
  }

  /** What the session layer and the features of resources keep for a client, anew at this node. */
  const restore = (session: LegacySession): Effect.Effect<void, unknown> => {
    const { restored = [], scope, services } = session.facts
    const { session: layer, subscriptions } = server
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

  const serve = (connection: Connection, request: Request, incoming: IncomingRequest): Work => {
    const refusal = authenticate === undefined ? undefined : RequestOrigin.refusal(incoming.channel)
    if (refusal !== undefined) return failed(refusal)
    const { handshake } = connection
    if (connection.restored !== undefined && handshake === undefined) {
      const session = new Session(connection, request, incoming, era)
      return Handshake.restoring(connection, restore(session), () => plan(connection, request, incoming))
    }
    if (pipeline.isBare && handshake === undefined) return plan(connection, request, incoming)
    if (handshake !== undefined && request.method !== Methods.ping.name) {
      return request.method === Methods.initialize.name
        ? failed(Handshake.underWay)
        : Handshake.afterRequest(handshake, () => plan(connection, request, incoming))
    }
    const work = plan(connection, request, incoming)
    return request.method === Methods.initialize.name && !connection.accepted
      ? Handshake.begin(connection, work)
      : work
  }

  const serving: Serving = {
    refuse,
    to: (connection) => ({
      onRequest: (request, incoming) => serve(connection, request, incoming),
      // MUST respond promptly (2025-11-25 basic/utilities/ping#behavior-requirements)
      neverWaits: (method) => method === Methods.ping.name || isBrief(method),
      ownLimit: ({ method }) =>
        method === getTaskPayload.name && connection.scope !== undefined
          ? connection.taskResults ??= server.tasks?.limitOfResults()
          : undefined
    }),
    notification: (connection, notification, channel) => {
      const { method, params } = notification
      if (authenticate !== undefined && RequestOrigin.refusal(channel) !== undefined) return undefined
      if (!connection.accepted && connection.handshake === undefined) return undefined
      if (connection.restored !== undefined && connection.handshake === undefined) {
        const session = Observers.session(connection, era, notification, channel)
        return Effect.matchCauseEffect(Handshake.restored(connection, restore(session)), {
          // As after a handshake that failed. The next message tries again.
          onFailure: (cause) =>
            Effect.logDebug(`Dropped "${Subject.quotable(method)}": the session could not be restored`, cause),
          onSuccess: () => serving.notification(connection, notification, channel) ?? Effect.void
        })
      }
      if (method === Methods.initialized.name && Either.isRight(Methods.initialized.decodeParams(params))) {
        connection.onInitialized()
      }
      const found = router.listener(method)
      const isHandled = found !== undefined && Method.isIn(found.method, connection.version) &&
        missing(connection, found.requires) === undefined
      const listener = isHandled ? found : undefined
      const observed = Observers.ofNotification(server.observers, method)
      if (listener === undefined && !pipeline.isSurrounded && observed === undefined) return undefined
      const handling = Effect.suspend(() => {
        const session = Observers.session(connection, era, notification, channel)
        const scope = new RequestScope()
        return Effect.onExit(
          pipeline.run(session, scope, connection.services, connection.accepted, () => {
            const decoded = listener?.method.decodeParams(params)
            // Malformed parameters: a notification has no response that could say so.
            return listener === undefined || decoded === undefined || Either.isLeft(decoded)
              ? Route.served(Effect.void)
              : { effect: listener.run(decoded.right, params, method), context: listener.context }
          }),
          (exit) => Effect.zipRight(scope.release(exit) ?? Effect.void, observed?.(session) ?? Effect.void)
        )
      })
      return Effect.asVoid(Effect.catchAll(
        Handshake.afterNotification(connection, handling),
        // The middleware refused the notification: there is no response that could say so.
        (error) => Reply.isProtocolError(error) ? Effect.void : Effect.die(error)
      ))
    }
  }
  return serving
}

/** What a client lacks. A request that belongs to no conversation does not tell what its client has declared. */
const missing = (
  { clientCapabilities, scope }: Connection,
  required: ClientCapabilities | undefined
): ClientCapabilities | undefined =>
  required === undefined || scope === undefined ? undefined : Capabilities.missing(clientCapabilities, required)

/** The work of a request that fails before any code of the application runs. */
const failed = (error: Refuses): Work => ({
  effect: Effect.fail(error),
  reply: (exit) => Reply.fromExit(exit, "legacy", unchecked)
})

const unchecked = (result: unknown) => ({ result: result as {} })

const tooEarly = ({ method }: Request): InvalidParams =>
  new InvalidParams({
    message: `Invalid request parameters: "${Subject.quotable(method)}" was sent before "initialize"`
  })
