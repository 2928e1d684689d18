/**
 * Middleware runs around every message of a server: requests and notifications, the handshake and unknown methods
 * included. It sees a message before its parameters are decoded, and how its handler ends. It can provide services to
 * handlers, refuse messages, measure and trace.
 *
 * Up to 2025-11-25 it does not see notifications to an HTTP endpoint without sessions: they belong to no conversation, and the
 * server drops them.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { dual } from "effect/Function"
import type * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type { RequestId } from "../jsonrpc/Message.js"
import type { JsonObject } from "../protocol/Json.js"
import * as SurroundedRegistry from "./features/SurroundedRegistry.js"
import type { Registry } from "./Registry.js"
import { RequestContext, type RequestContextService } from "./RequestContext.js"
import * as HandlerResult from "./runtime/HandlerResult.js"
import * as MiddlewareContext from "./runtime/MiddlewareContext.js"
import type { ServerSession } from "./ServerSession.js"

/** @category symbols */
export const TypeId: unique symbol = Symbol.for("@effect-mcp/core/Middleware")

/** @category models */
export type TypeId = typeof TypeId

/**
 * A message as middleware sees it, before its parameters are decoded. The arguments of a tool are as the handler gets them where the
 * server has mended them, and otherwise as the client sent them.
 *
 * @category models
 */
export interface Call {
  /** `undefined` for a notification. */
  readonly id: RequestId | undefined
  readonly method: string
  readonly params: JsonObject | undefined
}

/**
 * `run` gets a message and `next`, the effect that handles it. It succeeds with the result to send, or fails with an
 * `McpError` to refuse the message; it may leave out `next`.
 *
 * @category models
 */
export interface Middleware<out Provides, out R> {
  readonly [TypeId]: { readonly _Provides: Provides }
  readonly run: (call: Call, next: Effect.Effect<unknown, unknown>) => Effect.Effect<unknown, unknown, R>
}

/** @category models */
export declare namespace Middleware {
  /** Any middleware. */
  type Any = Middleware<any, any>

  /** The services that a middleware provides. */
  type Provides<M> = M extends Middleware<infer P, any> ? P : never

  /** The services that a middleware requires. */
  type Context<M> = M extends Middleware<any, infer R> ? R : never
}

/**
 * Middleware that provides no service.
 *
 * @example
 * ```ts
 * import * as Middleware from "@effect-mcp/core/Middleware"
 * import { Effect } from "effect"
 *
 * export const timed = Middleware.make((call, next) =>
 *   Effect.flatMap(Effect.timed(next), ([took, result]) =>
 *     Effect.as(Effect.logDebug(`${call.method} took ${took}`), result)))
 * ```
 * @category constructors
 */
export const make = <R>(
  run: (call: Call, next: Effect.Effect<unknown, unknown>) => Effect.Effect<unknown, unknown, R>
): Middleware<never, Exclude<R, RequestContext | Scope.Scope>> => of(run)

/**
 * Middleware that provides a service to the handlers and the middleware inside it. When `service` fails, for example with
 * an `McpError`, the message is refused.
 *
 * @category utils
 */
export const provide = <I, S, R>(
  tag: Context.Tag<I, S>,
  service: (call: Call) => Effect.Effect<S, unknown, R>
): Middleware<I, Exclude<R, RequestContext | Scope.Scope>> =>
  of((call, next) =>
    Effect.flatMap(
      HandlerResult.effect(service(call), `The middleware that provides ${tag.key}`),
      (made) =>
        Effect.mapInputContext(next, (context: Context.Context<never>) => MiddlewareContext.add(context, tag, made))
    )
  )

/**
 * Runs `inner` inside `outer`. `inner` may use the services that `outer` provides.
 *
 * @category utils
 */
export const compose = <P1, R1, P2, R2>(
  outer: Middleware<P1, R1>,
  inner: Middleware<P2, R2>
): Middleware<P1 | P2, R1 | Exclude<R2, P1>> =>
  of((call, next) => outer.run(call, Effect.suspend(() => inner.run(call, next) as Effect.Effect<unknown, unknown>)))

/**
 * Runs the middleware around the handlers of a feature, or of a group of features: tools, resources, templates with their
 * lists, prompts, completers, and handlers of whole methods. It runs once for each request that one of them serves, inside the
 * middleware of the server; of a request that takes several rounds, in each round. It does not run for the lists of tools and
 * prompts, which no handler of the features serves.
 *
 * It may require what the session layer provides, the user, and what the middleware outside provides; the features may use
 * what it provides. When it fails with an `McpError`, the request is refused. Around a tool it may also fail with a failure
 * that the tool declares, which the model reads; any other failure is a defect.
 *
 * @example
 * ```ts
 * import * as McpServer from "@effect-mcp/core/McpServer"
 * import * as Middleware from "@effect-mcp/core/Middleware"
 * import { InvalidRequest } from "@effect-mcp/core/protocol/McpError"
 * import * as RequestContext from "@effect-mcp/core/RequestContext"
 * import * as Tool from "@effect-mcp/core/Tool"
 * import { Effect } from "effect"
 *
 * const needsName = Middleware.make((_, next) =>
 *   Effect.flatMap(RequestContext.RequestContext, ({ client }) =>
 *     client.info === undefined ? Effect.fail(new InvalidRequest({ message: "Give your client a name" })) : next))
 *
 * export const Delete = McpServer.tool(Tool.make("delete"), () => Effect.void).pipe(Middleware.around(needsName))
 * ```
 * @category combinators
 */
export const around: {
  <P, MR>(
    middleware: Middleware<P, MR>
  ): <E, R>(
    feature: Layer.Layer<never, E, R>
  ) => Layer.Layer<never, E, Exclude<R, P> | Registry | Exclude<MR, ServerSession>>
  <E, R, P, MR>(
    feature: Layer.Layer<never, E, R>,
    middleware: Middleware<P, MR>
  ): Layer.Layer<never, E, Exclude<R, P> | Registry | Exclude<MR, ServerSession>>
} = dual(
  2,
  <E, R>(feature: Layer.Layer<never, E, R>, middleware: Middleware<unknown, unknown>): Layer.Layer<never, E, any> =>
    SurroundedRegistry.layer(feature, (own) => ({
      _tag: "Middleware",
      run: (next) =>
        Effect.contextWithEffect((request: Context.Context<never>) =>
          MiddlewareContext.run(
            middleware.run,
            callOf(request),
            own,
            request,
            (inside) => Effect.mapInputContext(next, () => inside)
          )
        )
    }))
)

/** The message that is being handled. Every request context of a server has it. */
const callOf = (request: Context.Context<never>): Call =>
  (Context.get(request as Context.Context<RequestContext>, RequestContext) as RequestContextService & {
    readonly call: Call
  }).call

const of = <Provides, R>(run: Middleware<any, any>["run"]): Middleware<Provides, R> => ({
  [TypeId]: { _Provides: undefined as Provides },
  run: (call, next) => HandlerResult.effect(run(call, next), "A middleware")
})
