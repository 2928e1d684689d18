import { assert, describe, it } from "@effect/vitest"
import * as Prompt from "@effect-mcp/definition/Prompt"
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
  it("advertises each argument, and whether it must be there", () => {
    assert.deepStrictEqual(Review.advertised, {
      name: "review",
      title: "Review",
      description: "Asks for a review.",
      arguments: [
        { name: "code", description: "What to look at", required: true },
        { name: "lines", description: "a string to be decoded into a number", required: false },
        { name: "tone", required: false }
      ]
    })
    assert.deepStrictEqual(Prompt.make("bare").advertised, { name: "bare" })
  })

  it("gives a handler defaults and lets a caller leave them out", () => {
    expectTypeOf<Prompt.Prompt.Parameters<typeof Review>>().toEqualTypeOf<
      { readonly code: string; readonly lines: number; readonly tone?: "kind" | "strict" | undefined }
    >()
    expectTypeOf<Prompt.Prompt.Arguments<typeof Review>>().toEqualTypeOf<
      { readonly code: string; readonly lines?: number; readonly tone?: "kind" | "strict" | undefined }
    >()
  })

  it("refuses an argument that is no string on the wire, when it is made", () => {
    assert.throws(
      () => Prompt.make("sum", { arguments: { n: Schema.Number } }),
      /Prompt "sum": its argument "n" must be a string on the wire/
    )
  })

  it("refuses names that say nothing, and arguments that share one", () => {
    for (const name of ["", "  "]) {
      assert.throws(() => Prompt.make(name), "Prompt: it needs a name")
      assert.throws(
        () => Prompt.make("p", { arguments: { [name]: Schema.String } }),
        `Prompt "p": an argument cannot be named "${name}"`
      )
    }
    const x = Schema.propertySignature(Schema.String).pipe(Schema.fromKey("x"))
    assert.throws(() => Prompt.make("p", { arguments: { a: x, b: x } }), `Prompt "p": its arguments cannot be used`)
  })

  it("knows what an argument may be that is one of some strings", () => {
    assert.deepStrictEqual([...Review.choices], [["tone", ["kind", "strict"]]])
    assert.strictEqual(Prompt.make("bare").choices.size, 0)
  })

  it("is told apart from anything else", () => {
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

describe("the messages of a prompt", () => {
  it("are one of the user's, several, or a whole result", () => {
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
