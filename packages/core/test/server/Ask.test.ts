import { assert, describe, it } from "@effect/vitest"
import * as Ask from "@effect-mcp/core/Ask"
import type { Root } from "@effect-mcp/core/protocol/Roots"
import type { SamplingMessage } from "@effect-mcp/core/protocol/Sampling"
import { Effect, Either, Schema } from "effect"
import { expectTypeOf } from "vitest"

const means = (question: Ask.Question<unknown>, answer: unknown) => Effect.either(question.decode(answer))

const text = (text: string) => ({ type: "text", text }) as const
const use = (id: string) => ({ type: "tool_use", id, name: "find", input: {} }) as const
const said = (role: "assistant" | "user", ...content: ReadonlyArray<SamplingMessage["content"]>): SamplingMessage =>
  ({ role, content: content.length === 1 ? content[0] : content }) as SamplingMessage

describe("A form", () => {
  const question = Ask.elicit({
    message: "Who are you?",
    schema: Schema.Struct({
      name: Schema.String,
      born: Schema.DateFromString,
      age: Schema.optionalWith(Schema.Int, { default: () => 7 })
    })
  })

  it("sends its message and schema, and requires a client that can show forms", () => {
    assert.strictEqual(question.kind, "elicit")
    assert.deepStrictEqual(question.requires, { elicitation: { form: {} } })
    assert.isUndefined(question.problem)
    const { message, mode, requestedSchema } = question.params
    assert.deepStrictEqual([mode, message], ["form", "Who are you?"])
    assert.deepStrictEqual((requestedSchema as { readonly required: unknown }).required, ["name", "born"])
  })

  it.effect("gives the decoded content of an accepted form, or the action of the person", () =>
    Effect.gen(function*() {
      const born = new Date(0)
      assert.deepStrictEqual(
        yield* means(question, { action: "accept", content: { name: "Ada", born: born.toISOString() } }),
        Either.right({ action: "accept", content: { name: "Ada", born, age: 7 } })
      )
      for (const action of ["decline", "cancel"] as const) {
        assert.deepStrictEqual(yield* means(question, { action }), Either.right({ action }))
        // The content of a form that was not accepted is not decoded.
        assert.deepStrictEqual(yield* means(question, { action, content: { age: "x" } }), Either.right({ action }))
      }
    }))

  it.effect("rejects an answer that does not fit the schema", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(
        yield* means(question, { action: "accept", content: { name: "Ada", born: "x", age: "old" } }),
        Either.left("age: expected an integer")
      )
      assert.deepStrictEqual(
        yield* means(question, { action: "accept" }),
        Either.left("name: is missing; born: is missing")
      )
    }))

  it("cannot be made from a schema that a form cannot ask for", () => {
    assert.throws(
      () => Ask.elicit({ message: "?", schema: Schema.Struct({ in: Schema.Struct({}) }) }),
      `Form: the field "in" has a type that a form cannot have`
    )
  })

  it.effect("can be made from described fields, and has a problem when a field cannot be asked for", () =>
    Effect.gen(function*() {
      const fields = (maximum: number) =>
        Ask.elicit({
          message: "How many?",
          requestedSchema: { type: "object", properties: { n: { type: "integer", minimum: 1, maximum } } }
        })
      assert.isUndefined(fields(2).problem)
      assert.strictEqual(fields(0).problem, "n: minimum is above maximum")
      assert.deepStrictEqual(
        yield* means(fields(2), { action: "accept", content: { n: 2 } }),
        Either.right({ action: "accept", content: { n: 2 } })
      )
      assert.isTrue(Either.isLeft(yield* means(fields(2), { action: "accept", content: { n: 3 } })))
    }))

  it("has an answer of the type of its schema", () => {
    expectTypeOf<Ask.Question.Answer<typeof question>>().toEqualTypeOf<
      Ask.Elicited<{ readonly name: string; readonly born: Date; readonly age: number }>
    >()
    expectTypeOf<Ask.Question.Answer<typeof Ask.roots>>().toEqualTypeOf<ReadonlyArray<Root>>()
    expectTypeOf<Ask.Question.Answer<ReturnType<typeof Ask.confirm>>>().toEqualTypeOf<boolean>()
  })
})

describe("A confirmation", () => {
  it.effect("is true only when the person accepted", () =>
    Effect.gen(function*() {
      const question = Ask.confirm("Sure?")
      assert.deepStrictEqual(question.params, {
        mode: "form",
        message: "Sure?",
        requestedSchema: { type: "object", properties: {} }
      })
      assert.deepStrictEqual(question.requires, { elicitation: { form: {} } })
      for (const [action, yes] of [["accept", true], ["decline", false], ["cancel", false]] as const) {
        assert.deepStrictEqual(yield* means(question, { action }), Either.right(yes))
      }
    }))
})

describe("A page", () => {
  it.effect("requires a client that can open pages, and gives the action of the person", () =>
    Effect.gen(function*() {
      const question = Ask.url({ message: "Pay here.", url: "https://example.com/pay", elicitationId: "p1" })
      assert.deepStrictEqual(question.requires, { elicitation: { url: {} } })
      assert.deepStrictEqual(question.params, {
        mode: "url",
        message: "Pay here.",
        url: "https://example.com/pay",
        elicitationId: "p1"
      })
      for (const action of ["accept", "decline", "cancel"]) {
        assert.deepStrictEqual(yield* means(question, { action }), Either.right(action))
      }
    }))
})

describe("Messages for the client's model", () => {
  const messages = [said("user", text("hi"))]

  it("require a client with tools only when they offer tools", () => {
    assert.deepStrictEqual(Ask.sample({ messages, maxTokens: 1 }).requires, { sampling: {} })
    for (const more of [{ tools: [] }, { toolChoice: { mode: "auto" } }] as const) {
      assert.deepStrictEqual(Ask.sample({ messages, maxTokens: 1, ...more }).requires, { sampling: { tools: {} } })
    }
  })

  it("have a problem when the use of a tool has no result, which names the message", () => {
    assert.isUndefined(Ask.sample({ messages, maxTokens: 1 }).problem)
    assert.strictEqual(
      Ask.sample({ messages: [...messages, said("assistant", use("1"))], maxTokens: 1 }).problem,
      "message 1: a tool use is not answered"
    )
    assert.strictEqual(
      Ask.sample({ messages: [said("user", use("1"))], maxTokens: 1 }).problem,
      "message 0: only a message of the assistant may use tools"
    )
  })

  it.effect("give the message of the model, which must use tools as the question allows", () =>
    Effect.gen(function*() {
      const answer = { role: "assistant", model: "m", content: text("hello") }
      const using = { role: "assistant", model: "m", content: [use("1")] }
      const asked = (mode?: "none" | "required") =>
        Ask.sample({ messages, maxTokens: 1, ...(mode === undefined ? undefined : { toolChoice: { mode } }) })
      assert.deepStrictEqual(yield* means(asked(), answer), Either.right(answer as never))
      assert.deepStrictEqual(yield* means(asked("required"), using), Either.right(using as never))
      assert.deepStrictEqual(yield* means(asked("required"), answer), Either.left("the model had to use a tool"))
      assert.deepStrictEqual(yield* means(asked("none"), using), Either.left("the model must not use a tool"))
    }))
})

describe("The roots", () => {
  it.effect("require a client with roots, and give its folders", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual([Ask.roots.requires, Ask.roots.params], [{ roots: {} }, {}])
      const roots = [{ uri: "file:///home", name: "home" }]
      assert.deepStrictEqual(yield* means(Ask.roots, { roots }), Either.right(roots))
    }))
})
