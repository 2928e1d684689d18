import { assert, describe, it } from "@effect/vitest"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import { Either } from "effect"
import * as JsonSchemaValidator from "../../../src/definition/schema/JsonSchemaValidator.js"
import { LIMIT, OBJECTS, times } from "./Times.js"

const rep = <A>(n: number, f: (i: number) => A): Array<A> => Array.from({ length: n }, (_, i) => f(i))
const nest = (levels: number, start: JsonObject, f: (inner: JsonObject) => JsonObject): JsonObject =>
  rep(levels, () => f).reduce((inner, f) => f(inner), start)
const props = (n: number) => Object.fromEntries(rep(n, (i) => [`k${i}`, i]))

/** A reference to the same schema twice at each level. */
const chain = (levels: number): JsonObject => ({
  $ref: "#/$defs/0",
  $defs: Object.fromEntries(rep(levels, (i) => [
    `${i}`,
    i === levels - 1 ? {} : { allOf: [{ $ref: `#/$defs/${i + 1}` }, { $ref: `#/$defs/${i + 1}` }] }
  ]))
})

const hostile: ReadonlyArray<readonly [name: string, schema: JsonObject, value: unknown]> = [
  ["anyOf 1000 x 400k", { items: { anyOf: rep(1000, (i) => ({ const: `${i}` })) } }, rep(400000, (i) => i)],
  ["enum 8000 objs x 100k", { items: { enum: rep(8000, (i) => ({ a: i })) } }, rep(100000, (i) => ({ a: i + 9000 }))],
  ["allOf 800 maxLength 8MB", { allOf: rep(800, () => ({ maxLength: 5_000_000 })) }, "x".repeat(8_000_000)],
  [
    "allOf 800 maxLength 8MB arr",
    { items: { allOf: rep(800, () => ({ maxLength: 7 })) } },
    rep(800_000, () => "x".repeat(10))
  ],
  ["ref fan-out", chain(60), 1],
  [
    "allOf 3000 uneval",
    { allOf: rep(3000, (i) => ({ properties: { [`k${i}`]: {} }, unevaluatedProperties: true })) },
    props(3000)
  ],
  [
    "allOf 6000 uneval",
    { allOf: rep(6000, (i) => ({ properties: { [`k${i}`]: {} } })), unevaluatedProperties: false },
    props(6000)
  ],
  ["required 20000", { items: { required: rep(20000, (i) => `k${i}`) } }, rep(10000, () => ({}))],
  [
    "properties 20000",
    { items: { properties: Object.fromEntries(rep(6000, (i) => [`k${i}`, {}])) } },
    rep(100000, () => ({}))
  ],
  ["unique", { uniqueItems: true }, rep(300_000, (i) => [i])],
  ["unique nested deep", { allOf: rep(1000, () => ({ uniqueItems: true })) }, rep(300_000, (i) => [i])],
  ["big strings enum", { allOf: rep(1000, () => ({ enum: ["x"] })) }, "y".repeat(8_000_000)],
  ["big strings const arr", { items: { allOf: rep(100, () => ({ const: "x" })) } }, rep(100, () => "y".repeat(80_000))],
  ["pattern nested", { pattern: "^(a+)+$" }, "a".repeat(500_000) + "!"],
  ["pattern alternation", { pattern: "(x|" + rep(1500, () => "a*").join("") + ")b" }, "a".repeat(500_000)],
  ["pattern 8MB", { pattern: "[^\\s\\S]" }, "a".repeat(8_000_000)],
  ["pattern short arr", { items: { pattern: "^(a|aa)+$" } }, rep(100_000, () => "aaaaaaaaaaaaaaaaaaab")],
  [
    "patternProperties x keys",
    { patternProperties: Object.fromEntries(rep(2000, (i) => [`^(a+)+${i}$`, {}])) },
    Object.fromEntries(rep(20000, (i) => [`aaaaaaa${i}`, 1]))
  ],
  ["many patterns compile", { anyOf: rep(10_000, (i) => ({ pattern: `a{50}${i}` })) }, "aaa"],
  ["many patterns compile big", { anyOf: rep(5_000, (i) => ({ pattern: `(a{1,30}){1,30}${i}` })) }, "aaa"],
  ["one huge pattern", { pattern: "(?:" + "a|".repeat(100_000) + "b)" }, "aaa"],
  ["class pattern", { pattern: rep(20_000, () => "[a-z]").join("") }, "aaa"],
  ["deep parens", { pattern: "(".repeat(50_000) + ")".repeat(50_000) }, "aaa"],
  ["quant of quant", { pattern: "((((((((a{1,9}){1,9}){1,9}){1,9}){1,9}){1,9}){1,9}){1,9})" }, "aaa"],
  ["additionalProperties w patterns", {
    patternProperties: Object.fromEntries(rep(2000, (i) => [`x${i}`, {}])),
    additionalProperties: false
  }, props(20000)],
  ["oneOf nest", nest(13, { type: "string" }, (inner) => ({ oneOf: [inner, inner] })), 1],
  ["self ref", { $ref: "#" }, 1],
  ["dyn self", { $dynamicAnchor: "a", allOf: [{ $dynamicRef: "#a" }] }, 1],
  ["dyn wide", { $dynamicAnchor: "a", anyOf: rep(50, () => ({ $dynamicRef: "#a" })), type: "object" }, { a: 1 }],
  [
    "items recursion doubling",
    { items: { allOf: [{ $ref: "#" }, { $ref: "#" }] } },
    rep(60, () => 0).reduce<unknown>((inner) => [inner], 1)
  ],
  ["contains heavy", { allOf: rep(1000, () => ({ contains: { const: -1 } })) }, rep(100_000, (i) => i)],
  ["dependentSchemas", {
    items: { dependentSchemas: Object.fromEntries(rep(6000, (i) => [`k${i}`, { required: ["zz"] }])) }
  }, rep(1000, () => props(500))],
  ["propertyNames", { allOf: rep(1000, () => ({ propertyNames: { maxLength: 3 } })) }, props(50_000)],
  [
    "uneval merges",
    nest(25, { additionalProperties: true }, (inner) => ({ anyOf: [inner], unevaluatedProperties: false })),
    props(100_000)
  ],
  ["errors many", { items: { allOf: rep(100, () => ({ type: "string" })) } }, rep(10_000, () => 1)],
  ["minProperties", { allOf: rep(5000, () => ({ minProperties: 10 })) }, props(50_000)],
  [
    "maxProperties arr",
    { items: { allOf: rep(1000, () => ({ maxProperties: 1000000 })) } },
    rep(10, () => props(50_000))
  ],
  ["if nest", { items: { allOf: rep(2000, (i) => ({ if: { const: i }, then: false })) } }, rep(100_000, () => "q")],
  ["ids", { allOf: rep(6000, (i) => ({ $id: `https://a.example/${i}/${"x".repeat(10)}` })) }, 1],
  ["refs long pointer", { allOf: rep(5000, () => ({ $ref: "#/$defs/a" })), $defs: { a: {} } }, rep(1000, (i) => i)],
  [
    "keywords that begin with unevaluated",
    Object.fromEntries(rep(17_000, (i) => [`${(i * 7919) % 3 === 0 ? "unevaluated" : "z"}${i}`, 1])),
    1
  ],
  ["many anchors dyn", {
    $dynamicAnchor: "a",
    allOf: rep(3000, (i) => ({ $id: `https://b.example/${i}`, $dynamicAnchor: "a", $dynamicRef: "#a" }))
  }, 1],
  ["long pointer", { allOf: rep(100, () => ({ $ref: "#/" + "a/".repeat(1000) })) }, 1],
  ["not nest", nest(50, {}, (inner) => ({ not: inner })), props(100)],
  ["long base", { $id: `https://c.example/${"x".repeat(100_000)}/`, allOf: rep(5000, () => ({ $ref: "#" })) }, 1],
  ["long base with anchors", {
    $id: `https://c.example/${"x".repeat(100_000)}/`,
    allOf: rep(5000, (i) => ({ $anchor: `a${i}` }))
  }, 1]
]

