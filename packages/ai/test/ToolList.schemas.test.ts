/** Odd schemas of servers, one by one: what is mended, what the description then says, and what is left out. */
import { assert, describe, it } from "@effect/vitest"
import * as ModelSchema from "@effect-mcp/ai/ModelSchema"
import * as ToolList from "@effect-mcp/ai/ToolList"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import { Effect, Either } from "effect"
import * as Listing from "./Listing.js"
import * as ProviderRules from "./ProviderRules.js"

const text = { type: "string" }

/** What is odd, the schema of a property as the server wrote it, and the schema for `openai`. */
const odd: ReadonlyArray<readonly [what: string, given: unknown, mended: unknown]> = [
  ["`exclusiveMinimum: true`", { minimum: 0, exclusiveMinimum: true }, { exclusiveMinimum: 0 }],
  ["`exclusiveMaximum: true`", { maximum: 9, exclusiveMaximum: true }, { exclusiveMaximum: 9 }],
  ["`exclusiveMinimum: false`", { minimum: 0, exclusiveMinimum: false }, { minimum: 0 }],
  ["`exclusiveMinimum: true` without a minimum", { exclusiveMinimum: true }, {}],
  ["`required: null`", { type: "object", required: null }, { type: "object" }],
  ["`required: true`", { ...text, required: true }, { ...text, description: "(required: true)" }],
  ["a name as `required`", { type: "object", required: "a" }, { type: "object", description: "(required: \"a\")" }],
  ["names and others in `required`", { required: ["b", 1, null, "b"] }, { required: ["b"] }],
  ["an unknown type", { type: "any" }, { description: "(type: \"any\")" }],
  ["no type in a list", { type: [] }, {}],
  ["an unknown type in a list", { type: ["string", "any"] }, { type: ["string"] }],
  ["a type in other letters", { type: "String" }, text],
  ["`type: null`", { type: null }, {}],
  ["a schema as a type", { type: { a: 1 } }, { description: "(type: {\"a\":1})" }],
  ["a number as text", { ...text, minLength: "1", maximum: "2.5" }, { ...text, minLength: 1, maximum: 2.5 }],
  ["a negative length", { minLength: -1 }, { description: "(minLength: -1)" }],
  ["a length that is not an integer", { maxLength: 1.5 }, { description: "(maxLength: 1.5)" }],
  ["`multipleOf: 0`", { multipleOf: 0 }, { description: "(multipleOf: 0)" }],
  ["a list as description", { ...text, description: ["a", "b"] }, {
    ...text,
    description: "(description: [\"a\",\"b\"])"
  }],
  ["an object as title", { title: { en: "A" } }, { description: "(title: {\"en\":\"A\"})" }],
  ["a description and a bad keyword", { description: "An A.", format: 5 }, { description: "An A. (format: 5)" }],
  ["`description: null`", { ...text, description: null }, text],
  ["a value as `enum`", { enum: "a" }, { description: "(enum: \"a\")" }],
  ["no values in `enum`", { enum: [] }, {}],
  ["values by name in `enum`", { enum: { a: 1 } }, { description: "(enum: {\"a\":1})" }],
  ["a value twice in `enum`", { enum: [{ a: 1, b: 2 }, { b: 2, a: 1 }, 1] }, { enum: [{ a: 1, b: 2 }, 1] }],
  ["the name of a type as `items`", { type: "array", items: "string" }, { type: "array", items: text }],
  ["a list as `items`", { type: "array", items: [text] }, { type: "array", prefixItems: [text], items: {} }],
  ["a list and more as `items`", { items: [text], additionalItems: false }, { prefixItems: [text], items: false }],
  ["`items: null`", { type: "array", items: null }, { type: "array", items: {} }],
  ["no `items`", { type: ["array", "null"] }, { type: ["array", "null"], items: {} }],
  ["`properties: null`", { type: "object", properties: null }, { type: "object" }],
  ["a list as `properties`", { properties: [text] }, { description: "(properties: [{\"type\":\"string\"}])" }],
  ["the name of a type as a property", { properties: { b: "string" } }, { properties: { b: text } }],
  ["nothing as a property", { properties: { b: null, c: [] } }, { properties: { b: {}, c: {} } }],
  ["a text as `additionalProperties`", { additionalProperties: "no" }, {
    description: "(additionalProperties: \"no\")"
  }],
  ["no alternatives", { ...text, anyOf: [], oneOf: {}, allOf: null }, text],
  ["a schema as alternatives", { anyOf: text }, { description: "(anyOf: {\"type\":\"string\"})" }],
  ["nothing as an alternative", { anyOf: [null, 5, text] }, { anyOf: [text] }],
  ["names of types as alternatives", { oneOf: ["string", "null"] }, { oneOf: [text, { type: "null" }] }],
  ["`not: null`", { ...text, not: null }, text],
  ["a pattern that is not an expression", { ...text, pattern: "[" }, { ...text, description: "(pattern: \"[\")" }],
  ["a number as a pattern", { pattern: 5 }, { description: "(pattern: 5)" }],
  ["look-around", { pattern: "^(?!a)" }, { description: "(pattern: \"^(?!a)\")" }],
  ["a class that Python does not know", { pattern: "[^]*" }, { description: "(pattern: \"[^]*\")" }],
  ["a repetition that Python reads in another way", { pattern: "a{,5}" }, { description: "(pattern: \"a{,5}\")" }],
  ["a bad name of properties", { patternProperties: { "[": text, "^a": text } }, { patternProperties: { "^a": text } }],
  ["a text as `uniqueItems`", { uniqueItems: "yes" }, { description: "(uniqueItems: \"yes\")" }],
  ["a name as `dependentRequired`", { dependentRequired: { a: "b", c: ["d"] } }, { dependentRequired: { c: ["d"] } }],
  ["a number as `$ref`", { ...text, $ref: 5 }, text],
  ["a reference to nothing", { ...text, $ref: "#/$defs/None" }, text],
  ["a number as `$id`", { ...text, $id: 5, $anchor: "1 a", $comment: [], $vocabulary: 1 }, text],
  ["half of a character", { description: "a\ud83d", default: "\ude00" }, { description: "a\ufffd", default: "\ufffd" }],
  ["a text as examples", { examples: "a" }, { description: "(examples: \"a\")" }],
  ["a deep value", { default: nested<unknown>(200, 1, (a) => [a]), "x-own": 1 }, { "x-own": 1 }],
  ["a long value", { examples: "x".repeat(300) }, {}],
  ["the name of a type", "string", text],
  ["nothing", null, {}],
  ["a number", 5, {}]
]

