/**
 * Generates JSON Schema with Effect, and adds what Effect leaves out. Some filters have no JSON Schema of their own, or follow a
 * transformation (as in `Schema.Date`). For these filters, this module adds the title, the description, the examples and the default. For a
 * struct, this module adds the defaults of the fields (`defaultsOf`). `StockText` replaces Effect's text about transformations.
 *
 * `JsonSchema` removes from the result what models do not need.
 */
import * as Either from "effect/Either"
import * as JSONSchema from "effect/JSONSchema"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import * as JsonText from "../../jsonrpc/runtime/JsonText.js"
import type { JsonObject } from "../../protocol/Json.js"
import * as EffectParser from "../../protocol/schema/EffectParser.js"
import * as SchemaTree from "../../protocol/schema/SchemaTree.js"
import * as FilterText from "./FilterText.js"
import * as StockText from "./StockText.js"

const PATH = "#/$defs/"

/** Makes the JSON Schema of the encoded side. Recursive types are added to `definitions`. */
export const generate = (schema: Schema.Schema.All, definitions: Record<string, JsonObject>): JsonObject => {
  const fromEffect = (ast: SchemaTree.AST) =>
    JSONSchema.fromAST(ast, {
      definitions: definitions as unknown as Record<string, JSONSchema.JsonSchema7>,
      definitionPath: PATH,
      target: "jsonSchema2020-12",
      topLevelReferenceStrategy: "skip",
      additionalPropertiesStrategy: "allow"
    }) as unknown as JsonObject
  const seen = new Set<string>()

  const annotate = (ast: SchemaTree.AST, json: JsonObject): JsonObject => StockText.replace(annotated(ast, json))

  const annotated = (ast: SchemaTree.AST, json: JsonObject): JsonObject => {
    if ("$ref" in json) {
      const name = definitionOf(json.$ref)
      if (SchemaTree.isSuspend(ast) && name !== undefined && !seen.has(name)) {
        seen.add(name)
        definitions[name] = annotate(ast.f(), definitions[name]!)
      }
      return json
    }
    switch (ast._tag) {
      case "Refinement":
        return { ...annotate(ast.from, json), ...annotationsOf(ast, fromEffect) }
      case "Transformation":
        return transformation(ast, annotate(ast.from, json))
      case "TypeLiteral":
        return struct(ast, json)
      case "TupleType": {
        const { items, prefixItems } = json
        return {
          ...json,
          ...(Array.isArray(prefixItems)
            ? { prefixItems: prefixItems.map((item, i) => annotate(ast.elements[i]!.type, item)) }
            : undefined),
          ...(isSchema(items) && ast.rest[0] !== undefined
            ? { items: annotate(ast.rest[0].type, items) }
            : undefined)
        }
      }
      case "Union": {
        const types = ast.types.filter((type) => !SchemaTree.isUndefinedKeyword(type))
        if (types.length === 1) return annotate(types[0]!, json)
        // Effect joins members that are equal. When it has done so, the positions do not correspond, and nothing is added.
        return Array.isArray(json.anyOf) && json.anyOf.length === types.length
          ? { ...json, anyOf: json.anyOf.map((one, i) => annotate(types[i]!, one)) }
          : json
      }
      default:
        return json
    }
  }

  const transformation = (ast: SchemaTree.Transformation, json: JsonObject): JsonObject => {
    const text = Option.getOrUndefined(SchemaTree.getDescription(ast.from))
    const identifier = Option.getOrUndefined(SchemaTree.getIdentifier(ast))
    const plain = StockText.replace(json, text, identifier)
    const { properties } = plain
    const defaults = isSchema(properties) ? defaultsOf(ast) : undefined
    return defaults === undefined || defaults.size === 0 ? plain : {
      ...plain,
      properties: Object.fromEntries(
        Object.entries(properties as JsonObject).map(([name, property]) => [
          name,
          defaults.has(name) ? { default: defaults.get(name), ...property as JsonObject } : property
        ])
      )
    }
  }

  const struct = (ast: SchemaTree.TypeLiteral, json: JsonObject): JsonObject => {
    const { additionalProperties, properties } = json
    const types = new Map(ast.propertySignatures.map(({ name, type }) => [name, type]))
    const rest = ast.indexSignatures[0]
    return {
      ...json,
      ...(isSchema(properties)
        ? {
          properties: Object.fromEntries(
            Object.entries(properties).map(([name, property]) => {
              const type = types.get(name)
              return [name, type === undefined ? property : annotate(type, property as JsonObject)]
            })
          )
        }
        : undefined),
      ...(isSchema(additionalProperties) && rest !== undefined
        ? { additionalProperties: annotate(rest.type, additionalProperties) }
        : undefined)
    }
  }

  const ast = SchemaTree.of(schema)
  return annotate(ast, fromEffect(ast))
}

