import { assert, describe, it } from "@effect/vitest"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import { Either, FastCheck } from "effect"
import * as ArgumentRepair from "../../../src/definition/schema/ArgumentRepair.js"
import * as JsonSchemaValidator from "../../../src/definition/schema/JsonSchemaValidator.js"
import { LIMIT, OBJECTS, times } from "./Times.js"

const { mend } = ArgumentRepair

/** What becomes of an optional argument `a` with this schema. */
const one = (schema: unknown, value: unknown, more: JsonObject = {}) => {
  const mended = mend({ type: "object", properties: { a: schema }, ...more }, { a: value })
  return mended === undefined ? "as it is" : "a" in mended.value ? mended.value.a : "left out"
}

const types: Readonly<Record<string, JsonObject>> = {
  array: { type: "array" },
  object: { type: "object" },
  number: { type: "number" },
  integer: { type: "integer" },
  boolean: { type: "boolean" },
  string: { type: "string" },
  null: { type: "null" },
  anything: {}
}

/** What each type makes of a value; types that are not named leave the value as it is. */
const readings: ReadonlyArray<readonly [value: unknown, by: Readonly<Record<string, unknown>>]> = [
  ["[\"a\"]", { array: ["a"] }],
  [" [1]\n", { array: [1] }],
  ["[]", { array: [] }],
  ["{\"b\":1}", { object: { b: 1 } }],
  ["{}", { object: {} }],
  ["5", { number: 5, integer: 5 }],
  ["-5", { number: -5, integer: -5 }],
  ["0", { number: 0, integer: 0 }],
  ["1.5", { number: 1.5 }],
  ["5e-324", { number: 5e-324 }],
  ["9007199254740991", { number: 9007199254740991, integer: 9007199254740991 }],
  ["true", { boolean: true }],
  ["false", { boolean: false }],
  [null, {
    array: "left out",
    object: "left out",
    number: "left out",
    integer: "left out",
    boolean: "left out",
    string: "left out"
  }],
  ...[
    "007",
    " 5 ",
    "5.0",
    "1e3",
    "+5",
    "-0",
    ".5",
    "0x10",
    "1,000",
    "1e400",
    "1e21",
    "9007199254740993",
    "9007199254740992",
    "1e+21",
    "NaN",
    "Infinity",
    "0.10000000000000000555",
    "",
    " ",
    "True",
    "yes",
    "1 ",
    "null",
    "undefined",
    "\"a\"",
    "[1",
    "[1] [2]",
    "{a:1}",
    "{\"__proto__\":1}",
    "a",
    5,
    0,
    1,
    true,
    false,
    ["a"],
    [],
    {}
  ].map((value): [unknown, {}] => [value, {}])
]

describe("An argument of one type", () => {
  for (const [value, by] of readings) {
    it(`${JSON.stringify(value)} becomes ${JSON.stringify(by)}, and is nothing else`, () => {
      for (const [type, schema] of Object.entries(types)) {
        assert.deepStrictEqual(one(schema, value), type in by ? by[type] : "as it is", type)
      }
    })
  }
})

const union = (...branches: ReadonlyArray<unknown>) => ({ anyOf: branches })
const ofKind = (kind: string, n: JsonObject) => ({
  type: "object",
  properties: { kind: { const: kind }, n },
  required: ["kind", "n"]
})

