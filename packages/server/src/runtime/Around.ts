/**
 * Runs one middleware around an effect. The middleware runs with the services of its own layer, and the effect inside with
 * those of another: both get the services of the request, and the effect also those that the middleware adds.
 */
import * as Edition from "@effect-mcp/jsonrpc/unstable/kit/Edition"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import { RequestContext } from "../RequestContext.js"
import { ServerSession } from "../ServerSession.js"
import * as Provided from "./Provided.js"

/** `request` has the services of the request, and those of the middleware outside; `next` gets more of them. */
export const run = <Call>(
  middleware: (call: Call, next: Effect.Effect<unknown, unknown>) => Effect.Effect<unknown, unknown, any>,
  call: Call,
  own: Context.Context<never>,
  request: Context.Context<never>,
  next: (request: Context.Context<never>) => Effect.Effect<unknown, unknown>
): Effect.Effect<unknown, unknown> => {
  const context = Context.merge(own, request)
  const inside = Effect.contextWithEffect((now: Context.Context<never>) => next(added(request, context, now)))
  return Effect.mapInputContext(
    Effect.suspend(() => middleware(call, inside)) as Effect.Effect<unknown, unknown>,
    () => context
  )
}

const added = (
  request: Context.Context<never>,
  base: Context.Context<never>,
  now: Context.Context<never>
): Context.Context<never> => {
  const services = Provided.since(base, now)
  if (services.size === 0) return request
  const all = new Map(Edition.entries(request))
  for (const [key, service] of services) if (!ofRequest.has(key)) all.set(key, service)
  return Edition.contextOf(all)
}

// A middleware cannot replace what describes the request.
const ofRequest: ReadonlySet<string> = new Set([RequestContext.key, ServerSession.key, Scope.Scope.key])
