import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import type { ClientSessionService } from "@effect-mcp/core/ClientSession"
import * as Definition from "@effect-mcp/core/Definition"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Message from "@effect-mcp/core/Message"
import * as Meta from "@effect-mcp/core/protocol/Meta"
import type { CallToolResult } from "@effect-mcp/core/protocol/Tools"
import { RequestContext } from "@effect-mcp/core/RequestContext"
import { ServerSession } from "@effect-mcp/core/ServerSession"
import * as Tool from "@effect-mcp/core/Tool"
import * as Transport from "@effect-mcp/core/Transport"
import * as Replay from "@effect-mcp/testing/Replay"
import * as TestFeatures from "@effect-mcp/testing/TestFeatures"
import * as TestPeer from "@effect-mcp/testing/TestPeer"
import * as TestServer from "@effect-mcp/testing/TestServer"
import * as TestTransport from "@effect-mcp/testing/TestTransport"
import * as Transcript from "@effect-mcp/testing/Transcript"
import { Cause, Effect, Fiber, Schema } from "effect"

const Greet = Tool.make("greet", { parameters: { name: Schema.String }, success: Schema.String })
const Ask = Tool.make("ask", { success: Schema.String })
const Work = Tool.make("work", { success: Schema.String })
const Everything = Definition.make(Greet, Ask, Work)

const serverSaying = (hello: string) =>
  McpServer.layer(
    { name: "recorded", version: "1.0.0" },
    McpServer.implement(Everything, {
      greet: ({ name }) => Effect.succeed(`${hello}, ${name}!`),
      ask: () =>
        Effect.flatMap(ServerSession, (session) =>
          Effect.map(
            session.elicit({ message: "Who?", schema: Schema.Struct({ name: Schema.String }) }),
            (answer) => answer.action === "accept" ? answer.content.name : answer.action
          )),
      work: () =>
        Effect.gen(function*() {
          const { progress } = yield* RequestContext
          yield* progress(1, { total: 2 })
          yield* progress(2, { total: 2 })
          return "done"
        })
    })
  )

/** What a result has for the model. */
const text = ({ content }: CallToolResult) => content.map((block) => block.type === "text" ? block.text : "").join()

const Server = serverSaying("Hello")

