import { assert, describe, it } from "@effect/vitest"
import type * as Feature from "@effect-mcp/core/Feature"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Prompt from "@effect-mcp/core/Prompt"
import * as Registry from "@effect-mcp/core/Registry"
import * as Resource from "@effect-mcp/core/Resource"
import * as Tool from "@effect-mcp/core/Tool"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import { logbook } from "../Serving.js"

/** The warnings that are logged while a feature is registered. */
const warnings = (feature: Feature.Feature) =>
  Effect.gen(function*() {
    const found: Array<string> = []
    const logger = Logger.replace(
      Logger.defaultLogger,
      Logger.make(({ logLevel, message }) => {
        if (logLevel.label === "WARN") found.push(String(message))
      })
    )
    const registry = Layer.effect(Registry.Registry, Registry.make)
    yield* Layer.build(feature.pipe(Layer.provide(registry), Layer.provide(logger)))
    return found
  })

const tool = (name: string, meta?: Record<string, unknown>) =>
  McpServer.tool(Tool.make(name, { meta }), () => Effect.succeed("done"))

describe("a definition that is registered", () => {
  it.scoped("SHOULD have a tool name of 1 to 128 letters, digits and _ - .", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* warnings(tool("admin.tools-list_2")), [])
      assert.deepStrictEqual(yield* warnings(tool("a b")), [
        "The tool \"a b\": the name contains \" \", and only letters, digits, \"_\", \"-\" and \".\" are allowed"
      ])
      const long = "x".repeat(129)
      assert.deepStrictEqual(yield* warnings(tool(long)), [
        `The tool "${long}": the name has 129 characters, and at most 128 are allowed`
      ])
    }))

  it.scoped("MUST NOT have a _meta key that the specification reserves", () =>
    Effect.gen(function*() {
      const meta = { "com.example/a": 1, "io.modelcontextprotocol/x": 1, "a b": 1 }
      const expected = (what: string) => [
        `${what}: _meta "io.modelcontextprotocol/x": the specification reserves the prefix of the key`,
        `${what}: _meta "a b": the key is not valid`
      ]
      assert.deepStrictEqual(yield* warnings(tool("a", meta)), expected("The tool \"a\""))
      assert.deepStrictEqual(
        yield* warnings(McpServer.resource(Resource.make("r s", { uri: "notes:///", meta }), Effect.succeed("text"))),
        expected("The resource \"r s\"")
      )
      assert.deepStrictEqual(
        yield* warnings(McpServer.prompt(Prompt.make("p", { meta }), () => Effect.succeed("text"))),
        expected("The prompt \"p\"")
      )
    }))

  it.scoped("MUST have icons that a client may load, and is told of any other", () =>
    Effect.gen(function*() {
      const icons = [
        "https://example.com/a.png",
        "data:image/png;base64,AAAA",
        "HTTPS://example.com",
        "http://example.com/b.png"
      ]
        .map((src) => ({ src }))
      const expected = `the icon "http://example.com/b.png" is not shown: its src must begin with https: or data:`
      assert.deepStrictEqual(yield* warnings(McpServer.tool(Tool.make("a", { icons }), () => Effect.void)), [
        `The tool "a": ${expected}`
      ])
      for (const src of ["http://example.com/a.png", "a.png", ""]) {
        const prompt = McpServer.prompt(Prompt.make("p", { icons: [{ src }] }), () => Effect.succeed(""))
        assert.lengthOf(yield* warnings(prompt), 1, src)
      }
      const { layer, lines } = logbook()
      yield* Layer.build(Layer.provide(
        McpServer.layer({ name: "s", version: "1", icons: [{ src: "http://a" }] }, Layer.empty),
        layer
      ))
      assert.deepStrictEqual(lines.map(({ message }) => message), [
        `The server "s": the icon "http://a" is not shown: its src must begin with https: or data:`
      ])
    }))

  it.scoped("is not registered with an icon that could run a program", () =>
    Effect.gen(function*() {
      for (
        const src of ["javascript:alert(1)", " JavaScript:x", "java\nscript:x", "vbscript:x", "file:///a.png", "blob:x"]
      ) {
        const icons = [{ src }]
        for (
          const layer of [
            McpServer.tool(Tool.make("a", { icons }), () => Effect.void),
            McpServer.prompt(Prompt.make("p", { icons }), () => Effect.succeed(""))
          ]
        ) {
          const exit = yield* Effect.exit(warnings(layer))
          assert.include(String(exit), "must begin with https: or data:", src)
        }
      }
    }))
})
