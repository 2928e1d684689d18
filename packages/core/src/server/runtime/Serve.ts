/**
 * Serves the messages of legacy revisions (up to 2025-11-25) or of modern revisions (2026-07-28): the two protocol eras. This module finds
 * the route of a request, checks whether the client may send the request, and makes the `Work` that runs the handler. It also passes
 * notifications to their handlers. `legacy/Era` and `modern/Era` each make a record with the differences between the eras.
 * `legacy/ServerSide` and `modern/ServerSide` call this module.
 *
 * `Routes` finds the route of a method, and `Pipeline` runs the middleware around a handler.
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

/** The differences between the eras, for one server, in three parts. */
export interface Era<F extends ClientFacts> {
  /** The methods that clients may use. `Routes` reads this part. */
  readonly vocabulary: Routes.Vocabulary<F>
  /** The functions that check and answer a request. This module reads this part. */
  readonly serving: Serving<F>
  /** The functions with which a handler sends to its client. `HandlerContext` reads this part. */
  readonly speech: Speech<F>
}

/** The functions that check and answer a request, in the order in which they run. */
export interface Serving<F extends ClientFacts> {
  /**
   * Checks a request. There are three results. An error: the server refuses the request. An effect: this effect serves the request in place
   * of the route. `undefined`: the route serves the request.
   */
  readonly gate: (client: F, request: Request, route: Routes.EraRoute<F>) => McpError | Route.Served | undefined
  /**
   * Decodes the parameters of a request that does not conform to its schema, but that this era still accepts. Gives `undefined` for any
   * other request.
   */
  readonly mend?: (request: Request, method: Method.Request) => ReturnType<Method.Request["decodeParams"]> | undefined
  /**
   * Changes the effect of the route, for example for a request with answers to the questions of an earlier round. Default: no change.
   */
  readonly resume?: (handler: HandlerContext<F>, params: any, served: Route.Served) => Route.Served
  /** Adds an effect that runs after the finalizers of the handler. Default: no effect. */
  readonly released?: (client: F, released: Effect.Effect<void> | undefined) => Effect.Effect<void> | undefined
  /** Makes the outcome of a request that failed before code of the application ran. */
  readonly refused: (exit: Exit.Exit<unknown, unknown>, error: Refuses) => Outcome
  /** Makes the outcome of a request that the server ends before its handler has ended. Default: an error. */
  readonly closing?: (handler?: HandlerContext<F>, route?: Routes.EraRoute<F>) => Outcome
}

/** Serves the messages of an era. Each server makes one such object for each era. */
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

/** Makes the work of a request: runs the handler, or refuses the request. */
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

/** Answers a request with an error. Middleware gets the request and the error. */
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

/** Makes the work of a request that fails before code of the application runs. */
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
      // This code removes the fiber from the context. Otherwise code that stores the context would also keep the ended fiber in memory.
      handler.fiber = undefined
      const released = scope.release(exit)
      return serving.released === undefined ? released : serving.released(client, released)
    },
    reply: (exit) => speech.outcome(handler, exit, refused),
    closing: serving.closing && (() => serving.closing!(handler, route))
  }
}

/**
 * Makes the error for a client that lacks a required capability; `undefined` when the client has declared all required capabilities, or
 * could not declare capabilities.
 */
export const lacking = (
  { clientCapabilities, hasDeclared }: ClientFacts,
  required: Capabilities.ClientCapabilities
): MissingClientCapability | undefined => {
  const missing = hasDeclared ? Capabilities.missing(clientCapabilities, required) : undefined
  return missing === undefined ? undefined : new MissingClientCapability({ required: missing })
}

/**
 * Finds the application's handler of a notification; `undefined` when there is none, or the client's revision does not have this
 * notification.
 */
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

/** Runs the handler of a notification inside the middleware, and then runs `observed`. */
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
      // Ignores malformed parameters, because the server cannot answer a notification with an error.
      return listener === undefined || decoded === undefined || Either.isLeft(decoded)
        ? Route.served(Effect.void)
        : { effect: listener.run(decoded.right, params, method), context: listener.context }
    })
    const handled = Effect.mapInputContext(
      Effect.onExit(effect, (exit) => scope.release(exit) ?? Effect.void),
      (_: Context.Context<never>) => context
    )
    // An observer belongs to no request, so its context has no fiber.
    return Effect.onExit(handled, () => {
      handler.fiber = undefined
      return observed?.(handler) ?? Effect.void
    })
  }).pipe(
    // The middleware has refused the notification. The server cannot answer a notification with an error.
    Effect.catchAll((error) => HandlerOutcome.isProtocolError(error) ? Effect.void : Effect.die(error)),
    Effect.asVoid
  )