for (const version of ["2025-11-25", "2026-07-28"] as const) {
  const options = (name = "Ada") => ({
    versions: [version] as const,
    checkOutputs: false,
    features: TestFeatures.elicitation([{ action: "accept", content: { name } }])
  })

  const conversation = (client: ClientSessionService, name = "Ada") =>
    Effect.gen(function*() {
      const greeting = yield* client.callTool("greet", { name })
      const answer = yield* client.callTool("ask")
      const steps: Array<number> = []
      const work = yield* client.callTool("work", undefined, {
        onProgress: ({ progress }) => Effect.sync(() => steps.push(progress))
      })
      return [...[greeting, answer, work].map(text), ...steps]
    })

  /** The conversation with a server, through the JSON of a file. */
  const recorded = (file: Transcript.Options = {}, made: Transcript.Options = {}) =>
    Effect.gen(function*() {
      const transcript = Transcript.make(made)
      const results = yield* Effect.scoped(Effect.gen(function*() {
        const connector = TestTransport.recorded(yield* TestServer.connector(), transcript)
        return yield* conversation(yield* Client.make(connector, options()))
      }))
      return { results, transcript: yield* Transcript.fromJson(yield* Transcript.toJson(transcript), file) }
    }).pipe(Effect.provide(Server))

  /** Why a client that runs this effect fails, and why its scope does. */
  const replayed = <A, E>(
    transcript: Transcript.Transcript,
    use: (client: ClientSessionService) => Effect.Effect<A, E>,
    name?: string
  ) =>
    Effect.gen(function*() {
      const server = yield* Replay.server(transcript)
      return yield* use(yield* Client.make(server, options(name)))
    }).pipe(Effect.scoped, Effect.sandbox, Effect.flip, Effect.map(Cause.pretty))

  describe(`A replay at ${version}`, () => {
    it.effect("serves a client as the recorded server did", () =>
      Effect.gen(function*() {
        const { results, transcript } = yield* recorded()
        assert.deepStrictEqual(results, ["Hello, Ada!", "Ada", "done", 1, 2])
        const again = yield* Effect.scoped(Effect.gen(function*() {
          const server = yield* Replay.server(transcript)
          const client = yield* Client.make(server, { ...options(), clientInfo: { name: "other", version: "2.0.0" } })
          return yield* conversation(client)
        }))
        assert.deepStrictEqual(again, results)
      }))

    it.effect("calls a server as the recorded client did", () =>
      Effect.gen(function*() {
        const { transcript } = yield* recorded()
        yield* Effect.provide(Replay.client(transcript), Server)
        const cause = yield* Replay.client(transcript).pipe(
          Effect.provide(serverSaying("Goodbye")),
          Effect.sandbox,
          Effect.flip
        )
        assert.include(
          Cause.pretty(cause),
          "The server sent a message that differs from the recorded conversation:\n  recorded: server ← 2 "
        )
        assert.match(
          Cause.pretty(cause),
          /at result.content.0.text\n {4}recorded: "Hello, Ada!"\n {4}received: "Goodbye, Ada!"/
        )
      }))

    it.effect("fails the call of a client that differs from the recorded one, and the test", () =>
      Effect.gen(function*() {
        const { transcript } = yield* recorded()
        const difference = "at params.arguments.name\n    recorded: \"Ada\"\n    received: \"Bob\""
        const call = yield* replayed(transcript, (client) => conversation(client, "Bob"))
        assert.lengthOf(call.split(difference), 3)
        assert.include(yield* replayed(transcript, (client) => Effect.exit(conversation(client, "Bob"))), difference)
        const answer = yield* replayed(transcript, conversation, "Bob")
        assert.match(
          answer,
          /(result.content|params.inputResponses.*content).name\n {4}recorded: "Ada"\n {4}received: "Bob"/
        )
        const method = yield* replayed(transcript, (client) => client.listTools())
        assert.include(method, "at method\n    recorded: \"tools/call\"\n    received: \"tools/list\"")
      }))

    it.effect("fails the test whose client ends before the recorded one", () =>
      Effect.gen(function*() {
        const { transcript } = yield* recorded()
        const greet = (client: ClientSessionService) => client.callTool("greet", { name: "Ada" })
        assert.match(
          yield* replayed(transcript, greet),
          /The conversation ended too early: the client did not send\n {2}client → \d tools\/call {.*"name":"ask"/
        )
        const failed = yield* replayed(transcript, (client) => Effect.zipRight(greet(client), Effect.fail("failed")))
        assert.notInclude(failed, "recorded")
      }))

    it.effect("fails the test whose client sends more than the recorded one", () =>
      Effect.gen(function*() {
        const { transcript } = yield* recorded()
        const notification = yield* replayed(transcript, (client) =>
          Effect.zipRight(conversation(client), client.notify("notifications/ours")))
        assert.include(
          notification,
          version === "2025-11-25"
            ? "The recorded conversation has ended, and the client sent\n  client · notifications/ours"
            : "received: client · notifications/ours"
        )
        const request = yield* replayed(transcript, (client) =>
          Effect.zipRight(conversation(client), client.callTool("ask")))
        const sent = version === "2025-11-25"
          ? "The recorded conversation has ended"
          : "received: client → 7 tools/call"
        // The error of the call, and the failure of the test.
        assert.lengthOf(request.split(sent), 3)
      }))

    it.effect("does not compare what the transcript redacts", () =>
      Effect.gen(function*() {
        const redact = (_: string, value: unknown) => ["Ada", "Bob", "Eve"].includes(value as string) ? "***" : value
        const { transcript } = yield* recorded({ redact }, { redact })
        assert.notInclude(Transcript.render(transcript), `"name":"Ada"`)
        const again = yield* Effect.scoped(Effect.gen(function*() {
          const server = yield* Replay.server(transcript)
          const client = yield* Client.make(server, options("Eve"))
          return yield* conversation(client, "Bob")
        }))
        assert.deepStrictEqual(again, ["Hello, Ada!", "***", "done", 1, 2])
      }))

    it.effect("accepts messages of one turn in another order", () =>
      Effect.gen(function*() {
        const transcript = Transcript.make()
        const both = (client: ClientSessionService, ...names: ReadonlyArray<string>) =>
          Effect.map(
            Effect.forEach(names, (name) => client.callTool("greet", { name }), { concurrency: "unbounded" }),
            (results) => results.map(text)
          )
        const plain = { versions: [version] as const, checkOutputs: false }
        yield* Effect.scoped(Effect.gen(function*() {
          const connector = TestTransport.recorded(yield* TestServer.connector(), transcript)
          yield* both(yield* Client.make(connector, plain), "Ada", "Bob")
        })).pipe(Effect.provide(Server))
        const again = yield* Effect.scoped(Effect.gen(function*() {
          const server = yield* Replay.server(transcript)
          return yield* both(yield* Client.make(server, plain), "Bob", "Ada")
        }))
        assert.deepStrictEqual(
          again,
          ["Hello, Bob!", "Hello, Ada!"]
        )
      }))
  })
}

describe("The ids and tokens of a replayed conversation", () => {
  const initialize = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "a", version: "1" } }

  it.effect("are those of the client under test, where the recorded client chose them", () =>
    Effect.gen(function*() {
      const transcript = Transcript.make()
      yield* Effect.scoped(Effect.gen(function*() {
        const peer = yield* TestPeer.client({ transcript })
        yield* Effect.flatMap(peer.request("initialize", initialize, "first"), peer.expectResult)
        yield* peer.notify("notifications/initialized")
        yield* peer.request("tools/call", { name: "work", _meta: { progressToken: "token" } }, "call")
        yield* peer.expectNotification("notifications/progress")
        yield* peer.expectNotification("notifications/progress")
        yield* peer.expectResult("call")
      })).pipe(Effect.provide(Server))
      yield* Effect.scoped(Effect.gen(function*() {
        const server = yield* Replay.server(transcript)
        const client = yield* Client.make(server, { versions: ["2025-11-25"], checkOutputs: false })
        const steps: Array<number> = []
        yield* client.callTool("work", undefined, {
          onProgress: ({ progress }) => Effect.sync(() => steps.push(progress))
        })
        assert.deepStrictEqual(steps, [1, 2])
      }))
    }))

  it.effect("are those of the server under test, where the recorded server chose them", () =>
    Effect.gen(function*() {
      const transcript = Transcript.make()
      yield* Effect.scoped(Effect.gen(function*() {
        const [server, connector] = yield* TestPeer.server({ transcript, oracle: false })
        const calling = yield* Effect.fork(Effect.flatMap(
          Client.make(connector, {
            versions: ["2025-11-25"],
            checkOutputs: false,
            features: TestFeatures.elicitation([{ action: "decline" }])
          }),
          (client) => client.callTool("ask")
        ))
        // What `Server` answers.
        yield* server.initialized({ capabilities: { logging: {}, tools: { listChanged: true } } })
        const { id } = yield* server.expectRequest("tools/call")
        yield* server.request("elicitation/create", {
          mode: "form",
          message: "Who?",
          requestedSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] }
        }, "question")
        yield* server.expectResult("question")
        yield* server.send(
          Message.success(id, {
            content: [{ type: "text", text: "decline" }],
            structuredContent: { result: "decline" }
          })
        )
        yield* Fiber.join(calling)
      }))
      yield* Effect.provide(Replay.client(transcript), Server)
    }))
})

