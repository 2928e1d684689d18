/**
 * Makes tools from the endpoints of an `HttpApi` of `@effect/platform`. A call of a tool runs the API in the fiber of the call, without a
 * network connection. The API decodes, checks and answers the call like an HTTP request, because its router, its middleware and its schemas
 * all run. `@effect/platform` generates an OpenAPI document for the API, and `OpenApi` makes the tools from this document.
 *
 * @see https://github.com/Effect-TS/effect/tree/main/packages/platform#http-api
 * @since 0.1.0
 */
import * as HttpApi from "@effect/platform/HttpApi"
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import type { HttpApiDecodeError } from "@effect/platform/HttpApiError"
import type * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import type * as HttpApp from "@effect/platform/HttpApp"
import * as HttpClient from "@effect/platform/HttpClient"
import type { HttpClientRequest } from "@effect/platform/HttpClientRequest"
import * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import type * as HttpRouter from "@effect/platform/HttpRouter"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerRespondable from "@effect/platform/HttpServerRespondable"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as PlatformOpenApi from "@effect/platform/OpenApi"
import { forOperator } from "@effect-mcp/core/ClientLogger"
import type * as Feature from "@effect-mcp/core/Feature"
import type { Registry } from "@effect-mcp/core/Registry"
import * as EffectInternals from "@effect-mcp/core/unstable/kit/EffectInternals"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as ErrorMessage from "./call/ErrorMessage.js"
import * as ToolLayer from "./call/ToolLayer.js"
import * as OpenApi from "./OpenApi.js"
import type { OpenApiError } from "./OpenApiError.js"

/**
 * The service that `layer` requires. It contains an API together with its implementation. The layer `implemented` provides this service.
 *
 * @category models
 */
export class Implemented extends Context.Tag("@effect-mcp/openapi/HttpApiTools/Implemented")<Implemented, {
  readonly api: { readonly groups: object }
  readonly app: HttpApp.Default<unknown, Scope.Scope>
}>() {}

/**
 * Provides the API that `HttpApiBuilder.api` implements. Provide this layer to the server, together with the layers of the API, as the
 * example of `layer` shows. If you provide this layer directly to the result of `HttpApiTools.layer`, Effect builds the groups of the API a
 * second time.
 *
 * @category layers
 */
export const implemented: Layer.Layer<Implemented, never, HttpApi.Api | HttpRouter.HttpRouter.DefaultServices> = Layer
  .effect(
    Implemented,
    Effect.gen(function*() {
      const { api } = yield* HttpApi.Api
      const { routes } = yield* (yield* HttpApiBuilder.Router).router
      const missing = missingIn([...routes], api)
      if (missing !== undefined) {
        return yield* Effect.dieMessage(
          `The endpoints of this API are not in the router (${missing}): provide \`HttpApiBuilder.api\` and the tools in one ` +
            "layer, not in two `Effect.provide`"
        )
      }
      const middleware = yield* HttpApiBuilder.Middleware
      const app = yield* Effect.provideService(HttpApiBuilder.httpApp, HttpApiBuilder.Middleware, {
        ...middleware,
        retrieve: Effect.map(
          middleware.retrieve,
          (others) => <E, R>(app: HttpApp.Default<E, R>) => others(ErrorMessage.noticing(app))
        )
      })
      const services = yield* Effect.context<HttpRouter.HttpRouter.DefaultServices>()
      const provided = Effect.mapInputContext(
        app,
        (own: Context.Context<HttpServerRequest.HttpServerRequest | Scope.Scope>) => Context.merge(services, own)
      )
      return { api, app: provided }
    })
  ).pipe(Layer.provide([HttpApiBuilder.Router.Live, HttpApiBuilder.Middleware.layer]))

/** Returns the method and the path of the first endpoint of the API that has no route; `undefined` when every endpoint has a route. */
const missingIn = (
  routes: ReadonlyArray<HttpRouter.Route<unknown, unknown>>,
  { groups }: HttpApi.HttpApi<string, HttpApiGroup.HttpApiGroup.AnyWithProps>
): string | undefined => {
  const known = new Set(routes.map(({ method, path }) => `${method} ${path}`))
  return Object.values(groups)
    .flatMap(({ endpoints }) => Object.values(endpoints).map(({ method, path }) => `${method} ${path}`))
    .find((endpoint) => !known.has(endpoint))
}

/**
 * The options of `layer`.
 *
 * @category models
 */
export interface Options<Group extends string = string, R = never>
  extends Omit<OpenApi.Options<R>, "baseUrl" | "origins" | "tags">
{
  /** The groups whose endpoints become tools. Default: all groups. */
  readonly groups?: ReadonlyArray<Group> | undefined
}

