/**
 * When a field, or a kind of content, came into the vocabulary, and when it left: annotations that the schemas of this
 * package carry and that `legacy/Narrow` reads to say to a peer only what its revision knows.
 *
 * @since 0.1.0
 */
import * as Option from "effect/Option"
import type * as Schema from "effect/Schema"
import type * as AST from "effect/SchemaAST"
import type { Version } from "./Version.js"

const SinceId: unique symbol = Symbol.for("@effect-mcp/protocol/Since")
const UntilId: unique symbol = Symbol.for("@effect-mcp/protocol/Until")
const OtherwiseId: unique symbol = Symbol.for("@effect-mcp/protocol/Otherwise")
const OnlyIfId: unique symbol = Symbol.for("@effect-mcp/protocol/OnlyIf")

/**
 * Marks a field that revisions before `version` do not know.
 *
 * @since 0.1.0
 * @category annotations
 */
export const since = <Field extends Schema.PropertySignature.All | Schema.Annotable.All>(
  version: Version,
  field: Field
): Field => field.annotations({ [SinceId]: version }) as Field

/**
 * Marks a field that revisions after `version` do not know.
 *
 * @since 0.1.0
 * @category annotations
 */
export const until = <Field extends Schema.PropertySignature.All | Schema.Annotable.All>(
  version: Version,
  field: Field
): Field => field.annotations({ [UntilId]: version }) as Field

/**
 * Marks a member of a union that revisions before `version` do not know, and says what they are told instead.
 *
 * @since 0.1.0
 * @category annotations
 */
export const sinceOtherwise = <A, I, R, B>(
  version: Version,
  member: Schema.Schema<A, I, R>,
  otherwise: (value: A) => B
): Schema.Schema<A, I, R> => member.annotations({ [SinceId]: version, [OtherwiseId]: otherwise })

/**
 * Marks a field that revisions up to `version` know with fewer values: others are not told to them.
 *
 * @since 0.1.0
 * @category annotations
 */
export const onlyIfUntil = <Field extends Schema.PropertySignature.All>(
  version: Version,
  known: (value: unknown) => boolean,
  field: Field
): Field => field.annotations({ [OnlyIfId]: [version, known] }) as Field

/**
 * Which values of a field a revision knows, if not all.
 *
 * @since 0.1.0
 * @category getters
 */
export const knownValues = (
  annotated: AST.Annotated,
  version: string
): ((value: unknown) => boolean) | undefined => {
  const onlyIf = annotated.annotations[OnlyIfId] as readonly [Version, (value: unknown) => boolean] | undefined
  return onlyIf !== undefined && version <= onlyIf[0] ? onlyIf[1] : undefined
}

/**
 * Whether a revision knows what carries these annotations.
 *
 * @since 0.1.0
 * @category predicates
 */
export const isKnown = (annotated: AST.Annotated, version: string): boolean => {
  const came = annotated.annotations[SinceId] as Version | undefined
  const left = annotated.annotations[UntilId] as Version | undefined
  return (came === undefined || version >= came) && (left === undefined || version <= left)
}

/**
 * What a revision that does not know a kind of content is told instead.
 *
 * @since 0.1.0
 * @category getters
 */
export const otherwise = (annotated: AST.Annotated): Option.Option<(value: unknown) => unknown> =>
  Option.fromNullable(annotated.annotations[OtherwiseId] as ((value: unknown) => unknown) | undefined)
