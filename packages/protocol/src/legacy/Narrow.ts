/**
 * Says to a peer of a legacy revision only what that revision knows: newer fields are left out, newer kinds of content
 * become the nearest older one. Compiled once per schema and version; what needs no change is passed on untouched.
 *
 * How is the business of `Projection`; `modern/Narrow` is the same for the other era.
 *
 * @since 0.1.0
 */
import type * as Schema from "effect/Schema"
import * as Projection from "../schema/Projection.js"
import type { LegacyVersion } from "../Version.js"

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
export const compile = <A, I>(schema: Schema.Schema<A, I>, version: LegacyVersion): Narrow<A> =>
  Projection.compile(schema, version)
