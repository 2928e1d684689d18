import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Prompt from "@effect-mcp/core/Prompt"
import * as Resource from "@effect-mcp/core/Resource"
import * as ResourceTemplate from "@effect-mcp/core/ResourceTemplate"
import * as Tool from "@effect-mcp/core/Tool"
import * as ToolResult from "@effect-mcp/core/ToolResult"
import * as Proxy from "@effect-mcp/proxy/Proxy"
import type { ProxyEntry } from "@effect-mcp/proxy/ProxyEntry"
import { Cause, Effect, Layer, Logger, Schema } from "effect"
import { all, entrance, gateway, legacy, pairs, proxied, server } from "./Setting.js"

const tool = (name: string, says = name) => McpServer.tool(Tool.make(name), () => Effect.succeed(says))
const Greet = Prompt.make("greet")
const A = Resource.make("a", { uri: "file:///a" })
const Note = ResourceTemplate.make("note")`note://${ResourceTemplate.param("id", Schema.String)}`

const features = Layer.mergeAll(
  tool("one"),
  tool("two"),
  McpServer.tool(Tool.make("link"), () => Effect.succeed(ToolResult.link({ uri: "file:///a", name: "a" }))),
  McpServer.prompt(Greet, () => Effect.succeed("hi")),
  McpServer.resource(A, Effect.succeed("content of a")),
  McpServer.resourceTemplate(Note, ({ id }) => Effect.succeed(`note ${id}`))
)

const text = (result: { readonly content: ReadonlyArray<object> }) => (result.content[0] as { text: string }).text
const names = <A extends { readonly name: string }>(all: ReadonlyArray<A>) => all.map(({ name }) => name)

for (const [name, client, upstream] of pairs) {
  describe(`Names of a proxy, ${name}`, () => {
    it.scopedLive("have a prefix", () =>
      Effect.gen(function*() {
        const session = yield* proxied(features, { client, upstream, proxy: { prefix: "up_" } })
        assert.deepStrictEqual(names(yield* all(session.tools)), ["up_link", "up_one", "up_two"])
        assert.strictEqual(text(yield* session.callTool("up_one")), "one")
        assert.isTrue((yield* session.getPrompt("up_greet")).messages.length > 0)
        const error = yield* Effect.flip(session.callTool("one"))
        assert.include(error.message, "Unknown tool: one")
      }))

    it.scopedLive("are changed by a function, URIs in results too", () =>
      Effect.gen(function*() {
        const session = yield* proxied(features, {
          client,
          upstream,
          proxy: {
            rename: ({ kind, name }) => kind === "tool" || kind === "prompt" ? name.toUpperCase() : `up+${name}`
          }
        })
        assert.deepStrictEqual(names(yield* all(session.tools)), ["LINK", "ONE", "TWO"])
        const [linked] = (yield* session.callTool("LINK")).content
        assert.deepInclude(linked!, { uri: "up+file:///a" })
        assert.deepStrictEqual((yield* all(session.resources)).map(({ uri }) => uri), ["up+file:///a"])
        assert.deepStrictEqual<unknown>((yield* session.readResource("up+file:///a")).contents, [{
          uri: "up+file:///a",
          text: "content of a"
        }])
        assert.deepStrictEqual<unknown>((yield* session.readResource("up+note://7")).contents, [{
          uri: "up+note://7",
          text: "note 7"
        }])
        assert.strictEqual((yield* Effect.flip(session.readResource("file:///a")))._tag, "ResourceNotFound")
      }))

    it.scopedLive("are filtered: what is left out can be neither called nor read", () =>
      Effect.gen(function*() {
        const session = yield* proxied(features, {
          client,
          upstream,
          proxy: { filter: ({ name }) => name === "one" }
        })
        assert.deepStrictEqual(names(yield* all(session.tools)), ["one"])
        assert.deepStrictEqual(yield* all(session.resources), [])
        assert.strictEqual((yield* Effect.flip(session.callTool("two")))._tag, "InvalidParams")
        assert.strictEqual((yield* Effect.flip(session.readResource("file:///a")))._tag, "ResourceNotFound")
      }))

    it.scopedLive("stand beside the application's own, which come first", () =>
      Effect.gen(function*() {
        const session = yield* proxied(features, {
          client,
          upstream,
          own: Layer.merge(tool("two", "own"), tool("three"))
        })
        assert.deepStrictEqual(names(yield* all(session.tools)), ["link", "one", "three", "two"])
        assert.strictEqual(text(yield* session.callTool("two")), "own")
        assert.strictEqual(text(yield* session.callTool("three")), "three")
        assert.strictEqual(text(yield* session.callTool("one")), "one")
      }))
  })
}

