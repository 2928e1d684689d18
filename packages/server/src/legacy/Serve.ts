import type { Notification, Request } from "@effect-mcp/jsonrpc/Message"
import type { Channel, IncomingRequest, Side, Work } from "@effect-mcp/jsonrpc/Side"
import * as Methods from "@effect-mcp/protocol/legacy/Methods"
import type { McpError } from "@effect-mcp/protocol/McpError"
import { InvalidParams, InvalidRequest, MethodNotFound, ofIssue } from "@effect-mcp/protocol/McpError"
import * as Method from "@effect-mcp/protocol/Method"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as FiberId from "effect/FiberId"
import * as Middleware from "../Middleware.js"
import * as HandlerContext from "../runtime/HandlerContext.js"
import * as Reply from "../runtime/Reply.js"
import { RequestScope } from "../runtime/RequestScope.js"
import type { Route, Router, Served } from "../runtime/Router.js"
import type { Connection } from "./Connection.js"
import * as Encode from "./Encode.js"
import type * as Initialize from "./Initialize.js"
import * as Routes from "./Routes.js"
import { LegacyServerSession } from "./ServerSession.js"

/**
 * What a server needs to serve a conversation.
 *
 * @since 0.1.0
 * @category models
 */
export interface Server extends Initialize.Identity {
  readonly router: Router
  /** Whether handlers' logs reach clients. */
  readonly logging: boolean
  /** What stands around every message, and what it runs in. */
  readonly middleware: {
    readonly around: Middleware.Middleware<unknown, any>
    readonly context: Context.Context<never>
  } | undefined
  readonly subscriptions: {
    readonly isKnown: (uri: string) => boolean
    readonly max: number | undefined
  } | undefined
}

/**
 * How a server answers what comes from the client of any connection. Made once for each server.
 *
 * @since 0.1.0
 * @category models
 */
export interface Serving {
  readonly request: (connection: Connection, request: Request, exchange: IncomingRequest) => Work
  readonly notification: (
    connection: Connection,
    notification: Notification,
    channel: Channel
  ) => Effect.Effect<void> | undefined
}

/**
 * The server's side of one conversation.
 *
 * @since 0.1.0
 * @category constructors
 */
export const side = (serving: Serving, connection: Connection): Side => ({
  onRequest: (request, exchange) => serving.request(connection, request, exchange),
  onNotification: (notification, channel) => serving.notification(connection, notification, channel)
})

/**
 * @since 0.1.0
 * @category constructors
 */
