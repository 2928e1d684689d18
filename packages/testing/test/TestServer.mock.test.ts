import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import type { ConnectError } from "@effect-mcp/core/ClientError"
import * as Definition from "@effect-mcp/core/Definition"
import type { Dispatcher } from "@effect-mcp/core/Dispatcher"
import * as Prompt from "@effect-mcp/core/Prompt"
import * as Resource from "@effect-mcp/core/Resource"
import * as ResourceTemplate from "@effect-mcp/core/ResourceTemplate"
import { ServerSession } from "@effect-mcp/core/ServerSession"
import * as Tool from "@effect-mcp/core/Tool"
import * as ToolResult from "@effect-mcp/core/ToolResult"
import * as TestServer from "@effect-mcp/testing/TestServer"
import { Context, Effect, type Layer, Schema } from "effect"
import { expectTypeOf } from "vitest"

class Unknown extends Schema.TaggedError<Unknown>()("Unknown", { city: Schema.String }) {}
class Station extends Context.Tag("Station")<Station, string>() {}

const Forecast = Tool.make("forecast", {
  parameters: { city: Schema.String },
  success: Schema.String,
  failure: Unknown
})
const Warnings = Tool.make("warnings", { success: Schema.Array(Schema.String) })
const Weather = Definition.make(
  Forecast,
  Warnings,
  Resource.make("map", { uri: "weather:map" }),
  ResourceTemplate.make("radar")`weather:radar/${ResourceTemplate.param("city")}`,
  Prompt.make("report", { arguments: { city: Schema.String } })
)

/** The sentence that a call fails with. */
const failure = <A, E, R>(call: Effect.Effect<A, E, R>) => Effect.map(Effect.flip(call), (error) => String(error))

const sentence = (what: string) =>
  `The test has no handler for the ${what}: give TestServer.mock a handler with this name`

for (const version of ["2025-11-25", "2026-07-28"] as const) {
  describe(`A mock at ${version}`, () => {
    it.effect("serves what has a handler, with its declared failures", () =>
      Effect.gen(function*() {
        const weather = Client.of(yield* Client.Client, Weather)
        assert.strictEqual(yield* weather.forecast({ city: "Oslo" }), "rain in Oslo")
        assert.instanceOf(yield* Effect.flip(weather.forecast({ city: "Atlantis" })), Unknown)
        const { contents } = yield* weather.resources.map()
        assert.deepInclude(contents[0], { text: "a map" })
      }).pipe(Effect.provide(TestServer.mock(Weather, {
        forecast: ({ city }) => city === "Atlantis" ? new Unknown({ city }) : Effect.succeed(`rain in ${city}`),
        resources: { map: Effect.succeed("a map") }
      }, { versions: [version] }))))

    it.effect("lists all of the definition, and fails with the name of what has no handler", () =>
      Effect.gen(function*() {
        const weather = Client.of(yield* Client.Client, Weather)
        assert.include(yield* failure(weather.warnings()), sentence(`tool "warnings"`))
        assert.include(yield* failure(weather.resources.map()), sentence(`resource "map"`))
        assert.include(yield* failure(weather.templates.radar({ city: "Oslo" })), sentence(`resource template "radar"`))
        assert.include(yield* failure(weather.prompts.report({ city: "Oslo" })), sentence(`prompt "report"`))
      }).pipe(Effect.provide(TestServer.mock(Weather, {}, { versions: [version] }))))

    it.effect("has tools without a definition", () =>
      Effect.gen(function*() {
        const client = yield* Client.Client
        const text = (yield* client.callTool("echo", { message: "hello" })).content
        assert.deepStrictEqual(text, [{ type: "text", text: `{"message":"hello"}` }])
        const search = yield* client.callTool("search", { q: "effect" })
        assert.deepStrictEqual(search.structuredContent, { hits: ["effect"] })
        assert.isTrue((yield* client.callTool("fail")).isError)
        assert.include(yield* failure(client.callTool("other")), "Unknown tool: other")
      }).pipe(Effect.provide(TestServer.mockTools({
        echo: (args) => Effect.succeed(JSON.stringify(args)),
        search: ({ q }) => Effect.succeed({ hits: [q] }),
        fail: () => Effect.succeed(ToolResult.text("no").pipe(ToolResult.asError))
      }, { versions: [version] }))))
  })
}

describe("The type of a mock", () => {
  type Mocked<R> = Layer.Layer<Client.Client | Dispatcher, ConnectError, R>

  it("requires what its handlers require, but for the services of a request", () => {
    const warnings = () => Effect.map(Effect.zipRight(ServerSession, Station), (station) => [station])
    expectTypeOf(TestServer.mock(Weather, { warnings })).toEqualTypeOf<Mocked<Station>>()
    expectTypeOf(TestServer.mock(Weather, {})).toEqualTypeOf<Mocked<never>>()
    expectTypeOf(TestServer.mockTools({ one: () => Station, two: () => Effect.void })).toEqualTypeOf<Mocked<Station>>()
  })

  it("has no handlers of another name or type than the definition has", () => {
    // @ts-expect-error the definition has no tool of this name
    TestServer.mock(Definition.make(Warnings), { forecast: () => Effect.succeed("") })
    // @ts-expect-error the tool returns texts
    TestServer.mock(Definition.make(Warnings), { warnings: () => Effect.succeed(1) })
  })
})
