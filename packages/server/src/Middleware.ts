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
import type { RequestId } from "@effect-mcp/jsonrpc/Message"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { RequestContext } from "./RequestContext.js"
import * as Provided from "./runtime/Provided.js"
import * as Returned from "./runtime/Returned.js"

export const TypeId: unique symbol = Symbol.for("@effect-mcp/server/Middleware")

export type TypeId = typeof TypeId

/** A message as middleware sees it, before its parameters are decoded. */
export interface Call {
  /** `undefined` for a notification. */
  readonly id: RequestId | undefined
  readonly method: string
  readonly params: JsonObject | undefined
}

/**
 * `run` gets a message and `next`, the effect that handles it. It succeeds with the result to send, or fails with an
 * `McpError` to refuse the message; it may leave out `next`.
 */
export interface Middleware<out Provides, out R> {
  readonly [TypeId]: { readonly _Provides: Provides }
  readonly run: (call: Call, next: Effect.Effect<unknown, unknown>) => Effect.Effect<unknown, unknown, R>
}

/**
 * Middleware that provides no service.
 *
 * @example
 * ```ts
 * import { Middleware } from "@effect-mcp/server"
 * import { Effect } from "effect"
 *
 * export const timed = Middleware.make((call, next) =>
 *   Effect.flatMap(Effect.timed(next), ([took, result]) =>
 *     Effect.as(Effect.logDebug(`${call.method} took ${took}`), result)))
 * ```
 */
export const make = <R>(
  run: (call: Call, next: Effect.Effect<unknown, unknown>) => Effect.Effect<unknown, unknown, R>
): Middleware<never, Exclude<R, RequestContext | Scope.Scope>> => of(run)

/**
 * Middleware that provides a service to the handlers and the middleware inside it. When `service` fails, for example with
 * an `McpError`, the message is refused.
 */
export const provide = <I, S, R>(
  tag: Context.Tag<I, S>,
  service: (call: Call) => Effect.Effect<S, unknown, R>
): Middleware<I, Exclude<R, RequestContext | Scope.Scope>> =>
  of((call, next) =>
    Effect.flatMap(
      Returned.effect(service(call), `The middleware that provides ${tag.key}`),
      (made) => Effect.mapInputContext(next, (context: Context.Context<never>) => Provided.add(context, tag, made))
    )
  )

/** Runs `inner` inside `outer`. `inner` may use the services that `outer` provides. */
export const compose = <P1, R1, P2, R2>(
  outer: Middleware<P1, R1>,
  inner: Middleware<P2, R2>
): Middleware<P1 | P2, R1 | Exclude<R2, P1>> =>
  of((call, next) => outer.run(call, inner.run(call, next) as Effect.Effect<unknown, unknown>))

const of = <Provides, R>(run: Middleware<any, any>["run"]): Middleware<Provides, R> => ({
  [TypeId]: { _Provides: undefined as Provides },
  run: (call, next) => Returned.effect(run(call, next), "A middleware")
})