function nested<A>(levels: number, inner: A, around: (inner: A) => A): A {
  return Array.from({ length: levels }).reduce<A>(around, inner)
}

const property = (given: unknown, dialect: ModelSchema.Dialect): JsonObject => {
  const { schema } = Either.getOrThrow(ModelSchema.make({ type: "object", properties: { a: given } }, dialect))
  return (schema.properties as { readonly a: JsonObject }).a
}

describe("An odd schema", () => {
  for (const [what, given, mended] of odd) {
    it(`is mended: ${what}`, () => {
      assert.deepStrictEqual<unknown>(property(given, "openai"), mended)
    })
  }

  it.scoped("keeps the rules of every provider, and leaves out no tool", () =>
    Effect.gen(function*() {
      const session = yield* Listing.ofSchemas(odd.map(([, given]) => ({ type: "object", properties: { a: given } })))
      for (const dialect of ProviderRules.dialects) {
        const list = yield* ToolList.make(session, { dialect })
        assert.strictEqual(list.tools.length, odd.length)
        assert.deepStrictEqual(ProviderRules.violations(list, dialect), [])
      }
    }))

  it("has a pattern where the model's provider takes it", () => {
    for (const dialect of ["json-schema", "anthropic", "gemini"] as const) {
      assert.deepInclude(property({ type: "string", pattern: "^(?!a)" }, dialect), { pattern: "^(?!a)" })
    }
    for (const pattern of ["^[^\\s/]+@[\\w.-]{1,9}\\.(?:com|org)$", "\\d{4}-\\d{2}", "[\\]^a-]"]) {
      assert.deepInclude(property({ type: "string", pattern }, "openai-strict"), { pattern })
    }
    const odd = [
      "[]a]",
      "\\p{L}",
      "(?<year>a)",
      "(a)\\1",
      "[\\w-.]",
      "a{1,9999999}",
      "{,2}",
      "\\cJ",
      "\\A",
      "(".repeat(101) + ")".repeat(101)
    ]
    for (const pattern of odd) assert.notProperty(property({ type: "string", pattern }, "openai"), "pattern")
  })

  it("is as the server wrote it where it is of an earlier draft and the model knows JSON Schema", () => {
    const earlier = {
      $schema: "http://json-schema.org/draft-07/schema#",
      $id: "#arguments",
      type: "object",
      properties: { a: { type: "array", items: [text, { type: "number" }], additionalItems: false } },
      dependencies: { a: ["b"] }
    }
    assert.deepStrictEqual(Either.getOrThrow(ModelSchema.make(earlier, "json-schema")).schema, earlier)
    const { $id: _, $schema: __, ...rest } = earlier
    for (const newest of [rest, { ...rest, $schema: "https://json-schema.org/draft/2020-12/schema" }]) {
      assert.deepStrictEqual<unknown>(Either.getOrThrow(ModelSchema.make(newest, "json-schema")).schema, {
        ...newest,
        properties: { a: { type: "array", prefixItems: [text, { type: "number" }], items: false } }
      })
    }
  })
})

