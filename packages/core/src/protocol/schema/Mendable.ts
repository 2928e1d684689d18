/**
 * Annotations that say what a client may mend in a message that a server sent: which lists may lose an element, which optional members may
 * be left out, and what a missing member means. The schemas of `protocol` have these annotations, and `Mend` reads them. They
 * change nothing in a server, except `exact`: neither side mends a value that is marked so.
 */
import type * as Schema from "effect/Schema"

const HarmlessId: unique symbol = Symbol.for("@effect-mcp/core/protocol/Harmless")
const SievedId: unique symbol = Symbol.for("@effect-mcp/core/protocol/Sieved")
const AbsentId: unique symbol = Symbol.for("@effect-mcp/core/protocol/Absent")
const ReadId: unique symbol = Symbol.for("@effect-mcp/core/protocol/Read")
const ExactId: unique symbol = Symbol.for("@effect-mcp/core/protocol/Exact")

type Field = Schema.PropertySignature.All | Schema.Annotable.All

/** Marks a member that is left out when its value is not valid: without it the message means the same. */
export const harmless = <F extends Field>(field: F): F => field.annotations({ [HarmlessId]: true }) as F

/** Marks a list, or an object with any keys, that loses the elements that are not valid. */
export const sieved = <S extends Schema.Annotable.All>(schema: S): S => schema.annotations({ [SievedId]: true }) as S

/** Marks a required member that has this value when it is missing or `null`. */
export const absentAs = <F extends Field>(value: unknown, field: F): F =>
  field.annotations({ [AbsentId]: { value, isForMissing: true } }) as F

/** Marks a required member that has this value when it is `null`. */
export const nullAs = <F extends Field>(value: unknown, field: F): F =>
  field.annotations({ [AbsentId]: { value, isForMissing: false } }) as F

/** Marks a member whose value `read` converts before the check. `undefined` leaves the member out. */
export const readAs = <F extends Field>(read: (value: unknown) => unknown, field: F): F =>
  field.annotations({ [ReadId]: read }) as F

/** Marks a type in which neither side mends anything: a JSON Schema. */
export const exact = <S extends Schema.Annotable.All>(schema: S): S => schema.annotations({ [ExactId]: true }) as S

/** What carries annotations: a field, a type. */
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

/** The annotations of a member stand at the member or at its type. */
export const leniencyOf = (property: Annotated & { readonly type: Annotated }): Leniency => {
  const annotation = (id: symbol): unknown => property.annotations[id] ?? property.type.annotations[id]
  return {
    isHarmless: annotation(HarmlessId) === true,
    absent: annotation(AbsentId) as Leniency["absent"],
    read: annotation(ReadId) as Leniency["read"]
  }
}