/**
 * Serves the endpoints of an API as tools of a server. Your program can also serve the same API over HTTP (`HttpApiBuilder.serve`). An
 * endpoint that is not in the OpenAPI document of the API does not become a tool.
 *
 * When an endpoint fails with an error that its schemas declare, the result of the call has `isError`. The text of this result has the
 * `message` that the error class defines, and the error as the API encodes it. A defect of a handler becomes a defect of the call.
 *
 * The middleware of the API runs for each call, and can find the user of the call in two ways. It can use `Effect.serviceOption` with the
 * service in which the MCP server provides its user. Or it can read a header that the option `request` sets.
 *
 * @example
 * ```ts
 * import * as HttpApi from "@effect/platform/HttpApi"
 * import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
 * import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
 * import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
 * import * as HttpServer from "@effect/platform/HttpServer"
 * import * as McpServer from "@effect-mcp/core/McpServer"
 * import * as HttpApiTools from "@effect-mcp/openapi/HttpApiTools"
 * import { Effect, Layer, Schema } from "effect"
 *
 * const Api = HttpApi.make("shop").add(
 *   HttpApiGroup.make("orders").add(HttpApiEndpoint.get("count", "/orders/count").addSuccess(Schema.Number))
 * )
 * const ApiLive = HttpApiBuilder.api(Api).pipe(
 *   Layer.provide(HttpApiBuilder.group(Api, "orders", (orders) => orders.handle("count", () => Effect.succeed(3))))
 * )
 *
 * export const Server = McpServer.layer({ name: "shop", version: "1.0.0" }, HttpApiTools.layer(Api, { groups: ["orders"] })).pipe(
 *   Layer.provide(HttpApiTools.implemented),
 *   Layer.provide(ApiLive),
 *   Layer.provide(HttpServer.layerContext)
 * )
 * ```
 * @category layers
 */
export const layer = <Id extends string, Groups extends HttpApiGroup.HttpApiGroup.Any, E, ApiR, R = never>(
  api: HttpApi.HttpApi<Id, Groups, E, ApiR>,
  options: Options<HttpApiGroup.HttpApiGroup.Name<Groups>, R> = {}
): Layer.Layer<
  never,
  OpenApiError,
  Registry | Implemented | Exclude<R, Feature.RequestServices>
> => {
  const { groups, ...others } = options
  const document = groups === undefined ? PlatformOpenApi.fromApi(api) : PlatformOpenApi.fromApi(only(api, groups))
  const tools = OpenApi.make(document, { ...others, baseUrl: ORIGIN })
  return Layer.unwrapEffect(Effect.gen(function*() {
    const implemented = yield* Implemented
    if (!Object.is(implemented.api, api)) {
      return yield* Effect.dieMessage(
        `HttpApiTools.layer got an API ${groupsOf(api)}, but HttpApiBuilder.api implements another value, an API ` +
          `${groupsOf(implemented.api)}: give both the same value`
      )
    }
    const warnOfRefusal = yield* Effect.once(forOperator(Effect.logWarning(REFUSED)))
    return ToolLayer.make(tools, ({ call }) => (args) =>
      // The API gets the scope of the call, so that the scope closes only after this function has read a streamed answer.
      Effect.flatMap(Effect.scope, (scope) =>
        call(args).pipe(
          Effect.provideService(HttpClient.HttpClient, clientOf(Scope.extend(implemented.app, scope), warnOfRefusal)),
          ErrorMessage.keeping
        )))
  }))
}

const groupsOf = ({ groups }: { readonly groups: object }): string => {
  const names = Object.keys(groups)
  return names.length === 0 ? "without groups" : `with the groups ${names.join(", ")}`
}

const REFUSED =
  "The API answered the call of a tool with 401: its middleware found no user. Give the MCP server an `authenticator`, and " +
  "let the middleware take the user that `Effect.serviceOption` finds, or set a header by the option `request` of HttpApiTools.layer"

/** The base URL of the requests. Every request needs a base URL, although no request leaves the process. */
const ORIGIN = "http://localhost"

/** Makes an API with only these groups. The result serves only to generate an OpenAPI document. */
const only = <Id extends string, Groups extends HttpApiGroup.HttpApiGroup.Any>(
  { annotations, groups, identifier }: HttpApi.HttpApi<Id, Groups, any, any>,
  names: ReadonlyArray<string>
): HttpApi.HttpApi<Id, Groups, HttpApiDecodeError> =>
  names.reduce<HttpApi.HttpApi<Id, Groups, HttpApiDecodeError>>(
    (part, name) => part.add(groups[name]!),
    HttpApi.make(identifier).annotateContext(annotations)
  )

/** Makes a client that runs the API in the fiber of the request. */
const clientOf = (
  app: HttpApp.Default<unknown>,
  warnOfRefusal: Effect.Effect<void>
): HttpClient.HttpClient =>
  HttpClient.make((request, url, signal) =>
    Effect.gen(function*() {
      const services = yield* EffectInternals.currentServices()
      const { headers, method } = request
      const body = bodyOf(request, services)
      const received = HttpServerRequest.fromWeb(new Request(url, { method, headers, signal, ...body }))
      const response = yield* Effect.provideService(respond(app), HttpServerRequest.HttpServerRequest, received)
      if (response.status === 401) yield* warnOfRefusal
      return HttpClientResponse.fromWeb(request, HttpServerResponse.toWeb(response, { runtime: services }))
    })
  )

/**
 * Converts the errors of an app to responses. By its type an app of the platform has no errors, but it fails for a request without a route.
 */
const respond = (app: HttpApp.Default<unknown>): HttpApp.Default =>
  Effect.catchAll(
    app,
    (error) => HttpServerRespondable.isRespondable(error) ? HttpServerRespondable.toResponse(error) : Effect.die(error)
  )

const bodyOf = ({ body }: HttpClientRequest, services: EffectInternals.Services): RequestInit => {
  switch (body._tag) {
    case "Empty":
      return {}
    case "FormData":
      return { body: body.formData }
    case "Stream":
      // A streamed body needs `duplex`, which the types of Node and of browsers do not have yet.
      return { body: Stream.toReadableStreamRuntime(body.stream, services), ...{ duplex: "half" } }
    default:
      return { body: body.body as BodyInit }
  }
}