describe("A property named as a member of every object", () => {
  const names = ["__proto__", "constructor", "toString", "hasOwnProperty"]
  const schema = JSON.parse(
    `{"type":"object","required":["__proto__"],"allOf":[{"properties":{"__proto__":{"description":"An own one."}}}],
      "properties":{${
      names.map((name) => `"${name}":{"type":"object","properties":{"__proto__":{"type":"string"}}}`).join()
    }}}`
  ) as JsonObject

  for (const dialect of ProviderRules.dialects) {
    it(`is a property like others for ${dialect}`, () => {
      const { schema: made } = Either.getOrThrow(ModelSchema.make(schema, dialect))
      assert.deepStrictEqual(Object.keys(made.properties as object), names)
      assert.strictEqual(Object.getPrototypeOf(made), Object.prototype)
      for (const one of Object.values(made.properties as Record<string, { readonly properties: object }>)) {
        assert.deepStrictEqual(Object.keys(one.properties), ["__proto__"])
        assert.strictEqual(Object.getPrototypeOf(one.properties), Object.prototype)
      }
    })
  }

  it("is a name of a definition like others", () => {
    const own = JSON.parse(
      `{"type":"object","properties":{"a":{"$ref":"#/$defs/__proto__"}},"$defs":{"__proto__":{"type":"string"}}}`
    )
    assert.deepStrictEqual(Either.getOrThrow(ModelSchema.make(own, "anthropic")).schema, own)
    assert.deepStrictEqual<unknown>(property(own.properties.a, "anthropic"), {})
    assert.deepStrictEqual(Either.getOrThrow(ModelSchema.make(own, "openai")).schema.properties, { a: text })
  })
})

describe("A reference", () => {
  const referring = ($ref: string, $defs: JsonObject) => ({ type: "object", properties: { a: { $ref } }, $defs })

  const made = (given: JsonObject, dialect: ModelSchema.Dialect) =>
    Either.getOrThrow(ModelSchema.make(given, dialect)).schema

  it("stays for Anthropic where it leads to a definition of the root", () => {
    const tree = referring("#/$defs/Node", {
      Node: { type: "object", properties: { next: { $ref: "#/$defs/Node" }, same: { $ref: "#/$defs/Other" } } },
      Other: { $ref: "#/$defs/Node" }
    })
    assert.deepStrictEqual(made(tree, "anthropic"), tree)
  })

  it("is replaced for Anthropic where it leads elsewhere", () => {
    const elsewhere: ReadonlyArray<readonly [$ref: string, a: JsonObject]> = [
      ["#/$defs/One/properties/b", text],
      ["#/properties/b", { type: "number" }],
      ["#/$defs/x~1y", text],
      ["#/$defs/a%20b", text],
      ["#One", {}],
      ["https://example.com/One", {}]
    ]
    for (const [$ref, a] of elsewhere) {
      const given = referring($ref, {
        "One": { $anchor: "One", properties: { b: text } },
        "x/y": text,
        "a b": text
      })
      const { properties } = made({ ...given, properties: { ...given.properties, b: { type: "number" } } }, "anthropic")
      assert.deepStrictEqual<unknown>(properties, { a, b: { type: "number" } })
    }
  })

  it("to an object without further properties is one where it is replaced", () => {
    const closed = { type: "object", properties: { b: text }, required: ["b"], additionalProperties: false }
    for (const dialect of ["openai", "openai-strict"] as const) {
      const { properties } = made({ ...referring("#/$defs/A", { A: closed }), required: ["a"] }, dialect)
      assert.deepStrictEqual<unknown>(properties, { a: closed })
    }
  })

  for (const dialect of ["openai", "openai-strict", "anthropic", "gemini"] as const) {
    it(`that leads back to itself leads nowhere for ${dialect}`, () => {
      const circles = [
        { A: { $ref: "#/$defs/A" } },
        { A: { $ref: "#/$defs/B" }, B: { $ref: "#/$defs/C" }, C: { $ref: "#/$defs/A" } },
        { A: { allOf: [{ $ref: "#/$defs/A" }], description: "An A." } },
        { A: { anyOf: [{ $ref: "#/$defs/A" }, text] } }
      ]
      for (const $defs of circles) {
        const schema = made(referring("#/$defs/A", $defs), dialect)
        assert.deepStrictEqual(ProviderRules.against(schema, dialect === "openai-strict" ? "openai" : dialect), [])
        if (!("anyOf" in $defs.A) && !("allOf" in $defs.A)) assert.notInclude(JSON.stringify(schema), "$ref")
      }
    })
  }
})