describe("A value that the side under test chooses", () => {
  const subscription = Meta.keys.subscriptionId
  const page = (id: number, nextCursor: string) => Message.success(id, { tools: [], nextCursor })
  const opened = (id: string, elicitationId: string) =>
    Message.request(id, "elicitation/create", { mode: "url", message: "?", url: "https://example.com", elicitationId })
  const required = (elicitationId: string) =>
    Message.failure(1, { code: -32042, message: "!", data: { elicitations: [{ mode: "url", elicitationId }] } })
  const completed = (elicitationId: string) =>
    Message.notification("notifications/elicitation/complete", { elicitationId })
  const listed = (id: number, cursor?: string) =>
    Message.request(id, "tools/list", cursor === undefined ? undefined : { cursor })
  const waiting = (requestState: string) => Message.success(1, { resultType: "input_required", requestState })
  const again = (requestState: string) => Message.request(2, "tools/call", { name: "x", requestState })
  const updated = (id: string | number) =>
    Message.notification("notifications/resources/updated", { uri: "a:b", _meta: { [subscription]: id } })
  const cancelled = (requestId: string | number) => Message.notification("notifications/cancelled", { requestId })

  type Side = Transcript.Entry["from"]
  const cases: ReadonlyArray<
    readonly [
      what: string,
      tested: Side,
      conversation: ReadonlyArray<readonly [from: Side, recorded: Message.Message, current?: Message.Message]>
    ]
  > = [
    ["a cursor", "server", [
      ["client", listed(1)],
      ["server", page(1, "a"), page(1, "b")],
      ["client", listed(2, "a"), listed(2, "b")],
      ["server", page(2, "c"), page(2, "d")],
      ["client", listed(3, "c"), listed(3, "d")]
    ]],
    ["the state of a request", "server", [
      ["client", Message.request(1, "tools/call", { name: "x" })],
      ["server", waiting("a"), waiting("b")],
      ["client", again("a"), again("b")]
    ]],
    ["the id of a request that it answers itself with a notification", "server", [
      ["server", opened("a", "1"), opened("b", "2")],
      ["client", Message.success("a", { action: "accept" }), Message.success("b", { action: "accept" })],
      ["server", completed("1"), completed("2")],
      ["client", Message.request(1, "x")],
      ["server", required("3"), required("4")],
      ["server", completed("3"), completed("4")],
      ["client", Message.notification("done")]
    ]],
    ["the id of a subscription", "client", [
      ["client", Message.request(1, "subscriptions/listen", {}), Message.request("one", "subscriptions/listen", {})],
      ["server", updated(1), updated("one")],
      ["server", cancelled(1), cancelled("one")]
    ]],
    ["the id of a request, beside one of the other side that is equal", "client", [
      ["client", Message.request(1, "tools/call", { name: "x" }), Message.request(2, "tools/call", { name: "x" })],
      ["server", Message.request(1, "ping")],
      ["client", Message.success(1, {})],
      ["server", cancelled(1)],
      ["server", Message.success(1, {}), Message.success(2, {})]
    ]]
  ]

  for (const [what, tested, conversation] of cases) {
    it.scoped(`may differ: ${what} of a ${tested}`, () =>
      Effect.gen(function*() {
        const transcript = Transcript.make()
        for (const [from, message] of conversation) transcript.add({ from, message })
        const [left, right] = yield* Transport.memory()
        const side = tested === "client" ? "server" : "client"
        const playing = yield* Effect.fork(Replay.play(yield* TestPeer.make(left), side, transcript))
        const other = yield* TestPeer.make(right)
        for (const [from, recorded, current = recorded] of conversation) {
          if (from === tested) yield* other.send(current)
          else assert.deepStrictEqual(yield* other.next, current)
        }
        yield* Fiber.join(playing)
      }))
  }

  it.scoped("is the same wherever it is named", () =>
    Effect.gen(function*() {
      const transcript = Transcript.make()
      transcript.add({ from: "server", message: opened("a", "1") })
      transcript.add({ from: "client", message: Message.success("a", { action: "accept" }) })
      transcript.add({ from: "server", message: completed("1") })
      const [left, right] = yield* Transport.memory()
      for (const message of [opened("b", "2"), completed("1")]) yield* right.send(message)
      const cause = yield* Effect.cause(Effect.scoped(
        Effect.flatMap(TestPeer.make(left), (peer) => Replay.play(peer, "client", transcript))
      ))
      assert.include(Cause.pretty(cause), "at params.elicitationId\n    recorded: \"2\"\n    received: \"1\"")
    }))
})
