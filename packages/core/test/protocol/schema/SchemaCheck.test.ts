import * as Either from "effect/Either"
import * as FastCheck from "effect/FastCheck"
import * as Schema from "effect/Schema"
import { describe, expect, it } from "vitest"
import { schemaArbitrary } from "../../../../testing/test/support/SchemaArbitrary.js"
import * as SchemaCheck from "../../../src/protocol/schema/SchemaCheck.js"
import * as SchemaTree from "../../../src/protocol/schema/SchemaTree.js"
import * as MessageParts from "../MessageParts.js"
import * as Mutants from "../Mutants.js"
import * as Vocabulary from "../Vocabulary.js"

/** How many values of each schema: more in `npm run test:long`. */
const RUNS = process.env.EFFECT_MCP_TEST_LONG === undefined ? 40 : 120

describe(`a check and Effect's decoder agree (seed ${MessageParts.seed})`, () => {
  let agreed = 0
  for (const [name, schema] of Vocabulary.schemas) {
    it(name, () => {
      const conforms = SchemaCheck.compile(schema)
      const decode = Schema.decodeUnknownEither(schema)
      const agree = (value: unknown) => {
        agreed++
        expect(conforms(value), JSON.stringify(value)?.slice(0, 500)).toBe(Either.isRight(decode(value)))
      }
      // Not through JSON: values that only a program can make, `undefined` and `NaN`, must agree too.
      const values = FastCheck.sample(schemaArbitrary(schema), { numRuns: RUNS, seed: MessageParts.seed })
      for (const value of values) {
        expect(conforms(value)).toBe(true)
        agree(value)
      }
      for (const [i, value] of values.slice(0, 20).entries()) {
        const paths = Mutants.paths(MessageParts.throughJson(value))
        for (const [j, kind] of Mutants.kinds.entries()) {
          const mutant = Mutants.mutate(MessageParts.throughJson(value), paths[(i + j) % paths.length]!, kind, i + j)
          if (mutant !== undefined && kind !== "deep") agree(mutant.value)
        }
      }
      for (const value of [undefined, null, true, 0, NaN, Infinity, "", [], {}, [[]], { type: "text" }]) agree(value)
    })
  }
  it("covers both outcomes", () => {
    console.log(`${Vocabulary.schemas.length} schemas, ${agreed} values on which check and decoder agree`)
    expect(agreed).toBeGreaterThan(10_000)
  })
})

describe("SchemaCheck", () => {
  it("returns the value itself, with unknown members", () => {
    const decode = SchemaCheck.decoder(Schema.Struct({ a: Schema.String }))
    const value = { a: "x", b: 1 }
    expect(Either.getOrThrow(decode(value))).toBe(value)
  })

  it("reports where a value is wrong", () => {
    const decode = SchemaCheck.decoder(Schema.Struct({ a: Schema.Array(Schema.String) }))
    expect(String(Either.getOrThrow(Either.flip(decode({ a: ["x", 1] }))))).toBe("a.1: Expected string, actual 1")
  })

  it("writes an error that is short, and costs little, whatever the value is", () => {
    const decode = SchemaCheck.decoder(Schema.Struct({ a: Schema.Array(Schema.String) }))
    const error = Either.getOrThrow(Either.flip(decode({ a: Array.from({ length: 50_000 }, () => ({ x: [1] })) })))
    for (const text of [error.message, String(error), JSON.stringify(error)]) {
      expect(text).toContain("a.0: Expected string, actual an object")
      expect(text.length).toBeLessThan(200)
    }
  })

  it("refuses an object that cannot become a text, where a text discriminates a union", () => {
    for (const [name, schema] of Vocabulary.schemas) {
      const decode = SchemaCheck.decoder(schema)
      const hostile = { toString: 1, valueOf: 1 }
      const names = ["type", "mode", "method", "ref", "content", "params", "resultType", "action", "role"]
      for (
        const one of [hostile, { ref: { type: hostile } }, Object.fromEntries(names.map((name) => [name, hostile]))]
      ) {
        expect(() => decode(one), name).not.toThrow()
      }
    }
    const decode = SchemaCheck.decoder(Vocabulary.schemas.find(([name]) => name === "Completion.CompleteParams")![1])
    const hostile = { ref: { type: { toString: 1, valueOf: 1 } }, argument: { name: "n", value: "v" } }
    expect(Either.getOrThrow(Either.flip(decode(hostile))).message).toBe("does not conform")
  })

  it("compiles a schema once", () => {
    const schema = Schema.Struct({ a: Schema.String })
    expect(SchemaCheck.compile(schema)).toBe(SchemaCheck.compile(schema))
  })

  it("supports recursive types", () => {
    interface Tree {
      readonly inner: ReadonlyArray<Tree>
    }
    const Tree: Schema.Schema<Tree> = Schema.Struct({ inner: Schema.Array(Schema.suspend(() => Tree)) })
    const conforms = SchemaCheck.compile(Tree)
    expect(conforms({ inner: [{ inner: [] }] })).toBe(true)
    expect(conforms({ inner: [{ inner: [1] }] })).toBe(false)
  })

  it("throws for schemas that the vocabulary does not have", () => {
    expect(() => SchemaCheck.compile(Schema.Date as unknown as Schema.Schema<Date>)).toThrow(
      "not contain Transformation"
    )
    expect(() => SchemaCheck.compile(Schema.Tuple(Schema.String))).toThrow("not contain tuples")
  })

  it("finds the field that discriminates a union", () => {
    const union = Schema.Union(
      Schema.Struct({ type: Schema.Literal("a") }),
      Schema.Struct({ type: Schema.Literal("b"), b: Schema.String })
    )
    expect(SchemaCheck.tag(SchemaTree.of(union) as SchemaTree.Union)).toEqual({ name: "type", values: ["a", "b"] })
    expect(SchemaCheck.compile(union)({ type: "b" })).toBe(false)
    expect(SchemaCheck.compile(union)({ type: "b", b: "x" })).toBe(true)
  })
})
