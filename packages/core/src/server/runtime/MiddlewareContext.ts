/**
 * Runs a middleware and the effect inside it with the right services, for `Pipeline` and `Middleware`. The middleware runs with the
 * services of its own layer. The effect inside runs with the services of another layer, and with the services that the middleware adds. The
 * middleware and the effect also get the services of the request.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import * as EffectInternals from "../../kit/EffectInternals.js"
import { RequestContext } from "../RequestContext.js"
import { ServerSession } from "../ServerSession.js"

/**
 * Runs one middleware around an effect. `own` contains the services of the middleware's layer. `request` contains the services of the
 * request, and the services that outer middleware has added. The effect `next` gets the services in `request`, together with the services
 * that this middleware adds.
 */
export const run = <Call>(
  middleware: (call: Call, next: Effect.Effect<unknown, unknown>) => Effect.Effect<unknown, unknown, any>,
  call: Call,
  own: Context.Context<never>,
  request: Context.Context<never>,
  next: (request: Context.Context<never>) => Effect.Effect<unknown, unknown>
): Effect.Effect<unknown, unknown> => {
  const context = Context.merge(own, request)
  const inside = Effect.contextWithEffect((now: Context.Context<never>) => next(withAdded(request, context, now)))
  return Effect.mapInputContext(
    Effect.suspend(() => middleware(call, inside)) as Effect.Effect<unknown, unknown>,
    () => context
  )
}

/**
 * The keys of the services that middleware has provided so far. The keys are necessary, because middleware may provide the same object that
 * the application also has in its context.
 */
class Provided extends Context.Reference<Provided>()("@effect-mcp/core/server/Middleware/Provided", {
  defaultValue: (): ReadonlyArray<string> => []
}) {}

/** Adds a service for the middleware and the handlers inside. */
export const add = <I, S>(
  context: Context.Context<never>,
  tag: Context.Tag<I, S>,
  service: S
): Context.Context<never> =>
  context.pipe(
    Context.add(tag, service),
    Context.add(Provided, [...Context.get(context, Provided), tag.key])
  ) as Context.Context<never>

/** Gives the services of the request, together with the services that a middleware has added to `base`, with `add` or in any other way. */
const withAdded = (
  request: Context.Context<never>,
  base: Context.Context<never>,
  now: Context.Context<never>
): Context.Context<never> => {
  const services = new Map<string, unknown>()
  const before = EffectInternals.entries(base)
  for (const [key, service] of EffectInternals.entries(now)) if (before.get(key) !== service) services.set(key, service)
  for (const key of Context.get(now, Provided)) services.set(key, EffectInternals.entries(now).get(key))
  if (services.size === 0) return request
  const all = new Map(EffectInternals.entries(request))
  for (const [key, service] of services) if (!ofRequest.has(key)) all.set(key, service)
  return EffectInternals.contextOf(all)
}

// A middleware cannot replace the services that describe the request.
const ofRequest: ReadonlySet<string> = new Set([RequestContext.key, ServerSession.key, Scope.Scope.key])
