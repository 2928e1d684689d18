/**
 * A resource as a value: its URI, its name and a description of its content. For many resources with one URI template, use
 * `ResourceTemplate`.
 *
 * `McpServer.resource` takes the resource, and the effect that reads its content. `@effect-mcp/core/protocol/Resources` has the types of
 * the messages.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/resources
 * @since 0.1.0
 */
import * as Encoding from "effect/Encoding"
import * as Predicate from "effect/Predicate"
import * as JsonText from "../jsonrpc/runtime/JsonText.js"
import type * as Content from "../protocol/Content.js"
import type { Icon } from "../protocol/Implementation.js"
import type { JsonObject } from "../protocol/Json.js"
import type * as Resources from "../protocol/Resources.js"
import * as TextFormat from "../protocol/schema/TextFormat.js"
import { quoted } from "./text/Quoted.js"

/** @category symbols */
export const TypeId: unique symbol = Symbol.for("@effect-mcp/core/Resource")

/** @category models */
export type TypeId = typeof TypeId

/** @category models */
export interface Resource<Name extends string> {
  readonly [TypeId]: TypeId
  readonly _tag: "Resource"
  readonly name: Name
  readonly uri: string
  /** The entry of `resources/list`. */
  readonly advertised: Resources.Resource
  /** The `_meta` of contents that are made from a text or from bytes; `undefined` when they have none. */
  readonly contentMeta: JsonObject | undefined
  /** The scopes that a user needs for each use. The user needs all of them. Clients do not get the scopes. */
  readonly requires?: ReadonlyArray<string> | undefined
}

/** @category constants */
export declare namespace Resource {
  export type Any = Resource<string>
}

/**
 * The description of a resource, or of all resources of a template.
 *
 * @category models
 */
export interface Description {
  /** The name to show to people. Default: the `name`. */
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly mimeType?: string | undefined
  /** The audience and the priority of the content, and when it was last changed. */
  readonly annotations?: Content.Annotations | undefined
  readonly icons?: ReadonlyArray<Icon> | undefined
  /** The scopes that a user needs to read the resource. The user needs all of them; see `Feature.requires` of the server. Default: none. */
  readonly requires?: ReadonlyArray<string> | undefined
  /** The `_meta` of the advertised resource or template. */
  readonly meta?: JsonObject | undefined
}

/** @category models */
export interface Options extends Description {
  /** An absolute URI, such as `file:///README.md`. The scheme may be your own, as in `notes://2024/plan`. */
  readonly uri: string
  /** The size of the content in bytes, before any encoding. */
  readonly size?: number | undefined
  /** The `_meta` of contents that are made from a handler's text or bytes. */
  readonly contentMeta?: JsonObject | undefined
}

/**
 * What a handler may return: a text, bytes, or one or more contents with their own URIs and media types.
 *
 * @category models
 */
export type Contents = string | Uint8Array | Content.ResourceContents | ReadonlyArray<Content.ResourceContents>

/**
 * Declares a resource. Throws when the name is empty or the URI is not absolute.
 *
 * @example
 * ```ts
 * import * as Resource from "@effect-mcp/core/Resource"
 *
 * export const Readme = Resource.make("readme", { uri: "file:///README.md", mimeType: "text/markdown" })
 * ```
 * @category constructors
 */
export const make = <const Name extends string>(name: Name, options: Options): Resource<Name> => {
  const { contentMeta, requires, size, uri } = options
  if (name.trim() === "") throw new Error(`Resource: give ${quoted(uri)} a name that is not empty`)
  if (!TextFormat.matches("uri", uri)) {
    throw new Error(
      `Resource ${quoted(name)}: ${quoted(uri)} is not an absolute URI: begin it with a scheme, as in ` +
        `"file:///README.md", and percent-encode other characters, such as a space as %20`
    )
  }
  return {
    [TypeId]: TypeId,
    _tag: "Resource",
    name,
    uri,
    requires,
    advertised: JsonText.defined({ name, uri, size, ...advertise(options) }),
    contentMeta
  }
}

/** @category guards */
export const isResource = (u: unknown): u is Resource.Any => Predicate.hasProperty(u, TypeId)

/**
 * Returns the members of a description that have a value, as clients get them.
 *
 * @category utils
 */
export const advertise = (
  { annotations, description, icons, meta, mimeType, title }: Description
): Pick<Resources.Resource, "_meta" | "annotations" | "description" | "icons" | "mimeType" | "title"> =>
  JsonText.defined({ title, description, mimeType, annotations, icons, _meta: meta })

/**
 * Makes the result of `resources/read` from what a handler returned. A text is sent as it is, and bytes are sent as base64, both with this
 * URI, media type and `_meta`. Contents that the handler made itself keep their own URI, media type and `_meta`.
 *
 * @category utils
 */
export const toResult = (
  contents: Contents,
  uri: string,
  mimeType: string | undefined,
  meta?: JsonObject
): Resources.ReadResourceResult => {
  const given = JsonText.defined({ uri, mimeType, _meta: meta })
  if (typeof contents === "string") return { contents: [{ ...given, text: contents }] }
  if (contents instanceof Uint8Array) return { contents: [{ ...given, blob: Encoding.encodeBase64(contents) }] }
  return { contents: isMany(contents) ? contents : [contents] }
}

const isMany = (
  contents: Content.ResourceContents | ReadonlyArray<Content.ResourceContents>
): contents is ReadonlyArray<Content.ResourceContents> => Array.isArray(contents)
