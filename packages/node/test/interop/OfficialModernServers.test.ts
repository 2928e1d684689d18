import type { HttpClient } from "@effect/platform/HttpClient"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import * as ClientFeatures from "@effect-mcp/core/ClientFeatures"
import type { ClientSessionService } from "@effect-mcp/core/ClientSession"
import * as Connector from "@effect-mcp/core/Connector"
import * as ErrorCodes from "@effect-mcp/core/protocol/ErrorCodes"
import * as McpError from "@effect-mcp/core/protocol/McpError"
import type { CallToolResult } from "@effect-mcp/core/protocol/Tools"
import * as Remote from "@effect-mcp/core/Remote"
import * as StdioClient from "@effect-mcp/node/StdioClient"
import * as TestTransport from "@effect-mcp/testing/TestTransport"
import * as Transcript from "@effect-mcp/testing/Transcript"
import { Chunk, Effect, Fiber, Layer, Queue, type Scope, Stream } from "effect"
import { randomUUID } from "node:crypto"
import { key, text, timedOut } from "../behaviour/Behaviour.js"
import { fixture, node, until } from "../Fixture.js"
import * as OfficialHttpServers from "./OfficialHttpServers.js"

interface Served {
  readonly connector: Connector.Connector<HttpClient>
  /** The lines that its handlers report. */
  readonly reports: () => ReadonlyArray<string>
}

const stdio = (eras: "both" | "modern"): Effect.Effect<Served> =>
  Effect.sync(() => {
    const lines: Array<string> = []
    return {
      connector: StdioClient.connector({
        command: node,
        args: [fixture("officialModern2.mjs"), eras, randomUUID()],
        stderr: (line) => Effect.sync(() => void lines.push(line)),
        closeTimeouts: { grace: "1 minute" }
      }),
      reports: () => lines
    }
  })

const http = (options: Parameters<typeof OfficialHttpServers.modern>[0]): Effect.Effect<Served, never, Scope.Scope> =>
  Effect.map(OfficialHttpServers.modern(options), ({ reports, url }) => ({
    connector: Remote.connector(url),
    reports: () => reports
  }))

const servers: Readonly<Record<string, Effect.Effect<Served, never, Scope.Scope>>> = {
  "on stdio, for both eras": stdio("both"),
  "on stdio, for the modern era": stdio("modern"),
  "over HTTP, for both eras": http({ eras: "both" }),
  "over HTTP that always streams, for the modern era": http({ eras: "modern", responseMode: "sse" })
}

const all = <A, E>(stream: Stream.Stream<A, E>) => Effect.map(Stream.runCollect(stream), Chunk.toReadonlyArray)

const provided = Effect.provide(NodeHttpClient.layerUndici)

const form = { name: "Ada" }

/** Answers every question. */
const answering = Layer.mergeAll(
  ClientFeatures.roots(Effect.succeed([{ uri: "file:///one", name: "one" }])),
  ClientFeatures.sampling(({ messages: [message] }) =>
    Effect.succeed({ role: "assistant", model: "parrot", content: [message!.content].flat()[0]! })
  ),
  ClientFeatures.elicitation(() => Effect.succeed({ action: "accept", content: form })),
  ClientFeatures.urlElicitation(({ url }) => Effect.succeed(url.startsWith("https:") ? "accept" : "decline"))
)

const textOf = ({ content }: CallToolResult): string => {
  const [first] = content
  return first?.type === "text" ? first.text : ""
}

const json = <E>(call: Effect.Effect<CallToolResult, E>): Effect.Effect<unknown, E> =>
  Effect.map(call, (result) => JSON.parse(textOf(result)))

/** Calls a tool that returns the headers that repeat its arguments. */
const route = (client: ClientSessionService, args: { readonly region: string; readonly priority?: number }) =>
  json(client.callTool("route", args))

