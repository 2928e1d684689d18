import { assert, describe, it } from "@effect/vitest"
import * as ClientFeatures from "@effect-mcp/core/ClientFeatures"
import type { ClientSessionService } from "@effect-mcp/core/ClientSession"
import type { RequestId } from "@effect-mcp/core/Message"
import * as Message from "@effect-mcp/core/Message"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import * as Transcript from "@effect-mcp/testing/Transcript"
import { Effect, Fiber, Stream } from "effect"
import { answered, legacyClient } from "./Scripts.js"

const tool = { name: "echo", inputSchema: { type: "object" } }
const greeting = { content: [{ type: "text", text: "hello" }] }

/** The lines after the handshake. */
const after = (transcript: Transcript.Transcript) => Transcript.render(transcript).split("\n").slice(3)

describe("A verb", () => {
  const verbs: ReadonlyArray<{
    readonly name: string
    readonly run: (client: ClientSessionService) => Effect.Effect<unknown, unknown>
    readonly answer: JsonObject
    readonly sends: string
    readonly result: unknown
  }> = [
    { name: "ping", run: (client) => client.ping(), answer: {}, sends: "ping", result: undefined },
    {
      name: "listTools",
      run: (client) => client.listTools(),
      answer: { tools: [tool] },
      sends: "tools/list",
      result: { tools: [tool] }
    },
    {
      name: "listTools, from a cursor on",
      run: (client) => client.listTools({ cursor: "next" }),
      answer: { tools: [], nextCursor: "more" },
      sends: "tools/list {\"cursor\":\"next\"}",
      result: { tools: [], nextCursor: "more" }
    },
    {
      name: "listTools, from an empty cursor on",
      run: (client) => client.listTools({ cursor: "" }),
      answer: { tools: [] },
      sends: "tools/list {\"cursor\":\"\"}",
      result: { tools: [] }
    },
    {
      name: "callTool, without arguments",
      run: (client) => client.callTool("echo"),
      answer: greeting,
      sends: "tools/call {\"name\":\"echo\"}",
      result: greeting
    },
    {
      name: "callTool, with arguments",
      run: (client) => client.callTool("echo", { text: "hello", times: 2, nothing: null }, { checkOutput: false }),
      answer: {
        ...greeting,
        structuredContent: { text: "hello" },
        isError: false,
        _meta: { took: 1 },
        unheardOf: true
      },
      sends: "tools/call {\"name\":\"echo\",\"arguments\":{\"text\":\"hello\",\"times\":2,\"nothing\":null}}",
      result: { ...greeting, structuredContent: { text: "hello" }, isError: false, _meta: { took: 1 }, unheardOf: true }
    },
    {
      name: "listResources, from a cursor on",
      run: (client) => client.listResources({ cursor: "next" }),
      answer: { resources: [{ name: "readme", uri: "file:///README.md" }] },
      sends: "resources/list {\"cursor\":\"next\"}",
      result: { resources: [{ name: "readme", uri: "file:///README.md" }] }
    },
    {
      name: "listResourceTemplates",
      run: (client) => client.listResourceTemplates(),
      answer: { resourceTemplates: [{ name: "note", uriTemplate: "note:///{id}" }] },
      sends: "resources/templates/list",
      result: { resourceTemplates: [{ name: "note", uriTemplate: "note:///{id}" }] }
    },
    {
      name: "readResource",
      run: (client) => client.readResource("file:///README.md"),
      answer: { contents: [{ uri: "file:///README.md", text: "hello" }] },
      sends: "resources/read {\"uri\":\"file:///README.md\"}",
      result: { contents: [{ uri: "file:///README.md", text: "hello" }] }
    },
    {
      name: "subscribeResource",
      run: (client) => client.subscribeResource("file:///README.md"),
      answer: {},
      sends: "resources/subscribe {\"uri\":\"file:///README.md\"}",
      result: undefined
    },
    {
      name: "unsubscribeResource",
      run: (client) => client.unsubscribeResource("file:///README.md"),
      answer: {},
      sends: "resources/unsubscribe {\"uri\":\"file:///README.md\"}",
      result: undefined
    },
    {
      name: "listPrompts",
      run: (client) => client.listPrompts(),
      answer: { prompts: [{ name: "review", arguments: [{ name: "code", required: true }] }] },
      sends: "prompts/list",
      result: { prompts: [{ name: "review", arguments: [{ name: "code", required: true }] }] }
    },
    {
      name: "getPrompt",
      run: (client) => client.getPrompt("review", { code: "x" }),
      answer: { messages: [{ role: "user", content: { type: "text", text: "x" } }] },
      sends: "prompts/get {\"name\":\"review\",\"arguments\":{\"code\":\"x\"}}",
      result: { messages: [{ role: "user", content: { type: "text", text: "x" } }] }
    },
    {
      name: "complete, with what is known of the others",
      run: (client) =>
        client.complete({ type: "ref/prompt", name: "review" }, { name: "language", value: "Ty" }, {
          others: { code: "x" }
        }),
      answer: { completion: { values: ["TypeScript"], total: 1, hasMore: false } },
      sends:
        "completion/complete {\"ref\":{\"type\":\"ref/prompt\",\"name\":\"review\"},\"argument\":{\"name\":\"language\"," +
        "\"value\":\"Ty\"},\"context\":{\"arguments\":{\"code\":\"x\"}}}",
      result: { values: ["TypeScript"], total: 1, hasMore: false }
    },
    {
      name: "setLoggingLevel",
      run: (client) => client.setLoggingLevel("warning"),
      answer: {},
      sends: "logging/setLevel {\"level\":\"warning\"}",
      result: undefined
    },
    {
      name: "request",
      run: (client) => client.request("ours/do", { what: "it" }),
      answer: { done: [1, null] },
      sends: "ours/do {\"what\":\"it\"}",
      result: { done: [1, null] }
    },
    {
      name: "request, without parameters",
      run: (client) => client.request("ours/do"),
      answer: {},
      sends: "ours/do",
      result: {}
    }
  ]

  for (const { answer, name, result, run, sends } of verbs) {
    it.scoped(`sends its request and gives the result: ${name}`, () =>
      Effect.gen(function*() {
        const transcript = Transcript.make()
        const { client, server } = yield* legacyClient({ transcript })
        const { value } = yield* answered(server, run(client), sends.split(" ")[0]!, answer)
        assert.deepStrictEqual(value, result)
        assert.deepStrictEqual(after(transcript), [
          `client → 2 ${sends}`,
          `server ← 2 ${JSON.stringify(answer)}`
        ])
      }))
  }

  it.scoped("sends one request for each time it is run", () =>
    Effect.gen(function*() {
      const { client, server } = yield* legacyClient()
      const ping = client.ping()
      yield* answered(server, ping, "ping", {})
      yield* answered(server, ping, "ping", {})
    }))

  it.scoped("carries the `_meta` that it is given", () =>
    Effect.gen(function*() {
      const { client, server } = yield* legacyClient()
      const meta = { "example.com/trace": "1", nested: { a: [1] } }
      const ping = yield* answered(server, client.ping({ meta }), "ping", {})
      assert.deepStrictEqual(ping.params, { _meta: meta })
      const list = yield* answered(server, client.listTools({ cursor: "c", meta }), "tools/list", { tools: [] })
      assert.deepStrictEqual(list.params, { cursor: "c", _meta: meta })
      const call = yield* answered(server, client.callTool("echo", { a: 1 }, { meta }), "tools/call", greeting)
      assert.deepStrictEqual(call.params, { name: "echo", arguments: { a: 1 }, _meta: meta })
    }))

  it.scoped("merges `_meta` of its options, of its parameters and the token of progress", () =>
    Effect.gen(function*() {
      const { client, server } = yield* legacyClient()
      const { params } = yield* answered(
        server,
        client.request("ours/do", { _meta: { ours: "parameters", b: 2 } }, {
          meta: { ours: "options", a: 1, progressToken: "mine" },
          onProgress: () => Effect.void
        }),
        "ours/do",
        {}
      )
      assert.deepStrictEqual(params?._meta, { a: 1, b: 2, ours: "parameters", progressToken: 2 })
    }))

  it.scoped("does not change its arguments", () =>
    Effect.gen(function*() {
      const { client, server } = yield* legacyClient()
      const args = Object.freeze({ list: Object.freeze([1, 2]) })
      const meta = Object.freeze({ a: 1 })
      const options = Object.freeze({ meta, onProgress: () => Effect.void })
      yield* answered(server, client.callTool("echo", args, options), "tools/call", greeting)
      yield* answered(server, client.request("ours/do", args, options), "ours/do", {})
    }))
})

