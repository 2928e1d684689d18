/**
 * Serves tools with views (MCP Apps). A view is an HTML document of the server. A host shows the results of a tool in this document.
 * Clients without support for views get the same results, and use their text.
 *
 * The server needs `extension` among its `extensions`. `AppView` declares views. `McpServer.resource` and `McpServer.implement` can also
 * serve views.
 *
 * @since 0.1.0
 */
import * as Feature from "@effect-mcp/core/Feature"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Version from "@effect-mcp/core/protocol/Version"
import { RequestContext } from "@effect-mcp/core/RequestContext"
import type * as Tool from "@effect-mcp/core/Tool"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Apps from "./Apps.js"
import * as AppView from "./AppView.js"

/**
 * The extension, for the option `extensions` of a server.
 *
 * @category constants
 */
export const extension: typeof Apps.extension = Apps.extension

/**
 * Returns whether the client of the request shows views. The result is `true` when the client has declared the extension with the media
 * type of views, and the server has the extension among its `extensions`.
 *
 * @category guards
 */
export const isSupported: Effect.Effect<boolean, never, RequestContext> = Effect.flatMap(
  RequestContext,
  (context) =>
    Effect.match(context.client.extension(extension), {
      // This runs when the settings of the client are not valid.
      onFailure: () => false,
      onSuccess: Option.exists(({ client }) => client.mimeTypes.some(Apps.isMediaType))
    })
)

// For a client of revision 2025-11-25 or earlier without a session, the server does not have the capabilities of the client.
const maySupport = Effect.zipWith(
  isSupported,
  RequestContext,
  (isSupported, { client: { requestedVersion }, version }) =>
    isSupported || (Version.isLegacy(version) && requestedVersion === undefined)
)

/**
 * The options of `tool`.
 *
 * @category models
 */
export interface Options<E = never, R = never> {
  /** The view that shows the results of the tool. */
  readonly view: AppView.AppView.Any
  /**
   * The HTML document of the view. With this option, `tool` also serves the view. Without this option, another feature must serve the view.
   */
  readonly html?: string | Effect.Effect<string | Uint8Array, E, R> & Feature.Declared<E> | undefined
  /**
   * Who may call the tool: the model, the views of the server, or both. Default: the model and the views of the server. With `["app"]` only
   * clients that show views get the tool, because other clients could give the tool to their model. There is an exception: an HTTP endpoint
   * without sessions does not know whether a client of revision 2025-11-25 or earlier shows views. At such an endpoint, all clients of
   * these revisions get the tool.
   */
  readonly visibility?: ReadonlyArray<Apps.Visibility> | undefined
}

/**
 * Serves a tool with a view that shows the results of the tool. `handler` is the same handler as for `McpServer.tool`. A result should
 * always have text for the model, even if the client shows views.
 *
 * @example
 * ```ts
 * import * as McpServer from "@effect-mcp/core/McpServer"
 * import * as Tool from "@effect-mcp/core/Tool"
 * import * as AppsServer from "@effect-mcp/extensions/AppsServer"
 * import * as AppView from "@effect-mcp/extensions/AppView"
 * import { Effect, Layer, Schema } from "effect"
 *
 * const Clock = AppView.make("clock", { uri: "ui://clock/clock.html" })
 * const Time = Tool.make("time", { success: Schema.Struct({ time: Schema.String }) })
 * const now = Effect.sync(() => ({ time: new Date().toISOString() }))
 *
 * export const Server = McpServer.layer(
 *   { name: "clock", version: "1.0.0" },
 *   Layer.mergeAll(
 *     AppsServer.tool(Time, { view: Clock, html: "<!doctype html><title>Clock</title>" }, () => now),
 *     AppsServer.tool(Tool.make("reset"), { view: Clock, visibility: ["app"] }, () => Effect.succeed("reset"))
 *   ),
 *   { extensions: [AppsServer.extension] }
 * )
 * ```
 * @category constructors
 */
export const tool = <
  const Name extends string,
  Parameters,
  Arguments,
  Success,
  Failure,
  E = never,
  R = never,
  HE = never,
  HR = never
>(
  definition: Tool.Tool<Name, Parameters, Arguments, Success, Failure>,
  { html, view, visibility }: Options<HE, HR>,
  handler: (
    parameters: NoInfer<Parameters>
  ) => Effect.Effect<Tool.Returns<NoInfer<Success>>, E, R> & Feature.Declared<E, NoInfer<Failure>>
): Feature.Feature<Exclude<R | HR, Feature.RequestServices>> => {
  const { advertised } = definition
  const meta = { ...advertised._meta, ...AppView.meta(view, { visibility }) }
  const own = McpServer.tool({ ...definition, advertised: { ...advertised, _meta: meta } }, handler)
  const needs = Feature.make(({ describe }) => describe({ offers: [], extension: extension.id }))
  const seen = Layer.merge(
    needs,
    visibility === undefined || visibility.includes("model") ? own : Feature.visible(maySupport)(own)
  )
  if (html === undefined) return seen
  // The type `Feature.Declared` has already refused an effect with failures that a resource must not have.
  const document = typeof html === "string"
    ? Effect.succeed(html)
    : html as Effect.Effect<string | Uint8Array, never, HR>
  return Layer.merge(seen, McpServer.resource(view, document))
}
