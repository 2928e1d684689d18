/**
 * Says to a peer of a modern revision only what that revision knows: what ended with the legacy era is left out.
 * Compiled once per schema and version; what needs no change is passed on untouched.
 *
 * How is the business of `Projection`; what the modern era adds to every result is in `Stamp`, and comes afterwards.
 *
 * @since 0.1.0
 */
import type * as Schema from "effect/Schema"
import * as Projection from "../schema/Projection.js"
import type { ModernVersion } from "../Version.js"

/**
 * @since 0.1.0
 * @category models
 */
export type Narrow<in A> = Projection.Projection<A>

/**
 * What to do to a value of this schema before a peer of this version sees it.
 *
 * @since 0.1.0
 * @category compiling
 */
export const compile = <A, I>(schema: Schema.Schema<A, I>, version: ModernVersion): Narrow<A> =>
  Projection.compile(schema, version)
