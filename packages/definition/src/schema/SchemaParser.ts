/**
 * Decoders and encoders of a schema, prepared once: values of plain data go through `PlainCodec`, everything else
 * through Effect's parser, which also explains each mismatch.
 */
import type * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import type * as Schema from "effect/Schema"
import type * as AST from "effect/SchemaAST"
import * as PlainCodec from "./PlainCodec.js"
import * as ValueSize from "./ValueSize.js"

export type Parser = (u: unknown) => Effect.Effect<any, ParseResult.ParseIssue>

/** `all` reports every error of a small value; `first` stops at the first error. */
export type Errors = "all" | "first"

/** Throws the error of Effect's parser for a schema that it cannot use. */
export const decoder = (schema: Schema.Schema<any, any>, errors: Errors): Parser => {
  const parse = withErrors(errors, ParseResult.decodeUnknown(schema))
  return plainOr(schema, () => parse)
}

/** Throws the error of Effect's parser for a schema that it cannot use. */
export const encoder = (schema: Schema.Schema<any, any>, errors: Errors): Parser => {
  const parse = withErrors(errors, ParseResult.encodeUnknown(schema))
  return plainOr(schema, () => parse)
}

/**
 * A decoder that prepares Effect's parser when a value first needs it: cheap to make for a schema that is used once.
 */
export const lazyDecoder = (schema: Schema.Schema<any, any>, errors: Errors): Parser => {
  let parse: Parser | undefined
  return plainOr(schema, () => parse ??= withErrors(errors, ParseResult.decodeUnknown(schema)))
}

const plainOr = (schema: Schema.Schema<any, any>, parser: () => Parser): Parser => {
  const plain = PlainCodec.compile(schema)
  if (plain === undefined) return (u) => parser()(u)
  return (u) => {
    const copy = plain(u)
    return copy === PlainCodec.mismatch ? parser()(u) : Either.right(copy)
  }
}

const withErrors = (
  errors: Errors,
  parse: (u: unknown, options?: AST.ParseOptions) => Effect.Effect<any, ParseResult.ParseIssue>
): Parser => errors === "all" ? (u) => ValueSize.isSmall(u) ? parse(u, { errors }) : parse(u) : parse
