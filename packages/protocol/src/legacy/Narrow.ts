/**
 * Converts a value to what a peer of a legacy revision may receive: newer fields are left out, newer kinds of content
 * become the nearest older one, and a value that needs no change is passed on as the same object. For values that are
 * not the parameters or the result of a method; a method has its own `narrowParams` and `narrowResult`. `modern/Narrow`
 * does the same for the other era.
 *
 * @since 0.1.0
 */
import type * as Schema from "effect/Schema"
import * as Projection from "../schema/Projection.js"
import type { LegacyVersion } from "../Version.js"

/**
 * Returns what to send in place of a value.
 *
 * @category models
 */
export type Narrow<in A> = (value: A) => unknown

/**
 * The function for a schema and a revision; equal arguments give the same function.
 *
 * @category utils
 */
export const compile = <A, I>(schema: Schema.Schema<A, I>, version: LegacyVersion): Narrow<A> =>
  Projection.compile(schema, version)
