/**
 * The types and schemas of the extension `io.modelcontextprotocol/ui` (MCP Apps). With this extension a tool can have a view. A view is an
 * HTML document that a host shows together with the results of the tool. Tools and views have metadata of this extension in the member `ui`
 * of their `_meta`. This module has the schemas of this metadata, and functions that read the metadata of servers.
 *
 * `AppView` declares views, `AppsServer` serves views, and `AppsClient` reads views. Import only the modules that your program needs. This
 * library does not implement the messages between a view and its host.
 *
 * @see https://github.com/modelcontextprotocol/ext-apps/blob/main/specification/2026-01-26/apps.mdx
 * @since 0.1.0
 */
import * as Extension from "@effect-mcp/core/protocol/Extension"
import * as Issue from "@effect-mcp/core/protocol/Issue"
import type { Tool } from "@effect-mcp/core/protocol/Tools"
import * as HostName from "@effect-mcp/core/unstable/kit/HostName"
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import * as Schema from "effect/Schema"

/**
 * The media type of views.
 *
 * @category constants
 */
export const MEDIA_TYPE = "text/html;profile=mcp-app"

/**
 * Returns whether a media type is the media type of views. Case, spaces and quotes do not matter.
 *
 * @category guards
 */
export const isMediaType = (text: string): boolean => {
  const [type, ...parameters] = text.toLowerCase().split(";").map((part) => part.trim())
  return type === "text/html" && parameters.some((one) => one === "profile=mcp-app" || one === `profile="mcp-app"`)
}

/** @category models */
export type ViewUri = `ui://${string}`

/**
 * Returns whether a value is the URI of a view.
 *
 * @category guards
 */
export const isViewUri = (u: unknown): u is ViewUri => typeof u === "string" && /^ui:\/\/\P{Cc}+$/u.test(u)

/** @category schemas */
export const ViewUri: Schema.Schema<ViewUri> = Schema.typeSchema(
  Schema.String.pipe(Schema.filter(isViewUri, {
    description: "a URI that begins with ui://",
    arbitrary: () => (fc) => fc.nat().map((n): ViewUri => `ui://weather/${n}.html`)
  }))
)

/**
 * Who may call a tool. "model" means the model, "app" means a view of the same server.
 *
 * @category models
 */
export type Visibility = "model" | "app"

/**
 * The `_meta.ui` of a tool.
 *
 * @category models
 */
export interface ToolUi extends Schema.Schema.Type<typeof ToolUi> {}

/** @category schemas */
export const ToolUi = Schema.Struct({
  /** The view that shows the results of the tool. */
  resourceUri: Schema.optional(ViewUri),
  /** Who may call the tool. Default: the model and the views. */
  visibility: Schema.optional(Schema.Array(Schema.Literal("model", "app")))
})

/** Matches an origin, or all origins of a domain with at least two labels. Does not match `javascript:`, `https:` and `*`. */
const ORIGIN = /^(?:https?|wss?):\/\/(\*\.(?=[\w-]+\.))?(?:[a-z\d_.-]{1,253}|\[[\da-f:.]{2,45}\])(?::\d{1,5})?\/?$/i

const MAX_ORIGIN = 300

/** Returns the URL of a source without its wildcard; `undefined` when the text is not a source. */
const urlOf = (source: string): URL | undefined => {
  if (source.length > MAX_ORIGIN || !ORIGIN.test(source)) return undefined
  const host = source.replace("*.", "")
  return URL.canParse(host) ? new URL(host) : undefined
}

/**
 * Returns `true` for a source with encryption (https or wss) whose host is neither the user's machine nor in a private network. `ofView`
 * removes all other sources from the metadata, if the option `allowPrivateOrigins` is not `true`.
 *
 * @category guards
 */
export const isPublicSource = (source: string): boolean => {
  const url = urlOf(source)
  return url !== undefined && /^(?:https|wss):$/.test(url.protocol) && !HostName.isPrivate(url.hostname)
}

