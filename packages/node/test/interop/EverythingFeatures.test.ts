import { assert, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import * as ClientFeatures from "@effect-mcp/core/ClientFeatures"
import type { ClientSessionService } from "@effect-mcp/core/ClientSession"
import * as ClientSessionGroup from "@effect-mcp/core/ClientSessionGroup"
import type * as McpError from "@effect-mcp/core/protocol/McpError"
import * as StdioClient from "@effect-mcp/node/StdioClient"
import { Chunk, Deferred, Effect, Fiber, Layer, Queue, Ref, Schedule, type Scope, Stream } from "effect"
import { randomUUID } from "node:crypto"
import { createRequire } from "node:module"
import { gunzipSync } from "node:zlib"
import { untilSuspended } from "../../../testing/test/support/Suspended.js"
import { node } from "../Fixture.js"
import { pidsOf } from "../Processes.js"
import { suite } from "./Ways.js"

const program = createRequire(import.meta.url).resolve("@modelcontextprotocol/server-everything/dist/index.js")

const launching = (mark: string) =>
  StdioClient.connector({
    command: node,
    args: [program, "stdio", mark],
    stderr: "ignore",
    // It does not exit at the end of its input while it works.
    closeTimeouts: { grace: "100 millis" }
  })

const all = <A, E>(stream: Stream.Stream<A, E>) => Effect.map(Stream.runCollect(stream), Chunk.toReadonlyArray)

/** The text of the first content block. */
const text = (result: { readonly content: ReadonlyArray<object> }) =>
  (result.content[0] as { readonly text: string }).text

/** The JSON of the client's response, at the end of the tool's last content block. */
const raw = (result: { readonly content: ReadonlyArray<object> }) => {
  const { text } = result.content.at(-1) as { readonly text: string }
  return JSON.parse(text.slice(text.indexOf("{")))
}

/** The elements of the stream from now on. */
const received = <A>(stream: Stream.Stream<A>): Effect.Effect<Queue.Dequeue<A>, never, Scope.Scope> =>
  Effect.gen(function*() {
    const queue = yield* Queue.unbounded<A>()
    const listening = yield* Effect.forkScoped(Stream.runForEach(stream, (one) => queue.offer(one)))
    yield* untilSuspended(listening)
    return queue
  })

const names = (client: ClientSessionService) => Effect.map(all(client.tools), (tools) => tools.map(({ name }) => name))

const title = "A client of Effect MCP and the official everything server, with features of both sides"

suite(title, ({ isDirect, to }) => {
  const connect = (features: Layer.Layer<never, never, ClientFeatures.ClientFeatures> = Layer.empty) =>
    Effect.flatMap(
      to(launching(randomUUID()), "mcp-servers/everything"),
      (connector) => Client.make(connector, { features })
    )

  it.scopedLive("list the tools that send requests to the client only for its capabilities", () =>
    Effect.gen(function*() {
      const asks = [
        "get-roots-list",
        "trigger-elicitation-request",
        "trigger-sampling-request",
        "trigger-url-elicitation"
      ]
      const without = yield* names(yield* connect())
      for (const name of asks) assert.notInclude(without, name)
      const able = yield* connect(Layer.mergeAll(
        ClientFeatures.roots(Effect.succeed([])),
        ClientFeatures.elicitation(() => Effect.succeed({ action: "cancel" })),
        ClientFeatures.urlElicitation(() => Effect.succeed("cancel")),
        ClientFeatures.sampling(() => Effect.dieMessage("unexpected request"))
      ))
      assert.includeMembers(yield* names(able), asks)
    }))

  it.scopedLive("send sampling requests", () =>
    Effect.gen(function*() {
      const client = yield* connect(ClientFeatures.sampling(({ maxTokens, messages, systemPrompt }) =>
        Effect.succeed({
          role: "assistant",
          content: {
            type: "text",
            text: `${systemPrompt} ${JSON.stringify(messages[0]!.content)} in ${maxTokens}`
          },
          model: "m",
          stopReason: "endTurn"
        })
      ))
      const answer = raw(yield* client.callTool("trigger-sampling-request", { prompt: "hello", maxTokens: 7 }))
      assert.deepInclude(answer, { role: "assistant", model: "m", stopReason: "endTurn" })
      assert.include(answer.content.text, "You are a helpful test server.")
      assert.include(answer.content.text, "context: hello")
      assert.include(answer.content.text, "in 7")
    }))

  it.scopedLive("elicit a form with every kind of field: with defaults, declined, cancelled", () =>
    Effect.gen(function*() {
      const answers = yield* Queue.unbounded<ClientFeatures.Answer>()
      yield* answers.offerAll([
        { action: "accept", content: { name: "Ada", email: "ada@example.com", untitledMultipleSelectEnum: ["Drums"] } },
        { action: "decline" },
        { action: "cancel" }
      ])
      const client = yield* connect(ClientFeatures.elicitation(() => answers.take))
      const elicit = client.callTool("trigger-elicitation-request")
      assert.deepStrictEqual(raw(yield* elicit), {
        action: "accept",
        content: {
          name: "Ada",
          email: "ada@example.com",
          firstLine: "It was a dark and stormy night.",
          integer: 42,
          number: 3.14,
          untitledSingleSelectEnum: "Monica",
          untitledMultipleSelectEnum: ["Drums"],
          titledSingleSelectEnum: "hero-1",
          titledMultipleSelectEnum: ["fish-1"],
          legacyTitledEnum: "pet-1"
        }
      })
      assert.deepStrictEqual(raw(yield* elicit), { action: "decline" })
      assert.deepStrictEqual(raw(yield* elicit), { action: "cancel" })
    }))

  it.scopedLive("elicit a URL: by request, and by an error of the call", () =>
    Effect.gen(function*() {
      const opened = yield* Ref.make<ReadonlyArray<string>>([])
      const client = yield* connect(
        ClientFeatures.urlElicitation(({ url }) => Effect.as(Ref.update(opened, (urls) => [...urls, url]), "accept"))
      )
      const sign = (args: { readonly errorPath: boolean }) =>
        client.callTool("trigger-url-elicitation", { url: "https://example.com/", elicitationId: "7", ...args })
      assert.include(text(yield* sign({ errorPath: false })), "Elicitation ID: 7")
      const first = yield* Effect.flip(sign({ errorPath: true }))
      assert.strictEqual(first._tag, "UrlElicitationRequired")
      const [page] = (first as McpError.UrlElicitationRequired).elicitations
      assert.strictEqual(page!.url, "https://modelcontextprotocol.io")
      // The user has completed the URL: now the call succeeds.
      assert.deepStrictEqual(raw(yield* sign({ errorPath: true })), { action: "accept" })
      assert.deepStrictEqual(yield* Ref.get(opened), ["https://example.com/", "https://example.com/"])
    }))

  it.scopedLive("list the roots, and list them again when they change", () =>
    Effect.gen(function*() {
      const roots = yield* Ref.make([{ uri: "file:///a", name: "first" }])
      const changes = yield* Queue.unbounded<void>()
      const logged = yield* Queue.unbounded<unknown>()
      const client = yield* connect(Layer.merge(
        ClientFeatures.roots(Ref.get(roots), { changes: Stream.fromQueue(changes) }),
        ClientFeatures.logging(({ data }) => logged.offer(data))
      ))
      assert.include(text(yield* client.callTool("get-roots-list")), "1. first\n   URI: file:///a")
      const until = (message: string) => Effect.repeat(logged.take, { until: (data) => data === message })
      yield* until("Roots updated: 1 root(s) received from client")
      yield* Ref.update(roots, (roots) => [...roots, { uri: "file:///b", name: "second" }])
      yield* changes.offer()
      yield* until("Roots updated: 2 root(s) received from client")
      assert.include(text(yield* client.callTool("get-roots-list")), "2. second\n   URI: file:///b")
    }))

  it.scopedLive("list and read resources, also those of templates", () =>
    Effect.gen(function*() {
      const client = yield* connect()
      const resources = yield* all(client.resources)
      const features = resources.find(({ name }) => name === "features.md")!
      assert.strictEqual(features.mimeType, "text/markdown")
      const [read] = (yield* client.readResource(features.uri)).contents
      assert.include((read as { readonly text: string }).text, "# ")
      const templates = ["demo://resource/dynamic/text/{resourceId}", "demo://resource/dynamic/blob/{resourceId}"]
      // A proxy sorts its lists.
      assert.deepStrictEqual(
        (yield* all(client.resourceTemplates)).map(({ uriTemplate }) => uriTemplate),
        isDirect ? templates : templates.sort()
      )
      const [note] = (yield* client.readResource("demo://resource/dynamic/text/7")).contents
      assert.include((note as { readonly text: string }).text, "Resource 7: This is a plaintext resource")
      const [blob] = (yield* client.readResource("demo://resource/dynamic/blob/7")).contents
      assert.include(
        Buffer.from((blob as { readonly blob: string }).blob, "base64").toString(),
        "Resource 7: This is a base64 blob"
      )
      assert.strictEqual((yield* Effect.flip(client.readResource("demo://none")))._tag, "InvalidParams")
    }))

  it.scopedLive("send updates of subscribed resources only", () =>
    Effect.gen(function*() {
      const client = yield* connect()
      const updates = yield* received(client.resourceUpdates)
      const uri = (id: number) => `demo://resource/dynamic/text/${id}`
      for (const id of [1, 2]) yield* client.subscribeResource(uri(id))
      yield* client.unsubscribeResource(uri(1))
      yield* client.callTool("toggle-subscriber-updates")
      assert.strictEqual(yield* updates.take, uri(2))
      assert.strictEqual(yield* updates.size, 0)
    }))

  it.scopedLive("notify of a new resource, to which a tool links", () =>
    Effect.gen(function*() {
      const client = yield* connect()
      const changes = yield* received(client.listChanges)
      const args = { name: "hello.gz", data: "data:text/plain,hello" }
      const [link] = (yield* client.callTool("gzip-file-as-resource", args)).content
      assert.deepStrictEqual<unknown>(link, {
        type: "resource_link",
        uri: "demo://resource/session/hello.gz",
        name: "hello.gz",
        mimeType: "application/gzip"
      })
      yield* Effect.repeat(changes.take, { until: (change) => change === "resources" })
      assert.include((yield* all(client.resources)).map(({ uri }) => uri), "demo://resource/session/hello.gz")
      const [read] = (yield* client.readResource("demo://resource/session/hello.gz")).contents
      const zipped = Buffer.from((read as { readonly blob: string }).blob, "base64")
      assert.strictEqual(gunzipSync(zipped).toString(), "hello")
    }))

  it.scopedLive("list and get prompts, and complete arguments depending on others", () =>
    Effect.gen(function*() {
      const client = yield* connect()
      assert.includeMembers((yield* all(client.prompts)).map(({ name }) => name), [
        "simple-prompt",
        "args-prompt",
        "completable-prompt",
        "resource-prompt"
      ])
      const userMessage = (content: object) => [{ role: "user" as const, content }]
      assert.deepStrictEqual<unknown>(
        (yield* client.getPrompt("args-prompt", { city: "Oslo" })).messages,
        userMessage({ type: "text", text: "What's weather in Oslo?" })
      )
      const { messages } = yield* client.getPrompt("resource-prompt", { resourceType: "Text", resourceId: "7" })
      assert.strictEqual(messages[1]!.content.type, "resource")
      assert.strictEqual((yield* Effect.flip(client.getPrompt("args-prompt")))._tag, "InvalidParams")
      const ref = { type: "ref/prompt", name: "completable-prompt" } as const
      const name = { name: "name", value: "" }
      const values = (department: string) =>
        Effect.map(client.complete(ref, name, { others: { department } }), ({ values }) => values)
      assert.deepStrictEqual((yield* client.complete(ref, { name: "department", value: "S" })).values, [
        "Sales",
        "Support"
      ])
      assert.deepStrictEqual(yield* values("Sales"), ["David", "Eve", "Frank"])
      assert.deepStrictEqual(yield* values("Support"), ["John", "Kim", "Lee"])
    }))

  it.scopedLive("transfer content of every kind", () =>
    Effect.gen(function*() {
      const client = yield* connect()
      const kinds = (name: string, args = {}) =>
        Effect.map(client.callTool(name, args), ({ content }) => content.map(({ type }) => type))
      assert.deepStrictEqual(yield* kinds("get-tiny-image"), ["text", "image", "text"])
      assert.deepStrictEqual(yield* kinds("get-resource-links", { count: 2 }), [
        "text",
        "resource_link",
        "resource_link"
      ])
      assert.deepStrictEqual(yield* kinds("get-resource-reference", { resourceType: "Text", resourceId: 1 }), [
        "text",
        "resource",
        "text"
      ])
      const annotated = yield* client.callTool("get-annotated-message", { messageType: "error", includeImage: true })
      assert.deepStrictEqual(annotated.content.map(({ annotations }) => annotations), [
        { audience: ["user", "assistant"], priority: 1 },
        { audience: ["user"], priority: 0.5 }
      ])
    }))

  it.scopedLive("validate structured content by the output schema", () =>
    Effect.gen(function*() {
      const client = yield* connect()
      const { structuredContent } = yield* client.callTool("get-structured-content", { location: "New York" })
      assert.deepStrictEqual(structuredContent, { temperature: 33, conditions: "Cloudy", humidity: 82 })
    }))

  // A group reconnects a proxy, and the proxy its upstream.
  if (isDirect) {
    it.scopedLive("reconnect in a group with a new process when the server is killed during a call", () =>
      Effect.gen(function*() {
        const mark = randomUUID()
        const group = yield* ClientSessionGroup.make()
        const has = (is: boolean) =>
          Stream.runHead(Stream.filter(group.changes, ({ tools }) => tools.has("echo") === is))
        yield* group.connect("everything", launching(mark), { reconnect: Schedule.spaced("10 millis") })
        const echo = Effect.map(group.callTool("echo", { message: "hi" }), text)
        assert.strictEqual(yield* echo, "Echo: hi")
        const begun = yield* Deferred.make<void>()
        const calling = yield* Effect.fork(Effect.flip(
          group.callTool("trigger-long-running-operation", { duration: 3600, steps: 72_000 }, {
            onProgress: () => Deferred.succeed(begun, undefined)
          })
        ))
        yield* Deferred.await(begun)
        const gone = yield* Effect.fork(has(false))
        yield* Effect.yieldNow()
        const [pid] = pidsOf(mark)
        process.kill(pid!, "SIGKILL")
        const error = yield* Fiber.join(calling)
        assert.strictEqual(error._tag, "ConnectionClosed")
        assert.include(error.message, "was ended by SIGKILL")
        yield* Fiber.join(gone)
        yield* has(true)
        assert.strictEqual(yield* echo, "Echo: hi")
        assert.notInclude(pidsOf(mark), pid)
      }))
  }
})
