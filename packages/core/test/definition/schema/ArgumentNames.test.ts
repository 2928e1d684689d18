import { assert, describe, it } from "@effect/vitest"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import * as ArgumentNames from "../../../src/definition/schema/ArgumentNames.js"
import { LIMIT, OBJECTS, times } from "./Times.js"

const object = (...names: ReadonlyArray<string>): JsonObject => ({
  type: "object",
  properties: Object.fromEntries(names.map((name) => [name, {}]))
})

/** The unknown names among these arguments, without the quotes. */
const unknown = (schema: JsonObject, ...names: ReadonlyArray<string>): ReadonlyArray<string> =>
  (ArgumentNames.make(schema)(Object.fromEntries(names.map((name) => [name, 1])))?.names ?? []).map(({ name }) =>
    JSON.parse(name)
  )

const nearest = (name: string, ...known: ReadonlyArray<string>): string | undefined => {
  const found = ArgumentNames.make(object(...known))({ [name]: 1 })?.names[0]?.nearest
  return found === undefined ? undefined : JSON.parse(found)
}

describe("The names that a schema has", () => {
  const cases: ReadonlyArray<readonly [sentence: string, schema: JsonObject, known: boolean]> = [
    ["those of its properties", object("a"), true],
    ["those of its properties where nothing else is allowed", { ...object("a"), additionalProperties: false }, true],
    ["none where it names none and allows none", { type: "object", additionalProperties: false }, false],
    ["those of all parts", { ...object("b"), allOf: [object("a")] }, true],
    ["those of each branch of a union", { type: "object", anyOf: [object("b"), object("a")] }, true],
    ["those of each branch of a oneOf", { type: "object", oneOf: [object("b"), object("a")] }, true],
    ["those of conditions", { ...object("b"), if: object("c"), then: object("a"), else: object("d") }, true],
    ["those that depend on others", { ...object("b"), dependentSchemas: { b: object("a") } }, true],
    ["those behind a reference", { $ref: "#/$defs/x", $defs: { x: object("a") } }, true],
    ["those behind references in a circle", { $ref: "#/$defs/x", $defs: { x: { ...object("a"), $ref: "#" } } }, true]
  ]
  for (const [sentence, schema, known] of cases) {
    it(`are ${sentence}`, () => {
      assert.deepStrictEqual(unknown(schema, "a", "zzz"), known ? ["zzz"] : ["a", "zzz"])
    })
  }

  const open: ReadonlyArray<readonly [sentence: string, schema: JsonObject]> = [
    ["names nothing", { type: "object" }],
    ["says that there may be others", { ...object("b"), additionalProperties: true }],
    ["says what others are", { ...object("b"), additionalProperties: { type: "string" } }],
    ["says that there may be names that nothing else has named", { ...object("b"), unevaluatedProperties: {} }],
    ["has patterns of names", { ...object("b"), patternProperties: { "^x": {} } }],
    ["has a rule for names", { ...object("b"), propertyNames: { maxLength: 5 } }],
    ["has a branch that allows others", { ...object("b"), anyOf: [object("c"), { additionalProperties: true }] }],
    ["has a reference that leads nowhere", { ...object("b"), $ref: "#/$defs/x" }],
    ["has a reference that leads elsewhere", { ...object("b"), $ref: "https://example.com/x" }],
    ["has a reference that depends on who refers", { ...object("b"), $dynamicRef: "#x" }],
    ["has a part with a name of its own", { ...object("b"), allOf: [{ $id: "https://example.com/x", $ref: "#" }] }],
    ["has too many parts", { ...object("b"), allOf: Array.from({ length: 2000 }, (_, n) => object(`b${n}`)) }]
  ]
  for (const [sentence, schema] of open) {
    it(`are all names where it ${sentence}`, () => assert.deepStrictEqual(unknown(schema, "a", "zzz"), []))
  }

  it("do not come from the prototypes of objects", () => {
    assert.deepStrictEqual(unknown(object("a"), "toString", "constructor"), ["toString", "constructor"])
    const args = JSON.parse("{\"__proto__\":1}")
    assert.strictEqual(ArgumentNames.make(object("a"))(args)?.count, 1)
  })

  it("are not asked for where the arguments are not an object", () => {
    for (const args of [undefined, null, [1], "a", 1]) assert.isUndefined(ArgumentNames.make(object("a"))(args))
  })
})