const cases: ReadonlyArray<readonly [sentence: string, schema: unknown, value: unknown, becomes: unknown]> = [
  ["has the only type of several that the text can have", { type: ["number", "array"] }, "5", 5],
  ["stays a text where a text is one of the types", { type: ["string", "number"] }, "5", "as it is"],
  ["stays null where null is one of the types", { type: ["string", "null"] }, null, "as it is"],
  ["stays as it is where the type is unknown", { type: "file" }, "5", "as it is"],
  ["becomes a number that the schema lists", { enum: [1, 2] }, "2", 2],
  ["becomes a number that the schema lists beside texts", { enum: [1, "auto"] }, "1", 1],
  ["becomes no number that the schema does not list", { type: "number", enum: [1, 2] }, "3", "as it is"],
  ["becomes the only value", { const: 5 }, "5", 5],
  ["becomes no other value", { const: 5 }, "6", "as it is"],
  ["becomes the boolean that the schema lists", { enum: [true] }, "true", true],
  ["stays null where null is listed", { enum: ["a", null] }, null, "as it is"],
  ["becomes an object where objects are listed", { enum: [{ b: 1 }] }, "{\"b\":1}", { b: 1 }],
  ["is mended inside of an object", { properties: { b: types.number } }, { b: "5", c: "5" }, {
    b: 5,
    c: "5"
  }],
  ["is mended inside of an object in a text", { type: "object", properties: { b: types.number } }, "{\"b\":\"5\"}", {
    b: 5
  }],
  ["is mended in each item", { type: "array", items: types.number }, ["1", 2, "3"], [1, 2, 3]],
  ["is mended in each item of a text", { type: "array", items: types.number }, "[\"1\",2]", [1, 2]],
  ["is mended in the first items", { prefixItems: [types.number], items: types.boolean }, ["1", "true"], [1, true]],
  [
    "is mended in the first items, as draft-07 names them",
    {
      items: [types.number],
      additionalItems: types.boolean
    },
    ["1", "true"],
    [1, true]
  ],
  ["is mended in the values of a map", { additionalProperties: types.number }, { x: "1" }, { x: 1 }],
  ["is not taken out of a map", { additionalProperties: types.number }, { x: null }, "as it is"],
  ["is not taken out of an array", { items: types.number }, [null], "as it is"],
  [
    "is not mended where a pattern may name it",
    {
      patternProperties: { x: types.string },
      additionalProperties: types.number
    },
    { x: "1" },
    "as it is"
  ],
  [
    "loses no null that the schema requires",
    { properties: { b: types.number }, required: ["b"] },
    { b: null },
    "as it is"
  ],
  ["loses null in an optional member", { properties: { b: types.number } }, { b: null, c: null }, { c: null }],
  ["is not mended beside a place without a reading", { properties: { b: types.number, c: types.number } }, {
    b: "5",
    c: "x"
  }, "as it is"],
  ["becomes what one branch of a union wants", union(types.number, types.boolean), "5", 5],
  ["becomes what one branch of a oneOf wants", { oneOf: [types.array, types.null] }, "[1]", [1]],
  ["stays a text where a branch wants a text", union(types.number, types.string), "5", "as it is"],
  [
    "stays a text where a branch wants a short text",
    union(types.number, { type: "string", maxLength: 1 }),
    "500",
    "as it is"
  ],
  ["stays null where a branch wants null", union(types.number, types.null), null, "as it is"],
  ["stays as it is where two branches would accept", union(types.number, types.integer), "5", "as it is"],
  [
    "stays as it is where two branches would accept the items",
    {
      anyOf: [{ type: "array", items: types.string }, { type: "array", items: types.number }]
    },
    "[]",
    "as it is"
  ],
  [
    "becomes what the items of one branch allow",
    {
      anyOf: [{ type: "array", items: types.string }, { type: "array", items: types.number }]
    },
    "[1]",
    [1]
  ],
  ["becomes what the branch of its kind wants", union(ofKind("a", types.number!), ofKind("b", types.boolean!)), {
    kind: "b",
    n: "true"
  }, { kind: "b", n: true }],
  ["is not mended for another kind", union(ofKind("a", types.number!), ofKind("b", types.string!)), {
    kind: "b",
    n: "5"
  }, "as it is"],
  ["is left out where no branch has null", union(types.number, types.boolean), null, "left out"],
  [
    "is mended by all parts of a schema",
    { allOf: [{ properties: { b: types.number } }, { type: "object" }] },
    "{\"b\":\"5\"}",
    {
      b: 5
    }
  ],
  ["is mended by a reference", { $ref: "#/$defs/n" }, "5", 5],
  ["is mended by a reference with escapes", { $ref: "#/$defs/a~1b%25" }, "5", 5],
  ["is mended by a reference and what stands beside it", { $ref: "#/$defs/n", type: "integer" }, "1.5", "as it is"],
  ["is mended by a reference to the whole", { $ref: "#" }, { a: { a: "{}" } }, { a: { a: {} } }],
  ["stays as it is where a reference leads nowhere", { $ref: "#/$defs/none" }, "5", "as it is"],
  ["stays as it is where a reference leads elsewhere", { $ref: "https://example.com/n" }, "5", "as it is"],
  [
    "stays as it is in a schema with a name of its own",
    { $id: "https://example.com/n", type: "number" },
    "5",
    "as it is"
  ],
  ["stays as it is where nothing is allowed", false, "5", "as it is"],
  ["stays as it is where everything is allowed", true, "5", "as it is"]
]

