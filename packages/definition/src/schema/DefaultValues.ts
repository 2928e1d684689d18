/**
 * The defaults of a struct's fields, as they are when encoded: a field that `Schema.optionalWith` gives a default is advertised
 * with it, so that a model knows what happens when it leaves the field out.
 *
 * A default is a function. It is run twice when the definition is made, and advertised only when it gives the same value both
 * times; one that fails or gives new values each time is not advertised.
 */
import * as Json from "@effect-mcp/jsonrpc/unstable/Json"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"

/** The encoded default of each field that has one, by the name of the field when encoded. */
export const of = (ast: AST.Transformation): ReadonlyMap<string, unknown> => {
  const { from, transformation } = ast
  if (transformation._tag !== "TypeLiteralTransformation" || !AST.isTypeLiteral(from)) return new Map()
  const fields = new Map(from.propertySignatures.map((property) => [property.name, property]))
  return new Map(transformation.propertySignatureTransformations.flatMap(({ decode, from: name }) => {
    const field = fields.get(name)
    if (typeof name !== "string" || field?.isOptional !== true) return []
    return Option.match(defaultOf(decode, field.type), {
      onNone: () => [],
      onSome: (value): Array<[string, unknown]> => [[name, value]]
    })
  }))
}

const defaultOf = (
  decode: AST.PropertySignatureTransformation["decode"],
  type: AST.AST
): Option.Option<unknown> => {
  const encode = ParseResult.encodeUnknownEither(Schema.make(type))
  /** The JSON text of the default. */
  const evaluate = (): string | undefined =>
    Either.getOrUndefined(Either.try(() => {
      const encoded = Option.map(decode(Option.none()), encode)
      return Option.isSome(encoded) && Either.isRight(encoded.value) && encoded.value.right !== undefined
        ? Json.stringify(encoded.value.right as {})
        : undefined
    }))
  const text = evaluate()
  return text !== undefined && text === evaluate() ? Option.some(Json.parse(text)) : Option.none()
}
