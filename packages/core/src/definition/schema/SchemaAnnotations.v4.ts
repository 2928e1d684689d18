/**
 * Generates JSON Schema with Effect, and adds what version 4 leaves out. For a filter that has no JSON Schema of its own, or that follows a
 * transformation, it adds the texts, the examples and the default. For Effect's own transformations, it adds what a model needs to know
 * (`stock`). For a struct, it adds the defaults of the fields. The module also removes what version 4 adds: `null` where a member may be
 * `undefined`, and the bounds of safe integers.
 */
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as JsonText from "../../jsonrpc/runtime/JsonText.js"
import type { JsonObject } from "../../protocol/Json.js"
import * as SchemaTree from "../../protocol/schema/SchemaTree.js"

const PATH = "#/$defs/"

/** Makes the JSON Schema of the encoded side. Recursive types are added to `definitions`. */
export const generate = (schema: Schema.Top, definitions: Record<string, JsonObject>): JsonObject => {
  const document = Schema.toJsonSchemaDocument(schema, { onExcessProperty: "ignore" })
  const named = document.definitions as Readonly<Record<string, JsonObject>>
  const open = new Set<string>()

  const annotate = (ast: SchemaTree.AST, json: JsonObject): JsonObject => {
    const name = definitionOf(json.$ref)
    if (name !== undefined) return resolve(name, ast, json)
    switch (ast._tag) {
      case "Suspend":
        return annotate(ast.f(), json)
      case "Refinement":
        return {
          ...withPattern(ast, withoutBounds(annotate(ast.from, isNumber(ast) ? finite(ast, json) : json))),
          ...annotationsOf(ast)
        }
      case "Transformation":
        return { ...annotate(ast.from, json), ...ofNumber(json, ast.to), ...ofType(ast, ast.to) }
      case "TypeLiteral":
        return struct(ast, json)
      case "TupleType": {
        const { items, prefixItems } = json
        return {
          ...json,
          ...(Array.isArray(prefixItems)
            ? { prefixItems: prefixItems.map((item, i) => annotate(ast.elements[i]!.type, item)) }
            : undefined),
          ...(isSchema(items) && ast.rest[0] !== undefined ? { items: annotate(ast.rest[0].type, items) } : undefined)
        }
      }
      case "Union":
        return union(ast, json)
      case "NumberKeyword": {
        const { anyOf, ...annotations } = json
        return withoutBounds(Array.isArray(anyOf) ? { ...anyOf.find((one) => !isSpecial(one)), ...annotations } : json)
      }
      default:
        return withNull(withoutBounds({ ...json, ...stock.get(String(ast.annotations.expected)) }))
    }
  }

  /** A type that contains itself stays in the definitions. Any other type replaces the reference to it. */
  const resolve = (name: string, ast: SchemaTree.AST, { $ref, ...more }: JsonObject): JsonObject => {
    const found = named[name]
    if (definitions[name] !== undefined || found === undefined) return { $ref, ...more }
    if (open.has(name)) {
      definitions[name] = found
      return { $ref, ...more }
    }
    open.add(name)
    const type = annotate(ast, found)
    open.delete(name)
    if (definitions[name] === undefined) return { ...type, ...more }
    definitions[name] = type
    return { $ref, ...more }
  }

  const struct = (ast: SchemaTree.TypeLiteral, json: JsonObject): JsonObject => {
    // An empty struct: in Effect a value that is not null.
    if (Predicate.hasProperty(json, "not")) {
      const { not: _, ...annotations } = json
      return { type: "object", ...annotations }
    }
    const { additionalProperties, properties } = json
    const types = new Map(ast.propertySignatures.map((property) => [property.name, property]))
    const rest = ast.indexSignatures[0]
    return {
      ...json,
      ...(isSchema(properties)
        ? {
          properties: Object.fromEntries(
            Object.entries(properties).map(([name, one]) => {
              const property = types.get(name)
              return [name, property === undefined ? one : field(property, annotate(property.type, one as JsonObject))]
            })
          )
        }
        : undefined),
      ...(isSchema(additionalProperties) && rest !== undefined
        ? { additionalProperties: annotate(rest.type, additionalProperties) }
        : undefined)
    }
  }

  const union = (ast: SchemaTree.Union, json: JsonObject): JsonObject => {
    const { anyOf, ...rest } = json
    const direct = ast.types.filter((type) => !SchemaTree.isUndefinedKeyword(type))
    if (!Array.isArray(anyOf)) return direct.length === 1 ? annotate(direct[0]!, json) : json
    const isNullable = direct.length === ast.types.length ||
      direct.some((type) => SchemaTree.isLiteral(type) && type.literal === null)
    // Version 4 puts the members of a union within a union beside its other members.
    const all = membersOf(ast).filter((type) => !SchemaTree.isUndefinedKeyword(type))
    const hasNumber = all.some(isNumber)
    const members = (anyOf as ReadonlyArray<JsonObject>).filter((one) =>
      (isNullable || one.type !== "null") && !(hasNumber && isSpecial(one))
    )
    const types = [direct, all].find(({ length }) => length === members.length)
    const kept = members.map((one, i) => types === undefined ? withNull(one) : annotate(types[i]!, one))
    return kept.length === 1 ? { ...kept[0], ...rest } : { ...rest, anyOf: kept }
  }

  const { $schema: _, ...root } = annotate(SchemaTree.of(schema), document.schema as JsonObject)
  const keep = (u: unknown): void => {
    for (const name of referred(u)) {
      const found = named[name]
      if (definitions[name] !== undefined || found === undefined) continue
      definitions[name] = found
      keep(found)
    }
  }
  keep([root, ...Object.values(definitions)])
  const name = definitionOf(root.$ref)
  return name === undefined ? root : definitions[name]!
}

