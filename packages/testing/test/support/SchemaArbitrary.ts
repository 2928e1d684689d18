/** Values of a schema, for property tests. This is the one module of the tests that asks Effect for an arbitrary. */
import * as Arbitrary from "effect/Arbitrary"
import type * as FastCheck from "effect/FastCheck"
import type * as Schema from "effect/Schema"

export const schemaArbitrary: <A, I, R>(schema: Schema.Schema<A, I, R>) => FastCheck.Arbitrary<A> = Arbitrary.make
