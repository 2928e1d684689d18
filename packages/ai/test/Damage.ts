/**
 * Schemas of arguments as servers write them, and the same schemas with random damage: values of other types, keywords under other
 * names, members that are missing, doubled or in another place.
 */
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import { FastCheck as fc, Predicate } from "effect"

const name = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom("a", "b", "limit", "user-id", "x.y") },
  {
    weight: 1,
    arbitrary: fc.constantFrom("__proto__", "constructor", "type", "properties", "$ref", "enum", "filter[a]", "", "é")
  }
)

const pattern = fc.oneof(
  fc.constantFrom(
    "^a+$",
    "[a-z]{2,5}",
    "^[^]*$",
    "a{,5}",
    "^(?=a)b",
    "\\p{L}",
    "[\\w-.]",
    "(?<n>a)\\k<n>",
    "[",
    "a**",
    "\\d+"
  ),
  fc.array(fc.constantFrom("a", "[", "]", "^", "(", ")", "{,2}", "{2}", "*", "\\", "-", "?", ":", "[^]", "\\d", "|"), {
    minLength: 1,
    maxLength: 7
  }).map((parts) => parts.join(""))
)

const description = fc.constantFrom("What to find.", "", "Ümläute 😀", "x".repeat(50))

const optional = (model: Readonly<Record<string, fc.Arbitrary<unknown>>>) => fc.record(model, { requiredKeys: [] })

const merged = (...parts: ReadonlyArray<fc.Arbitrary<object>>): fc.Arbitrary<JsonObject> =>
  fc.tuple(...parts).map((all) => Object.assign({}, ...all) as JsonObject)

const values = fc.constantFrom<unknown>("a", "b", "", 0, 1.5, -3, true, null, [1], { a: null })

const named = (schema: fc.Arbitrary<unknown>) => fc.dictionary(name, schema, { maxKeys: 4 })

const { schema } = fc.letrec<{ readonly schema: unknown }>((tie) => ({
  schema: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    merged(
      fc.constant({ type: "string" }),
      optional({
        description,
        minLength: fc.nat(5),
        pattern: fc.constantFrom("^a+$", "\\d{2}"),
        format: fc.constantFrom("date-time", "uri", "date")
      })
    ),
    merged(
      fc.record({ type: fc.constantFrom("number", "integer") }),
      optional({
        description,
        minimum: fc.integer(),
        exclusiveMaximum: fc.integer(),
        multipleOf: fc.constant(0.5),
        default: values
      })
    ),
    fc.record({ type: fc.constantFrom("boolean", "null", ["string", "null"], ["integer", "boolean", "array"]) }),
    optional({ description, enum: fc.uniqueArray(values, { minLength: 1 }) }),
    optional({ description, const: values }),
    fc.record({ $ref: fc.constantFrom("#/$defs/One", "#/$defs/Two", "#", "#/properties/a") }),
    fc.boolean(),
    merged(
      fc.constant({ type: "array" }),
      optional({
        items: tie("schema"),
        prefixItems: fc.array(tie("schema"), { minLength: 1, maxLength: 2 }),
        minItems: fc.nat(3)
      })
    ),
    merged(
      fc.record({ type: fc.constantFrom("object", ["object", "null"]) }),
      optional({
        description,
        properties: named(tie("schema")),
        required: fc.uniqueArray(name, { maxLength: 3 }),
        additionalProperties: tie("schema"),
        patternProperties: fc.dictionary(fc.constantFrom("^a", "b$"), tie("schema")),
        dependentRequired: fc.constant({ a: ["b"] })
      })
    ),
    merged(
      ...["anyOf", "oneOf", "allOf"].map((key) =>
        fc.option(fc.record({ [key]: fc.array(tie("schema"), { minLength: 1, maxLength: 3 }) }), { nil: {}, freq: 1 })
      ),
      optional({ description, type: fc.constantFrom("object", "string"), properties: named(tie("schema")) })
    ),
    optional({
      not: tie("schema"),
      if: tie("schema"),
      then: tie("schema"),
      propertyNames: tie("schema"),
      contains: tie("schema")
    })
  )
}))

/** Schemas that have a strict form. */
const { strict } = fc.letrec<{ readonly strict: unknown }>((tie) => ({
  strict: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    merged(
      fc.record({ type: fc.constantFrom("string", ["string", "null"]) }),
      optional({ description, pattern: fc.constantFrom("^a+$", "(?!b)"), format: fc.constantFrom("date-time", "uri") })
    ),
    merged(
      fc.constant({ type: "integer" }),
      optional({ description, minimum: fc.integer(), enum: fc.constant([1, 2]) })
    ),
    fc.record({ enum: fc.uniqueArray(fc.constantFrom<unknown>("a", "", 1, true, null), { minLength: 1 }) }),
    fc.record({ const: fc.constantFrom<unknown>("a", 1, null) }),
    merged(fc.constant({ type: "array" }), fc.record({ items: tie("strict") }), optional({ minItems: fc.nat(3) })),
    fc.record({ anyOf: fc.array(tie("strict"), { minLength: 1, maxLength: 3 }) }),
    merged(
      fc.record({ type: fc.constantFrom("object", ["object", "null"]), properties: named(tie("strict")) }),
      fc.record({ additionalProperties: fc.constant(false), required: fc.uniqueArray(name, { maxLength: 3 }) })
    )
  )
}))

