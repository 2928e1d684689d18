import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { key, text } from "../behaviour/Behaviour.js"
import * as Contract from "../behaviour/Contract.js"
import { each, failureOf, methodsOf, Shared } from "./OfficialModernSetting.js"

const inOrder = (names: Iterable<string>) => [...names].sort()

each((it, { another, transport }) => {
  it.scoped("exchange a description of the server, and no handshake", () =>
    Effect.gen(function*() {
      const client = yield* Shared
      assert.deepStrictEqual(client.serverInfo, Contract.info)
      assert.strictEqual(client.instructions, Contract.instructions)
      assert.sameMembers(Object.keys(client.capabilities), [
        "completions",
        "logging",
        "prompts",
        "resources",
        "tools"
      ])
      const { structuredContent } = yield* client.call("who")
      assert.deepStrictEqual(structuredContent, { name: "official", version: "2026-07-28", inSession: false })
      assert.notInclude(methodsOf(client), "initialize")
      assert.isUndefined(client.sessionId())
    }))

  it.scoped("list all features as they were defined, page by page", () =>
    Effect.gen(function*() {
      const client = yield* another()
      const names = inOrder(Contract.Tools.tools.keys())
      assert.isAbove(names.length, 3 * Contract.PAGE)
      assert.deepStrictEqual(yield* client.list, names.map((name) => Contract.Tools.tools.get(name)!.advertised))
      assert.lengthOf(
        methodsOf(client).filter((method) => method === "tools/list"),
        Math.ceil(names.length / Contract.PAGE)
      )
      const { resources } = yield* client.ask((sdk) => sdk.listResources())
      assert.deepStrictEqual(
        resources,
        Contract.resources.map(({ advertised }) => advertised)
      )
      const { resourceTemplates } = yield* client.ask((sdk) => sdk.listResourceTemplates())
      assert.deepStrictEqual(resourceTemplates, [Contract.Item.advertised])
      const { prompts } = yield* client.ask((sdk) => sdk.listPrompts())
      assert.deepStrictEqual(prompts, Contract.prompts.map(({ advertised }) => advertised))
      const invalid = yield* failureOf(client.ask((sdk) => sdk.listTools({ cursor: "made up" })))
      assert.strictEqual(invalid.code, -32602)
    }))

  it.scoped("read resources: text, bytes, one of a template, and an unknown one", () =>
    Effect.gen(function*() {
      const client = yield* Shared
      const read = (uri: string) => Effect.map(client.ask((sdk) => sdk.readResource({ uri })), (it) => it.contents)
      assert.deepStrictEqual(yield* read("test://text"), [
        { uri: "test://text", mimeType: "text/plain", text: "ä€😀" }
      ])
      assert.deepStrictEqual(yield* read("test://bytes"), [
        { uri: "test://bytes", mimeType: "application/octet-stream", blob: "AAH+/w==" }
      ])
      assert.deepStrictEqual(yield* read("test://items/42"), [
        { uri: "test://items/42", mimeType: "application/json", text: "{\"id\":42}" }
      ])
      const missing = yield* failureOf(read("test://nowhere"))
      assert.strictEqual(missing.code, -32602)
      assert.include(missing.message, "Resource not found: test://nowhere")
    }))

  it.scoped("get prompts, and fail for unknown ones and invalid arguments", () =>
    Effect.gen(function*() {
      const client = yield* Shared
      const get = (name: string, args?: Record<string, string>) =>
        client.ask((sdk) => sdk.getPrompt({ name, ...(args === undefined ? {} : { arguments: args }) }))
      assert.deepStrictEqual((yield* get("plain")).messages, [
        { role: "user", content: text("Say something.")[0] }
      ])
      assert.deepStrictEqual((yield* get("greet", { name: "Ada", tone: "formal" })).messages, [
        { role: "user", content: text("Greet Ada.")[0] },
        { role: "assistant", content: text("In a formal way?")[0] }
      ])
      assert.strictEqual((yield* failureOf(get("greet", { name: "Ada", tone: "rude" }))).code, -32602)
      assert.strictEqual((yield* failureOf(get("none"))).code, -32602)
    }))

  it.scoped("complete arguments, depending on others", () =>
    Effect.gen(function*() {
      const client = yield* Shared
      const complete = (params: object) =>
        Effect.map(client.ask((sdk) => sdk.complete(params)), ({ completion }) => completion.values)
      const greet = { type: "ref/prompt", name: "greet" }
      assert.deepStrictEqual(yield* complete({ ref: greet, argument: { name: "tone", value: "fr" } }), [
        "friendly"
      ])
      assert.deepStrictEqual(
        yield* complete({
          ref: greet,
          argument: { name: "name", value: "A" },
          context: { arguments: { tone: "formal" } }
        }),
        ["Aa in formal tone", "Ab in formal tone"]
      )
      const item = { type: "ref/resource", uri: "test://items/{id}" }
      assert.deepStrictEqual(yield* complete({ ref: item, argument: { name: "id", value: "12" } }), ["12", "123"])
    }))

  it.scoped("call tools: structured content, a declared failure, content of every kind", () =>
    Effect.gen(function*() {
      const client = yield* Shared
      // From here on the client validates structured content.
      yield* client.list
      const sum = yield* client.call("add", { a: 2, b: 3 })
      assert.deepStrictEqual([sum.structuredContent, sum.content], [{ sum: 5 }, text("{\"sum\":5}")])
      const failed = yield* client.call("add", { a: 1000 })
      assert.isTrue(failed.isError)
      assert.deepStrictEqual(JSON.parse(failed.content[0].text), { _tag: "TooLarge", limit: 1000 })
      const refused = yield* client.call("add", { a: "two" })
      assert.isTrue(refused.isError)
      const { _meta, content } = yield* client.call("rich")
      assert.deepStrictEqual(
        content.map(({ type }: { readonly type: string }) => type),
        ["text", "image", "audio", "resource_link", "resource"]
      )
      assert.deepInclude(_meta, { "example.com/kind": "rich" })
    }))

  it.scoped("repeat marked arguments in headers, over HTTP", () =>
    Effect.gen(function*() {
      const client = yield* another()
      const route = (region: string, priority?: number) =>
        Effect.map(
          client.call("route", { region, ...(priority === undefined ? {} : { priority }) }),
          ({ structuredContent }) => structuredContent
        )
      const headers = (...sent: ReadonlyArray<string>) => transport.kind === "http" ? sent : []
      // A client that has not listed the tool lists it when the server refuses the call.
      assert.deepStrictEqual(yield* route("us-west1"), {
        region: "us-west1",
        headers: headers("mcp-param-region: us-west1")
      })
      // The client encodes the empty text, which may be sent as it is.
      for (const region of ["", " padded ", "Hello, 世界", "line1\r\nline2", "=?base64?literal?="]) {
        const encoded = `=?base64?${Buffer.from(region).toString("base64")}?=`
        assert.deepStrictEqual(yield* route(region, 7), {
          region,
          headers: headers("mcp-param-priority: 7", `mcp-param-region: ${encoded}`)
        })
      }
    }))

  it.scoped("exchange large results, many at once", () =>
    Effect.gen(function*() {
      const client = yield* Shared
      const lengths = [1, 70_000, 3_000_000, 10, 1_000_000]
      const results = yield* Effect.forEach(lengths, (length) => client.call("large", { length }), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(results.map(({ content }) => content[0].text.length), lengths)
    }))

  it.scoped("call many tools concurrently, each with its own result", () =>
    Effect.gen(function*() {
      const client = yield* Shared
      const numbers = Array.from({ length: 60 }, (_, n) => n)
      const sums = yield* Effect.forEach(numbers, (a) => client.call("add", { a }), { concurrency: "unbounded" })
      assert.deepStrictEqual(
        sums.map(({ structuredContent }) => structuredContent.sum),
        numbers.map((n) => n + 1)
      )
    }))

  it.scoped("fail with a protocol error for an unknown tool, and get a tool error of a handler that dies", () =>
    Effect.gen(function*() {
      const client = yield* Shared
      assert.strictEqual((yield* failureOf(client.call("none"))).code, -32602)
      const { content, isError } = yield* client.call("die", { key: key() })
      assert.deepStrictEqual([content, isError], [[{ type: "text", text: "Internal error" }], true])
    }))
})
