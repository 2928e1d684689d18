/**
 * Converts a value to what a peer of a modern revision may receive: fields that ended with the legacy era are left out,
 * and a value that needs no change is passed on as the same object. For values that are not the parameters or the
 * result of a method; a method has its own `narrowParams` and `narrowResult`. `Stamp` comes afterwards and adds what
 * the modern era requires of every result.
 *
 * @since 0.1.0
 */
import type * as Schema from "effect/Schema"
import * as Projection from "../schema/Projection.js"
import type { ModernVersion } from "../Version.js"

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
export const compile = <A, I>(schema: Schema.Schema<A, I>, version: ModernVersion): Narrow<A> =>
  Projection.compile(schema, version)