/** Returns the names that are referred to, also if a union or a filter hides the type from `annotate`. */
const referred = (u: unknown): ReadonlyArray<string> =>
  typeof u !== "object" || u === null
    ? []
    : Object.entries(u).flatMap(([key, value]) =>
      key === "$ref" ? [definitionOf(value)].filter((name) => name !== undefined) : referred(value)
    )

/**
 * Whether a schema has only the texts that the JSON codec of version 4 writes for numbers such as `NaN`, which JSON does not have. The
 * schemas of tools do not decode these texts.
 */
const isSpecial = ({ enum: texts }: JsonObject): boolean =>
  Array.isArray(texts) && texts.length === 3 && texts.includes("NaN") && texts.includes("Infinity")

const membersOf = (ast: SchemaTree.AST): ReadonlyArray<SchemaTree.AST> =>
  ast._tag === "Union" ? ast.types.flatMap(membersOf) : [ast]

/** Adds the pattern of a regular expression, which version 4 does not advertise. */
const withPattern = (ast: SchemaTree.Refinement, json: JsonObject): JsonObject => {
  const pattern = SchemaTree.patternOf(ast)?.source
  if (pattern === undefined || json.pattern === pattern) return json
  if (json.pattern === undefined) return { ...json, pattern }
  return { ...json, allOf: [...(Array.isArray(json.allOf) ? json.allOf : []), { pattern }] }
}

/** Makes the JSON Schema of a number with its checks. Version 4 leaves the checks out when it adds the texts of its codec. */
const finite = ({ v4: { checks } }: SchemaTree.Refinement, json: JsonObject): JsonObject => {
  const { anyOf: _, ...annotations } = json
  if (json.type === "integer" || checks === undefined) return json
  return { ...Schema.toJsonSchemaDocument(Schema.Finite.check(...checks)).schema as JsonObject, ...annotations }
}

const isNumber = (ast: SchemaTree.AST): boolean =>
  ast._tag === "NumberKeyword" || (SchemaTree.isRefinement(ast) && isNumber(ast.from))

/** Corrects the type of `null`, which version 4 declares as an object. */
const withNull = (json: JsonObject): JsonObject => {
  const { enum: values, type, ...annotations } = json
  return type === "object" && Array.isArray(values) ? { type: "null", ...annotations } : json
}

const isSchema = (u: unknown): u is JsonObject => Predicate.isObject(u)

/** By the text with which Effect describes the encoded side: what a model needs to know of a transformation. */
const stock: ReadonlyMap<string, JsonObject> = new Map<string, JsonObject>([
  ["a string that will be decoded as a Date", { format: "date-time" }],
  ["a string that will be decoded as a DateTime.Utc", { format: "date-time" }],
  ["a string that will be decoded as a URL", { format: "uri" }],
  ["a string that will be decoded as a number", { description: "a number, written as a string" }],
  ["a string that will be decoded as a finite number", { description: "a number, written as a string" }],
  ["a string that will be decoded as a BigDecimal", { description: "a decimal number, written as a string" }],
  ["a string that will be decoded as JSON", { contentMediaType: "application/json" }],
  ["an ISO 8601 duration string that will be decoded as a Duration", { format: "duration" }],
  ["a base64 encoded string that will be decoded as a UTF-8 string", { contentEncoding: "base64" }],
  ["a base64 (URL) encoded string that will be decoded as a UTF-8 string", { contentEncoding: "base64url" }],
  ["a hex encoded string that will be decoded as a UTF-8 string", { contentEncoding: "base16" }],
  ["a base64 encoded string that will be decoded as Uint8Array", { contentEncoding: "base64" }],
  ["a base64 (URL) encoded string that will be decoded as a Uint8Array", { contentEncoding: "base64url" }],
  ["a hex encoded string that will be decoded as a Uint8Array", { contentEncoding: "base16" }],
  ["a URI component encoded string that will be decoded as a UTF-8 string", { description: "percent-encoded text" }]
])

