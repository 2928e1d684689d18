/**
 * Makes a schema that follows the rules of a dialect (`Dialects`), for `Conversion`. When a keyword breaks the rules, this module corrects
 * the keyword if it can. Or it removes the keyword, and the description then says what the keyword requires. When this module can do
 * neither, it fails and names the place in the schema. When a dialect has only a part of JSON Schema, each schema gets a type and only the
 * keywords for this type.
 *
 * When the dialect has no references, the input must not have references and its root must be an object. `Inlining` and `ObjectRoot` make
 * such a schema.
 */
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import * as Either from "effect/Either"
import { shortened } from "../text/ModelText.js"
import type * as Dialects from "./Dialects.js"
import * as Keywords from "./Keywords.js"
import * as ObjectRoot from "./ObjectRoot.js"
import * as SchemaParts from "./SchemaParts.js"
import * as Values from "./Values.js"

interface Walk {
  readonly rules: Dialects.Rules
  readonly totals: { properties: number; characters: number; values: number }
  /** The error for the first place that has no form in the dialect; `undefined` when every place has a form. */
  refusal: string | undefined
}

interface Place {
  /** The value that the server has written at this place. */
  readonly value: unknown
  readonly key: string
  readonly above: Place | undefined
  /** How many schemas are nested down to this place, including the root. */
  readonly level: number
}

/** Makes the schema in the dialect. `Left` is an error that names a place, the value at this place and the rule that the value breaks. */
export const make = (root: JsonObject, rules: Dialects.Rules): Either.Either<JsonObject, string> => {
  const walk: Walk = { rules, totals: { properties: 0, characters: 0, values: 0 }, refusal: undefined }
  const top: Place = { value: root, key: "", above: undefined, level: 1 }
  const { names } = rules
  const bad = names && SchemaParts.isObject(root.properties)
    ? Object.keys(root.properties).find((name) => !names.test(name))
    : undefined
  if (bad !== undefined) refuse(walk, at(top, bad, "properties", bad), `a name must match ${names?.source}`)
  const made = visit(walk, top)
  return walk.refusal === undefined ? Either.right(made as JsonObject) : Either.left(walk.refusal)
}

const at = (place: Place, value: unknown, ...keys: ReadonlyArray<string>): Place =>
  keys.reduce<Place>((above, key) => ({ value, key, above, level: above.level }), place)

/** Returns the place of a schema inside the schema at `place`. */
const inside = (place: Place, value: unknown, ...keys: ReadonlyArray<string>): Place => ({
  ...at(place, value, ...keys),
  value,
  level: place.level + 1
})

const refuse = (walk: Walk, place: Place, rule: string): JsonObject => {
  if (walk.refusal === undefined) {
    const keys: Array<string> = []
    for (let one = place; one.above !== undefined; one = one.above) {
      keys.unshift(`/${one.key.replaceAll("~", "~0").replaceAll("/", "~1")}`)
    }
    const text = shortened(String(JSON.stringify(place.value)), MAX_VALUE)
    walk.refusal = `at ${JSON.stringify(shortened(keys.join(""), MAX_PLACE))}, ${text}: ${rule}`
  }
  return {}
}

const MAX_PLACE = 200

const MAX_VALUE = 100

/** Adds to the totals of the walk. Refuses the schema when a total exceeds its limit. */
const count = (walk: Walk, place: Place, counted: Partial<Walk["totals"]>): void => {
  for (const [what, many] of Object.entries(counted) as ReadonlyArray<[keyof Walk["totals"], number]>) {
    walk.totals[what] += many
    const max = walk.rules.limits[what]
    if (walk.totals[what] > max) refuse(walk, place, `a schema has at most ${max} ${NOUNS[what]}`)
  }
}

const NOUNS = {
  properties: "properties",
  characters: "characters in names and values",
  values: "values of enumerations"
}

/**
 * Converts the schema at a place. `isOptional` is `true` for the schema of a property that the model may leave out, in a dialect that
 * requires every property.
 */
const visit = (walk: Walk, place: Place, isOptional = false): Dialects.Schema => {
  const { refusal, rules: { limits, subset } } = walk
  const { level, value } = place
  if (refusal !== undefined) return {}
  if (typeof value === "boolean" && subset === undefined) return value
  if (!SchemaParts.isObject(value)) return anything(walk, place, {}, NO_TYPE)
  if (level > limits.levels) return anything(walk, place, value, `there are at most ${limits.levels} levels`)
  const schema = mend(value, walk.rules)
  return subset === undefined
    ? whole(walk, schema, place)
    : part(walk, subset, isOptional ? orNull(subset, schema) : schema, place)
}