for (const [name, serve] of Object.entries(servers)) {
  const isHttp = name.includes("HTTP")

  const talk = (features: Layer.Layer<never, never, ClientFeatures.ClientFeatures> = Layer.empty) =>
    Effect.gen(function*() {
      const { connector, reports } = yield* serve
      const transcript = Transcript.make()
      const observed = Effect.flatMap(
        connector.connect,
        (transport) => TestTransport.observed(transport, "client", { transcript })
      )
      const client = yield* Client.make(Connector.make(connector.name, observed), {
        features,
        versions: ["2026-07-28"]
      })
      /** How often the client sent a method. */
      const sent = (method: string) =>
        transcript.entries.filter(({ from, message }) =>
          from === "client" && "method" in message && message.method === method
        ).length
      return { client, reports, sent }
    })

  describe(`A client of Effect MCP at 2026-07-28 and a server of the official SDK 2.4 ${name}`, () => {
    it.scopedLive("exchange a description of the server, and no handshake", () =>
      Effect.gen(function*() {
        const { client, sent } = yield* talk()
        assert.strictEqual(client.version, "2026-07-28")
        assert.deepStrictEqual(client.serverInfo, { name: "offering", title: "Offering", version: "2.0.0" })
        assert.strictEqual(client.instructions, "Call them.")
        assert.deepStrictEqual(client.serverCapabilities.tools, { listChanged: true })
        yield* client.ping()
        assert.strictEqual(sent("initialize"), 0)
      }).pipe(provided))

    it.scopedLive("list tools, and serve a list that is fresh from the cache", () =>
      Effect.gen(function*() {
        const { client, sent } = yield* talk()
        const tools = yield* all(client.tools)
        assert.deepInclude(tools[0] as object, { name: "echo", description: "The tool echo." })
        const names = tools.map(({ name }) => name)
        assert.includeMembers(names, ["root", "list", "route", "interview"])
        // Over HTTP a client MUST leave out a tool whose marks are not valid.
        assert.strictEqual(names.includes("badly_marked"), !isHttp)
        assert.deepStrictEqual(yield* all(client.tools), tools)
        assert.strictEqual(sent("tools/list"), 1)
      }).pipe(provided))

    it.scopedLive("call tools: text, structured content of an object and of a list, and errors", () =>
      Effect.gen(function*() {
        const { client } = yield* talk()
        assert.deepStrictEqual((yield* client.callTool("echo", { text: "ä€😀" })).content, text("ä€😀"))
        assert.deepStrictEqual((yield* client.callTool("root", { n: 9 })).structuredContent, { root: 3 })
        assert.deepStrictEqual((yield* client.callTool("list")).structuredContent, [1, 2])
        assert.isTrue((yield* client.callTool("root", { n: -1 })).isError)
        assert.isTrue((yield* client.callTool("root", { n: "nine" })).isError)
        assert.deepInclude(yield* client.callTool("throw"), { isError: true, content: text("thrown") })
        assert.strictEqual((yield* Effect.flip(client.callTool("forget")))._tag, "InvalidParams")
        assert.strictEqual((yield* Effect.flip(client.request("ours/do")))._tag, "MethodNotFound")
        yield* client.ping()
      }).pipe(provided))

    it.scopedLive("repeat marked arguments in headers, over HTTP", () =>
      Effect.gen(function*() {
        const { client } = yield* talk()
        yield* Stream.runDrain(client.tools)
        for (const region of ["", " padded ", "Hello, 世界", "line1\r\nline2", "=?base64?literal?="]) {
          const encoded = `=?base64?${Buffer.from(region).toString("base64")}?=`
          assert.deepStrictEqual(yield* route(client, { region, priority: 7 }), {
            region,
            headers: isHttp ? ["mcp-param-priority: 7", `mcp-param-region: ${region === "" ? "" : encoded}`] : []
          })
        }
      }).pipe(provided))

    it.scopedLive("SHOULD list the tools and send a call again that the server refuses for its headers, over HTTP", () =>
      Effect.gen(function*() {
        const { client } = yield* talk()
        assert.deepStrictEqual(yield* route(client, { region: "us-west1" }), {
          region: "us-west1",
          headers: isHttp ? ["mcp-param-region: us-west1"] : []
        })
      }).pipe(provided))

    it.scopedLive("exchange large results, and call many tools concurrently", () =>
      Effect.gen(function*() {
        const { client } = yield* talk()
        const lengths = [1, 70_000, 3_000_000, ...Array.from({ length: 60 }, (_, n) => n)]
        const results = yield* Effect.forEach(lengths, (length) => client.callTool("large", { length }), {
          concurrency: "unbounded"
        })
        assert.deepStrictEqual(results.map((result) => textOf(result).length), lengths)
      }).pipe(provided))

    it.scopedLive("read resources: text, bytes, one of a template, an unknown one, and one that asks first", () =>
      Effect.gen(function*() {
        const { client } = yield* talk(answering)
        const read = (uri: string) => Effect.map(client.readResource(uri), ({ contents }) => contents[0])
        assert.deepStrictEqual(yield* read("offer:one"), {
          uri: "offer:one",
          mimeType: "text/plain",
          text: "This is one"
        })
        assert.deepStrictEqual(yield* read("offer:bytes"), {
          uri: "offer:bytes",
          mimeType: "application/octet-stream",
          blob: "AAEC/w=="
        })
        assert.deepStrictEqual(yield* read("offer:note/7"), { uri: "offer:note/7", text: "This is 7" })
        assert.deepInclude(yield* Effect.flip(read("offer:none")), { _tag: "ResourceNotFound", uri: "offer:none" })
        assert.deepStrictEqual(JSON.parse(((yield* read("offer:asking")) as any).text), {
          action: "accept",
          content: { ...form, size: "small" }
        })
        assert.deepStrictEqual(yield* all(client.resourceTemplates), [{
          uriTemplate: "offer:note/{id}",
          name: "note"
        }])
        assert.deepStrictEqual((yield* all(client.resources)).map(({ uri }) => uri), [
          "offer:one",
          "offer:kept",
          "offer:bytes",
          "offer:asking"
        ])
      }).pipe(provided))

    it.scopedLive("list prompts page by page, get them, and get one that asks first", () =>
      Effect.gen(function*() {
        const { client, sent } = yield* talk(answering)
        assert.deepStrictEqual((yield* all(client.prompts)).map(({ name }) => name), ["asking", "plain", "review"])
        assert.strictEqual(sent("prompts/list"), 3)
        const get = (name: string, args?: Record<string, string>) =>
          Effect.map(client.getPrompt(name, args), ({ messages }) => (messages[0]!.content as any).text)
        assert.strictEqual(yield* get("plain"), "plainly")
        assert.strictEqual(yield* get("review", { language: "ts" }), "ts with nothing")
        assert.strictEqual((yield* Effect.flip(get("none")))._tag, "InvalidParams")
        assert.deepStrictEqual(JSON.parse(yield* get("asking")), {
          action: "accept",
          content: { ...form, size: "small" }
        })
      }).pipe(provided))

    it.scopedLive("complete arguments of prompts and templates, depending on others", () =>
      Effect.gen(function*() {
        const { client } = yield* talk()
        const review = { type: "ref/prompt", name: "review" } as const
        const argument = { name: "framework", value: "f" }
        assert.deepStrictEqual(yield* client.complete(review, argument, { others: { language: "python" } }), {
          values: ["flask", "fastapi"],
          total: 2,
          hasMore: false
        })
        const note = { type: "ref/resource", uri: "offer:note/{id}" } as const
        assert.deepStrictEqual((yield* client.complete(note, { name: "id", value: "1" })).values, ["1", "12"])
      }).pipe(provided))

    it.scopedLive("send progress in order, all of it before the result", () =>
      Effect.gen(function*() {
        const { client } = yield* talk()
        const seen: Array<unknown> = []
        yield* client.callTool("slow", { steps: 50 }, {
          onProgress: (progress) => Effect.sync(() => seen.push(progress))
        })
        assert.deepStrictEqual(
          seen,
          Array.from({ length: 50 }, (_, n) => ({ progress: n + 1, total: 50, message: `step ${n + 1}` }))
        )
      }).pipe(provided))

    it.scopedLive("send logs from the level that the client has set, and none before", () =>
      Effect.gen(function*() {
        const { client } = yield* talk()
        const logs = yield* Queue.unbounded<unknown>()
        yield* Effect.forkScoped(Stream.runForEach(client.logs, (log) => logs.offer(log)))
        yield* Effect.yieldNow()
        yield* client.callTool("log")
        yield* client.setLoggingLevel("warning")
        yield* client.callTool("log")
        assert.deepStrictEqual(
          [yield* logs.take, yield* logs.take],
          ["error", "warning"].map((level) => ({ level, logger: "official", data: { value: level } }))
        )
        assert.strictEqual(yield* logs.size, 0)
      }).pipe(provided))

    it.scopedLive("cancel a call, and a call that times out: the handlers see their signals, and others go on", () =>
      Effect.gen(function*() {
        const { client, reports } = yield* talk()
        const [cancelled, beside] = [key(), key()]
        const calling = yield* Effect.fork(client.callTool("wait", { key: cancelled }))
        const other = yield* Effect.fork(client.callTool("wait", { key: beside }))
        yield* until(() => reports().includes(`${cancelled} began`) && reports().includes(`${beside} began`))
        yield* Fiber.interrupt(calling)
        yield* until(() => reports().includes(`${cancelled} stopped`))
        const late = yield* timedOut(reports, (key, timeout) => client.callTool("wait", { key }, { timeout }))
        assert.strictEqual(late.error._tag, "RequestTimeout")
        yield* until(() => reports().includes(`${late.name} stopped`))
        assert.notInclude(reports(), `${beside} stopped`)
        assert.isNull(other.unsafePoll())
        assert.deepStrictEqual((yield* client.callTool("echo", { text: "on" })).content, text("on"))
        yield* Fiber.interrupt(other)
        yield* until(() => reports().includes(`${beside} stopped`))
      }).pipe(provided))

    it.scopedLive("ask for samples, forms, pages and roots, each in a second round", () =>
      Effect.gen(function*() {
        const { client, sent } = yield* talk(answering)
        const answer = (tool: string, args = {}) => json(client.callTool(tool, args))
        assert.deepStrictEqual(yield* answer("sample", { prompt: "a" }), {
          role: "assistant",
          model: "parrot",
          content: { type: "text", text: "a" }
        })
        assert.deepStrictEqual(yield* answer("form"), { action: "accept", content: { ...form, size: "small" } })
        assert.deepStrictEqual(yield* answer("page", { url: "https://example.com/1" }), { action: "accept" })
        assert.deepStrictEqual(yield* answer("page", { url: "http://example.com/1" }), { action: "decline" })
        assert.deepStrictEqual(yield* answer("roots"), { roots: [{ uri: "file:///one", name: "one" }] })
        assert.strictEqual(sent("tools/call"), 5 * 2)
      }).pipe(provided))

    it.scopedLive("ask in several rounds, of which one has no question, many calls at once", () =>
      Effect.gen(function*() {
        const { client, sent } = yield* talk(answering)
        const interviews = yield* Effect.replicateEffect(client.callTool("interview"), 8).pipe(
          Effect.withConcurrency("unbounded")
        )
        for (const interview of interviews) {
          assert.deepStrictEqual(JSON.parse(textOf(interview)), {
            message: "Is it Name file:///one?",
            profile: { action: "accept", content: { ...form, size: "small" } },
            page: "accept"
          })
        }
        assert.strictEqual(sent("tools/call"), 8 * 5)
      }).pipe(provided))

    it.scopedLive("end a call whose question the client rejects, and a question that it has not declared", () =>
      Effect.gen(function*() {
        const rejected = new McpError.PeerError({ code: ErrorCodes.USER_REJECTED, message: "Not today" })
        const { client, sent } = yield* talk(ClientFeatures.sampling(() => Effect.fail(rejected)))
        const error = yield* Effect.flip(client.callTool("sample", { prompt: "a" }))
        assert.deepInclude(error, { _tag: "InputRefused", cause: rejected })
        assert.strictEqual(sent("tools/call"), 1)
        for (const tool of ["form", "roots"]) {
          assert.strictEqual((yield* Effect.flip(client.callTool(tool)))._tag, "MissingClientCapability")
        }
      }).pipe(provided))

    it.scopedLive("notify of changed lists, and list the new entry", () =>
      Effect.gen(function*() {
        const { client } = yield* talk()
        const changes = yield* Queue.unbounded<string>()
        yield* Effect.forkScoped(Stream.runForEach(client.listChanges, (change) => changes.offer(change)))
        const names = Effect.map(all(client.tools), (tools) => tools.map(({ name }) => name))
        assert.notInclude(yield* names, "more")
        // The subscription of the client opens in the background.
        yield* Effect.repeat(client.callTool("change", { what: "prompts" }), {
          until: () => Effect.map(changes.size, (size) => size > 0)
        })
        yield* client.callTool("offer", { name: "more" })
        yield* Effect.repeat(changes.take, { until: (change) => change === "tools" })
        assert.include(yield* names, "more")
        yield* client.callTool("change", { what: "resources" })
        yield* Effect.repeat(changes.take, { until: (change) => change === "resources" })
      }).pipe(provided))

    it.scopedLive("notify of a resource from the subscription until its end, and read it anew", () =>
      Effect.gen(function*() {
        const { client, reports } = yield* talk()
        const reads = () => reports().filter((line) => line === "read offer:kept").length
        const updates = yield* Queue.unbounded<string>()
        yield* Effect.forkScoped(Stream.runForEach(client.resourceUpdates, (uri) => updates.offer(uri)))
        yield* client.subscribeResource("offer:kept")
        yield* client.readResource("offer:kept")
        yield* client.readResource("offer:kept")
        yield* client.callTool("touch", { uri: "offer:one" })
        yield* client.callTool("touch", { uri: "offer:kept" })
        assert.strictEqual(yield* updates.take, "offer:kept")
        yield* client.readResource("offer:kept")
        yield* until(() => reads() > 1)
        assert.strictEqual(reads(), 2)
        yield* client.unsubscribeResource("offer:kept")
        yield* client.callTool("touch", { uri: "offer:kept" })
        yield* client.ping()
        assert.strictEqual(yield* updates.size, 0)
      }).pipe(provided))
  })
}
