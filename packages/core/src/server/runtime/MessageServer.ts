/**
 * Serves the messages of one era: finds the route of a request, checks whether its client may make it, and makes the work of it; hands
 * notifications to their listeners. `legacy/Serve` adds the handshake, `modern/Serve` the envelope and the rounds of a request.
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
import type { ClientCapabilities } from "../../protocol/Capabilities.js"
import * as Capabilities from "../../protocol/Capabilities.js"
import { type McpError, MethodNotFound, MissingClientCapability, ofIssue } from "../../protocol/McpError.js"
import * as Method from "../../protocol/Method.js"
import type { Refuses } from "../Authenticator.js"
import type { RequestChannel } from "./Asker.js"
import { type ClientFacts, type Era, HandlerContext, type Replies } from "./HandlerContext.js"
import * as HandlerName from "./HandlerName.js"
import * as Pipeline from "./Pipeline.js"
import { RequestScope } from "./Pipeline.js"
import * as Reply from "./Reply.js"
import * as Route from "./Route.js"
import type { EraRoute, NotificationHandler } from "./Routes.js"
import * as Routes from "./Routes.js"
import type { Server } from "./Server.js"

export abstract class MessageServer<F extends ClientFacts> implements Replies<F> {
  protected readonly pipeline: Pipeline.Pipeline

  constructor(
    protected readonly server: Server,
    protected readonly era: Era<F>,
    private readonly routes: Routes.Routes<F>
  ) {
    this.pipeline = Pipeline.make(server)
  }

  /** Why a request that has a route is not served; or what serves it in place of the route. */
  protected abstract refusal(client: F, request: Request, route: EraRoute<F>): McpError | Route.Served | undefined

  /** What serves a request beside its route. */
  protected served?(handler: HandlerContext<F>, params: any, served: Route.Served): Route.Served

  /** The outcome of a request from the end of its handler. `refused` is why the request was refused. */
  abstract outcomeOf(handler: HandlerContext<F>, exit: Exit.Exit<unknown, unknown>, refused?: Refuses): Outcome

  /** The outcome of a request that failed before any code of the application ran. */
  protected abstract refused(exit: Exit.Exit<unknown, unknown>, error: Refuses): Outcome

  /** The decoded parameters of a request that does not conform to its schema, where the era accepts them; else `undefined`. */
  protected mended?(request: Request, method: Method.Request): ReturnType<Method.Request["decodeParams"]> | undefined

  /** What follows the release of what a handler has acquired. */
  protected released?(client: F, released: Effect.Effect<void> | undefined): Effect.Effect<void> | undefined

  /** The outcome of a request that the server ends before its handler has. */
  protected closing?(handler?: HandlerContext<F>, route?: EraRoute<F>): Outcome

  protected plan(client: F, request: Request, incoming: IncomingRequest): Work {
    const route = this.routes(request.method, client)
    if (route === undefined) {
      return this.refuse(
        client,
        request,
        incoming,
        new MethodNotFound({ method: HandlerName.quotable(request.method) })
      )
    }
    const refusal = this.refusal(client, request, route)
    if (refusal !== undefined) {
      return "effect" in refusal
        ? this.work(client, request, incoming, route, () => refusal)
        : this.refuse(client, request, incoming, refusal, route)
    }
    return this.work(client, request, incoming, route, (handler) => {
      const decoded = route.method.decodeParams(request.params)
      const params = Either.isLeft(decoded) ? this.mended?.(request, route.method) ?? decoded : decoded
      if (Either.isLeft(params)) return Route.failed(ofIssue(params.left.issue))
      const served = route.serve(params.right, handler, request.params)
      return this.served?.(handler, params.right, served) ?? served
    })
  }

  /** Answers a request with an error. The middleware sees both. */
  refuse(client: F, request: Request, incoming: IncomingRequest, error: McpError, route?: EraRoute<F>): Work {
    return this.pipeline.isSurrounded
      ? this.work(client, request, incoming, route, () => Route.failed(error), error)
      : this.failed(error)
  }

  /** The work of a request that fails before any code of the application runs. */
  protected failed(error: Refuses): Work {
    return {
      effect: Effect.fail(error),
      reply: (exit) => this.refused(exit, error),
      closing: this.closing && (() => this.closing!())
    }
  }

  private work(
    client: F,
    request: Request,
    incoming: IncomingRequest,
    route: EraRoute<F> | undefined,
    serve: (handler: HandlerContext<F>) => Route.Served,
    refused?: McpError
  ): Work {
    const handler = new HandlerContext(client, request, incoming, this.era, route, this)
    const scope = new RequestScope()
    const { context, effect } = this.pipeline.start(handler, scope, client, serve)
    return {
      effect,
      context,
      cancellable: route?.isCancellable,
      release: (exit) => {
        // Who keeps the context keeps no fiber that has ended.
        handler.fiber = undefined
        const released = scope.release(exit)
        return this.released === undefined ? released : this.released(client, released)
      },
      reply: (exit) => this.outcomeOf(handler, exit, refused),
      closing: this.closing && (() => this.closing!(handler, route))
    }
  }

  /** The error of a client that lacks a capability. */
  protected lacking(
    { clientCapabilities, hasDeclared }: F,
    required: ClientCapabilities
  ): MissingClientCapability | undefined {
    const missing = hasDeclared ? Capabilities.missing(clientCapabilities, required) : undefined
    return missing === undefined ? undefined : new MissingClientCapability({ required: missing })
  }

  /** The listener of a notification, where the revision of the client has it. */
  protected listenerOf(client: F, method: string): NotificationHandler | undefined {
    const found = Routes.listenerOf(this.server, method)
    return found !== undefined && Method.isIn(found.method, client.version) &&
        (found.requires === undefined || this.lacking(client, found.requires) === undefined)
      ? found
      : undefined
  }

  /** Hands a notification to its listener, inside the middleware. */
  protected listened(
    client: F,
    notification: Notification,
    outbound: RequestChannel,
    listener: NotificationHandler | undefined,
    observed?: (handler: HandlerContext<F>) => Effect.Effect<void>
  ): Effect.Effect<void> {
    return Effect.suspend(() => {
      const { method, params } = notification
      const handler = new HandlerContext(client, notification, outbound, this.era)
      const scope = new RequestScope()
      const { context, effect } = this.pipeline.start(handler, scope, client, () => {
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
      Effect.catchAll((error) => Reply.isProtocolError(error) ? Effect.void : Effect.die(error)),
      Effect.asVoid
    )
  }
}