describe("A function of the application that throws", () => {
  const failing = ({ name }: { readonly name: string }) => {
    if (name === "two" || name === "greet") throw new Error("no title")
    return true
  }
  const options = {
    filter: { filter: failing },
    rename: { rename: (entry: ProxyEntry) => failing(entry) ? entry.name : "" }
  }
  for (const option of ["filter", "rename"] as const) {
    it.scopedLive(`as ${option} costs the entry for which it throws, and nothing else`, () =>
      Effect.gen(function*() {
        const logged: Array<string> = []
        const logger = Logger.make(({ cause, logLevel, message }) =>
          void logged.push(`${logLevel.label} ${String(message)} ${Cause.pretty(cause)}`)
        )
        yield* Effect.gen(function*() {
          const connector = yield* server(features, { versions: legacy })
          const through = yield* entrance(connector, { proxy: options[option] })
          const session = yield* Client.make(through, { versions: legacy })
          assert.deepStrictEqual(names(yield* all(session.tools)), ["link", "one"])
          assert.deepStrictEqual(names(yield* all(session.prompts)), [])
          assert.strictEqual(text(yield* session.callTool("one")), "one")
        }).pipe(Effect.provide(Logger.replace(Logger.defaultLogger, logger)))
        assert.lengthOf(logged, 2)
        assert.match(logged[0]!, /^ERROR The tool "two" of the upstream "up" is left out: .* Error: no title/)
        assert.match(logged[1]!, /^ERROR The prompt "greet" of the upstream "up" is left out: .* Error: no title/)
      }))
  }
})

describe("Two proxies on one server", () => {
  it.scopedLive("have the entries of both upstreams, by prefixes", () =>
    Effect.gen(function*() {
      const [first, second] = yield* Effect.all([server(tool("x", "first")), server(tool("x", "second"))])
      const session = yield* gateway(first, { proxy: { prefix: "a." }, own: Proxy.layer(second, { prefix: "b." }) })
      assert.deepStrictEqual(names(yield* all(session.tools)), ["a.x", "b.x"])
      assert.strictEqual(text(yield* session.callTool("a.x")), "first")
      assert.strictEqual(text(yield* session.callTool("b.x")), "second")
    }))

  it.scopedLive("of equal names, have the entry of one", () =>
    Effect.gen(function*() {
      const [first, second] = yield* Effect.all([server(tool("x", "first")), server(tool("x", "second"))])
      const session = yield* gateway(first, { own: Proxy.layer(second) })
      assert.deepStrictEqual(names(yield* all(session.tools)), ["x"])
      assert.include(["first", "second"], text(yield* session.callTool("x")))
    }))

  it.scopedLive("in a row pass the names of both", () =>
    Effect.gen(function*() {
      const inner = yield* server(Proxy.layer(yield* server(tool("x"), { versions: legacy }), { prefix: "in_" }))
      const session = yield* gateway(inner, { proxy: { prefix: "out_" } })
      assert.deepStrictEqual(names(yield* all(session.tools)), ["out_in_x"])
      assert.strictEqual(text(yield* session.callTool("out_in_x")), "x")
    }))
})
