import { assert, describe, expectTypeOf, it } from "@effect/vitest"
import * as Definition from "@effect-mcp/core/Definition"
import type * as DefinitionHandlers from "@effect-mcp/core/DefinitionHandlers"
import * as Prompt from "@effect-mcp/core/Prompt"
import * as Resource from "@effect-mcp/core/Resource"
import * as Tool from "@effect-mcp/core/Tool"
import { Context, type Effect, Schema } from "effect"

class Db extends Context.Tag("Db")<Db, string>() {}
class Clock extends Context.Tag("Clock")<Clock, number>() {}

const Search = Tool.make("search", { parameters: { q: Schema.String } })
const Readme = Resource.make("readme", { uri: "file:///README.md" })
const Review = Prompt.make("review", { arguments: { code: Schema.String } })

describe("The handlers of a definition", () => {
  it("have the tools by their names, and beside them only the kinds that the definition has", () => {
    const tools = Definition.make(Search)
    assert.strictEqual(tools.tools.size, 1)
    expectTypeOf<keyof DefinitionHandlers.Handlers<typeof tools>>().toEqualTypeOf<"search">()
    const all = Definition.make(Search, Readme, Review)
    assert.strictEqual(all.prompts.size, 1)
    expectTypeOf<keyof DefinitionHandlers.Handlers<typeof all>>().toEqualTypeOf<"search" | "resources" | "prompts">()
    expectTypeOf<keyof DefinitionHandlers.Handlers<typeof all>["resources"]>().toEqualTypeOf<"readme">()
    expectTypeOf<keyof DefinitionHandlers.Handlers<typeof all>["prompts"]>().toEqualTypeOf<"review">()
  })

  it("require the services of all of them, nested ones included", () => {
    interface Handlers {
      readonly search: () => Effect.Effect<void, never, Db>
      readonly resources: { readonly readme: Effect.Effect<string, never, Clock> }
      readonly prompts: { readonly review: { readonly get: () => Effect.Effect<string> } }
    }
    expectTypeOf<DefinitionHandlers.Context<Handlers>>().toEqualTypeOf<Db | Clock>()
  })
})
