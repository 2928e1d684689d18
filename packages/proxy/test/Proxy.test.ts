import { assert, describe, it } from "@effect/vitest"
import * as ClientFeatures from "@effect-mcp/core/ClientFeatures"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Prompt from "@effect-mcp/core/Prompt"
import * as McpError from "@effect-mcp/core/protocol/McpError"
import { RequestContext } from "@effect-mcp/core/RequestContext"
import * as Resource from "@effect-mcp/core/Resource"
import * as ResourceTemplate from "@effect-mcp/core/ResourceTemplate"
import { ServerSession } from "@effect-mcp/core/ServerSession"
import * as Tool from "@effect-mcp/core/Tool"
import * as ToolResult from "@effect-mcp/core/ToolResult"
import { Deferred, Effect, Fiber, Layer, Queue, Schema } from "effect"
import { all, pairs, proxied, received } from "./Setting.js"

const Add = Tool.make("add", {
  description: "Adds two numbers",
  parameters: { a: Schema.Number, b: Schema.Number },
  success: Schema.Struct({ sum: Schema.Number })
})
const Fail = Tool.make("fail", { failure: Schema.Struct({ why: Schema.String }) })
const Hidden = Tool.make("refuse")
const Rich = Tool.make("rich")
const Readme = Resource.make("readme", { uri: "file:///readme.md", mimeType: "text/markdown" })
const Note = ResourceTemplate.make("note")`note://${ResourceTemplate.param("id", Schema.String)}`
const Greet = Prompt.make("greet", { arguments: { name: Schema.String } })

const features = Layer.mergeAll(
  McpServer.tool(Add, ({ a, b }) => Effect.succeed({ sum: a + b })),
  McpServer.tool(Fail, () => Effect.fail({ why: "no luck" })),
  McpServer.tool(Hidden, () => Effect.fail(new McpError.PeerError({ code: 77, message: "mine", data: { x: 1 } }))),
  McpServer.tool(Rich, () =>
    Effect.succeed(
      ToolResult.make(
        { type: "text", text: "one" },
        { type: "resource_link", uri: "file:///readme.md", name: "readme" }
      ).pipe(ToolResult.withMeta({ "example.com/k": 1 }))
    )),
  McpServer.resource(Readme, Effect.succeed("# hi")),
  McpServer.resourceTemplate(Note, ({ id }) => Effect.succeed(`note ${id}`), {
    complete: { id: (value) => Effect.succeed(["one", "two"].filter((one) => one.startsWith(value))) }
  }),
  McpServer.prompt(Greet, ({ name }) => Effect.succeed(`Hello, ${name}`), {
    complete: { name: () => Effect.succeed(["Ada"]) }
  })
)