/** Returns a schema that accepts any value, with the description of `schema`. */
const anything = (walk: Walk, place: Place, schema: JsonObject, rule: string): JsonObject =>
  walk.rules.anything === undefined ? refuse(walk, place, rule) : { ...walk.rules.anything, ...described(schema) }

const NO_TYPE = "a value must have a type"

const described = (schema: JsonObject): JsonObject =>
  typeof schema.description === "string" ? { description: schema.description } : {}

/** Returns the schema without values that break the rules. Does not change the schemas inside this schema. */
const mend = (given: JsonObject, { keywords, limits, patterns }: Dialects.Rules): JsonObject => {
  const schema = keywords.get("items") === "schema" ? Keywords.renewed(given) : given
  const lost: Array<string> = []
  const entries = Object.entries(schema).flatMap(([key, value]): ReadonlyArray<[string, unknown]> => {
    const kind = keywords.get(key) ?? "any"
    const read = Values.read(kind, value, patterns)
    if (read !== undefined && (Values.hasSchemas(kind) || Values.isWithin(limits.levels, read))) return [[key, read]]
    if (!key.startsWith("$") && Values.says(value)) lost.push(key)
    return []
  })
  return Keywords.inWords(SchemaParts.fromEntries(entries), schema, lost)
}

/** Converts a schema for a dialect that has all keywords. */
const whole = (walk: Walk, schema: JsonObject, place: Place): JsonObject => {
  const { anything, keywords, needsItems } = walk.rules
  const made = SchemaParts.fromEntries(
    Object.entries(schema).map(([key, value]) => {
      const kind = keywords.get(key) ?? "any"
      return [key, Values.mapSchemas(kind, value, (one) => visit(walk, inside(place, one, key))) ?? value]
    })
  )
  return needsItems && Keywords.types(made).includes("array") && made.items === undefined
    ? { ...made, items: anything }
    : made
}

/** Converts a schema for a dialect that has only some keywords. */
const part = (walk: Walk, subset: Dialects.Subset, given: JsonObject, place: Place): JsonObject => {
  const all = [...Keywords.schemas(given.anyOf), ...Keywords.schemas(given.oneOf)]
  const alternatives = subset.hasNullable ? all.filter((one) => !isNull(one)) : all
  const isNullable = subset.hasNullable && (alternatives.length < all.length || allowsNull(given))
  const schema = isNullable ? { ...given, nullable: true } : given
  if (alternatives.length > 0) return (subset.isExact ? exactly : roughly)(walk, subset, schema, alternatives, place)
  const types = typesOf(subset, schema)
  if (types.length === 0) return { ...anything(walk, place, schema, NO_TYPE), ...about(subset, schema) }
  if (isOne(subset, types)) return typed(walk, subset, types, schema, place)
  const one = SchemaParts.omit(schema, "description")
  const made = types.map((type) => visit(walk, inside(place, { ...one, type })) as JsonObject)
  return union(subset, about(subset, schema), made)
}

const isNull = (schema: JsonObject): boolean => schema.type === "null" || schema.const === null

const allowsNull = (schema: JsonObject): boolean =>
  Keywords.types(schema).includes("null") || schema.nullable === true || schema.const === null ||
  (Array.isArray(schema.enum) && schema.enum.includes(null))

/** Returns the keywords that a schema of any type may have. */
const about = (subset: Dialects.Subset, schema: JsonObject): JsonObject => ({
  ...described(schema),
  ...(subset.hasNullable && schema.nullable === true ? { nullable: true } : undefined)
})

/** Returns a schema whose alternatives are the schemas `made`. The keywords `own` apply to all alternatives. */
const union = (subset: Dialects.Subset, own: JsonObject, made: ReadonlyArray<JsonObject>): JsonObject => {
  if (!subset.isAnyOfAlone) return { ...own, anyOf: made }
  const [first = {}, ...others] = made.flatMap((one) => "anyOf" in one ? Keywords.schemas(one.anyOf) : [one])
  const description = [own, first].flatMap((one) => one.description ?? []).join(" ")
  const named = { ...first, ...own, ...(description === "" ? undefined : { description }) }
  return others.length === 0 ? named : { anyOf: [named, ...others] }
}