/**
 * One source of a content security policy: an origin such as `https://api.example.com`, or an origin with a wildcard such as
 * `https://*.example.com`. A source has no path. It does not contain spaces, commas and semicolons, so it cannot add another source or
 * directive to the policy.
 *
 * @category schemas
 */
export const Source: Schema.Schema<string> = Schema.String.pipe(
  Schema.filter((source) => urlOf(source) !== undefined, {
    description: "an origin, such as https://api.example.com or https://*.example.com",
    arbitrary: () => (fc) => fc.constantFrom("https://api.example.com", "https://*.example.com", "wss://example.com")
  })
)

const Sources = Schema.Array(Source).pipe(Schema.maxItems(256))

const sources = Schema.optional(Sources)

/**
 * The origins that a view needs. The host blocks all other origins.
 *
 * @category models
 */
export interface Csp extends Schema.Schema.Type<typeof Csp> {}

/** @category schemas */
export const Csp = Schema.Struct({
  /** The origins for requests with `fetch` and `WebSocket`. */
  connectDomains: sources,
  /** The origins for scripts, styles, images, fonts and media. */
  resourceDomains: sources,
  /** The origins for nested frames. */
  frameDomains: sources,
  /** The origins for the base URI of the document. */
  baseUriDomains: sources
})

const permission = Schema.optional(Schema.Struct({}))

/**
 * The features of the browser that a view requests. A host can refuse them.
 *
 * @category models
 */
export interface Permissions extends Schema.Schema.Type<typeof Permissions> {}

/** @category schemas */
export const Permissions = Schema.Struct({
  camera: permission,
  microphone: permission,
  geolocation: permission,
  clipboardWrite: permission
})

const Domain = Schema.String.pipe(Schema.maxLength(2048))

/**
 * The `_meta.ui` of a view.
 *
 * @category models
 */
export interface ViewUi extends Schema.Schema.Type<typeof ViewUi> {}

/** @category schemas */
export const ViewUi = Schema.Struct({
  csp: Schema.optional(Csp),
  permissions: Schema.optional(Permissions),
  /** A dedicated origin for the view, in the format of the host. */
  domain: Schema.optional(Domain),
  /** Whether the host should draw a border and a background. */
  prefersBorder: Schema.optional(Schema.Boolean)
})

/**
 * The extension `io.modelcontextprotocol/ui`. A client with this extension declares that it shows views. The extension needs protocol
 * revision 2025-06-18 or later, because tools of earlier revisions have no `_meta`.
 *
 * @category utils
 */
export const extension = Extension.declare(
  Extension.make("io.modelcontextprotocol/ui", {
    since: "2025-06-18",
    settings: {
      client: Schema.Struct({
        mimeTypes: Schema.optionalWith(Schema.Array(Schema.String), { default: () => [] })
      })
    }
  }),
  { client: { mimeTypes: [MEDIA_TYPE] } }
)

/** The key of `_meta` for the URI of the view in earlier drafts of the extension. Servers still send this key beside `ui`. */
const FLAT_KEY = "ui/resourceUri"

/**
 * Returns the URI of a tool's view exactly as the server has sent it. The value may be invalid and of any type. Returns `undefined` when
 * the tool has no view.
 *
 * @category utils
 */
export const declaredView = ({ _meta }: Pick<Tool, "_meta">): unknown => {
  const ui = _meta?.ui
  return (Predicate.isRecord(ui) ? ui.resourceUri : undefined) ?? _meta?.[FLAT_KEY]
}

const isVisibility = Schema.is(Schema.Literal("model", "app"))

/**
 * Returns the `_meta.ui` of a tool, without the members that are not valid.
 *
 * @category constructors
 */
export const ofTool = (tool: Pick<Tool, "_meta">): ToolUi & { readonly visibility: ReadonlyArray<Visibility> } => {
  const resourceUri = declaredView(tool)
  const ui = tool._meta?.ui
  const given = Predicate.isRecord(ui) ? ui.visibility : undefined
  const visibility = typeof given === "string" ? [given] : given
  return {
    ...(isViewUri(resourceUri) ? { resourceUri } : undefined),
    visibility: Array.isArray(visibility) ? visibility.filter(isVisibility) : ["model", "app"]
  }
}