/** Valid schemas of draft 2020-12 for arguments. */
export const valid: fc.Arbitrary<JsonObject> = merged(
  fc.constant({ type: "object" }),
  optional({
    $schema: fc.constant("https://json-schema.org/draft/2020-12/schema"),
    description,
    properties: named(schema),
    required: fc.uniqueArray(name, { maxLength: 3 }),
    additionalProperties: schema,
    anyOf: fc.array(schema, { minLength: 1, maxLength: 2 })
  }),
  fc.record({ $defs: fc.record({ One: schema, Two: schema }) })
)

/** Valid schemas without these keywords, which some dialects replace. The root has properties and no alternatives. */
export const validWithout = (keywords: RegExp): fc.Arbitrary<JsonObject> =>
  valid.map((schema) => without({ properties: {}, ...schema, anyOf: undefined }, keywords) as JsonObject)

const without = (value: unknown, keywords: RegExp): unknown =>
  Array.isArray(value)
    ? value.map((one) => without(one, keywords))
    : Predicate.isRecord(value)
    ? Object.fromEntries(
      Object.entries(value).filter(([key, one]) => one !== undefined && !keywords.test(key)).map((
        [key, one]
      ) => [key, without(one, keywords)])
    )
    : value

const keyword = fc.constantFrom(
  ...["$defs", "$id", "$ref", "$schema", "additionalProperties", "allOf", "anyOf", "const", "contains", "default"],
  ...["definitions", "dependencies", "dependentRequired", "description", "enum", "exclusiveMinimum", "format", "if"],
  ...["items", "maxItems", "maximum", "minLength", "minimum", "multipleOf", "not", "nullable", "oneOf", "pattern"],
  ...[
    "patternProperties",
    "prefixItems",
    "properties",
    "propertyNames",
    "required",
    "title",
    "type",
    "uniqueItems",
    "x-own"
  ]
)

const odd = fc.oneof(
  fc.constantFrom<unknown>(
    ...[null, true, false, 0, -1, 1.5, 1e308, "", "1", "any", "String", "string", "\ud83d", [], {}, [null], [[]], [
      1,
      1
    ]],
    ...[
      ["string", "any"],
      { a: null },
      { $ref: "#" },
      { type: "any" },
      [{ type: "null" }],
      ["a", "a"],
      "#/$defs/One",
      "x".repeat(300)
    ]
  ),
  pattern,
  fc.jsonValue({ maxDepth: 2 }),
  schema
)

interface Slot {
  readonly within: Record<string, unknown>
  readonly key: string
}

/** The members of all objects and lists in a value. */
const slots = (value: unknown): ReadonlyArray<Slot> =>
  typeof value === "object" && value !== null
    ? Object.entries(value).flatMap(([key, one]) => [{ within: value as Slot["within"], key }, ...slots(one)])
    : []

const set = (within: object, key: string, value: unknown): void => {
  Object.defineProperty(within, key, { value, configurable: true, enumerable: true, writable: true })
}

const damage = fc.record({
  at: fc.nat(),
  other: fc.nat(),
  what: fc.constantFrom("replace", "replace", "add", "rename", "remove", "wrap", "move"),
  keyword,
  value: odd
})

const whole = fc.oneof(
  valid,
  fc.record({
    type: fc.constant("object"),
    properties: named(strict),
    required: fc.uniqueArray(name, { maxLength: 3 })
  })
)

/** The schema after some damage. Its root stays an object, because no client passes on another. */
export const damaged: fc.Arbitrary<JsonObject> = fc.tuple(whole, fc.array(damage, { minLength: 1, maxLength: 6 })).map(
  ([given, all]) => {
    const root = JSON.parse(JSON.stringify(given)) as Record<string, unknown>
    for (const { at, keyword, other, value, what } of all) {
      const places = slots(root)
      const place = places[at % Math.max(1, places.length)]
      if (place === undefined) continue
      const { key, within } = place
      const now = within[key]
      const copy = JSON.parse(JSON.stringify(value)) as unknown
      if (what === "replace") set(within, key, copy)
      if (what === "wrap") set(within, key, [now])
      if (what === "add") set(Predicate.isRecord(now) ? now : root, keyword, copy)
      if (what === "move") set(within, key, JSON.parse(JSON.stringify(Object(places[other % places.length]?.within))))
      if (what === "remove" || what === "rename") delete within[key]
      if (what === "rename") set(within, keyword, now)
    }
    return JSON.parse(JSON.stringify({ ...root, type: "object" })) as JsonObject
  }
)