describe("OpenAI's strict form", () => {
  const strict = (schema: JsonObject) => {
    const { isStrict, schema: made } = Either.getOrThrow(ModelSchema.make(schema, "openai-strict"))
    assert.deepStrictEqual(ProviderRules.against(made, isStrict ? "openai-strict" : "openai"), [])
    return isStrict
  }

  const object = (properties: Readonly<Record<string, unknown>>) => ({
    type: "object",
    properties,
    required: Object.keys(properties),
    additionalProperties: false
  })

  const named = (count: number, one: unknown, prefix = "p") =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`${prefix}${index}`, one]))

  const values = (count: number, length = 1) =>
    Array.from({ length: count }, (_, index) => String(index).padEnd(length, "x"))

  it("has ten levels, of which the root is the first", () => {
    assert.isTrue(strict(nested(9, text as JsonObject, (a) => object({ a }))))
    assert.isFalse(strict(nested(10, text as JsonObject, (a) => object({ a }))))
  })

  it("has 5,000 properties", () => {
    assert.isTrue(strict(object({ a: object(named(2500, text)), b: object(named(2498, text)) })))
    assert.isFalse(strict(object({ a: object(named(2500, text)), b: object(named(2499, text)) })))
  })

  it("has 120,000 characters in names and values", () => {
    const long = "x".repeat(59_990)
    assert.isTrue(strict(object({ [long]: { const: long }, b: { enum: ["x".repeat(19)] } })))
    assert.isFalse(strict(object({ [long]: { const: long }, b: { enum: ["x".repeat(20)] } })))
  })

  it("has 1,000 values in all enumerations, of which one is the null of an optional property", () => {
    assert.isTrue(strict(object({ a: { enum: values(500) }, b: { enum: values(500) } })))
    assert.isFalse(strict(object({ a: { enum: values(500) }, b: { enum: values(501) } })))
    assert.isTrue(strict({ type: "object", properties: { a: { enum: values(999) } } }))
    assert.isFalse(strict({ type: "object", properties: { a: { enum: values(1000) } } }))
  })

  it("has 15,000 characters in an enumeration of more than 250 values", () => {
    assert.isTrue(strict(object({ a: { enum: values(250, 61) } })))
    assert.isTrue(strict(object({ a: { enum: values(251, 59) } })))
    assert.isFalse(strict(object({ a: { enum: values(251, 60) } })))
    assert.isFalse(strict({ type: "object", properties: { a: { enum: values(250, 61) } } }))
  })

  it("has the constant of an optional property as an enumeration with null, and null once", () => {
    const properties = { a: { const: "x" }, b: { type: "integer", enum: [1] }, c: { type: "integer", enum: [null, 1] } }
    const { schema } = Either.getOrThrow(ModelSchema.make({ type: "object", properties }, "openai-strict"))
    assert.deepStrictEqual<unknown>(schema.properties, {
      a: { type: ["string", "null"], enum: ["x", null] },
      b: { type: ["integer", "null"], enum: [1, null] },
      c: { type: ["integer", "null"], enum: [null, 1] }
    })
  })

  it.scoped("is asked of a tool that cannot have it: the reason names the place, the value and the rule", () =>
    Effect.gen(function*() {
      const session = yield* Listing.ofSchemas([
        { type: "object", properties: { "a/b": { type: "array", items: { type: "any" } } } },
        { type: "object", properties: { map: { type: "object", additionalProperties: text } } },
        { type: "object", properties: { many: { enum: values(1001) } } }
      ])
      const { skipped, tools } = yield* ToolList.make(session, { dialect: "openai-strict", onlyStrict: true })
      assert.isEmpty(tools)
      const reasons = skipped.map(({ reason }) => reason.replace("has arguments without a strict form: at ", ""))
      assert.strictEqual(reasons[0], "\"/properties/a~1b/items\", {\"type\":\"any\"}: a value must have a type")
      const map = "{\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\"}}"
      assert.strictEqual(reasons[1], `"/properties/map", ${map}: the members of an object must have names`)
      assert.match(
        String(reasons[2]),
        /^"\/properties\/many\/enum", \["0","1",.{90}…: a schema has at most 1000 values of enumerations$/
      )
    }))
})

