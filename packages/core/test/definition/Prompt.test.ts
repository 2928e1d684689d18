import { assert, describe, it } from "@effect/vitest"
import * as Prompt from "@effect-mcp/core/Prompt"
import { Effect, Schema } from "effect"
import { expectTypeOf } from "vitest"

const Review = Prompt.make("review", {
  title: "Review",
  description: "Asks for a review.",
  arguments: {
    code: Schema.String.annotations({ description: "What to look at" }),
    lines: Schema.optionalWith(Schema.NumberFromString, { default: () => 10 }),
    tone: Schema.optional(Schema.Literal("kind", "strict"))
  }
})

describe("Prompt.make", () => {
  it("advertises each argument, and whether it is required", () => {
    assert.deepStrictEqual(Review.advertised, {
      name: "review",
      title: "Review",
      description: "Asks for a review.",
      arguments: [
        { name: "code", description: "What to look at", required: true },
        { name: "lines", description: "a number, written as a string", required: false },
        { name: "tone", required: false }
      ]
    })
    assert.deepStrictEqual(Prompt.make("bare").advertised, { name: "bare" })
  })

  it("gives a handler the defaults and makes them optional for a caller", () => {
    expectTypeOf<Prompt.Prompt.Parameters<typeof Review>>().toEqualTypeOf<
      { readonly code: string; readonly lines: number; readonly tone?: "kind" | "strict" | undefined }
    >()
    expectTypeOf<Prompt.Prompt.Arguments<typeof Review>>().toEqualTypeOf<
      { readonly code: string; readonly lines?: number; readonly tone?: "kind" | "strict" | undefined }
    >()
  })

  it("refuses an argument that is not encoded as a string", () => {
    assert.throws(
      () => Prompt.make("sum", { arguments: { n: Schema.Number } as Schema.Struct.Fields }),
      /Prompt "sum": the argument "n" must be encoded as a string: use a schema/
    )
  })

  it("refuses empty names, and two arguments of one name", () => {
    for (const name of ["", "  "]) {
      assert.throws(() => Prompt.make(name), "Prompt: give the prompt a name that is not empty")
      assert.throws(
        () => Prompt.make("p", { arguments: { [name]: Schema.String } }),
        `Prompt "p": rename the argument "${name}"`
      )
    }
    const x = Schema.propertySignature(Schema.String).pipe(Schema.fromKey("x"))
    assert.throws(() => Prompt.make("p", { arguments: { a: x, b: x } }), `Prompt "p": Effect refuses its arguments`)
  })

  it("lists the strings of an argument that allows only certain strings", () => {
    assert.deepStrictEqual([...Review.enumValues], [["tone", ["kind", "strict"]]])
    assert.strictEqual(Prompt.make("bare").enumValues.size, 0)
  })

  it("is recognized by its guard", () => {
    assert.isTrue(Prompt.isPrompt(Review))
    assert.isFalse(Prompt.isPrompt({ name: "review" }))
  })
})

describe("the arguments of a prompt", () => {
  it.effect("are decoded from strings, with defaults", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* Review.codec.decode({ code: "x" }), { code: "x", lines: 10 })
      assert.deepStrictEqual(yield* Review.codec.decode({ code: "x", lines: "3", tone: "kind" }), {
        code: "x",
        lines: 3,
        tone: "kind"
      })
      yield* Effect.flip(Review.codec.decode({ lines: "3" }))
      yield* Effect.flip(Review.codec.decode({ code: "x", lines: "three" }))
    }))

  it.effect("are encoded to strings", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* Review.codec.encode({ code: "x" }), { code: "x", lines: "10" })
    }))
})

describe("Prompt.toResult", () => {
  it("takes a text, messages, or a whole result", () => {
    assert.deepStrictEqual(Prompt.toResult("hi", "Says hi"), {
      description: "Says hi",
      messages: [{ role: "user", content: { type: "text", text: "hi" } }]
    })
    assert.deepStrictEqual(Prompt.toResult([Prompt.user("a"), Prompt.assistant("b")], undefined), {
      messages: [
        { role: "user", content: { type: "text", text: "a" } },
        { role: "assistant", content: { type: "text", text: "b" } }
      ]
    })
    const whole = { messages: [Prompt.user({ type: "image", data: "AA==", mimeType: "image/png" })] }
    assert.strictEqual(Prompt.toResult(whole, "ignored"), whole)
  })
})