/** Converts a schema with alternatives for an exact dialect. In such a dialect, a schema with alternatives must not have other keywords. */
const exactly = (
  walk: Walk,
  subset: Dialects.Subset,
  schema: JsonObject,
  alternatives: ReadonlyArray<JsonObject>,
  place: Place
): JsonObject => {
  // The dialect ignores keywords beside `anyOf`. So the model would leave out the properties, and the server would refuse the call.
  if (Keywords.properties(schema).size > 0 || SchemaParts.strings(schema.required).length > 0) {
    return refuse(walk, place, "properties must not be beside alternatives")
  }
  const own = Keywords.inWords(about(subset, schema), schema, [...subset.inWords, "format"])
  return union(subset, own, each(walk, alternatives, place))
}

/**
 * Converts a schema with alternatives for a dialect that is not exact. The dialect ignores keywords beside `anyOf`, so this function keeps
 * the meaning of these keywords as far as the dialect can express it.
 */
const roughly = (
  walk: Walk,
  subset: Dialects.Subset,
  schema: JsonObject,
  alternatives: ReadonlyArray<JsonObject>,
  place: Place
): JsonObject => {
  const one = SchemaParts.omit(schema, "anyOf", "oneOf")
  if (isObject(schema, alternatives)) {
    return part(walk, subset, ObjectRoot.make({ ...one, anyOf: alternatives }), place)
  }
  if (typesOf(subset, schema).length > 0 && alternatives.every((one) => !FORMS.some((key) => key in one))) {
    return part(walk, subset, Keywords.inWords(one, schema, ["anyOf", "oneOf"]), place)
  }
  return union(subset, about(subset, schema), each(walk, alternatives, place))
}

const each = (walk: Walk, alternatives: ReadonlyArray<JsonObject>, place: Place): ReadonlyArray<JsonObject> =>
  alternatives.map((one, index) => visit(walk, inside(place, one, "anyOf", String(index))) as JsonObject)

/** Returns whether a schema with alternatives has its own properties and describes only objects. */
const isObject = (schema: JsonObject, alternatives: ReadonlyArray<JsonObject>): boolean => {
  const types = Keywords.types(schema).filter((type) => type !== "null")
  return Keywords.properties(schema).size > 0 && (types.length === 0
    ? alternatives.every((one) => Keywords.types(one).includes("object") || "properties" in one || "required" in one)
    : types.every((type) => type === "object"))
}

/**
 * The keywords of an alternative that describes values itself. An alternative without these keywords only restricts the values of the outer
 * schema.
 */
const FORMS = ["type", "enum", "const", "properties", "items", "prefixItems", "anyOf", "oneOf"]

const valuesOf = (schema: JsonObject): ReadonlyArray<unknown> | undefined =>
  Array.isArray(schema.enum) ? schema.enum : "const" in schema ? [schema.const] : undefined

/** Returns the types of a schema; without `type`, the types that follow from its other keywords. */
const typesOf = (subset: Dialects.Subset, schema: JsonObject): ReadonlyArray<string> => {
  const given = Keywords.types(schema)
  const values = valuesOf(schema)
  const types = given.length > 0
    ? given
    : values !== undefined
    ? [...new Set(values.map(typeOf))]
    : schema.properties !== undefined
    ? ["object"]
    : schema.items !== undefined || schema.prefixItems !== undefined
    ? ["array"]
    : []
  const known = types.filter((type) => subset.types.has(type))
  const fitting = known.filter((type) => values === undefined || values.some((value) => isOf(value, type)))
  return isOne(subset, known) || fitting.length === 0 ? known : fitting
}

/** Returns whether one schema can have all these types. A type that needs further keywords must be the only type, except for null. */
const isOne = (subset: Dialects.Subset, types: ReadonlyArray<string>): boolean => {
  const others = types.filter((type) => type !== "null")
  return others.length < 2 || !(subset.hasNullable || others.includes("object") || others.includes("array"))
}

const typeOf = (value: unknown): string => value === null ? "null" : Array.isArray(value) ? "array" : typeof value

const isOf = (value: unknown, type: string): boolean =>
  type === typeOf(value) || (type === "integer" && Number.isInteger(value))

/** Converts a schema of one type, or of types that can be in one schema. */
const typed = (
  walk: Walk,
  subset: Dialects.Subset,
  types: ReadonlyArray<string>,
  schema: JsonObject,
  place: Place
): JsonObject => {
  const kept = types.flatMap((type) => subset.types.get(type) ?? [])
  const hasFormat = types.some((type) => subset.formats.get(type)?.includes(schema.format as string) === true)
  const values = enumerated(walk, subset, types, schema, place)
  const inWords = [
    ...subset.inWords,
    ...(hasFormat ? [] : ["format"]),
    ...(values === undefined ? ["enum", "const"] : [])
  ]
  return {
    type: types.length === 1 ? types[0] : types,
    ...Keywords.inWords(about(subset, schema), schema, inWords),
    ...(hasFormat ? { format: schema.format } : undefined),
    ...values,
    ...SchemaParts.fromEntries(Object.entries(schema).filter(([key]) => kept.includes(key))),
    ...(types.includes("array") ? { items: items(walk, subset, schema, place) } : undefined),
    ...(types.includes("object") ? members(walk, subset, schema, place) : undefined)
  }
}