/**
 * Returns whether a model may get a tool. When the result is `false`, a host MUST NOT give the tool to a model.
 *
 * @category guards
 */
export const isForModel = (tool: Pick<Tool, "_meta">): boolean => ofTool(tool).visibility.includes("model")

/**
 * Returns whether views of the tool's server may call the tool. When the result is `false`, a host MUST refuse a view's call of the tool.
 *
 * @category guards
 */
export const isForApp = (tool: Pick<Tool, "_meta">): boolean => ofTool(tool).visibility.includes("app")

/** Reads the valid parts of a value. Returns `undefined` when no part is valid. Calls `leave` for each part that is not valid. */
type Read = (value: unknown, path: string, leave: Leave) => unknown

type Leave = (path: string, why: () => string) => undefined

const valid = (schema: Schema.Schema<any>): Read => {
  const validate = Schema.validateEither(schema)
  return (value, path, leave) =>
    Either.getOrElse(
      validate(value),
      ({ issue }) => leave(path, () => Issue.explain(issue, { quotes: false }).sentence)
    )
}

const members = (of: Readonly<Record<string, Read>>): Read => (value, path, leave) =>
  Predicate.isRecord(value)
    ? Object.fromEntries(
      Object.entries(value).map(([name, one]) => {
        const read = Object.hasOwn(of, name) ? of[name] : undefined
        const at = path === "" ? name : `${path}.${name}`
        return [name, read === undefined ? one : one === null ? undefined : read(one, at, leave)] as const
      }).filter(([, one]) => one !== undefined)
    )
    : leave(path, () => "Expected an object")

const [readSource, readSources] = [valid(Source), valid(Sources)]

const viewReader = (allowPrivate: boolean): Read => {
  const readPublic: Read = (value, path, leave) => {
    const source = readSource(value, path, leave)
    return source === undefined || allowPrivate || isPublicSource(source as string)
      ? source
      : leave(path, () => PRIVATE)
  }
  return members({
    csp: members(Record.map(Csp.fields, (): Read => (value, path, leave) => {
      const isKept = (one: unknown, index: number) => readPublic(one, `${path}.${index}`, leave) !== undefined
      return readSources(Array.isArray(value) ? value.filter(isKept) : value, path, leave)
    })),
    permissions: members(Record.map(Permissions.fields, () => members({}))),
    domain: valid(Domain),
    prefersBorder: valid(Schema.Boolean)
  })
}

const PRIVATE = "The origin is private or not encrypted; `allowPrivateOrigins` allows it"

const readers = { all: viewReader(true), public: viewReader(false) }

const MAX_LEFT_OUT = 10

/**
 * The options of `ofView`.
 *
 * @category models
 */
export interface ViewOptions {
  /**
   * Whether a view may send requests to the user's machine, to private networks, and to origins without encryption, such as
   * `http://localhost:3000`. Use `true` only for servers that the user develops or trusts. Default: false.
   */
  readonly allowPrivateOrigins?: boolean | undefined
}

/**
 * Returns the valid parts of the `_meta.ui` of a view. The function removes parts that are not valid. It also removes origins that are not
 * public, if the option `allowPrivateOrigins` is not `true`. `leftOut` has the first ten removed parts, with the reasons.
 *
 * @category constructors
 */
export const ofView = (
  ui: unknown,
  { allowPrivateOrigins = false }: ViewOptions = {}
): { readonly ui: ViewUi; readonly leftOut: ReadonlyArray<string> } => {
  if (!Predicate.isRecord(ui)) return { ui: {}, leftOut: ["_meta.ui: was left out: Expected an object"] }
  const leftOut: Array<string> = []
  const read = (allowPrivateOrigins ? readers.all : readers.public)(ui, "", (path, why) => {
    if (leftOut.length < MAX_LEFT_OUT) leftOut.push(`${path}: was left out: ${why()}`)
    return undefined
  })
  return { ui: read as ViewUi, leftOut }
}
