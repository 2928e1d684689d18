/**
 * Middleware runs around every message that a client sends to a server: requests and notifications, also the handshake and unknown methods.
 * Middleware gets a message before the server decodes the parameters, and gets the result or the failure of the handler. Middleware can
 * provide services to handlers, refuse messages, measure and trace. `runtime/Pipeline` runs middleware. `FeatureMiddleware` has middleware
 * around single features, which gets the feature and its decoded arguments.
 *
 * One kind of message does not reach middleware: a notification of revision 2025-11-25 or earlier to an HTTP endpoint without sessions. The
 * server drops such notifications.
 *
 * @since 0.1.0
 */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { RequestId } from "../jsonrpc/Message.js"
import type { JsonObject } from "../protocol/Json.js"
import type { RequestContext } from "./RequestContext.js"
import * as HandlerResult from "./runtime/HandlerResult.js"
import * as MiddlewareContext from "./runtime/MiddlewareContext.js"

/** @category symbols */
export const TypeId: unique symbol = Symbol.for("@effect-mcp/core/Middleware")

/** @category models */
export type TypeId = typeof TypeId

/**
 * A message in the form in which middleware gets it, before the server decodes the parameters. The message contains the arguments as the
 * client sent them. But when the server has repaired the arguments of a tool (option `mendArguments`), the message contains the repaired
 * arguments.
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
 * `run` gets a message and the effect `next`, which handles the message. `run` succeeds with the result to send, or fails with an
 * `McpError` to refuse the message. `run` may give a result without running `next`.
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

  /** The services that the middleware provides. */
  type Provides<M> = M extends Middleware<infer P, any> ? P : never

  /** The services that the middleware requires. */
  type Context<M> = M extends Middleware<any, infer R> ? R : never
}

/**
 * Makes middleware that provides no service.
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
 * Makes middleware that provides a service to the handlers and the middleware inside. When the effect `service` fails with an `McpError`,
 * the server refuses the message.
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
 * Makes one middleware from two: `inner` runs inside of `outer`. `inner` may use the services that `outer` provides.
 *
 * @category utils
 */
export const compose = <P1, R1, P2, R2>(
  outer: Middleware<P1, R1>,
  inner: Middleware<P2, R2>
): Middleware<P1 | P2, R1 | Exclude<R2, P1>> =>
  of((call, next) => outer.run(call, Effect.suspend(() => inner.run(call, next) as Effect.Effect<unknown, unknown>)))

const of = <Provides, R>(run: Middleware<any, any>["run"]): Middleware<Provides, R> => ({
  [TypeId]: { _Provides: undefined as Provides },
  run: (call, next) => HandlerResult.effect(run(call, next), "A middleware")
})