/** By the type to which a number is decoded: what the number means. */
const numbers: ReadonlyMap<unknown, JsonObject> = new Map<unknown, JsonObject>([
  ["effect/schema/Date", { description: "milliseconds since 1970-01-01T00:00:00Z" }],
  ["effect/schema/DateTimeUtc", { description: "milliseconds since 1970-01-01T00:00:00Z" }],
  ["effect/schema/Duration", { description: "milliseconds" }]
])

const ofNumber = (json: JsonObject, to: SchemaTree.AST): JsonObject | undefined => {
  const { representation } = to.annotations
  return (json.type === "number" || json.type === "integer") && Predicate.hasProperty(representation, "id")
    ? numbers.get(representation.id)
    : undefined
}

/** Returns the annotations of a type after a transformation, or of its filters, as keywords. `ast` encodes the values. */
const ofType = (ast: SchemaTree.AST, to: SchemaTree.AST): JsonObject => ({
  ...(SchemaTree.isRefinement(to) ? ofType(ast, to.from) : undefined),
  ...annotationsOf(ast, to)
})

/**
 * Returns the annotations of a part as keywords, with encoded examples and defaults. Examples and defaults that cannot be encoded are left
 * out.
 */
const annotationsOf = (ast: SchemaTree.AST, of: SchemaTree.AST = ast): JsonObject => {
  const { default: value, description, examples, expected, title } = of.annotations
  const encoded = (one: unknown) =>
    Result.getOrUndefined(
      Result.flatMap(Result.try(() => Schema.encodeUnknownResult(SchemaTree.schemaOf(ast))(one)), (found) => found)
    )
  const given = Array.isArray(examples) ? examples.map(encoded).filter((one) => one !== undefined) : []
  const standard = value === undefined ? undefined : encoded(value)
  return {
    ...(typeof title === "string" ? { title } : undefined),
    ...(typeof description === "string" && description !== expected ? { description } : undefined),
    ...(given.length > 0 ? { examples: given } : undefined),
    ...(standard === undefined ? undefined : { default: standard })
  }
}

/**
 * Returns a field with its encoded default, so that a model knows what happens when it leaves the field out. A default is an effect.
 * `field` runs this effect twice when the definition is made, and adds the default only when both values are equal.
 */
const field = ({ type }: SchemaTree.PropertySignature, json: JsonObject): JsonObject => {
  if (!SchemaTree.isTransformation(type) || json.default !== undefined) return json
  const struct = Schema.Struct({ field: SchemaTree.schemaOf(type) })
  const decode = Schema.decodeUnknownResult(struct)
  const encode = Schema.encodeUnknownResult(struct)
  const evaluate = (): string | undefined =>
    Result.getOrUndefined(Result.try(() => {
      const { field } = Result.getOrThrow(encode(Result.getOrThrow(decode({}))))
      return field === undefined ? undefined : JsonText.stringify(field as {})
    }))
  const text = evaluate()
  return text !== undefined && text === evaluate() ? { default: JsonText.parse(text), ...json } : json
}

const withoutBounds = (json: JsonObject): JsonObject => {
  if (json.type !== "integer") return json
  const { maximum, minimum, ...rest } = json
  return {
    ...rest,
    ...(minimum === undefined || minimum === Number.MIN_SAFE_INTEGER ? undefined : { minimum }),
    ...(maximum === undefined || maximum === Number.MAX_SAFE_INTEGER ? undefined : { maximum })
  }
}

/** Returns the name of the definition that a reference of Effect points to: a JSON Pointer, which version 4 encodes as a URI. */
export const definitionOf = ($ref: unknown): string | undefined => {
  if (typeof $ref !== "string" || !$ref.startsWith(PATH)) return undefined
  const pointer = $ref.slice(PATH.length)
  const text = Result.getOrElse(Result.try(() => decodeURIComponent(pointer)), () => pointer)
  return text.replace(/~1/g, "/").replace(/~0/g, "~")
}

/** Makes the reference to a definition, as a URI. */
export const reference = (name: string): string =>
  PATH + encodeURIComponent(name.replace(/~/g, "~0").replace(/\//g, "~1"))
