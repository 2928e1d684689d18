/**
 * A rich answer of a tool: pictures, sound, links and resources beside text, and structured content beside all of them.
 * A handler that has only its `success` value to say returns that instead.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/tools#tool-result
 * @since 0.1.0
 */
import type * as Content from "@effect-mcp/protocol/Content"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import * as Encoding from "effect/Encoding"
import * as Pipeable from "effect/Pipeable"
import * as Predicate from "effect/Predicate"

/**
 * @since 0.1.0
 * @category type ids
 */
export const TypeId: unique symbol = Symbol.for("@effect-mcp/definition/ToolResult")

/**
 * @since 0.1.0
 * @category type ids
 */
export type TypeId = typeof TypeId

/**
 * Blocks of content, in the order in which the model reads them, and the structured value that programs read.
 *
 * @since 0.1.0
 * @category models
 */
export class ToolResult<out A = undefined> extends Pipeable.Class() {
  readonly [TypeId]: TypeId = TypeId

  constructor(
    readonly content: ReadonlyArray<Content.ContentBlock>,
    readonly structured: A,
    readonly meta?: JsonObject | undefined,
    /** Whether it says how the tool failed. */
    readonly isError: boolean = false
  ) {
    super()
  }
}

/**
 * @since 0.1.0
 * @category guards
 */
export const isToolResult = (u: unknown): u is ToolResult<unknown> => Predicate.hasProperty(u, TypeId)

/**
 * @since 0.1.0
 * @category models
 */
export interface BlockOptions {
  readonly annotations?: Content.Annotations | undefined
  readonly meta?: JsonObject | undefined
}

/**
 * Blocks of content, in this order.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (...content: ReadonlyArray<Content.ContentBlock>): ToolResult => new ToolResult(content, undefined)

/**
 * @since 0.1.0
 * @category constructors
 */
export const text = (text: string, options?: BlockOptions): ToolResult => make({ type: "text", text, ...rest(options) })

/**
 * A picture: bytes, or base64 as it is.
 *
 * @since 0.1.0
 * @category constructors
 */
export const image = (data: Uint8Array | string, mimeType: string, options?: BlockOptions): ToolResult =>
  make({ type: "image", data: base64(data), mimeType, ...rest(options) })

/**
 * Sound: bytes, or base64 as it is. Peers before 2025-03-26 are told of it in words.
 *
 * @since 0.1.0
 * @category constructors
 */
export const audio = (data: Uint8Array | string, mimeType: string, options?: BlockOptions): ToolResult =>
  make({ type: "audio", data: base64(data), mimeType, ...rest(options) })

/**
 * A resource to read, in place of its content. Peers before 2025-06-18 are told of it in words.
 *
 * @since 0.1.0
 * @category constructors
 */
export const link = (resource: Omit<Content.ResourceLink, "type">): ToolResult =>
  make({ type: "resource_link", ...resource })

/**
 * A resource, content and all.
 *
 * @since 0.1.0
 * @category constructors
 */
export const resource = (resource: Content.ResourceContents, options?: BlockOptions): ToolResult =>
  make({ type: "resource", resource, ...rest(options) })

/**
 * The same content with a structured value, of the type of the tool's `success`.
 *
 * @since 0.1.0
 * @category combinators
 */
export const withStructured = <A>(structured: A) => (self: ToolResult<unknown>): ToolResult<A> =>
  new ToolResult(self.content, structured, self.meta, self.isError)

/**
 * The same content with `_meta`, which the model does not see.
 *
 * @since 0.1.0
 * @category combinators
 */
export const withMeta = (meta: JsonObject) => <A>(self: ToolResult<A>): ToolResult<A> =>
  new ToolResult(self.content, self.structured, meta, self.isError)

/**
 * The same content as a failure, of which the model is told that it is one. For failures that are more than a declared
 * value: pictures, or the failure of another server that is passed on.
 *
 * @since 0.1.0
 * @category combinators
 */
export const asError = <A>(self: ToolResult<A>): ToolResult<A> =>
  new ToolResult(self.content, self.structured, self.meta, true)

/**
 * The content of both, the second after the first; structured value and `_meta` of the second, where it has them. It is
 * a failure when one of them is.
 *
 * @since 0.1.0
 * @category combinators
 */
export const concat = <B>(that: ToolResult<B>) => <A>(self: ToolResult<A>): ToolResult<A | B> =>
  new ToolResult<A | B>(
    [...self.content, ...that.content],
    that.structured === undefined ? self.structured : that.structured,
    that.meta ?? self.meta,
    self.isError || that.isError
  )

const base64 = (data: Uint8Array | string): string => typeof data === "string" ? data : Encoding.encodeBase64(data)

const rest = (options: BlockOptions | undefined) => ({
  ...(options?.annotations === undefined ? undefined : { annotations: options.annotations }),
  ...(options?.meta === undefined ? undefined : { _meta: options.meta })
})
