/**
 * When a field, or a kind of content, came into the vocabulary, when it left, and what other revisions are told instead:
 * annotations that the schemas of this package carry, and that `Projection` reads to say to a peer only what its revision
 * knows. Nothing here looks at a value.
 *
 * @since 0.1.0
 */
import * as Option from "effect/Option"
import type * as Schema from "effect/Schema"
import type * as AST from "effect/SchemaAST"
import type { Version } from "../Version.js"

const SinceId: unique symbol = Symbol.for("@effect-mcp/protocol/Since")
const UntilId: unique symbol = Symbol.for("@effect-mcp/protocol/Until")
const OtherwiseId: unique symbol = Symbol.for("@effect-mcp/protocol/Otherwise")
const OnlyIfId: unique symbol = Symbol.for("@effect-mcp/protocol/OnlyIf")
const RewrittenId: unique symbol = Symbol.for("@effect-mcp/protocol/Rewritten")

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
 * Marks a field whose value peers of some revisions are told in other words: from `since`, up to `until`, or both. What
 * `rewrite` makes of it is told to them; `undefined` leaves the field out, and the same value costs no copy.
 *
 * @since 0.1.0
 * @category annotations
 */
export const rewritten = <Field extends Schema.PropertySignature.All, A = any>(
  revisions: { readonly since?: Version; readonly until?: Version },
  rewrite: (value: A) => unknown,
  field: Field
): Field => field.annotations({ [RewrittenId]: { ...revisions, rewrite } }) as Field

/**
 * How a revision is told the value of a field, if not as it is.
 *
 * @since 0.1.0
 * @category getters
 */
export const rewriting = (
  annotated: AST.Annotated,
  version: string
): ((value: unknown) => unknown) | undefined => {
  const found = annotated.annotations[RewrittenId] as
    | { readonly since?: Version; readonly until?: Version; readonly rewrite: (value: unknown) => unknown }
    | undefined
  if (found === undefined) return undefined
  const { rewrite, since = version, until = version } = found
  return version >= since && version <= until ? rewrite : undefined
}

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
