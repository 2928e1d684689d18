/**
 * Annotations of fields and of members of unions. They say which revisions have a field or a member, and what peers of other revisions
 * receive instead. The schemas of `protocol` have these annotations, and `Projection` reads them.
 */
import * as Option from "effect/Option"
import type * as Schema from "effect/Schema"
import type { Version } from "../Version.js"

const SinceId: unique symbol = Symbol.for("@effect-mcp/core/protocol/Since")
const UntilId: unique symbol = Symbol.for("@effect-mcp/core/protocol/Until")
const ReplacedId: unique symbol = Symbol.for("@effect-mcp/core/protocol/Replaced")
const LimitedId: unique symbol = Symbol.for("@effect-mcp/core/protocol/Limited")
const RewrittenId: unique symbol = Symbol.for("@effect-mcp/core/protocol/Rewritten")

/** Marks a field that revisions before `version` do not have. */
export const since = <Field extends Schema.PropertySignature.All | Schema.Annotable.All>(
  version: Version,
  field: Field
): Field => field.annotations({ [SinceId]: version }) as Field

/** Marks a field that revisions after `version` do not have. */
export const until = <Field extends Schema.PropertySignature.All | Schema.Annotable.All>(
  version: Version,
  field: Field
): Field => field.annotations({ [UntilId]: version }) as Field

/**
 * Marks a member of a union that revisions before `version` do not have. Peers of these revisions receive the value that `replace` returns.
 */
export const replacedBefore = <A, I, R, B>(
  version: Version,
  member: Schema.Schema<A, I, R>,
  replace: (value: A) => B
): Schema.Schema<A, I, R> => member.annotations({ [SinceId]: version, [ReplacedId]: replace })

/**
 * Marks a field that allows fewer values in revisions up to `version`. Peers of these revisions receive the field only when `known` accepts
 * its value.
 */
export const limitedUntil = <Field extends Schema.PropertySignature.All>(
  version: Version,
  known: (value: unknown) => boolean,
  field: Field
): Field => field.annotations({ [LimitedId]: [version, known] }) as Field

/**
 * Marks a field whose value is rewritten for peers of some revisions: from `since` on, or up to `until`, or both. When `rewrite` returns
 * `undefined`, these peers receive no such field.
 */
export const rewritten = <Field extends Schema.PropertySignature.All, A = any>(
  revisions: { readonly since?: Version; readonly until?: Version },
  rewrite: (value: A) => unknown,
  field: Field
): Field => field.annotations({ [RewrittenId]: { ...revisions, rewrite } }) as Field

/** A field, a type or a member of a union: each has annotations. */
interface Annotated {
  readonly annotations: { readonly [id: symbol]: unknown }
}

/** Returns the function that rewrites a field for a revision; `undefined` when the field is not rewritten. */
export const rewriteFor = (
  annotated: Annotated,
  version: string
): ((value: unknown) => unknown) | undefined => {
  const found = annotated.annotations[RewrittenId] as
    | { readonly since?: Version; readonly until?: Version; readonly rewrite: (value: unknown) => unknown }
    | undefined
  if (found === undefined) return undefined
  const { rewrite, since = version, until = version } = found
  return version >= since && version <= until ? rewrite : undefined
}

/** Returns the function that accepts the values of a field that a revision allows; `undefined` when the revision allows all values. */
export const knownValuesFor = (
  annotated: Annotated,
  version: string
): ((value: unknown) => boolean) | undefined => {
  const limited = annotated.annotations[LimitedId] as readonly [Version, (value: unknown) => boolean] | undefined
  return limited !== undefined && version <= limited[0] ? limited[1] : undefined
}

/** Whether a revision has an annotated field or member of a union. */
export const isKnown = (annotated: Annotated, version: string): boolean => {
  const first = annotated.annotations[SinceId] as Version | undefined
  const last = annotated.annotations[UntilId] as Version | undefined
  return (first === undefined || version >= first) && (last === undefined || version <= last)
}

/** Returns the function that replaces a member of a union for revisions that do not have this member. */
export const replacement = (annotated: Annotated): Option.Option<(value: unknown) => unknown> =>
  Option.fromNullable(annotated.annotations[ReplacedId] as ((value: unknown) => unknown) | undefined)
