/**
 * The extension `io.modelcontextprotocol/ui`, MCP Apps: a tool names a view, an HTML document that hosts show with the results
 * of the tool. What tools and views say in `_meta.ui`, and how a client reads it.
 *
 * `AppView` of the definition package defines views, `Apps` of the server package serves them, and `Apps` of the client
 * package reads them. What a view and its host send each other is not part of this library.
 *
 * @see https://github.com/modelcontextprotocol/ext-apps/blob/main/specification/2026-01-26/apps.mdx
 * @since 0.1.0
 */
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Extension from "./Extension.js"
import type { JsonObject } from "./Json.js"
import * as Mend from "./schema/Mend.js"
import { harmless, readAs, sieved } from "./schema/Mendable.js"
import type { Tool } from "./Tools.js"

/** The media type of views. */
export const MEDIA_TYPE = "text/html;profile=mcp-app"

/** Whether a media type is that of views, however it is written. */
export const isMediaType = (text: string): boolean => {
  const [type, ...parameters] = text.toLowerCase().split(";").map((part) => part.trim())
  return type === "text/html" && parameters.some((one) => one === "profile=mcp-app" || one === `profile="mcp-app"`)
}

/** The URI of a view. */
export type ViewUri = `ui://${string}`

export const isViewUri = (u: unknown): u is ViewUri => typeof u === "string" && /^ui:\/\/\P{Cc}+$/u.test(u)

export const ViewUri: Schema.Schema<ViewUri> = Schema.typeSchema(
  Schema.String.pipe(Schema.filter(isViewUri, {
    description: "a URI that begins with ui://",
    arbitrary: () => (fc) => fc.nat().map((n): ViewUri => `ui://weather/${n}.html`)
  }))
)

/** Which side may call a tool: the model, or the views of the same server. */
export type Visibility = "model" | "app"

/** What a tool says in `_meta.ui`. */
export interface ToolUi extends Schema.Schema.Type<typeof ToolUi> {}

export const ToolUi = Schema.Struct({
  /** The view that shows the results of the tool. */
  resourceUri: harmless(Schema.optional(ViewUri)),
  /** Default: both. */
  visibility: readAs(
    (value) => typeof value === "string" ? [value] : value,
    harmless(Schema.optional(sieved(Schema.Array(Schema.Literal("model", "app")))))
  )
})

/**
 * One source of a content security policy: an origin such as `https://api.example.com`, also with a wildcard, as in
 * `https://*.example.com`. It contains no character that would begin another source or directive.
 */
export const Source: Schema.Schema<string> = Schema.String.pipe(
  Schema.pattern(/^[A-Za-z0-9*][A-Za-z0-9*.:/?#@!$&()+=_~%[\]-]{0,2047}$/, {
    description: "a source of a content security policy, such as https://api.example.com",
    arbitrary: () => (fc) => fc.constantFrom("https://api.example.com", "https://*.example.com", "wss://example.com")
  })
)

const sources = harmless(Schema.optional(sieved(Schema.Array(Source)).pipe(Schema.maxItems(256))))

/** The origins that a view needs; every other one is blocked. */
export interface Csp extends Schema.Schema.Type<typeof Csp> {}

export const Csp = Schema.Struct({
  /** For requests: `fetch`, `WebSocket`. */
  connectDomains: sources,
  /** For scripts, styles, images, fonts and media. */
  resourceDomains: sources,
  /** For nested frames. */
  frameDomains: sources,
  /** For the base URI of the document. */
  baseUriDomains: sources
})

const permission = harmless(Schema.optional(Schema.Struct({})))

/** What a view would like to use in the browser. Hosts may refuse. */
export interface Permissions extends Schema.Schema.Type<typeof Permissions> {}

export const Permissions = Schema.Struct({
  camera: permission,
  microphone: permission,
  geolocation: permission,
  clipboardWrite: permission
})

/** What a view says in `_meta.ui`. */
export interface ViewUi extends Schema.Schema.Type<typeof ViewUi> {}

export const ViewUi = Schema.Struct({
  csp: harmless(Schema.optional(Csp)),
  permissions: harmless(Schema.optional(Permissions)),
  /** An origin of its own for the view. Each host has its own format. */
  domain: harmless(Schema.optional(Schema.String.pipe(Schema.maxLength(2048)))),
  /** Whether the host should draw a border and a background. */
  prefersBorder: harmless(Schema.optional(Schema.Boolean))
})

/**
 * The extension, for the option `extensions` of a server and of a client. A client that is given it declares that it shows
 * views of `MEDIA_TYPE`. Tools have `_meta` from 2025-06-18 on.
 */
export const extension = Extension.declare(
  Extension.make("io.modelcontextprotocol/ui", {
    since: "2025-06-18",
    settings: {
      client: Schema.Struct({
        /** The media types that the client shows. */
        mimeTypes: Schema.optionalWith(Schema.Array(Schema.String), { default: () => [] })
      })
    }
  }),
  { client: { mimeTypes: [MEDIA_TYPE] } }
)

/** The key of the URI in earlier drafts, which servers still send beside `ui`. */
const FLAT_KEY = "ui/resourceUri"

/** What a tool names as its view, checked or not. */
export const declaredView = ({ _meta }: Pick<Tool, "_meta">): unknown => {
  const ui = _meta?.ui
  return (isObject(ui) ? ui.resourceUri : undefined) ?? _meta?.[FLAT_KEY]
}

const isObject = (u: unknown): u is JsonObject => Predicate.isRecord(u)

const decodeTool = Mend.decoder(ToolUi, "client")

/** What a tool says of its view and of its callers. What is not valid counts as absent. */
export const ofTool = (tool: Pick<Tool, "_meta">): ToolUi & { readonly visibility: ReadonlyArray<Visibility> } => {
  const { _meta } = tool
  const { visibility = ["model", "app"] } = _meta === undefined
    ? {}
    : Either.getOrElse(decodeTool(_meta.ui), (): ToolUi => ({}))
  const resourceUri = declaredView(tool)
  return { ...(isViewUri(resourceUri) ? { resourceUri } : undefined), visibility }
}

/** Whether a model may get the tool. A host MUST NOT give a model the others. */
export const isForModel = (tool: Pick<Tool, "_meta">): boolean => ofTool(tool).visibility.includes("model")

/** Whether views of the same server may call the tool. A host MUST refuse their calls of the others. */
export const isForApp = (tool: Pick<Tool, "_meta">): boolean => ofTool(tool).visibility.includes("app")

const decodeView = Mend.decoder(ViewUi, "client")

/** What the `_meta` of a view says, and what was left out of it because it is not valid. */
export const ofView = (ui: unknown): { readonly ui: ViewUi; readonly leftOut: ReadonlyArray<string> } => {
  let leftOut: ReadonlyArray<string> = []
  const decoded = decodeView(ui, ({ places }) => {
    leftOut = places.map(({ message, path }) => `${path}: ${message}`)
  })
  return Either.isRight(decoded) ? { ui: decoded.right, leftOut } : { ui: {}, leftOut: ["it is not an object"] }
}
