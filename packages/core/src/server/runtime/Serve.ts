/**
 * Serves the messages of one era: finds the route of a request, checks whether the client may send the request, and makes the `Work` that
 * runs the handler; hands notifications to their listeners. `legacy/Era` and `modern/Era` each make a record of what differs between the
 * eras. `legacy/ServerSide` and `modern/ServerSide` call this module; the first also serves the handshake, the second also reads the
 * envelope of each request.
 *
 * `Routes` knows what serves a method, `Pipeline` what surrounds a handler.
 */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as Exit from "effect/Exit"
import type { Notification, Request } from "../../jsonrpc/Message.js"
import type { Outcome } from "../../jsonrpc/Outcome.js"
import type { IncomingRequest, Work } from "../../jsonrpc/Side.js"
import * as Capabilities from "../../protocol/Capabilities.js"
import { type McpError, MethodNotFound, MissingClientCapability, ofIssue } from "../../protocol/McpError.js"
import * as Method from "../../protocol/Method.js"
import type { Refuses } from "../Authenticator.js"
import type { RequestChannel } from "./Asker.js"
import { type ClientFacts, HandlerContext, type Speech } from "./HandlerContext.js"
import * as HandlerName from "./HandlerName.js"
import * as HandlerOutcome from "./HandlerOutcome.js"
import * as Pipeline from "./Pipeline.js"
import { RequestScope } from "./RequestScope.js"
import * as Route from "./Route.js"
import * as Routes from "./Routes.js"
import type { Server } from "./Server.js"

/** One era of the specification for one server, in three parts. Each part is named by what it is about, and has one reader. */
export interface Era<F extends ClientFacts> {
  /** What can be asked: `Routes` reads it. */
  readonly vocabulary: Routes.Vocabulary<F>
  /** How a request is checked and answered: this module reads it. */
  readonly serving: Serving<F>
  /** How a handler speaks with its client: `HandlerContext` reads it. */
  readonly speech: Speech<F>
}

/** How a request is checked and answered. The members are in the order in which a request meets them. */
export interface Serving<F extends ClientFacts> {
  /** Why a request that has a route is not served; or what serves it in place of the route. */
  readonly gate: (client: F, request: Request, route: Routes.EraRoute<F>) => McpError | Route.Served | undefined
  /** The decoded parameters of a request that does not conform to its schema, where the era accepts them; else `undefined`. */
  readonly mend?: (request: Request, method: Method.Request) => ReturnType<Method.Request["decodeParams"]> | undefined
  /** What serves a request, from what its route gives. */
  readonly resume?: (handler: HandlerContext<F>, params: any, served: Route.Served) => Route.Served
  /** What follows the release of what a handler has acquired. */
  readonly released?: (client: F, released: Effect.Effect<void> | undefined) => Effect.Effect<void> | undefined
  /** The outcome of a request that failed before any code of the application ran. */
  readonly refused: (exit: Exit.Exit<unknown, unknown>, error: Refuses) => Outcome
  /** The outcome of a request that the server ends before its handler has. Default: an error. */
  readonly closing?: (handler?: HandlerContext<F>, route?: Routes.EraRoute<F>) => Outcome
}

/** What serves the messages of an era. Made once for each server. */
export interface Serve<F extends ClientFacts> {
  readonly server: Server
  readonly era: Era<F>
  readonly pipeline: Pipeline.Pipeline
  readonly routes: Routes.Routes<F>
}

export const make = <F extends ClientFacts>(server: Server, era: Era<F>): Serve<F> => ({
  server,
  era,
  pipeline: Pipeline.make(server),
  routes: Routes.make(server, era.vocabulary)
})

/** The work of a request. */
export const request = <F extends ClientFacts>(
  self: Serve<F>,
  client: F,
  request: Request,
  incoming: IncomingRequest
): Work => {
  const route = self.routes(request.method, client)
  if (route === undefined) {
    return refuse(self, client, request, incoming, new MethodNotFound({ method: HandlerName.quotable(request.method) }))
  }
  const { gate, mend, resume } = self.era.serving
  const refusal = gate(client, request, route)
  if (refusal !== undefined) {
    return "effect" in refusal
      ? workOf(self, client, request, incoming, route, () => refusal)
      : refuse(self, client, request, incoming, refusal, route)
  }
  return workOf(self, client, request, incoming, route, (handler) => {
    const decoded = route.method.decodeParams(request.params)
    const params = Either.isLeft(decoded) ? mend?.(request, route.method) ?? decoded : decoded
    if (Either.isLeft(params)) return Route.failed(ofIssue(params.left.issue))
    const served = route.serve(params.right, handler, request.params)
    return resume === undefined ? served : resume(handler, params.right, served)
  })
}

