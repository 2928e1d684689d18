import * as Tool from "@effect/ai/Tool"
import * as Toolkit from "@effect/ai/Toolkit"
import { assert, describe, it } from "@effect/vitest"
import * as ServerToolkit from "@effect-mcp/ai/ServerToolkit"
import * as McpServer from "@effect-mcp/core/McpServer"
import type { Registry } from "@effect-mcp/core/Registry"
import * as ServerSession from "@effect-mcp/core/ServerSession"
import * as McpTool from "@effect-mcp/core/Tool"
import * as TestFeatures from "@effect-mcp/testing/TestFeatures"
import { Chunk, Context, Effect, Layer, Schema, Stream } from "effect"
import { client, eras } from "./Serving.js"

class Db extends Context.Tag("Db")<Db, { readonly find: (q: string) => ReadonlyArray<string> }>() {}

class TooMany extends Schema.TaggedError<TooMany>()("TooMany", { count: Schema.Int }) {}

const fields = { q: Schema.String, limit: Schema.optionalWith(Schema.Int, { default: () => 10 }) }

const Search = Tool.make("search", {
  description: "Full-text search over the notes.",
  parameters: fields,
  success: Schema.Struct({ hits: Schema.Array(Schema.String) }),
  failure: TooMany
}).annotate(Tool.Title, "Search").annotate(Tool.Readonly, true)

const Clear = Tool.make("clear")

const Confirm = Tool.make("confirm", {
  success: Schema.String,
  dependencies: [ServerSession.ServerSession]
})

const WebSearch = Tool.providerDefined({ id: "openai.web_search", toolkitName: "web", providerName: "web", args: {} })

const Notes = Toolkit.make(Search, Clear, Confirm, WebSearch({}))

const NotesLive = Notes.toLayer(Effect.map(Db, ({ find }) =>
  Notes.of({
    search: ({ limit, q }) =>
      limit > 50 ? Effect.fail(new TooMany({ count: limit })) : Effect.succeed({ hits: find(q) }),
    clear: () => Effect.void,
    confirm: () =>
      Effect.gen(function*() {
        const session = yield* ServerSession.ServerSession
        const answer = yield* Effect.orDie(session.elicit({ message: "Sure?", schema: Schema.Struct({}) }))
        return answer.action
      })
  })))

const features = ServerToolkit.layer(Notes).pipe(
  Layer.provide(NotesLive),
  Layer.provide(Layer.succeed(Db, { find: (q) => [q] }))
)

for (const [era, versions] of eras) {
  describe(`A toolkit as features of a server, in the ${era} era`, () => {
    it.scoped("lists its tools with schemas and hints, without those that a provider runs", () =>
      Effect.gen(function*() {
        const session = yield* client(features, { versions })
        const tools = Chunk.toReadonlyArray(yield* Stream.runCollect(session.tools))
        assert.deepStrictEqual(tools.map(({ name }) => name), ["clear", "confirm", "search"])
        const search = tools[2]!
        assert.deepInclude(search, { title: "Search", description: "Full-text search over the notes." })
        assert.deepStrictEqual(search.annotations, { readOnlyHint: true })
        assert.deepNestedInclude(search.inputSchema, { "properties.limit.default": 10, "properties.q.type": "string" })
        assert.deepNestedInclude(search.outputSchema as any, { "properties.hits.type": "array" })
        assert.deepStrictEqual(tools[0]?.inputSchema, { type: "object", additionalProperties: false })
      }))

    it.scoped("runs its handlers, and a declared failure is a tool error", () =>
      Effect.gen(function*() {
        const session = yield* client(features, { versions })
        const found = yield* session.callTool("search", { q: "effect" })
        assert.deepStrictEqual(found.structuredContent, { hits: ["effect"] })
        const failed = yield* session.callTool("search", { q: "effect", limit: 99 })
        assert.isTrue(failed.isError)
        assert.deepInclude(failed.content[0], { type: "text" })
        assert.include(JSON.stringify(failed.content), "TooMany")
        const invalid = yield* session.callTool("search", { q: 7 })
        assert.isTrue(invalid.isError)
        assert.include(JSON.stringify(invalid.content), "q: Expected string, actual 7")
        assert.deepStrictEqual((yield* session.callTool("clear", {})).content, [])
      }))

    it.scoped("gives a handler the session of its request, when the tool depends on it", () =>
      Effect.gen(function*() {
        const session = yield* client(features, {
          versions,
          client: { features: TestFeatures.elicitation([{ action: "decline" }]) }
        })
        assert.deepStrictEqual((yield* session.callTool("confirm")).content, [{ type: "text", text: "decline" }])
      }))
  })
}

describe("A toolkit as features of a server", () => {
  it("requires the handlers, and the request services that a server does not have, by type", () => {
    class Tenant extends Context.Tag("Tenant")<Tenant, string>() {}
    const ByTenant = Toolkit.make(Tool.make("who", { success: Schema.String, dependencies: [Tenant] }))
    const layer: Layer.Layer<never, never, Tool.Handler<"who"> | Tenant | Registry> = ServerToolkit.layer(ByTenant)
    assert.isTrue(Layer.isLayer(layer))
  })

  it("does not compile when a schema requires services", () => {
    class Key extends Context.Tag("Key")<Key, string>() {}
    const Secret = Schema.String as unknown as Schema.Schema<string, string, Key>
    const Secrets = Toolkit.make(Tool.make("reveal", { success: Secret }))
    // @ts-expect-error A schema of this toolkit requires services, which the server does not have
    assert.isTrue(Layer.isLayer(ServerToolkit.layer(Secrets)))
  })

  it.scoped("stands beside other features", () =>
    Effect.gen(function*() {
      const session = yield* client(Layer.merge(
        features,
        McpServer.tool(McpTool.make("ping"), () => Effect.succeed("pong"))
      ))
      assert.deepStrictEqual((yield* session.callTool("ping")).content, [{ type: "text", text: "pong" }])
    }))
})
