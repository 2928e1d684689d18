/**
 * A result with content that a handler chooses: texts, images, audio, links and resources, and optionally the structured value. A handler
 * that has only a `success` value returns this value without a `ToolResult`, and the server makes the content from the value.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/tools#tool-result
 * @since 0.1.0
 */
import * as Encoding from "effect/Encoding"
import { dual } from "effect/Function"
import * as Pipeable from "effect/Pipeable"
import * as Predicate from "effect/Predicate"
import * as JsonText from "../jsonrpc/runtime/JsonText.js"
import type * as Content from "../protocol/Content.js"
import type { JsonObject } from "../protocol/Json.js"
import * as ContentRules from "../protocol/rules/ContentRules.js"

/** @category symbols */
export const TypeId: unique symbol = Symbol.for("@effect-mcp/core/ToolResult")

/** @category models */
export type TypeId = typeof TypeId

/**
 * Content blocks in order, for models and people, and the structured value, for programs.
 *
 * @category models
 */
export class ToolResult<out A = undefined> extends Pipeable.Class() {
  readonly [TypeId]: TypeId = TypeId

  constructor(
    readonly content: ReadonlyArray<Content.ContentBlock>,
    readonly structured: A,
    readonly meta?: JsonObject | undefined,
    /** Whether the result reports a failure of the tool. */
    readonly isError: boolean = false
  ) {
    super()
  }
}

/** @category guards */
export const isToolResult = (u: unknown): u is ToolResult<unknown> => Predicate.hasProperty(u, TypeId)

/** @category models */
export interface BlockOptions {
  readonly annotations?: Content.Annotations | undefined
  readonly meta?: JsonObject | undefined
}

/**
 * Makes a result of these content blocks.
 *
 * @category constructors
 */
export const make = (...content: ReadonlyArray<Content.ContentBlock>): ToolResult => new ToolResult(content, undefined)

/** @category constructors */
export const text = (text: string, options?: BlockOptions): ToolResult =>
  make({ type: "text", text, ...optional(options) })

/**
 * Makes a result with an image, given as bytes or as base64 text. Throws for a text that is not base64, and for a media type that is not
 * valid.
 *
 * @category constructors
 */
export const image = (data: Uint8Array | string, mimeType: string, options?: BlockOptions): ToolResult =>
  checked({ type: "image", data: base64(data), mimeType, ...optional(options) })

/**
 * Makes a result with audio, given as bytes or as base64 text. Throws for a text that is not base64, and for a media type that is not
 * valid. Clients of a revision before 2025-03-26 get a text in place of the audio.
 *
 * @category constructors
 */
export const audio = (data: Uint8Array | string, mimeType: string, options?: BlockOptions): ToolResult =>
  checked({ type: "audio", data: base64(data), mimeType, ...optional(options) })

/**
 * Makes a result with a link to a resource that the client can read. Clients of a revision before 2025-06-18 get a text in place of the
 * link.
 *
 * @category constructors
 */
export const link = (resource: Omit<Content.ResourceLink, "type">): ToolResult =>
  make({ type: "resource_link", ...resource })

/**
 * Makes a result with a resource and its content.
 *
 * @category constructors
 */
export const resource = (resource: Content.ResourceContents, options?: BlockOptions): ToolResult =>
  make({ type: "resource", resource, ...optional(options) })

/**
 * Returns the same result with a structured value, of the type of the tool's `success`.
 *
 * @category utils
 */
export const withStructured: {
  <A>(structured: A): (self: ToolResult<unknown>) => ToolResult<A>
  <A>(self: ToolResult<unknown>, structured: A): ToolResult<A>
} = dual(
  2,
  <A>(self: ToolResult<unknown>, structured: A): ToolResult<A> =>
    new ToolResult(self.content, structured, self.meta, self.isError)
)

/**
 * Returns the same result with `_meta`, which models do not get.
 *
 * @category utils
 */
export const withMeta: {
  (meta: JsonObject): <A>(self: ToolResult<A>) => ToolResult<A>
  <A>(self: ToolResult<A>, meta: JsonObject): ToolResult<A>
} = dual(
  2,
  <A>(self: ToolResult<A>, meta: JsonObject): ToolResult<A> =>
    new ToolResult(self.content, self.structured, meta, self.isError)
)

/**
 * Returns the same result with `isError`, for a failure that the declared `failure` cannot express, for example a failure with images, or
 * the failure of another server. The structured value is sent without a check.
 *
 * @category utils
 */
export const asError = <A>(self: ToolResult<A>): ToolResult<A> =>
  new ToolResult(self.content, self.structured, self.meta, true)

/**
 * Joins two results. The content of `self` comes first, then the content of `that`. The structured value comes from `that` if `that` has a
 * structured value, and otherwise from `self`. The same rule applies to `_meta`. The result is an error when `self` or `that` is an error.
 *
 * @category utils
 */
export const concat: {
  <B>(that: ToolResult<B>): <A>(self: ToolResult<A>) => ToolResult<A | B>
  <A, B>(self: ToolResult<A>, that: ToolResult<B>): ToolResult<A | B>
} = dual(
  2,
  <A, B>(self: ToolResult<A>, that: ToolResult<B>): ToolResult<A | B> =>
    new ToolResult<A | B>(
      [...self.content, ...that.content],
      that.structured === undefined ? self.structured : that.structured,
      that.meta ?? self.meta,
      self.isError || that.isError
    )
)

const checked = (block: Content.ContentBlock): ToolResult => {
  const problem = ContentRules.problem(block)
  if (problem !== undefined) throw new Error(`ToolResult: ${problem}`)
  return make(block)
}

const base64 = (data: Uint8Array | string): string => typeof data === "string" ? data : Encoding.encodeBase64(data)

const optional = ({ annotations, meta }: BlockOptions = {}) => JsonText.defined({ annotations, _meta: meta })
