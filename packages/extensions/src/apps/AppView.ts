/**
 * Declares views of MCP Apps. A view is a resource with an HTML document. A host shows this document together with the results of a tool.
 * `make` declares a view. `meta` makes the metadata with which a tool names its view. `AppsServer` serves views and their tools.
 * `AppsClient` reads views.
 *
 * @since 0.1.0
 */
import * as Issue from "@effect-mcp/core/protocol/Issue"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import * as Resource from "@effect-mcp/core/Resource"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import * as Apps from "./Apps.js"

/**
 * The declaration of a view, as `make` returns it.
 *
 * @category models
 */
export interface AppView<Name extends string> extends Resource.Resource<Name> {
  readonly uri: Apps.ViewUri
}

/** @category constants */
export declare namespace AppView {
  export type Any = AppView<string>
}

/**
 * The options of `make`: the options of the resource, and the metadata that hosts need to show the view. `csp` lists the origins to which
 * the view may send requests. Without `csp`, a view cannot send requests to any origin.
 *
 * @category models
 */
export interface Options extends Omit<Resource.Options, "contentMeta" | "mimeType">, Apps.ViewUi {
  readonly uri: Apps.ViewUri
}

/**
 * Declares a view. The URI must begin with `ui://`. `make` sets the media type of views. To serve a view, pass it to `McpServer.resource`,
 * together with a handler that returns the document as text or bytes. Throws when the URI does not begin with `ui://`, when `csp` contains
 * a text that is not an origin, or when `Resource.make` throws.
 *
 * @example
 * ```ts
 * import * as Tool from "@effect-mcp/core/Tool"
 * import * as AppView from "@effect-mcp/extensions/AppView"
 * import { Schema } from "effect"
 *
 * const Map = AppView.make("map", {
 *   uri: "ui://weather/map.html",
 *   csp: { resourceDomains: ["https://tiles.example.com"] },
 *   prefersBorder: true
 * })
 *
 * export const Forecast = Tool.make("forecast", {
 *   parameters: { city: Schema.String },
 *   success: Schema.Struct({ celsius: Schema.Number }),
 *   meta: AppView.meta(Map)
 * })
 * ```
 * @category constructors
 */
export const make = <const Name extends string>(name: Name, options: Options): AppView<Name> => {
  const { csp, domain, meta, permissions, prefersBorder, uri, ...description } = options
  const given = { csp, permissions, domain, prefersBorder }
  const ui = Either.getOrThrowWith(
    decode(given),
    ({ issue }) => new Error(`AppView ${quoted(name)}: ${Issue.sentence(issue)}`)
  )
  if (!Apps.isViewUri(uri)) throw new Error(`AppView ${quoted(name)}: ${quoted(uri)} must begin with ui://`)
  const own = Object.values(given).every((one) => one === undefined) ? undefined : { ui: defined(ui) }
  const resource = Resource.make(name, {
    ...description,
    uri,
    mimeType: Apps.MEDIA_TYPE,
    ...(meta === undefined && own === undefined ? undefined : { meta: { ...meta, ...own } }),
    contentMeta: own
  })
  return { ...resource, uri }
}

const quoted = (text: string): string => `"${text.length > 100 ? `${text.slice(0, 100)}…` : text}"`

const decode = Schema.decodeUnknownEither(Apps.ViewUi)

/**
 * Makes the value of the option `meta` of `Tool.make`, for a tool that has a view. The value names the view that shows the results, and
 * says who may call the tool.
 *
 * @category utils
 */
export const meta = (
  view: AppView.Any | Apps.ViewUri,
  options: {
    /** Who may call the tool. With `["app"]` only views may call it. Default: the model and the views of the server. */
    readonly visibility?: ReadonlyArray<Apps.Visibility> | undefined
  } = {}
): { readonly ui: Apps.ToolUi } => ({
  ui: { resourceUri: typeof view === "string" ? view : view.uri, ...defined(options) }
})

const defined = <A extends object>(given: A): A & JsonObject =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as A & JsonObject