describe(`A schema of a hostile server is read, and checks a value, in the time of ${LIMIT * OBJECTS} small objects of JSON at most`, () => {
  for (const [name, schema, value] of hostile) {
    it(name, () => {
      const run = () => Either.flatMap(JsonSchemaValidator.make(schema), (validate) => validate(value))
      assert.isBelow(times(run), LIMIT)
    })
  }
})

describe("A check that is too much work", () => {
  const give = (schema: JsonObject, value: unknown) =>
    Either.flatMap(JsonSchemaValidator.make(schema), (validate) => validate(value))

  it("is given up, with the reason", () => {
    for (
      const [schema, value] of [
        [chain(60), 1],
        [{ items: { anyOf: rep(1000, (i) => ({ const: `${i}` })) } }, rep(400_000, (i) => i)],
        [{ allOf: rep(800, () => ({ maxLength: 5_000_000 })) }, "x".repeat(8_000_000)],
        [{ anyOf: rep(10_000, (i) => ({ pattern: `a{50}${i}` })) }, "a"]
      ] as const
    ) {
      assert.deepStrictEqual(give(schema, value), Either.left("cannot be checked: it is too much work"))
    }
    assert.deepStrictEqual(give({ $ref: "#" }, 1), Either.left("cannot be checked: it is nested too deeply"))
  })

  it("is not the next one: each value has the whole budget", () => {
    const validate = Either.getOrThrow(JsonSchemaValidator.make({ items: { type: "number" } }))
    const large = rep(400_000, (i) => i)
    for (let n = 0; n < 3; n++) assert.deepStrictEqual(validate(large), Either.right([]))
    assert.isTrue(Either.isLeft(validate(rep(1_000_000, (i) => i))))
    assert.deepStrictEqual(validate([1]), Either.right([]))
  })
})
