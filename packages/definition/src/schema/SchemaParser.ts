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
  const parse = withErrors(errors, decodeUnknown(schema))
  return plainOr(schema, () => parse)
}

type Parse = (u: unknown, options?: AST.ParseOptions) => Effect.Effect<any, ParseResult.ParseIssue>

/**
 * Effect's decoder, which also refuses what makes it throw: it makes a text of the member that discriminates a union, and
 * an object whose `toString` a peer chose cannot become one. Throws for a schema that Effect cannot use.
 */
export const decodeUnknown = (schema: Schema.Schema<any, any>): Parse => {
  const parse = ParseResult.decodeUnknown(schema)
  return (u, options) =>
    Either.getOrElse(Either.try({ try: () => parse(u, options), catch: (error) => error }), (error) => {
      if (!holdsToString(u, MAX_DEPTH)) throw error
      return Either.left(new ParseResult.Type(schema.ast, u, "has an object in the place of a text"))
    })
}

/** How deep JSON from a peer can be. */
const MAX_DEPTH = 100

const holdsToString = (value: unknown, depth: number): boolean =>
  typeof value === "object" && value !== null && depth > 0 &&
  (Object.hasOwn(value, "toString") || Object.values(value).some((inner) => holdsToString(inner, depth - 1)))

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
  return plainOr(schema, () => parse ??= withErrors(errors, decodeUnknown(schema)))
}

const plainOr = (schema: Schema.Schema<any, any>, parser: () => Parser): Parser => {
  const plain = PlainCodec.compile(schema)
  if (plain === undefined) return (u) => parser()(u)
  return (u) => {
    const copy = plain(u)
    return copy === PlainCodec.mismatch ? parser()(u) : Either.right(copy)
  }
}

const withErrors = (errors: Errors, parse: Parse): Parser =>
  errors === "all" ? (u) => ValueSize.isSmall(u) ? parse(u, { errors }) : parse(u) : parse
