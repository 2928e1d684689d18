/**
 * Annotations that say what a client may repair in a message of a server: which lists may lose an invalid element, which optional members
 * the client may leave out, and which value replaces a missing member. The schemas of `protocol` have these annotations, and `Mend` reads
 * them. Only `exact` also has an effect in a server: clients and servers do not repair a value that is marked with `exact`.
 */
import type * as Schema from "effect/Schema"

const HarmlessId: unique symbol = Symbol.for("@effect-mcp/core/protocol/Harmless")
const SievedId: unique symbol = Symbol.for("@effect-mcp/core/protocol/Sieved")
const AbsentId: unique symbol = Symbol.for("@effect-mcp/core/protocol/Absent")
const ReadId: unique symbol = Symbol.for("@effect-mcp/core/protocol/Read")
const ExactId: unique symbol = Symbol.for("@effect-mcp/core/protocol/Exact")

type Field = Schema.PropertySignature.All | Schema.Annotable.All

/** Marks a member that a client leaves out when its value is not valid, because the message keeps its meaning without the member. */
export const harmless = <F extends Field>(field: F): F => field.annotations({ [HarmlessId]: true }) as F

/** Marks a list, or an object with any keys. A client removes each element that is not valid. */
export const sieved = <S extends Schema.Annotable.All>(schema: S): S => schema.annotations({ [SievedId]: true }) as S

/** Marks a required member. When it is missing or `null`, a client reads it as `value`. */
export const absentAs = <F extends Field>(value: unknown, field: F): F =>
  field.annotations({ [AbsentId]: { value, isForMissing: true } }) as F

/** Marks a required member. When it is `null`, a client reads it as `value`. */
export const nullAs = <F extends Field>(value: unknown, field: F): F =>
  field.annotations({ [AbsentId]: { value, isForMissing: false } }) as F

/**
 * Marks a member whose value a client converts with `read` before the check. When `read` returns `undefined`, the client leaves the member
 * out.
 */
export const readAs = <F extends Field>(read: (value: unknown) => unknown, field: F): F =>
  field.annotations({ [ReadId]: read }) as F

/** Marks a type whose values are never repaired, on either side. An example is a JSON Schema. */
export const exact = <S extends Schema.Annotable.All>(schema: S): S => schema.annotations({ [ExactId]: true }) as S

/** A field or a type: both have annotations. */
interface Annotated {
  readonly annotations: { readonly [id: symbol]: unknown }
}

export const isSieved = (ast: Annotated): boolean => ast.annotations[SievedId] === true

export const isExact = (ast: Annotated): boolean => ast.annotations[ExactId] === true

/** What a client may do with a member whose value is not valid. */
export interface Leniency {
  readonly isHarmless: boolean
  readonly absent: { readonly value: unknown; readonly isForMissing: boolean } | undefined
  readonly read: ((value: unknown) => unknown) | undefined
}

/** Returns what a client may do with an invalid member. The annotations are on the member or on the type of the member. */
export const leniencyOf = (property: Annotated & { readonly type: Annotated }): Leniency => {
  const annotation = (id: symbol): unknown => property.annotations[id] ?? property.type.annotations[id]
  return {
    isHarmless: annotation(HarmlessId) === true,
    absent: annotation(AbsentId) as Leniency["absent"],
    read: annotation(ReadId) as Leniency["read"]
  }
}
