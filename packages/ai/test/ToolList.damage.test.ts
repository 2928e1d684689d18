/** Whatever a server lists, each dialect's list keeps the rules of its provider. `EFFECT_MCP_TEST_LONG` makes more of it. */
import { assert, describe, it } from "@effect/vitest"
import * as ModelSchema from "@effect-mcp/ai/ModelSchema"
import * as ToolList from "@effect-mcp/ai/ToolList"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import { Effect, Either, FastCheck } from "effect"
import * as Damage from "./Damage.js"
import * as Listing from "./Listing.js"
import * as ProviderRules from "./ProviderRules.js"

const times = process.env.EFFECT_MCP_TEST_LONG === undefined ? 1 : 20

/** Rules of the strict form hold for schemas that have one; the others are as for `openai`. */
const rulesOf = (dialect: ModelSchema.Dialect, isStrict: boolean): ModelSchema.Dialect =>
  dialect === "openai-strict" && !isStrict ? "openai" : dialect

describe("The schemas of a damaged list", () => {
  for (const dialect of ProviderRules.dialects) {
    it(`keep the rules of ${dialect}, and a second pass changes nothing`, () =>
      FastCheck.assert(
        FastCheck.property(Damage.damaged, (given) => {
          const made = ModelSchema.make(given, dialect)
          if (Either.isLeft(made)) return assert.include(made.left, "has arguments that the model cannot take: at ")
          const { isStrict, schema } = made.right
          // A tool without arguments has no parameters for Gemini.
          FastCheck.pre(dialect !== "gemini" || "properties" in schema)
          assert.deepStrictEqual(ProviderRules.against(schema, rulesOf(dialect, isStrict)), [])
          assert.deepStrictEqual<unknown>(ModelSchema.make(schema, dialect), made)
        }),
        { numRuns: 150 * times }
      ))
  }

  it.scoped("are in a list that keeps the rules of every provider, and a tool that is left out has a reason", () =>
    Effect.gen(function*() {
      const names = FastCheck.sample(FastCheck.fullUnicodeString({ minLength: 1, maxLength: 80 }), 100 * times)
      const descriptions = FastCheck.sample(FastCheck.string16bits({ maxLength: 3000 }), names.length)
      const schemas = FastCheck.sample(Damage.damaged, names.length)
      const session = yield* Listing.client(
        names.map((name, index) => ({ name, description: descriptions[index], inputSchema: schemas[index] }))
      )
      for (const dialect of ProviderRules.dialects) {
        const list = yield* ToolList.make(session, { dialect })
        assert.isNotEmpty(list.tools)
        assert.deepStrictEqual(ProviderRules.violations(list, dialect), [])
        for (const { reason } of list.skipped) assert.match(reason, /^has arguments|is over the limit/)
        if (dialect !== "anthropic" && times === 1) assert.isEmpty(list.skipped)
      }
    }))
})

describe("The arguments for a damaged schema", () => {
  it("are an object, whatever the model wrote", () =>
    FastCheck.assert(
      FastCheck.property(Damage.damaged, FastCheck.jsonValue({ maxDepth: 3 }), (given, value) => {
        const args = { a: value, b: [null, value], limit: { a: null }, ["__proto__"]: null } as JsonObject
        assert.isObject(ModelSchema.withoutNulls(args, given))
      }),
      { numRuns: 150 * times }
    ))
})

describe("The schemas of an undamaged list", () => {
  const kept = [
    ["json-schema", Damage.valid],
    // References are replaced for OpenAI, and so is `allOf`.
    ["openai", Damage.validWithout(/^\$|^allOf$/)],
    ["anthropic", Damage.validWithout(/^\$(?!defs)|^allOf$/)]
  ] as const
  for (const [dialect, schemas] of kept) {
    it(`are as the server wrote them for ${dialect}`, () =>
      FastCheck.assert(
        FastCheck.property(schemas, (given) => {
          FastCheck.pre(ProviderRules.against(given, dialect).length === 0)
          const { schema } = Either.getOrThrow(ModelSchema.make(given, dialect))
          assert.deepStrictEqual(Object.entries(schema), Object.entries(given))
        }),
        { numRuns: 150 * times }
      ))
  }
})
