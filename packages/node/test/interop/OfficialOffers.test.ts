import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import * as ClientFeatures from "@effect-mcp/core/ClientFeatures"
import type { ClientSessionService } from "@effect-mcp/core/ClientSession"
import * as ClientSessionGroup from "@effect-mcp/core/ClientSessionGroup"
import { FeatureContext } from "@effect-mcp/core/FeatureContext"
import * as ErrorCodes from "@effect-mcp/core/protocol/ErrorCodes"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import * as McpError from "@effect-mcp/core/protocol/McpError"
import * as Version from "@effect-mcp/core/protocol/Version"
import * as StdioClient from "@effect-mcp/node/StdioClient"
import { Chunk, Deferred, Effect, Fiber, Layer, Queue, Ref, Schedule, Stream } from "effect"
import { randomUUID } from "node:crypto"
import { untilSuspended } from "../../../testing/test/support/Suspended.js"
import { fixture, node } from "../Fixture.js"
import { pidsOf } from "../Processes.js"

const servers = { "1.32": "officialOffer1.mjs", "2.4": "officialOffer2.mjs" }

const launching = (server: string, mark: string) =>
  StdioClient.connector({
    command: node,
    args: [fixture(server), mark],
    stderr: "ignore",
    closeTimeouts: { grace: "1 minute" }
  })

/** A client with these features, and the notifications that it receives. */
const talk = (server: string, features: Layer.Layer<never, never, ClientFeatures.ClientFeatures> = Layer.empty) =>
  Effect.gen(function*() {
    const client = yield* Client.make(launching(server, randomUUID()), { versions: Version.legacy, features })
    const received = yield* Queue.unbounded<{ readonly method: string; readonly params?: unknown }>()
    const listening = yield* Effect.forkScoped(Stream.runForEach(client.notifications, (one) => received.offer(one)))
    yield* untilSuspended(listening)
    return { client, received }
  })

/** Makes the server send a request, and returns the response and the progress that the server received. */
const askClient = (client: ClientSessionService, what: "sample" | "elicit" | "roots", params: JsonObject = {}) =>
  Effect.map(
    client.callTool("ask", { what, params }),
    ({ structuredContent }) => structuredContent as { readonly answer: any; readonly progress: ReadonlyArray<unknown> }
  )

const sampled = (text: string) => ({ role: "assistant", content: { type: "text", text }, model: "m" }) as const

const prompt = { messages: [{ role: "user", content: { type: "text", text: "hello" } }], maxTokens: 10 }

const form = {
  message: "Who are you?",
  requestedSchema: {
    type: "object",
    properties: {
      name: { type: "string" },
      age: { type: "integer", default: 30 },
      pet: { type: "string", oneOf: [{ const: "cat", title: "A cat" }, { const: "dog", title: "A dog" }] }
    },
    required: ["name"]
  }
}

const all = <A, E>(stream: Stream.Stream<A, E>) => Effect.map(Stream.runCollect(stream), Chunk.toReadonlyArray)