describe("An argument", () => {
  const more = { $defs: { n: types.number, "a/b%": types.number } }
  for (const [sentence, schema, value, becomes] of cases) {
    it(sentence, () => assert.deepStrictEqual(one(schema, value, more), becomes))
  }
})

describe("Arguments", () => {
  const schema = {
    type: "object",
    properties: { limit: types.integer, tags: { type: "array", items: types.string }, dry: types.boolean },
    required: ["limit"]
  }

  it("keep their members and their order, and are not changed themselves", () => {
    const given = { more: "5", limit: "5", tags: null, dry: "false" }
    const copy = structuredClone(given)
    const mended = mend(schema, given)
    assert.strictEqual(JSON.stringify(mended?.value), `{"more":"5","limit":5,"dry":false}`)
    assert.deepStrictEqual(given, copy)
  })

  it("stay as they are where nothing is to mend, a member is missing, or they are not an object", () => {
    for (const args of [{ limit: 5 }, {}, { dry: "true" }, [], null, undefined, "{\"limit\":\"5\"}"]) {
      assert.isUndefined(mend(schema, args))
    }
  })

  it("have a name for each place that was mended, and no value", () => {
    assert.deepStrictEqual(mend(schema, { limit: "7", tags: "[\"secret\"]", dry: null }), {
      value: { limit: 7, tags: ["secret"] },
      count: 3,
      places: [
        { path: "arguments.limit", message: "is a text, read as a number" },
        { path: "arguments.tags", message: "is a text, read as an array" },
        { path: "arguments.dry", message: "is null, left out" }
      ]
    })
  })

  it("have at most ten places with a name, and short names", () => {
    const names = Array.from({ length: 30 }, (_, n) => `${n}${"x".repeat(10_000)}`)
    const mended = mend(
      { type: "object", additionalProperties: types.number },
      Object.fromEntries(names.map((name) => [name, "1"]))
    )
    assert.strictEqual(mended?.count, 30)
    assert.lengthOf(mended!.places, 10)
    for (const { path } of mended!.places) assert.isBelow(path.length, 300)
  })

  it("count only the places of the branch that is taken", () => {
    const branches = union(ofKind("a", types.number!), {
      type: "object",
      properties: { n: types.boolean },
      required: ["m"]
    })
    assert.strictEqual(mend(branches, { kind: "a", n: "5" })?.count, 1)
  })

  it("keep a member named __proto__ as a member", () => {
    const given = JSON.parse(`{"limit":"5","__proto__":{"admin":true}}`)
    const value = mend(schema, given)!.value
    assert.deepStrictEqual(Object.keys(value), ["limit", "__proto__"])
    assert.notProperty(value, "admin")
  })
})

