/**
 * The server's side of a legacy conversation: which requests the client may make now, and how each is served.
 *
 * `Routes` knows what serves a method, `Pipeline` what surrounds a handler, `Handshake` what waits for `initialize`.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle
 */
import type { Notification, Request } from "@effect-mcp/jsonrpc/Message"
import type { Channel, IncomingRequest, Work } from "@effect-mcp/jsonrpc/Side"
import type { ClientCapabilities } from "@effect-mcp/protocol/Capabilities"
import * as Capabilities from "@effect-mcp/protocol/Capabilities"
import * as Methods from "@effect-mcp/protocol/legacy/Methods"
import type { McpError } from "@effect-mcp/protocol/McpError"
import { InvalidParams, MethodNotFound, MissingClientCapability, ofIssue } from "@effect-mcp/protocol/McpError"
import * as Method from "@effect-mcp/protocol/Method"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Pipeline from "../runtime/Pipeline.js"
import * as Reply from "../runtime/Reply.js"
import { RequestScope } from "../runtime/RequestScope.js"
import * as Route from "../runtime/Route.js"
import type { Server } from "../runtime/Server.js"
import * as Subject from "../runtime/Subject.js"
import type { Connection } from "./Connection.js"
import * as Handshake from "./Handshake.js"
import * as Routes from "./Routes.js"
import { LegacyServerSession } from "./ServerSession.js"

/** How a server serves the messages of any connection. Made once for each server. */
export interface Serving {
  readonly request: (connection: Connection, request: Request, incoming: IncomingRequest) => Work
  /** Answers a request with an error. The middleware sees both. */
  readonly refuse: (connection: Connection, request: Request, incoming: IncomingRequest, error: McpError) => Work
  readonly notification: (
    connection: Connection,
    notification: Notification,
    channel: Channel
  ) => Effect.Effect<void> | undefined
  /** Whether requests of this method never wait for others to end. */
  readonly neverWaits: (method: string) => boolean
}

export const make = (server: Server): Serving => {
  const { middleware, router } = server
  const routes = Routes.make(server)
  const pipeline = Pipeline.make(server)

  const plan = (connection: Connection, request: Request, incoming: IncomingRequest): Work => {
    const route = routes.find(request.method, connection)
    if (route === undefined) {
      return refuse(connection, request, incoming, new MethodNotFound({ method: Subject.quotable(request.method) }))
    }
    if (!connection.accepted && !route.isEarly) return refuse(connection, request, incoming, tooEarly(request), route)
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
    middleware === undefined
      ? { effect: Effect.fail(error), reply: (exit) => Reply.fromExit(exit, "legacy", unchecked) }
      : work(connection, request, incoming, route, () => Route.failed(error))

  const work = (
    connection: Connection,
    request: Request,
    incoming: IncomingRequest,
    route: Routes.LegacyRoute | undefined,
    serve: (session: LegacyServerSession) => Route.Served
  ): Work => {
    const session = new LegacyServerSession(connection, request, incoming, server)
    const scope = new RequestScope()
    const { accepted, services } = connection
    const { context, effect } = pipeline.start(session, scope, services, accepted && services === undefined, serve)
    return {
      effect,
      context,
      cancellable: route?.isCancellable,
      release: (exit) => scope.release(exit),
      reply: (exit) =>
        Reply.ofRequest(
          request,
          exit,
          "legacy",
          (result) => route === undefined ? unchecked(result) : route.encode(result, connection)
        )
    }
  }

  return {
    refuse,
    // MUST respond promptly (2025-11-25 basic/utilities/ping#behavior-requirements)
    neverWaits: (method) => method === Methods.ping.name,
    request: (connection, request, incoming) => {
      if (pipeline.isBare) return plan(connection, request, incoming)
      const { handshake } = connection
      if (handshake !== undefined && request.method !== Methods.ping.name) {
        return request.method === Methods.initialize.name
          ? { effect: Effect.fail(Handshake.underWay), reply: (exit) => Reply.fromExit(exit, "legacy", unchecked) }
          : Handshake.afterRequest(handshake, () => plan(connection, request, incoming))
      }
      const work = plan(connection, request, incoming)
      return request.method === Methods.initialize.name && !connection.accepted
        ? Handshake.begin(connection, work)
        : work
    },
    notification: (connection, notification, channel) => {
      const { method, params } = notification
      if (!connection.accepted && connection.handshake === undefined) return undefined
      if (method === Methods.initialized.name && Either.isRight(Methods.initialized.decodeParams(params))) {
        connection.onInitialized()
      }
      const found = router.listener(method)
      const isHandled = found !== undefined && Method.isIn(found.method, connection.version) &&
        missing(connection, found.requires) === undefined
      const listener = isHandled ? found : undefined
      if (listener === undefined && middleware === undefined) return undefined
      const handling = Effect.suspend(() => {
        const { notify, request } = connection.outbound
        const session = new LegacyServerSession(connection, notification, { request, notify, channel }, server)
        const scope = new RequestScope()
        return Effect.onExit(
          pipeline.run(session, scope, connection.services, () => {
            const decoded = listener?.method.decodeParams(params)
            // Malformed parameters: a notification has no response that could say so.
            return listener === undefined || decoded === undefined || Either.isLeft(decoded)
              ? Route.served(Effect.void)
              : { effect: listener.run(decoded.right, params, method), context: listener.context }
          }),
          (exit) => scope.release(exit) ?? Effect.void
        )
      })
      return Effect.asVoid(Effect.catchAll(
        Handshake.afterNotification(connection, handling),
        // The middleware refused the notification: there is no response that could say so.
        (error) => Reply.isProtocolError(error) ? Effect.void : Effect.die(error)
      ))
    }
  }
}

/** What a client lacks. A request that belongs to no conversation does not tell what its client has declared. */
const missing = (
  { clientCapabilities, scope }: Connection,
  required: ClientCapabilities | undefined
): ClientCapabilities | undefined =>
  required === undefined || scope === undefined ? undefined : Capabilities.missing(clientCapabilities, required)

const unchecked = (result: unknown) => ({ result: result as {} })

const tooEarly = ({ method }: Request): InvalidParams =>
  new InvalidParams({
    message: `Invalid request parameters: "${Subject.quotable(method)}" was sent before "initialize"`
  })
