import { assert, describe, expectTypeOf, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import type { ClientError } from "@effect-mcp/core/ClientError"
import * as Definition from "@effect-mcp/core/Definition"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Prompt from "@effect-mcp/core/Prompt"
import type * as Prompts from "@effect-mcp/core/protocol/Prompts"
import type * as Resources from "@effect-mcp/core/protocol/Resources"
import * as Resource from "@effect-mcp/core/Resource"
import * as ResourceTemplate from "@effect-mcp/core/ResourceTemplate"
import * as Tool from "@effect-mcp/core/Tool"
import * as TestServer from "@effect-mcp/testing/TestServer"
import { Context, Effect, Layer, Schema } from "effect"
import { failure } from "./Scripts.js"

class Db extends Context.Tag("Db")<Db, { readonly read: (key: string) => string }>() {}

const Greet = Tool.make("greet", { parameters: { name: Schema.String }, success: Schema.String })
const Readme = Resource.make("readme", { uri: "file:///README.md", mimeType: "text/markdown" })
const Note = ResourceTemplate.make("note")`note:///${ResourceTemplate.param("id", Schema.NumberFromString)}`
const Review = Prompt.make("review", {
  arguments: { code: Schema.String, language: Schema.optionalWith(Schema.String, { default: () => "TypeScript" }) }
})
const Hello = Prompt.make("hello")

const Notes = Definition.make(Greet, Readme, Note, Review, Hello)

const Live = McpServer.implement(Notes, {
  greet: ({ name }) => Effect.succeed(`Hello, ${name}!`),
  resources: { readme: Effect.map(Db, (db) => db.read("readme")) },
  templates: { note: ({ id }, uri) => Effect.succeed(`${id + 1} at ${uri}`) },
  prompts: {
    review: {
      get: ({ code, language }) => Effect.succeed(`Review ${code} in ${language}`),
      complete: { language: (value) => Effect.succeed(["TypeScript", "Rust"].filter((one) => one.startsWith(value))) }
    },
    hello: () => Effect.succeed("Hello")
  }
})

const serving = Effect.provide(
  TestServer.layer(Notes, Live).pipe(Layer.provide(Layer.succeed(Db, { read: (key) => `the ${key}` })))
)

describe("A definition of all kinds", () => {
  it.effect("is served whole, and its tools, resources and prompts are functions of a client", () =>
    Effect.gen(function*() {
      const notes = Client.of(yield* Client.Client, Notes)
      assert.strictEqual(yield* notes.greet({ name: "Ada" }), "Hello, Ada!")
      assert.deepStrictEqual(yield* notes.resources.readme(), {
        contents: [{ uri: "file:///README.md", mimeType: "text/markdown", text: "the readme" }]
      })
      assert.deepStrictEqual(yield* notes.templates.note({ id: 7 }), {
        contents: [{ uri: "note:///7", text: "8 at note:///7" }]
      })
      const text = (prompt: Prompts.GetPromptResult) => prompt.messages.map(({ content }) => content)
      assert.deepStrictEqual<unknown>(text(yield* notes.prompts.review({ code: "x" })), [
        { type: "text", text: "Review x in TypeScript" }
      ])
      assert.deepStrictEqual<unknown>(text(yield* notes.prompts.hello()), [{ type: "text", text: "Hello" }])
      const client = yield* Client.Client
      const ref = { type: "ref/prompt", name: "review" } as const
      assert.deepStrictEqual((yield* client.complete(ref, { name: "language", value: "R" })).values, ["Rust"])
    }).pipe(serving))

  it.effect("sends nothing when its arguments are invalid", () =>
    Effect.gen(function*() {
      const notes = Client.of(yield* Client.Client, Notes)
      const prompt = yield* failure(notes.prompts.review({ code: 5 } as never))
      assert.include(prompt.message, "Invalid arguments for prompt \"review\": code: ")
      const template = yield* failure(notes.templates.note({ id: "x" } as never))
      assert.include(template.message, "Invalid arguments for resource template \"note\": id: ")
    }).pipe(serving))

  it("has the functions of the definition, and no others", () => {
    type Client = Client.Typed<typeof Notes>
    expectTypeOf<keyof Client>().toEqualTypeOf<"greet" | "resources" | "templates" | "prompts">()
    expectTypeOf<keyof Client["prompts"]>().toEqualTypeOf<"review" | "hello">()
    expectTypeOf<ReturnType<Client["resources"]["readme"]>>().toEqualTypeOf<
      Effect.Effect<Resources.ReadResourceResult, ClientError>
    >()
    expectTypeOf<Parameters<Client["templates"]["note"]>[0]>().toEqualTypeOf<{ readonly id: number }>()
    expectTypeOf(Live).toEqualTypeOf<Layer.Layer<never, never, import("@effect-mcp/core/Registry").Registry | Db>>()
    type Tools = Client.Typed<Definition.Definition.From<typeof Greet>>
    expectTypeOf<keyof Tools>().toEqualTypeOf<"greet">()
  })

  it("does not compile when the server leaves a part of it out", () => {
    const broken = () => {
      // @ts-expect-error: `templates` and `prompts` are missing
      McpServer.implement(Notes, { greet: () => Effect.succeed(""), resources: { readme: Effect.succeed("") } })
      // @ts-expect-error: the prompt `hello` is missing
      McpServer.implement(Definition.make(Hello), { prompts: {} })
      // @ts-expect-error: nobody has promised `other`
      McpServer.implement(Definition.make(Hello), { prompts: { hello: () => Effect.succeed("") }, other: 1 })
    }
    assert.isFunction(broken)
  })
})