for (const [version, server] of Object.entries(servers)) {
  describe(`A client of Effect MCP and a server with all features of the official SDK ${version}`, () => {
    it.scopedLive("list resources and templates page by page, and read text and bytes", () =>
      Effect.gen(function*() {
        const { client } = yield* talk(server)
        const first = yield* client.listResources()
        assert.deepStrictEqual(first.resources.map(({ name }) => name), ["one", "two", "three"])
        assert.strictEqual(first.nextCursor, "from 3")
        assert.deepStrictEqual((yield* client.listResources({ cursor: "from 3" })).resources.map(({ name }) => name), [
          "four"
        ])
        assert.deepStrictEqual((yield* all(client.resources)).map(({ uri }) => uri), [
          "offer:one",
          "offer:two",
          "offer:three",
          "offer:four"
        ])
        assert.deepStrictEqual(yield* all(client.resourceTemplates), [{
          uriTemplate: "offer:note/{id}",
          name: "note"
        }])
        assert.deepStrictEqual((yield* client.readResource("offer:one")).contents, [
          { uri: "offer:one", mimeType: "text/plain", text: "This is offer:one" }
        ])
        assert.deepStrictEqual((yield* client.readResource("offer:note/7")).contents, [
          { uri: "offer:note/7", mimeType: "text/plain", text: "This is 7" }
        ])
        assert.deepStrictEqual((yield* client.readResource("offer:two")).contents, [
          { uri: "offer:two", mimeType: "application/octet-stream", blob: "AAEC/w==" }
        ])
      }))

    it.scopedLive("distinguish an unknown resource from an unknown cursor", () =>
      Effect.gen(function*() {
        const { client } = yield* talk(server)
        assert.deepInclude(yield* Effect.flip(client.readResource("offer:none")), {
          _tag: "ResourceNotFound",
          uri: "offer:none"
        })
        const cursor = yield* Effect.flip(client.listTools({ cursor: "made up" }))
        assert.strictEqual(cursor._tag, "InvalidParams")
        assert.include(cursor.message, "No such cursor")
      }))

    it.scopedLive("send updates of a resource from the subscription until its end", () =>
      Effect.gen(function*() {
        const { client, received } = yield* talk(server)
        const updates = yield* Queue.unbounded<string>()
        yield* Effect.forkScoped(Stream.runForEach(client.resourceUpdates, (uri) => updates.offer(uri)))
        yield* client.subscribeResource("offer:one")
        yield* client.callTool("touch", { uri: "offer:two" })
        yield* client.callTool("touch", { uri: "offer:one" })
        assert.strictEqual(yield* updates.take, "offer:one")
        assert.deepInclude(yield* received.take, {
          method: "notifications/resources/updated",
          params: { uri: "offer:one" }
        })
        yield* client.unsubscribeResource("offer:one")
        yield* client.callTool("touch", { uri: "offer:one" })
        yield* client.callTool("change", { what: "prompts" })
        assert.strictEqual((yield* received.take).method, "notifications/prompts/list_changed")
        assert.strictEqual(yield* updates.size, 0)
      }))

    it.scopedLive("list prompts, and get them with and without arguments", () =>
      Effect.gen(function*() {
        const { client } = yield* talk(server)
        assert.deepStrictEqual(yield* all(client.prompts), [
          { name: "plain", description: "Without arguments." },
          { name: "review", arguments: [{ name: "language", required: true }, { name: "framework" }] }
        ])
        const get = (name: string, args?: Record<string, string>) =>
          Effect.map(client.getPrompt(name, args), ({ messages }) => messages[0]!.content)
        assert.deepStrictEqual(yield* get("plain"), { type: "text", text: "plainly" })
        assert.deepStrictEqual(yield* get("review", { language: "ts" }), { type: "text", text: "ts with nothing" })
        assert.strictEqual((yield* Effect.flip(get("none")))._tag, "InvalidParams")
      }))

    it.scopedLive("complete arguments of prompts and templates, depending on others", () =>
      Effect.gen(function*() {
        const { client } = yield* talk(server)
        const review = { type: "ref/prompt", name: "review" } as const
        const argument = { name: "framework", value: "f" }
        assert.deepStrictEqual(yield* client.complete(review, argument, { others: { language: "python" } }), {
          values: ["flask", "fastapi"],
          total: 2,
          hasMore: false
        })
        assert.deepStrictEqual((yield* client.complete(review, { ...argument, value: "rel" })).values, ["relay"])
        const note = { type: "ref/resource", uri: "offer:note/{id}" } as const
        assert.deepStrictEqual((yield* client.complete(note, { name: "id", value: "1" })).values, ["1", "12"])
      }))

    it.scopedLive("send sampling requests: the client answers with progress, or rejects", () =>
      Effect.gen(function*() {
        const noted = yield* Queue.unbounded<unknown>()
        const { client } = yield* talk(
          server,
          Layer.merge(
            ClientFeatures.logging(({ data }) => noted.offer(data)),
            ClientFeatures.sampling(({ maxTokens, messages }) =>
              Effect.gen(function*() {
                if (maxTokens < 10) {
                  return yield* new McpError.PeerError({ code: ErrorCodes.USER_REJECTED, message: "Not now" })
                }
                const { progress } = yield* FeatureContext
                // Version 1 of the SDK drops progress that arrives together with the response.
                yield* Effect.zipRight(progress(1, { total: 2, message: "thinking" }), noted.take)
                yield* Effect.zipRight(progress(2, { total: 2 }), noted.take)
                return sampled(JSON.stringify(messages[0]!.content))
              })
            )
          )
        )
        const { answer, progress } = yield* askClient(client, "sample", prompt)
        assert.deepStrictEqual(answer, sampled("{\"type\":\"text\",\"text\":\"hello\"}"))
        assert.deepStrictEqual(progress, [{ progress: 1, total: 2, message: "thinking" }, { progress: 2, total: 2 }])
        const { answer: refused } = yield* askClient(client, "sample", { ...prompt, maxTokens: 1 })
        assert.strictEqual(refused.code, -1)
        assert.include(refused.message, "Not now")
      }))

    it.scopedLive("sample with tools: the model calls them, gets their results, and continues", () =>
      Effect.gen(function*() {
        const use = { type: "tool_use", id: "1", name: "weather", input: { city: "Oslo" } } as const
        const { client } = yield* talk(
          server,
          ClientFeatures.sampling(({ messages, tools }) =>
            Effect.succeed(
              messages.length === 1
                ? { role: "assistant" as const, content: [use], model: tools![0]!.name, stopReason: "toolUse" }
                : sampled(`it is ${JSON.stringify(messages[2]!.content)}`)
            ), { tools: true })
        )
        const tools = [{ name: "weather", inputSchema: { type: "object" } }]
        const first = yield* askClient(client, "sample", { ...prompt, tools, toolChoice: { mode: "auto" } })
        assert.deepInclude(first.answer, { model: "weather", stopReason: "toolUse" })
        assert.deepStrictEqual([first.answer.content].flat(), [use])
        const result = { type: "tool_result", toolUseId: "1", content: [{ type: "text", text: "cold" }] }
        const second = yield* askClient(client, "sample", {
          ...prompt,
          tools,
          messages: [
            ...prompt.messages,
            { role: "assistant", content: [use] },
            { role: "user", content: [result] }
          ]
        })
        assert.include(second.answer.content.text, "cold")
      }))

    it.scopedLive("get an error from the server for a capability that the client has not declared", () =>
      Effect.gen(function*() {
        const { client } = yield* talk(server, ClientFeatures.sampling(() => Effect.succeed(sampled("yes"))))
        const tools = [{ name: "weather", inputSchema: { type: "object" } }]
        assert.match((yield* askClient(client, "sample", { ...prompt, tools })).answer.message, /tools/)
        assert.match((yield* askClient(client, "elicit", form)).answer.message, /elicitation/)
        assert.match((yield* askClient(client, "roots")).answer.message, /roots/)
      }))

    it.scopedLive("elicit a form: accepted with its defaults, declined, cancelled", () =>
      Effect.gen(function*() {
        const answers = yield* Queue.unbounded<ClientFeatures.Answer>()
        yield* answers.offerAll([
          { action: "accept", content: { name: "Ada", pet: "cat" } },
          { action: "decline" },
          { action: "cancel" }
        ])
        const { client } = yield* talk(server, ClientFeatures.elicitation(() => answers.take))
        const elicit = Effect.map(askClient(client, "elicit", form), ({ answer }) => answer)
        assert.deepStrictEqual(yield* elicit, { action: "accept", content: { name: "Ada", pet: "cat", age: 30 } })
        assert.deepStrictEqual(yield* elicit, { action: "decline" })
        assert.deepStrictEqual(yield* elicit, { action: "cancel" })
      }))

    it.scopedLive("elicit a URL, and get the notification of its completion", () =>
      Effect.gen(function*() {
        const { client } = yield* talk(
          server,
          ClientFeatures.urlElicitation(({ url }) => Effect.succeed(url.startsWith("https:") ? "accept" : "decline"))
        )
        const done = yield* Effect.fork(Stream.runHead(client.elicitationsCompleted))
        const page = { mode: "url", message: "Sign in", elicitationId: "7" }
        const open = (url: string) => Effect.map(askClient(client, "elicit", { ...page, url }), ({ answer }) => answer)
        assert.deepStrictEqual(yield* open("https://example.com/7"), { action: "accept" })
        assert.deepStrictEqual(yield* open("http://example.com/7"), { action: "decline" })
        yield* client.callTool("done", { id: "7" })
        assert.strictEqual(yield* Effect.flatten(Fiber.join(done)), "7")
        const first = yield* Effect.flip(client.callTool("open"))
        assert.strictEqual(first._tag, "UrlElicitationRequired")
        assert.deepStrictEqual((first as McpError.UrlElicitationRequired).elicitations, [{
          mode: "url",
          message: "Sign in",
          url: "https://example.com/sign-in",
          elicitationId: "first"
        }])
      }))

    it.scopedLive("list the roots, and list them again when they change", () =>
      Effect.gen(function*() {
        const root = (uri: string) => ({ uri, name: uri.slice(-1) })
        const roots = yield* Ref.make([root("file:///a")])
        const changes = yield* Queue.unbounded<void>()
        const logged = yield* Queue.unbounded<unknown>()
        const { client } = yield* talk(
          server,
          Layer.merge(
            ClientFeatures.roots(Ref.get(roots), { changes: Stream.fromQueue(changes) }),
            ClientFeatures.logging(({ data }) => logged.offer(data))
          )
        )
        assert.deepStrictEqual((yield* askClient(client, "roots")).answer, { roots: [root("file:///a")] })
        yield* Ref.set(roots, [root("file:///b"), root("file:///c")])
        yield* changes.offer()
        assert.deepStrictEqual(yield* logged.take, ["file:///b", "file:///c"])
      }))

    it.scopedLive("cancel a call together with the request that the server sends for it", () =>
      Effect.gen(function*() {
        const began = yield* Deferred.make<void>()
        const stopped = yield* Deferred.make<void>()
        const { client } = yield* talk(
          server,
          ClientFeatures.sampling(() =>
            Effect.zipRight(Deferred.succeed(began, undefined), Effect.never).pipe(
              Effect.onInterrupt(() => Deferred.succeed(stopped, undefined))
            )
          )
        )
        const calling = yield* Effect.fork(askClient(client, "sample", prompt))
        yield* Deferred.await(began)
        assert.isFalse(yield* Deferred.isDone(stopped))
        yield* Fiber.interrupt(calling)
        yield* Deferred.await(stopped)
        yield* client.ping()
      }))

    it.scopedLive("validate results by the output schema that the server lists at the time", () =>
      Effect.gen(function*() {
        const { client } = yield* talk(server)
        assert.deepStrictEqual((yield* client.callTool("right")).structuredContent, { n: 1 })
        const wrong = yield* Effect.flip(client.callTool("wrong"))
        assert.deepInclude(wrong, { _tag: "TransportError", reason: "Decode" })
        assert.include(wrong.message, "\"wrong\" does not match its output schema: n: ")
        assert.include((yield* Effect.flip(client.callTool("missing"))).message, "it has no structured content")
        const unchecked = yield* client.callTool("wrong", {}, { checkOutput: false })
        assert.deepStrictEqual(unchecked.structuredContent, { n: "one" })
        yield* client.callTool("change", { what: "tools" })
        assert.deepStrictEqual((yield* client.callTool("wrong")).structuredContent, { n: "one" })
      }))

    it.scopedLive("notify of the list that has changed, and list the new entry", () =>
      Effect.gen(function*() {
        const { client } = yield* talk(server)
        const changes = yield* Queue.unbounded<string>()
        const listening = yield* Effect.forkScoped(
          Stream.runForEach(client.listChanges, (change) => changes.offer(change))
        )
        yield* untilSuspended(listening)
        for (const what of ["resources", "prompts", "tools"]) {
          yield* client.callTool("change", { what })
          assert.strictEqual(yield* changes.take, what)
        }
        assert.include((yield* all(client.resources)).map(({ name }) => name), "new")
        assert.include((yield* all(client.prompts)).map(({ name }) => name), "new")
      }))

    it.scopedLive("reconnect in a group with a new process when the server is killed", () =>
      Effect.gen(function*() {
        const mark = randomUUID()
        const group = yield* ClientSessionGroup.make()
        const count = (is: (tools: number) => boolean) =>
          Stream.runHead(Stream.filter(group.changes, ({ tools }) => is(tools.size)))
        yield* group.connect("offering", launching(server, mark), {
          reconnect: Schedule.spaced("10 millis"),
          versions: Version.legacy,
          features: ClientFeatures.roots(Effect.succeed([{ uri: "file:///a" }]))
        })
        const ask = Effect.map(
          group.callTool("ask", { what: "roots", params: {} }),
          ({ structuredContent }) => (structuredContent as { readonly answer: unknown }).answer
        )
        assert.deepStrictEqual(yield* ask, { roots: [{ uri: "file:///a" }] })
        assert.strictEqual((yield* group.entries).tools.size, 8)
        const [pid] = pidsOf(mark)
        const gone = yield* Effect.fork(count((tools) => tools === 0))
        yield* Effect.yieldNow()
        process.kill(pid!, "SIGKILL")
        yield* Fiber.join(gone)
        yield* count((tools) => tools === 8)
        const [next, ...more] = pidsOf(mark)
        assert.deepStrictEqual(more, [])
        assert.notStrictEqual(next, pid)
        assert.deepStrictEqual(yield* ask, { roots: [{ uri: "file:///a" }] })
        yield* group.disconnect("offering")
        assert.deepStrictEqual(pidsOf(mark), [])
      }))

    for (const revision of Version.legacy) {
      it.scopedLive(`agree on ${revision} when it is the client's only revision`, () =>
        Effect.gen(function*() {
          const client = yield* Client.make(launching(server, randomUUID()), {
            versions: [revision],
            features: Layer.mergeAll(
              ClientFeatures.sampling(() => Effect.succeed(sampled("yes"))),
              ClientFeatures.roots(Effect.succeed([]))
            )
          })
          assert.strictEqual(client.version, revision)
          assert.lengthOf(yield* all(client.tools), 8)
          assert.deepInclude((yield* client.readResource("offer:one")).contents[0], { text: "This is offer:one" })
          assert.deepStrictEqual((yield* askClient(client, "sample", prompt)).answer, sampled("yes"))
          assert.deepStrictEqual((yield* askClient(client, "roots")).answer, { roots: [] })
        }))
    }
  })
}