describe("The nearest name", () => {
  const cases: ReadonlyArray<readonly [name: string, known: ReadonlyArray<string>, nearest: string | undefined]> = [
    ["limt", ["limit", "list"], "limit"],
    ["limitt", ["limit"], "limit"],
    ["lmiit", ["limit"], "limit"],
    ["linit", ["limit"], "limit"],
    ["max_results", ["maxResults"], "maxResults"],
    ["MAX-RESULTS", ["min_results", "max_results"], "max_results"],
    ["querry", ["q", "query"], "query"],
    ["text", ["query"], undefined],
    ["q", ["x"], undefined],
    ["a", ["b", "ab"], "ab"],
    ["path", ["paths", "bath"], "paths"],
    ["", ["a"], undefined],
    ["_", ["a"], undefined]
  ]
  for (const [name, known, expected] of cases) {
    it(`of "${name}" among ${known.join(", ")} is ${expected ?? "none"}`, () =>
      assert.strictEqual(nearest(name, ...known), expected))
  }

  it("is not searched for a long name, nor among long names", () => {
    assert.strictEqual(nearest("x".repeat(31), "x".repeat(32)), "x".repeat(32))
    assert.isUndefined(nearest("x".repeat(33), "x".repeat(32)))
    assert.isUndefined(nearest("x".repeat(32), "x".repeat(33)))
  })

  it("is searched among a hundred names", () => {
    const others = (length: number) => Array.from({ length }, (_, n) => `other${n}`)
    assert.strictEqual(nearest("limt", ...others(99), "limit"), "limit")
    assert.isUndefined(nearest("limt", ...others(100), "limit"))
  })
})

describe("Unknown names", () => {
  it("are five at most, with the number of all", () => {
    const found = ArgumentNames.make(object("a"))(Object.fromEntries(Array.from({ length: 8 }, (_, n) => [`x${n}`, 1])))
    assert.strictEqual(found?.count, 8)
    assert.lengthOf(found!.names, 5)
    assert.strictEqual(
      ArgumentNames.sentence(found!),
      `"x0" is unknown; "x1" is unknown; "x2" is unknown; "x3" is unknown; "x4" is unknown; 3 more are unknown`
    )
  })

  it("are a sentence with the name that was meant", () => {
    const found = ArgumentNames.make(object("limit"))({ limt: 1, zzz: 2 })
    assert.strictEqual(
      ArgumentNames.sentence(found!),
      `"limt" is unknown (did you mean "limit"?); "zzz" is unknown`
    )
  })

  it("are short and have no characters that are not printed, nor do the names that were meant", () => {
    const odd = "a\u202eb\u0007\n\"\u2028\u{e0041}"
    const found = ArgumentNames.make(object(`${odd}c`))({ [odd]: 1, ["x".repeat(10_000)]: 1, ["\ud800"]: 1 })
    const texts = found!.names.flatMap(({ name, nearest = "" }) => [name, nearest])
    for (const text of texts) {
      assert.isBelow(text.length, 100)
      assert.notMatch(text, /[\p{C}\p{Zl}\p{Zp}]/u)
    }
    assert.strictEqual(texts[0], `"a\\u{202e}b\\u0007\\n\\"\\u{2028}\\u{e0041}"`)
    assert.strictEqual(texts[1], `"a\\u{202e}b\\u0007\\n\\"\\u{2028}\\u{e0041}c"`)
  })

  it(`are found in the time of ${LIMIT * OBJECTS} small objects of JSON at most`, () => {
    const names = (length: number, by: (n: number) => string) => Array.from({ length }, (_, n) => by(n).padEnd(32, "x"))
    const find = ArgumentNames.make(object(...names(10_000, (n) => `a${n}`)))
    const args = Object.fromEntries(names(100_000, (n) => `b${n}`).map((name) => [name, 1]))
    assert.strictEqual(find(args)?.count, 100_000)
    assert.isBelow(times(() => find(args)), LIMIT)
    const chain = Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [n, { $ref: `#/$defs/${n + 1}` }]))
    const deep = { ...object("a"), $ref: "#/$defs/0", $defs: chain }
    assert.isUndefined(ArgumentNames.make(deep)({ b: 1 }))
    assert.isBelow(times(() => ArgumentNames.make(deep)({ b: 1 })), LIMIT)
  })
})