/** Returns the values of an enumeration that have these types; `undefined` when the dialect cannot list them. */
const enumerated = (
  walk: Walk,
  subset: Dialects.Subset,
  types: ReadonlyArray<string>,
  schema: JsonObject,
  place: Place
): JsonObject | undefined => {
  const values = (valuesOf(schema) ?? []).filter((value) => types.some((type) => isOf(value, type)))
  const isListed = values.length > 0 && types.every((type) => subset.valuesOf.includes(type)) &&
    (subset.hasEmptyText || !values.includes(""))
  if (!isListed) return undefined
  const characters = SchemaParts.strings(values).reduce((sum, text) => sum + text.length, 0)
  if (subset.hasConst && !Array.isArray(schema.enum)) {
    count(walk, at(place, values[0], "const"), { characters })
    return { const: values[0] }
  }
  const { charactersOfMany, many } = walk.rules.limits
  if (values.length > many && characters > charactersOfMany) {
    refuse(walk, at(place, values, "enum"), `more than ${many} values have at most ${charactersOfMany} characters`)
  }
  count(walk, at(place, values, "enum"), { characters, values: values.length })
  return { enum: values }
}

const items = (walk: Walk, subset: Dialects.Subset, schema: JsonObject, place: Place): Dialects.Schema => {
  const first = Keywords.schemas(schema.prefixItems)
  if (subset.isExact) {
    return first.length > 0
      ? refuse(walk, at(place, first, "prefixItems"), "the items of a list must have one schema")
      : visit(walk, inside(place, schema.items, "items"))
  }
  const all = [...first, ...(SchemaParts.isObject(schema.items) ? [schema.items] : [])]
  const one = all.length === 0 ? true : all.length === 1 ? all[0] : { anyOf: all }
  return visit(walk, inside(place, one, "items"))
}

const members = (walk: Walk, subset: Dialects.Subset, schema: JsonObject, place: Place): JsonObject => {
  const named = Keywords.properties(schema)
  const required = SchemaParts.strings(schema.required).filter((name) => named.has(name))
  count(walk, at(place, schema.properties, "properties"), {
    properties: named.size,
    characters: [...named.keys()].reduce((sum, name) => sum + name.length, 0)
  })
  const made = (isOptional: (name: string) => boolean) =>
    SchemaParts.fromEntries(
      [...named].map(([name, one]) => [
        name,
        visit(walk, inside(place, one, "properties", name), isOptional(name))
      ])
    )
  if (!subset.isExact) {
    return {
      // The API refuses an empty list of properties.
      ...(named.size === 0 ? undefined : { properties: made(() => false) }),
      ...(required.length === 0 ? undefined : { required })
    }
  }
  const { additionalProperties } = schema
  const isMap = schema.patternProperties !== undefined || additionalProperties === true ||
    SchemaParts.isObject(additionalProperties)
  // At the root, an object without properties means that there are no arguments. Elsewhere it means any members.
  if (isMap || (named.size === 0 && place.level > 1 && additionalProperties !== false)) {
    return refuse(walk, place, "the members of an object must have names")
  }
  const needed = new Set(required)
  return {
    properties: made((name) => !needed.has(name)),
    required: [...named.keys()],
    additionalProperties: false
  }
}

/** Returns the schema of a property that the model may leave out. The dialect requires every property, so this property may be null. */
const orNull = (subset: Dialects.Subset, schema: JsonObject): JsonObject => {
  const alternatives = [...Keywords.schemas(schema.anyOf), ...Keywords.schemas(schema.oneOf)]
  if (alternatives.length > 0) {
    return alternatives.some((one) => Keywords.types(one).includes("null"))
      ? schema
      : { ...SchemaParts.omit(schema, "oneOf"), anyOf: [...alternatives, { type: "null" }] }
  }
  const types = typesOf(subset, schema)
  const values = valuesOf(schema)
  return types.length === 0 || types.includes("null") ? schema : {
    ...SchemaParts.omit(schema, "const"),
    type: [...types, "null"],
    ...(values === undefined ? undefined : { enum: [...new Set([...values, null])] })
  }
}