export const make = (server: Server): Serving => {
  const { middleware, router } = server
  const own = Routes.make(server)
  const plain = middleware === undefined && server.session === undefined

  const find = (connection: Connection, method: string): Route | undefined => {
    const route = router.handler(method) ?? own.find(method, connection) ?? router.find(method)
    return route !== undefined && Method.isIn(route.method, connection.version) ? route : router.fallback()
  }

  const plan = (connection: Connection, request: Request, exchange: IncomingRequest): Work => {
    const route = find(connection, request.method)
    const params = route?.method.decodeParams(request.params)
    const refusal = route === undefined
      ? new MethodNotFound({ method: Reply.quotable(request.method) })
      : !connection.accepted && route.early !== true && request.method !== Methods.ping.name
      ? tooEarly(request)
      : Either.isLeft(params!)
      ? ofIssue(params.left.issue)
      : undefined
    if (refusal !== undefined && middleware === undefined) return refuse(refusal)
    const session = new LegacyServerSession(connection, request, exchange, server.logging)
    const scope = new RequestScope()
    const serve = (): Served =>
      refusal === undefined
        ? route!.serve((params as Either.Right<never, unknown>).right, session, request.params)
        : { effect: Effect.fail(refusal), context: Context.empty() }
    const { context, effect } = plain ? serve() : surrounded(serve, session, scope)
    return {
      effect: effect as Effect.Effect<unknown, unknown>,
      context: HandlerContext.make(context, connection.services, session, scope),
      cancellable: route?.cancellable,
      release: (exit) => scope.release(exit),
      reply: (exit) =>
        Reply.fromExit(exit, "legacy", (value) =>
          route === undefined
            ? { result: value as {} }
            : Encode.result(value, route, connection.version, middleware !== undefined))
    }
  }

  /** The session's services and the middleware's around a handler; both may take their time. */
  const surrounded = (serve: () => Served, session: LegacyServerSession, scope: RequestScope): Served => {
    const { connection } = session
    const missing = server.session !== undefined && connection.services === undefined && connection.accepted
    if (!missing && middleware === undefined) return serve()
    return {
      context: Context.empty(),
      effect: missing
        // There is no session that they could belong to: they live as long as the request.
        ? Effect.flatMap(
          server.session.build(session, scope),
          (services) => throughMiddleware(serve, session, scope, services)
        )
        : throughMiddleware(serve, session, scope, connection.services)
    }
  }

  /** Nothing of the message is looked at before the middleware lets it through. */
  const throughMiddleware = (
    serve: () => Served,
    session: LegacyServerSession,
    scope: RequestScope,
    services: Context.Context<never> | undefined
  ): Effect.Effect<unknown, unknown> => {
    const handler = (added?: ReadonlyMap<string, unknown>): Effect.Effect<unknown, unknown> =>
      Effect.suspend((): Effect.Effect<unknown, unknown> => {
        const { context, effect } = serve()
        return Effect.mapInputContext(
          effect as Effect.Effect<unknown, unknown>,
          (_: Context.Context<never>) => HandlerContext.make(context, services, session, scope, added)
        )
      })
    return middleware === undefined ? handler() : Middleware.around(
      middleware.around,
      session.call,
      HandlerContext.make(middleware.context, services, session, scope),
      handler
    )
  }

  /** `initialize`, when it may take its time: what comes after it waits until it has ended. */
  const opening = (connection: Connection, work: Work): Work => {
    const done = connection.opening = Deferred.unsafeMake<void>(FiberId.none)
    return {
      ...work,
      release: (exit) => {
        const settle = (ended: Exit.Exit<unknown, unknown>): Effect.Effect<void> => {
          const leave = ended._tag === "Failure" ? connection.leave : undefined
          // Also where middleware refused it after it was served: whoever was refused is not let in.
          if (ended._tag === "Failure") {
            connection.accepted = false
            connection.services = connection.leave = undefined
          }
          connection.opening = undefined
          Deferred.unsafeDone(done, Effect.void)
          return leave ?? Effect.void
        }
        const released = work.release?.(exit)
        // What came after it goes on after all that belongs to it has ended, or its answer would be overtaken.
        if (released !== undefined) {
          return Effect.onExit(released, (end) => Effect.suspend(() => settle(Exit.isFailure(end) ? end : exit)))
        }
        return connection.leave === undefined || exit._tag === "Success"
          ? void settle(exit)
          : Effect.suspend(() => settle(exit))
      }
    }
  }

  const afterwards = (
    done: Deferred.Deferred<void>,
    connection: Connection,
    request: Request,
    exchange: IncomingRequest
  ): Work => {
    let work: Work | undefined
    return {
      effect: Effect.flatMap(Deferred.await(done), () => {
        work = plan(connection, request, exchange)
        return Effect.mapInputContext(work.effect, (own: Context.Context<never>) => work!.context ?? own)
      }),
      release: (exit) => work?.release?.(exit),
      reply: (exit) => work === undefined ? Reply.fromExit(exit, "legacy", () => ({ result: {} })) : work.reply(exit)
    }
  }

  return {
    request: (connection, request, exchange) => {
      if (plain) return plan(connection, request, exchange)
      if (connection.opening !== undefined && request.method !== Methods.ping.name) {
        if (request.method === Methods.initialize.name) return refuse(twice)
        return afterwards(connection.opening, connection, request, exchange)
      }
      const work = plan(connection, request, exchange)
      return request.method === Methods.initialize.name && !connection.accepted ? opening(connection, work) : work
    },
    notification: (connection, notification, channel) => {
      const { method, params } = notification
      // Dropped before `initialize`, and when it is malformed: a notification is never answered.
      if (!connection.accepted && connection.opening === undefined) return undefined
      if (method === Methods.initialized.name && Either.isRight(Methods.initialized.decodeParams(params))) {
        connection.initialized = true
      }
      const listener = router.listener(method)
      if (listener === undefined && middleware === undefined) return undefined
      const heard = Effect.suspend(() => {
        const decoded = listener?.method.decodeParams(params)
        const served = (): Served =>
          listener === undefined || decoded === undefined || Either.isLeft(decoded)
            ? { effect: Effect.void, context: Context.empty() }
            : { effect: listener.run(decoded.right, params, method), context: listener.context }
        const speaking = { request: connection.outbound.request, notify: connection.outbound.notify, channel }
        const session = new LegacyServerSession(connection, notification, speaking, server.logging)
        const scope = new RequestScope()
        return Effect.onExit(
          throughMiddleware(served, session, scope, connection.services),
          (exit) => scope.release(exit) ?? Effect.void
        )
      })
      const { opening } = connection
      return Effect.asVoid(Effect.catchAll(
        opening === undefined
          ? heard
          : Effect.zipRight(Deferred.await(opening), Effect.suspend(() => connection.accepted ? heard : Effect.void)),
        // Nobody is told that it was refused.
        (error) => Reply.isProtocolError(error) ? Effect.void : Effect.die(error)
      ))
    }
  }
}

const twice = new InvalidRequest({ message: "Invalid request: this conversation is being initialized already" })

const refuse = (error: McpError): Work => ({
  effect: Effect.fail(error),
  reply: (exit) => Reply.fromExit(exit, "legacy", () => ({ result: {} }))
})

const tooEarly = ({ method }: Request): InvalidParams =>
  new InvalidParams({ message: `Invalid request parameters: "${Reply.quotable(method)}" was sent before "initialize"` })