describe("ClientSession.notify", () => {
  it.scoped("sends a notification, without `params` when there are none", () =>
    Effect.gen(function*() {
      const { client, server } = yield* legacyClient()
      yield* client.notify("notifications/ours")
      assert.deepStrictEqual(yield* server.next, Message.notification("notifications/ours"))
      yield* client.notify("notifications/ours", { a: 1 })
      assert.deepStrictEqual(yield* server.next, Message.notification("notifications/ours", { a: 1 }))
    }))

  it.scoped("drops the notification when the session has ended", () =>
    Effect.gen(function*() {
      const { client, server } = yield* legacyClient()
      yield* server.hangUp
      yield* client.ended
      yield* client.notify("notifications/ours")
    }))
})

describe("ClientSession.rootsListChanged", () => {
  it.scoped("sends one notification for each time it is run", () =>
    Effect.gen(function*() {
      const { client, server } = yield* legacyClient({
        client: { features: ClientFeatures.roots(Effect.succeed([]), { changes: Stream.never }) }
      })
      yield* client.rootsListChanged
      yield* client.rootsListChanged
      for (const _ of [1, 2]) yield* server.expectNotification("notifications/roots/list_changed")
      yield* server.expectSilence
    }))
})

describe("Calls at the same time", () => {
  it.scoped("each get their own result, in whatever order the results come", () =>
    Effect.gen(function*() {
      const { client, server } = yield* legacyClient()
      const calling = yield* Effect.fork(Effect.forEach(
        ["a", "b", "c", "d"],
        (name) => client.callTool(name),
        { concurrency: "unbounded" }
      ))
      const ids: Array<readonly [RequestId, string]> = []
      for (const _ of [1, 2, 3, 4]) {
        const { id, params } = yield* server.expectRequest("tools/call")
        ids.push([id, String(params?.name)])
      }
      assert.strictEqual(new Set(ids.map(([id]) => id)).size, 4)
      for (const [id, name] of ids.reverse()) {
        yield* server.send(Message.success(id, { content: [{ type: "text", text: name }] }))
      }
      const results = yield* Fiber.join(calling)
      assert.deepStrictEqual(
        results.map(({ content }) => content),
        ["a", "b", "c", "d"].map((text) => [{ type: "text" as const, text }])
      )
    }))

  it.scoped("accept an id that came back as a string, for a result and for an error", () =>
    Effect.gen(function*() {
      const { client, server } = yield* legacyClient()
      const pinging = yield* Effect.fork(client.ping())
      const ping = yield* server.expectRequest("ping")
      yield* server.send(Message.success(String(ping.id), {}))
      yield* Fiber.join(pinging)
      const calling = yield* Effect.fork(Effect.flip(client.callTool("gone")))
      const call = yield* server.expectRequest("tools/call")
      yield* server.send(Message.failure(String(call.id), { code: -32602, message: "Unknown tool: gone" }))
      assert.strictEqual((yield* Fiber.join(calling))._tag, "InvalidParams")
    }))
})