describe("The work of mending is bounded", () => {
  const nested = (levels: number, open: string, close: string) => open.repeat(levels) + close.repeat(levels)
  const anything = { type: "object", properties: { a: { type: ["object", "array"] } } }

  it("a text in an argument may be as deep as an argument: 64 levels with the message around it", () => {
    const parsed = (levels: number) => mend(anything, { a: nested(levels, "[", "]") })
    assert.isDefined(parsed(61))
    assert.isUndefined(parsed(62))
  })

  it("a text further inside may be less deep", () => {
    const inner = (levels: number) => mend({ properties: { o: anything } }, { o: { a: nested(levels, "[", "]") } })
    assert.isDefined(inner(60))
    assert.isUndefined(inner(61))
  })

  it("texts hold at most 100,000 values together", () => {
    const schema = { type: "object", properties: { a: types.array, b: types.array } }
    const list = (length: number) => JSON.stringify(Array.from({ length }, () => 1))
    assert.isDefined(mend(schema, { a: list(49_000), b: list(49_000) }))
    assert.isUndefined(mend(schema, { a: list(49_000), b: list(51_000) }))
    assert.isUndefined(mend(schema, { a: list(100_000) }))
  })

  const arms = (levels: number): JsonObject =>
    levels === 0 ? { type: "number" } : { anyOf: Array.from({ length: 10 }).fill(arms(levels - 1)) }

  const hostile: ReadonlyArray<readonly [what: string, schema: JsonObject, args: unknown]> = [
    ["references in a circle", { $ref: "#" }, { a: "5" }],
    ["two references in a circle", { $ref: "#/$defs/b", $defs: { b: { $ref: "#" } } }, { a: "5" }],
    ["unions of unions", { properties: { a: arms(8) } }, { a: "x" }],
    [
      "a reference that doubles at each level",
      {
        $ref: "#/$defs/0",
        $defs: Object.fromEntries(Array.from({ length: 60 }, (_, n) => [
          n,
          { allOf: [{ $ref: `#/$defs/${n + 1}` }, { $ref: `#/$defs/${n + 1}` }] }
        ]))
      },
      { a: "5" }
    ],
    [
      "a long reference at each item",
      { properties: { a: { items: { $ref: `#/${"a/".repeat(50_000)}` } } } },
      { a: Array.from({ length: 50_000 }, () => "1") }
    ],
    [
      "a long text for each branch",
      { properties: { a: { anyOf: Array.from({ length: 20_000 }, () => ({ type: "array" })) } } },
      { a: " ".repeat(4_000_000) }
    ],
    [
      "many listed values",
      { properties: { a: { items: { enum: Array.from({ length: 10_000 }, (_, n) => n) } }, n: types.number } },
      { a: Array.from({ length: 50_000 }, () => 9999), n: "1" }
    ],
    [
      "many required names",
      {
        properties: {
          a: { items: { properties: { n: types.number }, required: Array.from({ length: 5000 }, () => "n") } }
        }
      },
      { a: Array.from({ length: 90_000 }, () => ({ n: "1" })) }
    ]
  ]

  for (const [what, schema, args] of hostile) {
    it(`${what}: nothing is mended, in the time of ${LIMIT * OBJECTS} small objects of JSON at most`, () => {
      assert.isUndefined(mend(schema, args))
      assert.isBelow(times(() => mend(schema, args)), LIMIT)
    })
  }

  it("deep arguments by a schema that allows any depth: nothing is mended", () => {
    let args: JsonObject = { n: "5" }
    for (let level = 0; level < 5000; level++) args = { a: args }
    assert.isUndefined(mend({ type: "object", properties: { a: { $ref: "#" }, n: types.number } }, args))
  })

  it("many arguments are mended", () => {
    const schema = { type: "object", properties: { a: { type: "array", items: types.number } } }
    const mended = mend(schema, { a: Array.from({ length: 90_000 }, (_, n) => `${n}`) })
    assert.strictEqual(mended?.count, 90_000)
  })
})

