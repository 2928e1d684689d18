import { assert, describe, it } from "@effect/vitest"
import { Either, FastCheck as fc, Schema } from "effect"
import * as SchemaParser from "../../../src/definition/schema/SchemaParser.js"
import * as EffectParser from "../../../src/protocol/schema/EffectParser.js"

const compiled = (schema: Schema.Schema.All): SchemaParser.PlainCodec => {
  const copy = SchemaParser.compilePlain(schema)
  if (copy === undefined) throw new Error(`not compiled: ${schema}`)
  return copy
}

const Letter = Schema.Struct({ type: Schema.Literal("letter"), a: Schema.String })
const Digit = Schema.Struct({ type: Schema.Literal("digit"), a: Schema.Number })

describe("Plain data", () => {
  it("copies the members that the schema names, and no others", () => {
    const copy = compiled(Schema.Struct({ a: Schema.String, b: Schema.Array(Schema.Struct({ c: Schema.Number })) }))
    assert.deepStrictEqual(copy({ a: "x", b: [{ c: 1, d: 2 }], e: 3 }), { a: "x", b: [{ c: 1 }] })
  })

  it("never returns the object itself", () => {
    const given = { a: ["x"] }
    const copied = compiled(Schema.Struct({ a: Schema.Array(Schema.String) }))(given) as typeof given
    assert.notStrictEqual(copied, given)
    assert.notStrictEqual(copied.a, given.a)
  })

  it("returns `mismatch` for a value that does not conform", () => {
    const copy = compiled(Schema.Struct({ a: Schema.String }))
    for (const u of [undefined, null, 1, "a", [], ["a"], {}, { a: 1 }, { a: null }, () => ({ a: "x" })]) {
      assert.strictEqual(copy(u), SchemaParser.mismatch)
    }
  })

  it("runs every filter, the inner before the outer", () => {
    const ran: Array<string> = []
    const record = (name: string, is: (s: string) => boolean) => (s: string) => {
      ran.push(name)
      return is(s)
    }
    const copy = compiled(
      Schema.String.pipe(
        Schema.filter(record("inner", (s) => s !== "inner")),
        Schema.filter(record("outer", (s) => s !== "outer"))
      )
    )
    assert.strictEqual(copy("x"), "x")
    assert.strictEqual(copy("outer"), SchemaParser.mismatch)
    assert.strictEqual(copy("inner"), SchemaParser.mismatch)
    assert.strictEqual(copy(1), SchemaParser.mismatch)
    assert.deepStrictEqual(ran, ["inner", "outer", "inner", "outer", "inner"])
  })

  it("passes a filter only the members that the schema names", () => {
    let seen: unknown
    const copy = compiled(
      Schema.Struct({ a: Schema.String }).pipe(Schema.filter((value) => {
        seen = value
        return true
      }))
    )
    copy({ a: "x", secret: 1 })
    assert.deepStrictEqual(seen, { a: "x" })
  })

  it("leaves out an optional field that is missing, and keeps one that is undefined", () => {
    const copy = compiled(Schema.Struct({ a: Schema.optional(Schema.String), b: Schema.UndefinedOr(Schema.String) }))
    assert.deepStrictEqual(copy({ b: "x" }), { b: "x" })
    assert.deepStrictEqual(copy({ a: undefined, b: undefined }), { a: undefined, b: undefined })
    const exact = compiled(Schema.Struct({ a: Schema.optionalWith(Schema.String, { exact: true }) }))
    assert.deepStrictEqual(exact({}), {})
    assert.strictEqual(exact({ a: undefined }), SchemaParser.mismatch)
  })

  it("does not read an optional field from a prototype", () => {
    const fields = { a: Schema.optional(Schema.Unknown), constructor: Schema.optional(Schema.Unknown) }
    const copy = compiled(Schema.Struct(fields))
    assert.deepStrictEqual(Object.keys(copy({}) as object), [])
    assert.deepStrictEqual(Object.keys(copy(Object.create({ a: 1 })) as object), [])
    assert.deepStrictEqual(Object.keys(copy(JSON.parse(`{"__proto__":{"a":1}}`)) as object), [])
  })

  it("does not let a peer set a prototype", () => {
    const copied = compiled(Schema.Struct({ a: Schema.Unknown }))(JSON.parse(`{"a":1,"__proto__":{"b":2}}`))
    assert.strictEqual(Object.getPrototypeOf(copied), Object.prototype)
    assert.strictEqual((copied as { readonly b?: unknown }).b, undefined)
    assert.isUndefined(
      SchemaParser.compilePlain(
        Schema.Struct(JSON.parse(`{"__proto__":null}`, (key, value) => key === "__proto__" ? Schema.String : value))
      )
    )
  })

  it("takes the first member of a union that conforms", () => {
    const copy = compiled(Schema.Union(Schema.Struct({ a: Schema.String }), Schema.Struct({ b: Schema.String })))
    assert.deepStrictEqual(copy({ a: "x", b: "y" }), { a: "x" })
    assert.deepStrictEqual(copy({ a: 1, b: "y" }), { b: "y" })
    assert.strictEqual(copy({ a: 1, b: 2 }), SchemaParser.mismatch)
  })

  it("takes the member that a literal selects before any other, in any order", () => {
    const Any = Schema.Struct({ a: Schema.String })
    const copy = compiled(Schema.Union(Any, Letter, Digit))
    assert.deepStrictEqual(copy({ type: "letter", a: "x" }), { type: "letter", a: "x" })
    assert.deepStrictEqual(copy({ type: "digit", a: "x" }), { a: "x" })
    assert.deepStrictEqual(copy({ type: "neither", a: "x" }), { a: "x" })
    assert.strictEqual(copy({ type: "digit", a: null }), SchemaParser.mismatch)
    const filtered = compiled(Schema.Union(Any, Letter.pipe(Schema.filter(({ a }) => a !== "y"))))
    assert.deepStrictEqual(filtered({ type: "letter", a: "x" }), { type: "letter", a: "x" })
    assert.deepStrictEqual(filtered({ type: "letter", a: "y" }), { a: "y" })
  })

  it("selects a union member as Effect's parser does when a field is missing", () => {
    const copy = compiled(Schema.Union(Schema.Struct({ a: Schema.Unknown }), Schema.Struct({ b: Schema.String })))
    assert.deepStrictEqual(copy({ b: "x" }), { a: undefined })
  })

  it("does not compile a schema that is more than plain data", () => {
    class Point extends Schema.Class<Point>("Point")({ x: Schema.Number }) {}
    interface Tree {
      readonly children: ReadonlyArray<Tree>
    }
    const Tree: Schema.Schema<Tree> = Schema.Struct({ children: Schema.Array(Schema.suspend(() => Tree)) })
    const Two = (literal: string) =>
      Schema.Struct({ type: Schema.Literal(literal), kind: Schema.Literal("k"), a: Schema.String })
    const OnceDecoded = Schema.Struct({ type: Schema.Literal("x").pipe(Schema.filter(() => true)) })
    const left: ReadonlyArray<Schema.Schema.All> = [
      Schema.NumberFromString,
      Schema.Struct({ when: Schema.Date }),
      Schema.Struct({ limit: Schema.optionalWith(Schema.Int, { default: () => 1 }) }),
      Point,
      Tree,
      Schema.Record({ key: Schema.String, value: Schema.Number }),
      Schema.Tuple(Schema.String, Schema.Number),
      Schema.Struct({}),
      Schema.Union(Two("x"), Two("x")),
      Schema.Union(Letter, Schema.Struct({ kind: Schema.Literal("k") })),
      Schema.Union(OnceDecoded, Letter),
      Schema.Struct({ a: Schema.String }).annotations({ parseOptions: { onExcessProperty: "error" } }),
      Schema.String.annotations({ decodingFallback: () => Either.right("fallback") }),
      Schema.Never
    ]
    for (const schema of left) assert.isUndefined(SchemaParser.compilePlain(schema), String(schema))
  })
})