for (const [name, client, upstream] of pairs) {
  describe(`A proxy, ${name}`, () => {
    const connected = (more: Parameters<typeof proxied>[1] = {}, own = features) =>
      proxied(own, { client, upstream, ...more })

    it.scopedLive("passes arguments on as the client sent them: only the upstream mends them and knows their names", () =>
      Effect.gen(function*() {
        const args = { a: "1", b: 2, c: null }
        const strict = yield* connected({ server: { mendArguments: false, unknownArguments: "refuse" } })
        const refused = yield* strict.callTool("add", args)
        assert.isTrue(refused.isError)
        assert.include(JSON.stringify(refused.content), "a: Expected number, actual \\\"1\\\"; \\\"c\\\" is unknown")
        const mending = yield* connected()
        assert.deepStrictEqual((yield* mending.callTool("add", args)).structuredContent, { sum: 3 })
      }))

    it.scopedLive("passes capabilities and instructions on", () =>
      Effect.gen(function*() {
        const session = yield* connected({ server: { instructions: "Be brief." } })
        const { completions, prompts, resources, tools } = session.serverCapabilities
        assert.deepStrictEqual([completions, prompts, resources, tools].map((one) => one !== undefined), [
          true,
          true,
          true,
          true
        ])
        assert.strictEqual(session.instructions, "Be brief.")
        const silent = yield* connected({ proxy: { instructions: false }, server: { instructions: "Be brief." } })
        assert.isUndefined(silent.instructions)
      }))

    it.scopedLive("lists and calls what the upstream has", () =>
      Effect.gen(function*() {
        const session = yield* connected()
        const tools = yield* all(session.tools)
        assert.deepStrictEqual(tools.map(({ name }) => name), ["add", "fail", "refuse", "rich"])
        assert.strictEqual(tools[0]!.description, "Adds two numbers")
        assert.deepInclude(tools[0]!.outputSchema, { type: "object" })
        const sum = yield* session.callTool("add", { a: 1, b: 2 })
        assert.deepStrictEqual(sum.structuredContent, { sum: 3 })
        assert.deepStrictEqual((yield* all(session.resources)).map(({ uri }) => uri), ["file:///readme.md"])
        assert.deepStrictEqual((yield* session.readResource("file:///readme.md")).contents, [{
          uri: "file:///readme.md",
          mimeType: "text/markdown",
          text: "# hi"
        }])
        assert.deepStrictEqual(
          (yield* all(session.resourceTemplates)).map(({ uriTemplate }) => uriTemplate),
          ["note://{id}"]
        )
        assert.deepInclude((yield* session.readResource("note://7")).contents[0]!, { text: "note 7" })
        assert.deepStrictEqual((yield* all(session.prompts)).map(({ name }) => name), ["greet"])
        const { messages } = yield* session.getPrompt("greet", { name: "Ada" })
        assert.deepInclude(messages[0]!.content, { type: "text", text: "Hello, Ada" })
      }))

    it.scopedLive("completes arguments of prompts and templates", () =>
      Effect.gen(function*() {
        const session = yield* connected()
        const names = yield* session.complete({ type: "ref/prompt", name: "greet" }, { name: "name", value: "" })
        assert.deepStrictEqual(names.values, ["Ada"])
        const ids = yield* session.complete({ type: "ref/resource", uri: "note://{id}" }, { name: "id", value: "t" })
        assert.deepStrictEqual(ids.values, ["two"])
      }))

    it.scopedLive("keeps isError, _meta and links of results", () =>
      Effect.gen(function*() {
        const session = yield* connected()
        const failed = yield* session.callTool("fail")
        assert.isTrue(failed.isError)
        const rich = yield* session.callTool("rich")
        assert.deepStrictEqual(rich._meta, { "example.com/k": 1 })
        assert.deepStrictEqual<unknown>(rich.content, [
          { type: "text", text: "one" },
          { type: "resource_link", uri: "file:///readme.md", name: "readme" }
        ])
      }))

    it.scopedLive("passes errors on with their code and data", () =>
      Effect.gen(function*() {
        const session = yield* connected()
        const error = yield* Effect.flip(session.callTool("refuse"))
        assert.deepInclude(error, { _tag: "PeerError", code: 77, message: "mine" })
        const unknown = yield* Effect.flip(session.readResource("other://x"))
        assert.strictEqual(unknown._tag, "ResourceNotFound")
      }))

    it.scopedLive("notifies of added and removed entries", () =>
      Effect.gen(function*() {
        const adding = yield* Queue.unbounded<void>()
        const later = Layer.scopedDiscard(Effect.gen(function*() {
          const context = yield* Effect.context<any>()
          yield* Effect.forkScoped(
            Effect.gen(function*() {
              yield* adding.take
              yield* Effect.scoped(Effect.zipRight(
                Layer.build(McpServer.tool(Tool.make("later"), () => Effect.succeed("now"))),
                adding.take
              ))
            }).pipe(Effect.provide(context))
          )
        })) as Layer.Layer<never>
        const session = yield* connected({}, Layer.merge(features, later) as typeof features)
        yield* session.awaitSubscription
        const changes = yield* received(session.listChanges)
        yield* adding.offer()
        assert.strictEqual(yield* changes.take, "tools")
        assert.include((yield* all(session.tools)).map(({ name }) => name), "later")
        assert.deepInclude((yield* session.callTool("later")).content[0]!, { text: "now" })
        yield* adding.offer()
        assert.strictEqual(yield* changes.take, "tools")
        assert.notInclude((yield* all(session.tools)).map(({ name }) => name), "later")
      }))

    it.scopedLive("passes subscriptions and updates of resources on", () =>
      Effect.gen(function*() {
        const changing = yield* Queue.unbounded<void>()
        const updating = Layer.scopedDiscard(Effect.gen(function*() {
          const context = yield* Effect.context<any>()
          yield* Effect.forkScoped(
            Effect.forever(Effect.zipRight(changing.take, McpServer.resourceUpdated("file:///readme.md"))).pipe(
              Effect.provide(context)
            )
          )
        })) as Layer.Layer<never>
        const session = yield* connected({}, Layer.merge(features, updating) as typeof features)
        yield* session.awaitSubscription
        const updates = yield* received(session.resourceUpdates)
        yield* session.subscribeResource("file:///readme.md")
        yield* changing.offer()
        assert.strictEqual(yield* updates.take, "file:///readme.md")
        yield* session.unsubscribeResource("file:///readme.md")
      }))

    it.scopedLive("passes progress on", () =>
      Effect.gen(function*() {
        const Slow = Tool.make("slow")
        const slow = McpServer.tool(Slow, () =>
          Effect.gen(function*() {
            const { progress } = yield* RequestContext
            yield* progress(1, { total: 2, message: "half" })
            yield* progress(2, { total: 2 })
            return "done"
          }))
        const session = yield* connected({}, slow)
        const seen: Array<unknown> = []
        yield* session.callTool("slow", {}, { onProgress: (one) => Effect.sync(() => seen.push(one)) })
        assert.deepStrictEqual(JSON.parse(JSON.stringify(seen)), [
          { progress: 1, total: 2, message: "half" },
          { progress: 2, total: 2 }
        ])
      }))

    it.scopedLive("passes log messages on", () =>
      Effect.gen(function*() {
        const Chat = Tool.make("chat")
        const chat = McpServer.tool(Chat, () =>
          Effect.gen(function*() {
            const { log } = yield* RequestContext
            yield* log("debug", "hidden")
            yield* log("error", { x: 1 }, "chatter")
            return "done"
          }))
        const session = yield* connected({}, chat)
        yield* session.setLoggingLevel("warning")
        const logs = yield* received(session.logs)
        yield* session.callTool("chat")
        assert.deepInclude(yield* logs.take, { level: "error", data: { x: 1 }, logger: "chatter" })
      }))

    it.scopedLive("passes a cancellation on", () =>
      Effect.gen(function*() {
        const begun = yield* Deferred.make<void>()
        const ended = yield* Deferred.make<void>()
        const Hang = Tool.make("hang")
        const hang = McpServer.tool(Hang, () =>
          Effect.zipRight(Deferred.succeed(begun, undefined), Effect.never).pipe(
            Effect.onInterrupt(() => Deferred.succeed(ended, undefined))
          ))
        const session = yield* connected({}, hang)
        const call = yield* Effect.fork(session.callTool("hang"))
        yield* Deferred.await(begun)
        yield* Fiber.interrupt(call)
        yield* Deferred.await(ended)
      }))

    it.scopedLive("has the client answer what the upstream asks", () =>
      Effect.gen(function*() {
        const Asking = Tool.make("asking")
        const Name = Schema.Struct({ name: Schema.String })
        let runs = 0
        const asking = McpServer.tool(Asking, () =>
          Effect.gen(function*() {
            runs++
            const session = yield* ServerSession
            const form = yield* session.elicit({ message: "Who?", schema: Name })
            const roots = yield* session.listRoots
            const sample = yield* session.createMessage({
              messages: [{ role: "user", content: { type: "text", text: "hi" } }],
              maxTokens: 5
            })
            return JSON.stringify([form, roots.map(({ uri }) => uri), sample.model])
          }))
        const asked: Array<string> = []
        const session = yield* connected({
          features: Layer.mergeAll(
            ClientFeatures.elicitation(({ message }) =>
              Effect.sync(() => {
                asked.push(message)
                return { action: "accept", content: { name: "Ada" } }
              })
            ),
            ClientFeatures.roots(Effect.succeed([{ uri: "file:///home" }])),
            ClientFeatures.sampling(({ maxTokens }) =>
              Effect.succeed({ model: `m${maxTokens}`, role: "assistant", content: { type: "text", text: "yes" } })
            )
          )
        }, asking)
        const result = yield* session.callTool("asking")
        assert.deepInclude(result.content[0]!, {
          text: JSON.stringify([{ action: "accept", content: { name: "Ada" } }, ["file:///home"], "m5"])
        })
        assert.deepStrictEqual(asked, ["Who?"])
        // Only an upstream of 2026-07-28 runs a call again.
        assert.strictEqual(runs, upstream[0] === "2026-07-28" ? 4 : 1)
      }))

    it.scopedLive("tells the upstream which questions the client can answer", () =>
      Effect.gen(function*() {
        const Asking = Tool.make("asking")
        const asking = McpServer.tool(Asking, () =>
          Effect.map(
            RequestContext,
            ({ client: { capabilities: { elicitation, roots, sampling } } }) =>
              [elicitation, roots, sampling].map((one) => one !== undefined).join()
          ))
        const session = yield* connected({ features: ClientFeatures.roots(Effect.succeed([])) }, asking)
        assert.deepInclude((yield* session.callTool("asking")).content[0]!, { text: "false,true,false" })
      }))
  })
}
