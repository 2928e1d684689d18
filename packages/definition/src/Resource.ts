/**
 * A resource as a value: an address, what it is called, and what is known of its content. Many of one kind are a
 * `ResourceTemplate`.
 *
 * Who reads it is in `@effect-mcp/server/McpServer`; the words of the wire are in `@effect-mcp/protocol/Resources`.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/resources
 * @since 0.1.0
 */
import type * as Content from "@effect-mcp/protocol/Content"
import type { Icon } from "@effect-mcp/protocol/Implementation"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import type * as Resources from "@effect-mcp/protocol/Resources"
import * as TextFormat from "@effect-mcp/protocol/unstable/TextFormat"
import * as Encoding from "effect/Encoding"
import * as Predicate from "effect/Predicate"

/**
 * @since 0.1.0
 * @category type ids
 */
export const TypeId: unique symbol = Symbol.for("@effect-mcp/definition/Resource")

/**
 * @since 0.1.0
 * @category type ids
 */
export type TypeId = typeof TypeId

/**
 * @since 0.1.0
 * @category models
 */
export interface Resource<Name extends string> {
  readonly [TypeId]: TypeId
  readonly _tag: "Resource"
  readonly name: Name
  readonly uri: string
  /** What `resources/list` says of it. */
  readonly advertised: Resources.Resource
}

/**
 * Helper types of resources.
 *
 * @since 0.1.0
 */
export declare namespace Resource {
  /**
   * @since 0.1.0
   * @category models
   */
  export type Any = Resource<string>
}

/**
 * What is said of a resource, and of all resources of a template.
 *
 * @since 0.1.0
 * @category models
 */
export interface Description {
  /** What people read in place of its name. */
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly mimeType?: string | undefined
  /** For whom it is, how much it matters, when it last changed. */
  readonly annotations?: Content.Annotations | undefined
  readonly icons?: ReadonlyArray<Icon> | undefined
  readonly meta?: JsonObject | undefined
}

/**
 * @since 0.1.0
 * @category models
 */
export interface Options extends Description {
  /** Absolute: `file:///README.md`, `notes://2024/plan`, a scheme of your own. */
  readonly uri: string
  /** Bytes, before any encoding. */
  readonly size?: number | undefined
}

/**
 * What a read gives: text, bytes, or contents with addresses and types of their own, one or many.
 *
 * @since 0.1.0
 * @category models
 */
export type Contents = string | Uint8Array | Content.ResourceContents | ReadonlyArray<Content.ResourceContents>

/**
 * Declares a resource. Throws when it has no name, or its address is no absolute URI.
 *
 * @example
 * ```ts
 * import { Resource } from "@effect-mcp/definition"
 *
 * export const Readme = Resource.make("readme", { uri: "file:///README.md", mimeType: "text/markdown" })
 * ```
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = <const Name extends string>(name: Name, options: Options): Resource<Name> => {
  const { size, uri } = options
  if (name.trim() === "") throw new Error(`Resource: the one at "${uri}" needs a name`)
  if (!TextFormat.matches("uri", uri)) {
    throw new Error(
      `Resource "${name}": "${uri}" is no absolute URI: begin with a scheme, as in "file:///README.md", and ` +
        "percent-encode what a URI cannot hold, a space as %20"
    )
  }
  return {
    [TypeId]: TypeId,
    _tag: "Resource",
    name,
    uri,
    advertised: { name, uri, ...(size === undefined ? undefined : { size }), ...advertise(options) }
  }
}

/**
 * @since 0.1.0
 * @category guards
 */
export const isResource = (u: unknown): u is Resource.Any => Predicate.hasProperty(u, TypeId)

/**
 * The optional words of a description, without those that are not there.
 *
 * @since 0.1.0
 * @category conversions
 */
export const advertise = (
  { annotations, description, icons, meta, mimeType, title }: Description
): Pick<Resources.Resource, "_meta" | "annotations" | "description" | "icons" | "mimeType" | "title"> => ({
  ...(title === undefined ? undefined : { title }),
  ...(description === undefined ? undefined : { description }),
  ...(mimeType === undefined ? undefined : { mimeType }),
  ...(annotations === undefined ? undefined : { annotations }),
  ...(icons === undefined ? undefined : { icons }),
  ...(meta === undefined ? undefined : { _meta: meta })
})

/**
 * What a read says on the wire: text as text, bytes as base64, each under the address that was read unless it has its own.
 *
 * @since 0.1.0
 * @category conversions
 */
export const toResult = (
  contents: Contents,
  uri: string,
  mimeType: string | undefined
): Resources.ReadResourceResult => {
  const type = mimeType === undefined ? undefined : { mimeType }
  if (typeof contents === "string") return { contents: [{ uri, ...type, text: contents }] }
  if (contents instanceof Uint8Array) {
    return { contents: [{ uri, ...type, blob: Encoding.encodeBase64(contents) }] }
  }
  return { contents: isMany(contents) ? contents : [contents] }
}

const isMany = (
  contents: Content.ResourceContents | ReadonlyArray<Content.ResourceContents>
): contents is ReadonlyArray<Content.ResourceContents> => Array.isArray(contents)
