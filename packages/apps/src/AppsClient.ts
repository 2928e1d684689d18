/**
 * MCP Apps for hosts: which tools the model gets and which the views, the views themselves, and what the sandbox of a view must
 * allow. Views come from servers: their media type, size and metadata are checked. To show a view is the host's part.
 *
 * A client that shows views is given `extension` among its `extensions`.
 *
 * @since 0.1.0
 */
import type { CallOptions, CallToolOptions } from "@effect-mcp/client/CallOptions"
import type { ClientError } from "@effect-mcp/client/ClientError"
import type { ClientSessionService } from "@effect-mcp/client/ClientSession"
import { TransportError } from "@effect-mcp/jsonrpc/LocalError"
import type { ResourceContents } from "@effect-mcp/protocol/Content"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import { InvalidParams } from "@effect-mcp/protocol/McpError"
import type * as Tools from "@effect-mcp/protocol/Tools"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Apps from "./Apps.js"

/**
 * The extension, for the option `extensions` of a client: it declares that the client shows views.
 *
 * @category constants
 */
export const extension: typeof Apps.extension = Apps.extension

/**
 * Whether a model may get the tool. A host MUST NOT give a model the others.
 *
 * @category guards
 */
export const isForModel: (tool: Tools.Tool) => boolean = Apps.isForModel

/**
 * Whether views of the same server may call the tool.
 *
 * @category guards
 */
export const isForApp: (tool: Tools.Tool) => boolean = Apps.isForApp

/**
 * A view that the client has read and checked. What its server says of it is what the server wants, not what it may.
 *
 * @category models
 */
export interface View extends Apps.ViewUi {
  readonly uri: Apps.ViewUri
  /** The document, for a sandboxed frame. */
  readonly html: string
  /** What was left out of the metadata because it is not valid, each with its path. */
  readonly leftOut: ReadonlyArray<string>
}

/** @category models */
export interface ViewOptions extends CallOptions {
  /** The longest document, in characters; reading a longer one fails. Default: 8 Mi. */
  readonly maxLength?: number | undefined
}

/**
 * The view of a tool, from the session with the server that lists the tool; `None` for a tool without one. Fails with reason
 * `Decode` when the tool names something else than a view, and when its server gives no document of the media type of views.
 * The metadata of the document comes first. Where it has none, the client looks for that of the resource in the list.
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
 * The view of this URI. Fails as `view` does.
 *
 * @category utils
 */
export const read = (
  session: ClientSessionService,
  uri: Apps.ViewUri,
  { maxLength = 8 * 1024 * 1024, ...options }: ViewOptions = {}
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
    const { leftOut, ui } = Apps.ofView(meta ?? {})
    return { ...ui, uri, html: html.right, leftOut }
  })

// A text of base64 has three bytes in four characters.
const lengthOf = (content: ResourceContents): number =>
  "text" in content ? content.text.length : Math.floor(content.blob.length * 3 / 4)

/** The metadata in the list of resources, where servers may leave views out. */
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
 * Calls a tool for a view of the same server. Fails with `InvalidParams`, and calls nothing, when `tools` has no tool of this
 * name that views may call; give it what the server lists.
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

/**
 * The header `Content-Security-Policy` for the document of a view: what its metadata names, and nothing else.
 *
 * @category utils
 */
export const contentSecurityPolicy = ({ csp }: Pick<View, "csp">): string => {
  const { baseUriDomains, connectDomains, frameDomains, resourceDomains } = csp ?? {}
  const and = (sources: ReadonlyArray<string> = []) => sources.map((source) => ` ${source}`).join("")
  const only = (sources: ReadonlyArray<string> = [], orElse = "'none'") =>
    sources.length > 0 ? sources.join(" ") : orElse
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
    `base-uri ${only(baseUriDomains, "'self'")}`
  ].join("; ")
}

/**
 * The attribute `allow` of the frame of a view: the permissions that its metadata names.
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
