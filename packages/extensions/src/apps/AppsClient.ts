/**
 * Contains the functions of MCP Apps for hosts. A view is an HTML document in which a host shows the results of a tool. `isForModel` and
 * `isForApp` decide who may call a tool. `view` and `read` read a view from the server, and check its media type, its size and its
 * metadata. `callTool` calls a tool for a view. `contentSecurityPolicy` and `allowAttribute` make the settings for the sandbox of a view.
 * The host itself shows the view.
 *
 * A client that shows views needs `extension` among its `extensions`.
 *
 * @since 0.1.0
 */
import type { ClientError } from "@effect-mcp/core/ClientError"
import type { CallOptions, CallToolOptions, ClientSessionService } from "@effect-mcp/core/ClientSession"
import { TransportError } from "@effect-mcp/core/LocalError"
import type { ResourceContents } from "@effect-mcp/core/protocol/Content"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import { InvalidParams } from "@effect-mcp/core/protocol/McpError"
import type * as Tools from "@effect-mcp/core/protocol/Tools"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Apps from "./Apps.js"

/**
 * The extension, for the option `extensions` of a client. With this extension the client declares that it shows views.
 *
 * @category constants
 */
export const extension: typeof Apps.extension = Apps.extension

/**
 * Returns whether a model may get a tool. When the result is `false`, a host MUST NOT give the tool to a model.
 *
 * @category guards
 */
export const isForModel: (tool: Tools.Tool) => boolean = Apps.isForModel

/**
 * Returns whether views of the tool's server may call the tool. When the result is `false`, a host MUST refuse a view's call of the tool.
 *
 * @category guards
 */
export const isForApp: (tool: Tools.Tool) => boolean = Apps.isForApp

/**
 * A view that the client has read and checked. The origins (`csp`) and `permissions` are only a request of the server. The host decides
 * whether the view gets them.
 *
 * @category models
 */
export interface View extends Apps.ViewUi {
  readonly uri: Apps.ViewUri
  /** The HTML document, which the host shows in a sandboxed frame. */
  readonly html: string
  /**
   * The parts of the metadata that the client has removed, because they are not valid or not allowed. Each text has the path of the part
   * and the reason.
   */
  readonly leftOut: ReadonlyArray<string>
}

/**
 * The options of `view` and `read`.
 *
 * @category models
 */
export interface ViewOptions extends CallOptions, Apps.ViewOptions {
  /** The most characters of a document, or the most bytes of a document in base64. Reading a longer document fails. Default: 8,388,608. */
  readonly maxLength?: number | undefined
}

/**
 * Reads the view of a tool. `session` must be the session with the server of the tool. Returns `None` for a tool without a view. Fails with
 * reason `Decode` when the tool names a URI that is not the URI of a view. Also fails with this reason when the server's answer is not a
 * document with the media type of views, or when the document is too long. The metadata comes from the document. When the document has no
 * metadata, the metadata comes from the server's list of resources.
 *
 * @category utils
 */
export const view = (
  session: ClientSessionService,
  tool: Tools.Tool,
  options: ViewOptions = {}
): Effect.Effect<Option.Option<View>, ClientError> => {
  const declared = Apps.declaredView(tool)
  if (declared === undefined) return Effect.succeedNone
  return Apps.isViewUri(declared)
    ? Effect.map(read(session, declared, options), Option.some)
    : invalid(`The view of the tool "${tool.name.slice(0, 200)}" is not valid: its URI must begin with ui://`)
}

/**
 * Reads the view with a URI. Fails in the same cases as `view`.
 *
 * @category utils
 */
