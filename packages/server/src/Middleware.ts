/**
 * What stands around every message of a server: it sees requests and notifications, the handshake and unknown methods too,
 * before anything serves them, and how they end. What belongs to no conversation, a notification to an HTTP endpoint without
 * sessions, means nothing to anybody, and is not seen. It can provide services to handlers, refuse, time, and trace.
 *
 * @since 0.1.0
 */
import type { RequestId } from "@effect-mcp/jsonrpc/Message"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { RequestContext } from "./RequestContext.js"

/**
 * @since 0.1.0
 * @category type ids
 */
export const TypeId: unique symbol = Symbol.for("@effect-mcp/server/Middleware")

/**
 * @since 0.1.0
 * @category type ids
 */
export type TypeId = typeof TypeId

/**
 * What has come, before its parameters are checked.
 *
 * @since 0.1.0
 * @category models
 */
export interface Call {
  /** A notification has none. */
  readonly id: RequestId | undefined
  readonly method: string
  readonly params: JsonObject | undefined
}

/**
 * `run` stands around `next`: the rest of the way to the handler, and back with its result or failure. It succeeds with
 * the result that is to be said, fails with an `McpError` to refuse, and need not run `next` at all.
 *
 * @since 0.1.0
 * @category models
 */
export interface Middleware<out Provides, out R> {
  readonly [TypeId]: { readonly _Provides: Provides }
  readonly run: (call: Call, next: Effect.Effect<unknown, unknown>) => Effect.Effect<unknown, unknown, R>
}

/**
 * Middleware that provides nothing.
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
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = <R>(
  run: (call: Call, next: Effect.Effect<unknown, unknown>) => Effect.Effect<unknown, unknown, R>
): Middleware<never, Exclude<R, RequestContext | Scope.Scope>> => of(run)

/**
 * Middleware that provides a service to everything behind it. When `service` fails, with an `McpError` for one, the
 * message is refused.
 *
 * @since 0.1.0
 * @category constructors
 */
export const provide = <I, S, R>(
  tag: Context.Tag<I, S>,
  service: (call: Call) => Effect.Effect<S, unknown, R>
): Middleware<I, Exclude<R, RequestContext | Scope.Scope>> =>
  of((call, next) =>
    Effect.flatMap(service(call), (made) =>
      Effect.mapInputContext(
        next,
        (context: Context.Context<never>) =>
          context.pipe(
            Context.add(tag, made),
            Context.add(Provided, [...Context.get(context, Provided), tag.key])
          ) as Context.Context<never>
      ))
  )

/** What middleware has provided so far, by key: also what is the same as what the application provides. */
class Provided extends Context.Reference<Provided>()("@effect-mcp/server/Middleware/Provided", {
  defaultValue: (): ReadonlyArray<string> => []
}) {}

/**
 * One around the other: what `outer` provides, `inner` may use.
 *
 * @since 0.1.0
 * @category combinators
 */
export const compose = <P1, R1, P2, R2>(
  outer: Middleware<P1, R1>,
  inner: Middleware<P2, R2>
): Middleware<P1 | P2, R1 | Exclude<R2, P1>> =>
  of((call, next) => outer.run(call, inner.run(call, next) as Effect.Effect<unknown, unknown>))

const of = <Provides, R>(run: Middleware<any, any>["run"]): Middleware<Provides, R> => ({
  [TypeId]: { _Provides: undefined as Provides },
  run
})

/**
 * Runs a handler inside the middleware. The handler gets what it was made with, then what the middleware has added to
 * `base`, the context that the middleware itself runs in.
 *
 * @since 0.1.0
 * @category running
 */
export const around = (
  middleware: Middleware<unknown, any>,
  call: Call,
  base: Context.Context<never>,
  handler: (added: ReadonlyMap<string, unknown>) => Effect.Effect<unknown, unknown>
): Effect.Effect<unknown, unknown> =>
  Effect.mapInputContext(
    Effect.suspend(() =>
      middleware.run(
        call,
        Effect.contextWithEffect((now: Context.Context<never>) => handler(added(base, now)))
      )
    ) as Effect.Effect<unknown, unknown>,
    () => base
  )

const added = (base: Context.Context<never>, now: Context.Context<never>): ReadonlyMap<string, unknown> => {
  const services = new Map<string, unknown>()
  for (const [key, service] of now.unsafeMap) {
    if (base.unsafeMap.get(key) !== service) services.set(key, service)
  }
  for (const key of Context.get(now, Provided)) services.set(key, now.unsafeMap.get(key))
  return services
}
