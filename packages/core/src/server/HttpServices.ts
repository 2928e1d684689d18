/**
 * Services that the application provides with an HTTP request, for example a tenant that the application's HTTP middleware has found.
 * `HttpEndpoint.make` and the functions of `WebHandler` and `NodeHandler` take these services. With `get`, the handlers of the request's
 * messages read these services. The type of a handler says which services the handler needs.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { InternalError } from "../protocol/McpError.js"
import { RequestContext } from "./RequestContext.js"
import type { HandlerContext } from "./runtime/HandlerContext.js"

/**
 * Gets a service of the HTTP request. Use this effect in `Feature.provide`. Three kinds of messages have no services of an HTTP request:
 * messages on other transports, messages that another node has passed on, and calls of tools as tasks, which go on after their requests.
 * For a message without the service, the effect `otherwise` makes the service. Without `otherwise`, the server refuses the message with an
 * `InternalError`, which says why the service is missing.
 *
 * @example
 * ```ts
 * import * as Feature from "@effect-mcp/core/Feature"
 * import * as HttpEndpoint from "@effect-mcp/core/HttpEndpoint"
 * import * as HttpServices from "@effect-mcp/core/HttpServices"
 * import * as McpServer from "@effect-mcp/core/McpServer"
 * import * as Tool from "@effect-mcp/core/Tool"
 * import { Context } from "effect"
 *
 * class Tenant extends Context.Tag("app/Tenant")<Tenant, string>() {}
 *
 * const Whose = McpServer.tool(Tool.make("whose"), () => Tenant).pipe(Feature.provide(Tenant, HttpServices.get(Tenant)))
 *
 * export const Server = McpServer.layer({ name: "shop", version: "1.0.0" }, Whose)
 *
 * // The app requires `Tenant`, which middleware of the application provides.
 * export const app = HttpEndpoint.make({ services: [Tenant] })
 * ```
 * @category utils
 */
export const get = <I, S, R = never>(
  tag: Context.Tag<I, S>,
  otherwise?: Effect.Effect<S, unknown, R>
): Effect.Effect<S, unknown, R | RequestContext> =>
  Effect.flatMap(RequestContext, (context): Effect.Effect<S, unknown, R> => {
    const handler = context as HandlerContext
    const given = handler.outlivesRequest
      ? Option.none<S>()
      : Context.getOption((handler.origin.services ?? Context.empty()) as Context.Context<I>, tag)
    if (Option.isSome(given)) return Effect.succeed(given.value)
    if (otherwise !== undefined) return otherwise
    const message = `"${handler.method}" needs the service "${tag.key}": ${whyMissing(handler)}`
    return Effect.fail(new InternalError({ message }))
  })

const whyMissing = ({ origin, outlivesRequest }: HandlerContext): string => {
  if (outlivesRequest) return "the call runs as a task, which goes on after its HTTP request"
  return origin.listener === undefined
    ? "the message did not come in an HTTP request"
    : "the application did not provide this service with the HTTP request, or another node has passed the request on"
}