/** Schemas of one argument and values that resemble them, wrong and right. */
const schemas: FastCheck.Arbitrary<unknown> = FastCheck.letrec<{ schema: unknown }>((tie) => ({
  schema: FastCheck.oneof(
    { maxDepth: 3, withCrossShrink: true },
    FastCheck.constantFrom(...Object.values(types)),
    FastCheck.record({
      type: FastCheck.uniqueArray(FastCheck.constantFrom("string", "number", "integer", "boolean", "array", "null"), {
        minLength: 1,
        maxLength: 3
      })
    }),
    FastCheck.record({
      enum: FastCheck.array(FastCheck.constantFrom(1, 2, "1", true, "true", null), { minLength: 1 })
    }),
    FastCheck.record({ anyOf: FastCheck.array(tie("schema"), { minLength: 1, maxLength: 3 }) }),
    FastCheck.record({ oneOf: FastCheck.array(tie("schema"), { minLength: 1, maxLength: 3 }) }),
    FastCheck.record({ allOf: FastCheck.array(tie("schema"), { minLength: 1, maxLength: 2 }) }),
    FastCheck.record({
      type: FastCheck.constant("array"),
      items: tie("schema"),
      maxItems: FastCheck.integer({ min: 1, max: 3 })
    }),
    FastCheck.record({
      properties: FastCheck.record({ b: tie("schema") }),
      required: FastCheck.constantFrom([], ["b"])
    })
  )
})).schema

const values: FastCheck.Arbitrary<unknown> = FastCheck.letrec<{ value: unknown }>((tie) => ({
  value: FastCheck.oneof(
    { maxDepth: 3, withCrossShrink: true },
    FastCheck.constantFrom<unknown>(
      "1",
      "2",
      "007",
      "1.5",
      "true",
      "false",
      "null",
      "x",
      "",
      "[]",
      "{}",
      1,
      1.5,
      true,
      null
    ),
    FastCheck.array(tie("value"), { maxLength: 3 }),
    FastCheck.record({ b: tie("value") }, { requiredKeys: [] }),
    tie("value").map((value) => JSON.stringify(value))
  )
})).value

/** Whether a value is another one as a text, or lacks nulls of the other value. */
const means = (mended: unknown, given: unknown): boolean => {
  if (Object.is(mended, given)) return true
  if (typeof given === "string" && typeof mended !== "string") return means(mended, JSON.parse(given))
  if (Array.isArray(mended)) {
    return Array.isArray(given) && mended.length === given.length && mended.every((item, n) => means(item, given[n]))
  }
  if (typeof mended !== "object" || mended === null || typeof given !== "object" || given === null) return false
  const [from, to] = [given as JsonObject, mended as JsonObject]
  return Object.keys(to).every((key) => Object.hasOwn(from, key)) &&
    Object.entries(from).every(([key, value]) => Object.hasOwn(to, key) ? means(to[key], value) : value === null)
}

it("whatever is mended means the same, and mending again changes nothing", () =>
  FastCheck.assert(
    FastCheck.property(schemas, values, (a, value) => {
      const schema = { type: "object", properties: { a } }
      const given = { a: value }
      const text = JSON.stringify(given)
      const mended = mend(schema, given)
      assert.strictEqual(JSON.stringify(given), text)
      if (mended === undefined) return
      assert.isTrue(means(mended.value, given), JSON.stringify(mended.value))
      assert.isAbove(mended.count, 0)
      assert.isUndefined(mend(schema, mended.value))
    }),
    { numRuns: 3000, seed: 1 }
  ))

it("arguments that the schema accepts are never mended, but where it has keywords that the walk does not know", () =>
  FastCheck.assert(
    FastCheck.property(schemas, values, (a, value) => {
      const schema = { type: "object", properties: { a } }
      const validate = Either.getOrThrow(JsonSchemaValidator.make(schema))
      if (Either.getOrThrow(validate({ a: value })).length > 0) return
      assert.isUndefined(mend(schema, { a: value }))
    }),
    { numRuns: 3000, seed: 2 }
  ))
