/**
 * Keeps track of the services that middleware provides to the handlers inside it. The middleware runs with the context of
 * the application, and a handler with the one of its own layer, so this module passes the services from the one to
 * the other.
 */
import * as Edition from "@effect-mcp/jsonrpc/unstable/kit/Edition"
import * as Context from "effect/Context"

/**
 * The keys of the services that middleware has provided so far. A service may be the same object that the application has;
 * only its key tells that middleware provided it.
 */
export class Provided extends Context.Reference<Provided>()("@effect-mcp/server/Middleware/Provided", {
  defaultValue: (): ReadonlyArray<string> => []
}) {}

/** Adds a service for the handlers inside. */
export const add = <I, S>(
  context: Context.Context<never>,
  tag: Context.Tag<I, S>,
  service: S
): Context.Context<never> =>
  context.pipe(
    Context.add(tag, service),
    Context.add(Provided, [...Context.get(context, Provided), tag.key])
  ) as Context.Context<never>

/** The services that were added to `base`, with `add` or by any other means. */
export const since = (base: Context.Context<never>, now: Context.Context<never>): ReadonlyMap<string, unknown> => {
  const services = new Map<string, unknown>()
  for (const [key, service] of Edition.entries(now)) {
    if (Edition.entries(base).get(key) !== service) services.set(key, service)
  }
  for (const key of Context.get(now, Provided)) services.set(key, Edition.entries(now).get(key))
  return services
}