// The same few names and values everywhere, so that schemas and values meet, and members of unions overlap.
const names = ["a", "b", "type", "constructor", "length", "toString"] as const
const literals = ["x", "y", 1, true, null] as const

class Instance {
  readonly a = "x"
  readonly type = "y"
  get b() {
    return "x"
  }
}

const values = fc.letrec((tie) => ({
  leaf: fc.oneof(
    fc.constantFrom<unknown>(...literals, "", "xyz", 0, -0, 1.5, NaN, Infinity, false, undefined, 1n, Symbol.iterator),
    fc.constantFrom<unknown>(new Date(0), new Map(), new Instance(), Object.create({ a: "x", type: "x" }), () => "x"),
    fc.constantFrom<unknown>(Object.assign([], { a: "x", type: "x" }), Array.from({ length: 2 }), new String("x")),
    fc.constantFrom<unknown>(JSON.parse(`{"__proto__":{"a":"x"},"b":1}`), JSON.parse(`{"a":"x","__proto__":"y"}`))
  ),
  array: fc.array(tie("value"), { maxLength: 3 }),
  object: fc.dictionary(fc.constantFrom(...names, "z"), tie("value"), { maxKeys: 4 }),
  value: fc.oneof({ maxDepth: 4, depthIdentifier: "value" }, tie("leaf"), tie("array"), tie("object"), tie("object"))
})).value