const isSchema = (u: unknown): u is JsonObject => Predicate.isRecord(u)

/**
 * Returns the name of the definition that a reference of Effect points to. Such a reference is a JSON Pointer that is not encoded as a URI.
 * `undefined` for any other reference.
 */
export const definitionOf = ($ref: unknown): string | undefined =>
  typeof $ref === "string" && $ref.startsWith(PATH)
    ? $ref.slice(PATH.length).replace(/~1/g, "/").replace(/~0/g, "~")
    : undefined

/** Makes the reference to a definition, encoded as a URI. */
export const reference = (name: string): string =>
  PATH + encodeURIComponent(name.replace(/~/g, "~0").replace(/\//g, "~1"))

const keywords = [
  ["title", SchemaTree.annotationIds.title],
  ["description", SchemaTree.annotationIds.description],
  ["examples", SchemaTree.annotationIds.examples],
  ["default", SchemaTree.annotationIds.default]
] as const

/**
 * Returns the annotations of a filter, as keywords. Effect generates these keywords, because examples and defaults must be encoded.
 */
const annotationsOf = (
  ast: SchemaTree.Refinement,
  fromEffect: (ast: SchemaTree.AST) => JsonObject
): JsonObject | undefined => {
  const { annotations } = ast
  const jsonSchema = (annotations[SchemaTree.annotationIds.jsonSchema] ?? {}) as JsonObject
  const given = keywords.filter(([, id]) => annotations[id] !== undefined)
  const builtIn = given.length === 0 ? FilterText.none : FilterText.make(jsonSchema)
  const own = given.filter(([, id]) =>
    !builtIn.titles.has(annotations[id]) && !builtIn.descriptions.has(annotations[id])
  )
  if (own.length === 0) return undefined
  const below = transformationBelow(ast)
  const json = fromEffect(
    below === undefined
      ? SchemaTree.annotated(ast, { [SchemaTree.annotationIds.jsonSchema]: jsonSchema })
      : SchemaTree.annotated(below, Object.fromEntries(own.map(([, id]) => [id, annotations[id]])))
  )
  return Object.fromEntries(own.flatMap(([keyword]) => json[keyword] === undefined ? [] : [[keyword, json[keyword]]]))
}

const transformationBelow = (ast: SchemaTree.AST): SchemaTree.Transformation | undefined =>
  SchemaTree.isRefinement(ast) ? transformationBelow(ast.from) : SchemaTree.isTransformation(ast) ? ast : undefined

/**
 * Returns the encoded defaults of a struct's fields, by the encoded names of the fields. Clients get the default of `Schema.optionalWith`,
 * so that a model knows what happens when it leaves the field out.
 *
 * A default is a function. `defaultsOf` runs each of these functions twice when the definition is made, and uses the default only when both
 * values are equal.
 */
const defaultsOf = (ast: SchemaTree.Transformation): ReadonlyMap<string, unknown> => {
  const { from, transformation } = ast
  if (transformation._tag !== "TypeLiteralTransformation" || !SchemaTree.isTypeLiteral(from)) return new Map()
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
  decode: SchemaTree.PropertySignatureTransformation["decode"],
  type: SchemaTree.AST
): Option.Option<unknown> => {
  const encode = EffectParser.encodeUnknownEither(SchemaTree.schemaOf(type))
  /** Returns the JSON text of the default. */
  const evaluate = (): string | undefined =>
    Either.getOrUndefined(Either.try(() => {
      const encoded = Option.map(decode(Option.none()), encode)
      return Option.isSome(encoded) && Either.isRight(encoded.value) && encoded.value.right !== undefined
        ? JsonText.stringify(encoded.value.right as {})
        : undefined
    }))
  const text = evaluate()
  return text !== undefined && text === evaluate() ? Option.some(JsonText.parse(text)) : Option.none()
}