export const read = (
  session: ClientSessionService,
  uri: Apps.ViewUri,
  { allowPrivateOrigins, maxLength = 8 * 1024 * 1024, ...options }: ViewOptions = {}
): Effect.Effect<View, ClientError> =>
  Effect.gen(function*() {
    const { contents } = yield* session.readResource(uri, options)
    const content = contents.find((one) => one.uri === uri) ?? contents[0]
    const refuse = (why: string) => invalid(`The view ${uri.slice(0, 200)} is not valid: ${why}`)
    if (content === undefined) return yield* refuse("the server gave no document")
    if (content.mimeType === undefined || !Apps.isMediaType(content.mimeType)) {
      return yield* refuse(`the media type of the document must be ${Apps.MEDIA_TYPE}`)
    }
    if (lengthOf(content) > maxLength) {
      return yield* refuse(`the document is longer than ${maxLength} characters, the option \`maxLength\``)
    }
    const html = "text" in content ? Either.right(content.text) : Encoding.decodeBase64String(content.blob)
    if (Either.isLeft(html)) return yield* refuse("the document is not base64")
    const meta = content._meta?.ui ?? (yield* listed(session, uri))
    const { leftOut, ui } = Apps.ofView(meta ?? {}, { allowPrivateOrigins })
    return { ...ui, uri, html: html.right, leftOut }
  })

// Four characters of base64 stand for three bytes.
const lengthOf = (content: ResourceContents): number =>
  "text" in content ? content.text.length : Math.floor(content.blob.length * 3 / 4)

/** Returns the metadata of a view from the list of resources; `undefined` when the list does not contain the view. */
const listed = (session: ClientSessionService, uri: string): Effect.Effect<unknown, ClientError> =>
  session.resources.pipe(
    Stream.filter((resource) => resource.uri === uri),
    Stream.runHead,
    Effect.map((found) => Option.getOrUndefined(found)?._meta?.ui),
    Effect.catchTag("MethodNotFound", () => Effect.succeed(undefined))
  )

const invalid = (message: string): Effect.Effect<never, TransportError> =>
  Effect.fail(new TransportError({ reason: "Decode", message }))

/**
 * Calls a tool for a view of the same server. `tools` are the tools that the server lists. The function sends the call only when `tools`
 * contains a tool with this name, and views may call this tool. Otherwise it fails with `InvalidParams`.
 *
 * @category utils
 */
export const callTool = (
  session: ClientSessionService,
  tools: ReadonlyArray<Tools.Tool>,
  { arguments: args, name }: { readonly name: string; readonly arguments?: JsonObject | undefined },
  options?: CallToolOptions
): Effect.Effect<Tools.CallToolResult, ClientError> =>
  tools.some((tool) => tool.name === name && Apps.isForApp(tool))
    ? session.callTool(name, args, options)
    : Effect.fail(new InvalidParams({ message: "Invalid params: views may not call this tool" }))

const isSource = Schema.is(Apps.Source)

/**
 * Returns the value of the header `Content-Security-Policy` for the document of a view. The policy allows only the origins in the metadata.
 * The function ignores texts that are not origins.
 *
 * @category utils
 */
export const contentSecurityPolicy = ({ csp }: Pick<View, "csp">): string => {
  const { baseUriDomains, connectDomains, frameDomains, resourceDomains } = csp ?? {}
  const and = (sources: ReadonlyArray<string> = []) => sources.filter(isSource).map((source) => ` ${source}`).join("")
  const only = (sources: ReadonlyArray<string> = [], orElse = "'none'") =>
    sources.some(isSource) ? sources.filter(isSource).join(" ") : orElse
  return [
    "default-src 'none'",
    `script-src 'self' 'unsafe-inline'${and(resourceDomains)}`,
    `style-src 'self' 'unsafe-inline'${and(resourceDomains)}`,
    `img-src 'self' data:${and(resourceDomains)}`,
    `media-src 'self' data:${and(resourceDomains)}`,
    `font-src ${only(resourceDomains)}`,
    `connect-src ${only(connectDomains)}`,
    `frame-src ${only(frameDomains)}`,
    "object-src 'none'",
    "form-action 'none'",
    `base-uri ${only(baseUriDomains, "'self'")}`
  ].join("; ")
}

/**
 * Returns the value of the attribute `allow` for the frame of a view. The value has the permissions in the metadata of the view.
 *
 * @category utils
 */
export const allowAttribute = ({ permissions }: Pick<View, "permissions">): string =>
  ([
    ["camera", "camera"],
    ["microphone", "microphone"],
    ["geolocation", "geolocation"],
    ["clipboardWrite", "clipboard-write"]
  ] as const).flatMap(([name, feature]) => permissions?.[name] === undefined ? [] : [feature]).join("; ")