const schemas = fc.letrec<Record<"leaf" | "array" | "struct" | "union" | "filtered" | "schema", Schema.Schema<any>>>(
  (tie) => ({
    leaf: fc.constantFrom<Schema.Schema<any>>(
      ...literals.map((literal) => Schema.Literal(literal)),
      Schema.Literal("x", 1),
      Schema.String,
      Schema.Number,
      Schema.Boolean,
      Schema.Undefined,
      Schema.Unknown,
      Schema.Int,
      Schema.Finite,
      Schema.NonEmptyString,
      Schema.String.pipe(Schema.maxLength(2)),
      Schema.Number.pipe(Schema.between(0, 1))
    ),
    array: tie("schema").chain((item) =>
      fc.constantFrom<Schema.Schema<any>>(
        Schema.Array(item),
        Schema.NonEmptyArray(item),
        Schema.Array(item).pipe(Schema.maxItems(1))
      )
    ),
    struct: fc.dictionary(
      fc.constantFrom(...names),
      fc.tuple(tie("schema"), fc.constantFrom("required", "required", "optional", "exact")),
      { minKeys: 1, maxKeys: 3 }
    ).map((fields) =>
      Schema.Struct(Object.fromEntries(
        Object.entries(fields).map(([name, [schema, how]]) => [
          name,
          how === "required" ? schema : Schema.optionalWith(schema, { exact: how === "exact" } as { exact: true })
        ])
      ))
    ),
    union: fc.array(tie("schema"), { minLength: 2, maxLength: 4 }).map((members) => Schema.Union(...members)),
    filtered: tie("struct").map((struct) => struct.pipe(Schema.filter((value) => Object.keys(value).length !== 2))),
    schema: fc.oneof(
      { maxDepth: 3, depthIdentifier: "schema" },
      tie("leaf"),
      tie("array"),
      tie("struct"),
      tie("struct"),
      tie("union"),
      tie("union"),
      tie("filtered")
    )
  })
).schema

/** What Effect's parser returns; `undefined` where it throws, as it does when it cannot print a discriminator. */
const parse = (
  parser: (u: unknown) => Either.Either<unknown, unknown>,
  u: unknown
): Either.Either<unknown, unknown> | undefined => Either.getOrUndefined(Either.try(() => parser(u)))

describe("Plain data agrees with Effect's parser", () => {
  const agree = (schema: Schema.Schema<any>, given: ReadonlyArray<unknown>): number => {
    const copy = SchemaParser.compilePlain(schema)
    if (copy === undefined) return 0
    // Effect cannot parse a union whose literals stand under a name of Object.prototype.
    const parsers = Either.getOrElse(
      Either.try(() => [EffectParser.decodeUnknownEither(schema), EffectParser.encodeUnknownEither(schema)]),
      () => []
    )
    let taken = 0
    for (const u of given) {
      for (const parser of parsers) {
        const parsed = parse(parser, u)
        if (parsed === undefined) continue
        const copied = copy(u)
        if (Either.isLeft(parsed)) {
          assert.strictEqual(copied, SchemaParser.mismatch, `${schema}`)
          continue
        }
        assert.deepStrictEqual(copied, parsed.right, `${schema}`)
        taken++
      }
    }
    return taken
  }

  it("on any value, whatever the schema, decoding and encoding", () => {
    let taken = 0
    fc.assert(
      fc.property(schemas, fc.array(values, { minLength: 20, maxLength: 20 }), (schema, given) => {
        taken += agree(schema, given)
      }),
      { numRuns: 300 }
    )
    // Enough of the generated values must conform, or the comparison proves nothing.
    assert.isAbove(taken, 500)
  })

  it("on objects of the right shape and of nearly the right shape", () => {
    const member = fc.record(
      { type: fc.constantFrom("x", "y", "z"), a: values, b: values, constructor: values },
      { requiredKeys: [] }
    )
    const A = Schema.Struct({ a: Schema.Union(Schema.String, Schema.Number), b: Schema.optional(Schema.Unknown) })
    const X = Schema.Struct({ type: Schema.Literal("x"), a: Schema.optional(Schema.Unknown) })
    const Y = Schema.Struct({ type: Schema.Literal("y"), b: Schema.Array(Schema.String) })
    const Z = Schema.Struct({ type: Schema.String, constructor: Schema.optional(Schema.String) })
    const unions = fc.shuffledSubarray([A, X, Y, Z], { minLength: 2 }).map((members) => Schema.Union(...members))
    let taken = 0
    fc.assert(
      fc.property(unions, fc.array(member, { minLength: 20, maxLength: 20 }), (union, given) => {
        taken += agree(union, given)
      }),
      { numRuns: 300 }
    )
    assert.isAbove(taken, 500)
  })
})