/** Answers a request with an error. The middleware sees both. */
export const refuse = <F extends ClientFacts>(
  self: Serve<F>,
  client: F,
  request: Request,
  incoming: IncomingRequest,
  error: McpError,
  route?: Routes.EraRoute<F>
): Work =>
  self.pipeline.isSurrounded
    ? workOf(self, client, request, incoming, route, () => Route.failed(error), error)
    : fail(self, error)

/** The work of a request that fails before any code of the application runs. */
export const fail = <F extends ClientFacts>({ era: { serving } }: Serve<F>, error: Refuses): Work => ({
  effect: Effect.fail(error),
  reply: (exit) => serving.refused(exit, error),
  closing: serving.closing && (() => serving.closing!())
})

const workOf = <F extends ClientFacts>(
  { era: { serving, speech }, pipeline }: Serve<F>,
  client: F,
  request: Request,
  incoming: IncomingRequest,
  route: Routes.EraRoute<F> | undefined,
  serve: (handler: HandlerContext<F>) => Route.Served,
  refused?: McpError
): Work => {
  const handler = new HandlerContext(client, request, incoming, speech, route)
  const scope = new RequestScope()
  const { context, effect } = pipeline.start(handler, scope, client, serve)
  return {
    effect,
    context,
    cancellable: route?.isCancellable,
    release: (exit) => {
      // Code that keeps the context then keeps no fiber that has ended.
      handler.fiber = undefined
      const released = scope.release(exit)
      return serving.released === undefined ? released : serving.released(client, released)
    },
    reply: (exit) => speech.outcome(handler, exit, refused),
    closing: serving.closing && (() => serving.closing!(handler, route))
  }
}

/** The error of a client that lacks a capability. */
export const lacking = (
  { clientCapabilities, hasDeclared }: ClientFacts,
  required: Capabilities.ClientCapabilities
): MissingClientCapability | undefined => {
  const missing = hasDeclared ? Capabilities.missing(clientCapabilities, required) : undefined
  return missing === undefined ? undefined : new MissingClientCapability({ required: missing })
}

/** The listener of a notification, where the revision of the client has it. */
export const listenerOf = <F extends ClientFacts>(
  { server }: Serve<F>,
  client: F,
  method: string
): Routes.NotificationHandler | undefined => {
  const found = Routes.listenerOf(server, method)
  return found !== undefined && Method.isIn(found.method, client.version) &&
      (found.requires === undefined || lacking(client, found.requires) === undefined)
    ? found
    : undefined
}

/** Hands a notification to its listener, inside the middleware. `observed` runs afterwards. */
export const notification = <F extends ClientFacts>(
  { era: { speech }, pipeline }: Serve<F>,
  client: F,
  notification: Notification,
  outbound: RequestChannel,
  listener: Routes.NotificationHandler | undefined,
  observed?: (handler: HandlerContext<F>) => Effect.Effect<void>
): Effect.Effect<void> =>
  Effect.suspend(() => {
    const { method, params } = notification
    const handler = new HandlerContext(client, notification, outbound, speech)
    const scope = new RequestScope()
    const { context, effect } = pipeline.start(handler, scope, client, () => {
      const decoded = listener?.method.decodeParams(params)
      // Malformed parameters: a notification has no response that could say so.
      return listener === undefined || decoded === undefined || Either.isLeft(decoded)
        ? Route.served(Effect.void)
        : { effect: listener.run(decoded.right, params, method), context: listener.context }
    })
    const handled = Effect.mapInputContext(
      Effect.onExit(effect, (exit) => scope.release(exit) ?? Effect.void),
      (_: Context.Context<never>) => context
    )
    // An observer belongs to no request.
    return Effect.onExit(handled, () => {
      handler.fiber = undefined
      return observed?.(handler) ?? Effect.void
    })
  }).pipe(
    // The middleware refused the notification: there is no response that could say so.
    Effect.catchAll((error) => HandlerOutcome.isProtocolError(error) ? Effect.void : Effect.die(error)),
    Effect.asVoid
  )