describe("Levels of a schema", () => {
  for (const [dialect, levels] of [["openai", 100], ["anthropic", 100], ["gemini", 32]] as const) {
    it(`are at most ${levels} for ${dialect}: what is deeper is any value, with its description`, () => {
      const deep = (count: number) =>
        nested<JsonObject>(
          count - 1,
          { type: "integer", description: "The last." },
          (a) => ({ type: "object", properties: { a } })
        )
      const made = (count: number) => Either.getOrThrow(ModelSchema.make(deep(count), dialect)).schema
      assert.deepStrictEqual(made(levels), deep(levels))
      let last: JsonObject = made(levels + 1)
      while ("properties" in last) last = (last.properties as { readonly a: JsonObject }).a
      assert.deepStrictEqual(last, { ...(dialect === "gemini" ? text : {}), description: "The last." })
      assert.deepStrictEqual(ProviderRules.against(made(1000), dialect), [])
    })
  }

  it("have no limit where the model knows JSON Schema", () => {
    const deep = nested<JsonObject>(500, { type: "object" }, (a) => ({ type: "object", properties: { a } }))
    assert.deepStrictEqual(Either.getOrThrow(ModelSchema.make(deep, "json-schema")).schema, deep)
  })
})

describe("Alternatives for Gemini", () => {
  it("have no keyword beside them: the first has the description of all, and whether null is allowed", () => {
    const given = {
      description: "A place.",
      anyOf: [text, { type: "null" }, { type: "number", description: "Its id." }]
    }
    assert.deepStrictEqual<unknown>(property(given, "gemini"), {
      anyOf: [{ ...text, description: "A place.", nullable: true }, { type: "number", description: "Its id." }]
    })
    const types = { type: ["string", "integer", "null"], description: "A or 1." }
    assert.deepInclude(property(types, "gemini"), {
      anyOf: [{ ...text, description: "A or 1.", nullable: true }, { type: "integer", nullable: true }]
    })
  })

  it("are not inside of each other", () => {
    const inner = { description: "A thing.", oneOf: [{ ...text, description: "A name." }, { type: "boolean" }] }
    assert.deepStrictEqual<unknown>(property({ description: "One.", anyOf: [inner, { type: "number" }] }, "gemini"), {
      anyOf: [{ ...text, description: "One. A thing. A name." }, { type: "boolean" }, { type: "number" }]
    })
  })
})

describe("The names of a list", () => {
  it.scoped("are different after characters are replaced, and as long as every model takes", () =>
    Effect.gen(function*() {
      const names = [
        "a.b",
        "a_b",
        "a/b",
        "a b",
        "ä",
        "ö",
        "__proto__",
        "constructor",
        "x".repeat(128),
        `${"x".repeat(128)}y`,
        "1",
        "💥"
      ]
      const session = yield* Listing.client(
        names.map((name) => ({ name, description: "d".repeat(20_000), inputSchema: { type: "object" } }))
      )
      for (const dialect of ProviderRules.dialects) {
        const list = yield* ToolList.make(session, { dialect })
        assert.strictEqual(list.tools.length, names.length)
        assert.deepStrictEqual(ProviderRules.violations(list, dialect), [])
        for (const { name, tool } of list.tools) assert.strictEqual(list.get(name)?.tool, tool)
      }
    }))
})
