import { assert, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import * as Connector from "@effect-mcp/core/Connector"
import * as InProcess from "@effect-mcp/core/InProcess"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Message from "@effect-mcp/core/Message"
import * as Extension from "@effect-mcp/core/protocol/Extension"
import * as Meta from "@effect-mcp/core/protocol/Meta"
import * as Transport from "@effect-mcp/core/Transport"
import type * as OfficialSchema from "@effect-mcp/testing/OfficialSchema"
import * as TestPeer from "@effect-mcp/testing/TestPeer"
import * as TestServer from "@effect-mcp/testing/TestServer"
import * as TestTransport from "@effect-mcp/testing/TestTransport"
import * as Transcript from "@effect-mcp/testing/Transcript"
import { Cause, Chunk, Effect, Exit, Fiber, Layer, Schema, Stream } from "effect"
import { describe } from "./support/WokenAtOnce.js"

const initialize = Message.request(1, "initialize", {
  protocolVersion: "2025-11-25",
  capabilities: {},
  clientInfo: { name: "test", version: "0.0.0" }
})

const initialized = (protocolVersion: string) =>
  Message.success(1, { protocolVersion, capabilities: {}, serverInfo: { name: "test", version: "0.0.0" } })

const receive = (transport: Transport.Transport, count: number) =>
  Effect.map(Stream.runCollect(Stream.take(transport.incoming, count)), Chunk.toArray)

/** Forks an effect, and goes on when its fiber has run for some turns: then it waits. */
const waiting = <A, E>(effect: Effect.Effect<A, E>) =>
  Effect.tap(Effect.fork(effect), () => Effect.repeatN(Effect.yieldNow(), 20))

const audio = { content: [{ type: "audio", data: "", mimeType: "audio/wav" }] }

describe("A test transport", () => {
  it.scoped("delivers copies, without undefined, as a network would", () =>
    Effect.gen(function*() {
      const { client, server } = yield* TestTransport.pair()
      const list: Array<number> = [1]
      yield* client.send(Message.notification("x", { list, nothing: undefined, when: new Date(0) }))
      assert.isTrue(server.unsafeSend(Message.notification("y", { list })))
      list.push(2)
      assert.deepStrictEqual(yield* receive(server, 1), [
        Message.notification("x", { list: [1], when: "1970-01-01T00:00:00.000Z" })
      ])
    }))

  it.scoped("fails to send what has no JSON text, and delivers nothing", () =>
    Effect.gen(function*() {
      const transcript = Transcript.make()
      const { client, server } = yield* TestTransport.pair({ transcript })
      const circular: Record<string, unknown> = {}
      circular.self = circular
      for (const value of [1n, circular]) {
        const error = yield* Effect.flip(client.send(Message.notification("x", { value })))
        assert.strictEqual(error.reason, "Encode")
        assert.isFalse(client.unsafeSend(Message.request(1, "x", { value })))
      }
      yield* client.send(Message.notification("after"))
      assert.deepStrictEqual(yield* receive(server, 1), [Message.notification("after")])
      assert.strictEqual(Transcript.render(transcript), "client · after")
    }))

  it.scoped("delivers an internal error in place of a response without JSON text", () =>
    Effect.gen(function*() {
      const { client, server } = yield* TestTransport.pair()
      assert.isTrue(server.unsafeSend(Message.success(1, { big: 1n })))
      assert.deepStrictEqual(yield* receive(client, 1), [
        Message.failure(1, { code: -32603, message: "Internal error" })
      ])
    }))

  it.scoped("delivers values that are not messages as malformed", () =>
    Effect.gen(function*() {
      const { client, server } = yield* TestTransport.pair({ oracle: false })
      const sent: ReadonlyArray<unknown> = [[Message.request(1, "x")], { jsonrpc: "2.0", id: null, method: "x" }, 7]
      for (const one of sent) yield* client.send(one as Message.Message)
      yield* client.send(new Message.Malformed("response", -32600, "malformed", 1) as unknown as Message.Message)
      const received = yield* receive(server, 4)
      assert.isTrue(received.every((one) => !(one instanceof Transport.Undelivered) && Message.isMalformed(one)))
      assert.deepStrictEqual((received[0] as Message.Malformed).batch, sent[0] as ReadonlyArray<unknown>)
      assert.strictEqual((received[3] as Message.Malformed).message, "malformed")
    }))

  it.scoped("records messages in the order of their arrival", () =>
    Effect.gen(function*() {
      const transcript = Transcript.make()
      const { client, server } = yield* TestTransport.pair({ transcript, capacity: 1, oracle: false })
      client.unsafeSend(Message.request(1, "first"))
      // There is no room for it yet.
      const waiting = yield* Effect.fork(client.send(Message.notification("third")))
      yield* Effect.yieldNow()
      client.unsafeSend(Message.request(2, "second"))
      server.unsafeSend(Message.success(1, {}))
      const received = yield* receive(server, 2)
      assert.deepStrictEqual(received, [Message.request(1, "first"), Message.request(2, "second")])
      yield* Effect.exit(Fiber.join(waiting))
      assert.strictEqual(
        Transcript.render(transcript).replace(/\nclient · third$/, ""),
        "client → 1 first\nclient → 2 second\nserver ← 1 {}"
      )
    }))

  it.scoped("records a request before its answer, though the answer is sent at once", () =>
    Effect.gen(function*() {
      for (const how of ["send", "unsafeSend"] as const) {
        const transcript = Transcript.make()
        const { client, server } = yield* TestTransport.pair({ transcript, oracle: false })
        yield* waiting(Transport.run(server, () => void server.unsafeSend(Message.success(1, {}))))
        if (how === "send") yield* client.send(Message.request(1, "first"))
        else client.unsafeSend(Message.request(1, "first"))
        yield* receive(client, 1)
        assert.strictEqual(Transcript.render(transcript), "client → 1 first\nserver ← 1 {}")
      }
    }))

  it.scoped("records no message that was not accepted", () =>
    Effect.gen(function*() {
      const transcript = Transcript.make()
      const { client, server } = yield* TestTransport.pair({ transcript })
      yield* Fiber.interrupt(yield* waiting(Stream.runDrain(server.incoming)))
      assert.isFalse(client.unsafeSend(Message.request(1, "late")))
      assert.strictEqual(yield* Effect.flip(client.send(Message.request(1, "late"))), Transport.closed)
      assert.strictEqual(Transcript.render(transcript), "")
    }))
})

describe("Any other transport that is observed", () => {
  it.effect("records what it sends and receives, and fails a test with violations of both sides", () =>
    Effect.gen(function*() {
      const transcript = Transcript.make()
      const exit = yield* Effect.exit(Effect.scoped(Effect.gen(function*() {
        const [left, right] = yield* Transport.memory()
        const client = yield* TestTransport.observed(left, "client", { transcript })
        yield* client.send(Message.request(1, "tools/call", { name: 7 }))
        assert.isTrue(client.unsafeSend(Message.request(2, "ping")))
        yield* right.send(Message.success(1, { content: 7 }))
        yield* right.send(Message.success(2, {}))
        const received = yield* Effect.forkScoped(Transport.run(client, () => {}))
        yield* Effect.repeat(Effect.yieldNow(), { until: () => transcript.entries.length === 4 })
        yield* Fiber.interrupt(received)
      })))
      assert.deepStrictEqual(transcript.entries.map(({ from }) => from), ["client", "client", "server", "server"])
      const [defect] = Exit.isFailure(exit) ? Chunk.toReadonlyArray(Cause.defects(exit.cause)) : []
      assert.match(String(defect), /client → 1 .*\n.*CallToolRequest of .*\nserver ← 1 .*\n.*CallToolResult of /)
    }))
})

describe("A transport that is observed for its violations", () => {
  it.effect("gives each with all of its errors, and lets the test decide", () =>
    Effect.gen(function*() {
      const violations: Array<OfficialSchema.Violation> = []
      yield* Effect.scoped(Effect.gen(function*() {
        const [left] = yield* Transport.memory()
        const client = yield* TestTransport.observed(left, "client", {
          onViolation: (violation) => violations.push(violation)
        })
        yield* client.send(Message.request(1, "tools/call", { name: 7, arguments: 8 }))
        yield* client.send(Message.request(2, "ping"))
        yield* client.send(Message.request(3, "resources/read", {}))
      }))
      assert.deepStrictEqual(violations.map(({ from, message }) => [from, (message as Message.Request).id]), [
        ["client", 1],
        ["client", 3]
      ])
      assert.match(
        violations[0]!.problem,
        /^CallToolRequest of .*params\/arguments must be object.*params\/name must be string/
      )
    }))
})

describe("A transport that is observed with an extension", () => {
  it.scoped("may receive results of the types that the extension adds", () =>
    Effect.gen(function*() {
      const extensions = [Extension.make("com.example/later", {
        results: { later: Extension.resultType("later", { method: "tools/call", value: Schema.Struct({}) }) }
      })]
      const [left, right] = yield* Transport.memory()
      const client = yield* TestTransport.observed(left, "client", { extensions })
      yield* client.send(Message.request(1, "tools/call", { name: "x", _meta: TestPeer.requestMeta() }))
      yield* right.send(Message.success(1, { resultType: "later" }))
      yield* Effect.fork(Transport.run(client, () => {}))
      yield* receive(right, 1)
    }))
})

describe("The schema check of a test transport", () => {
  /** The violations in a conversation of these messages. */
  const violationsOf = (
    sent: ReadonlyArray<readonly [from: "client" | "server", message: unknown]>,
    oracle?: TestTransport.Options["oracle"]
  ) =>
    Effect.gen(function*() {
      let violations: ReadonlyArray<string> = []
      const exit = yield* Effect.exit(Effect.scoped(Effect.gen(function*() {
        const pair = yield* TestTransport.pair({ oracle })
        violations = pair.violations
        for (const [from, message] of sent) yield* pair[from].send(message as Message.Message)
      })))
      assert.strictEqual(Exit.isFailure(exit), violations.length > 0)
      if (Exit.isFailure(exit)) {
        const defect = Chunk.unsafeHead(Cause.defects(exit.cause)) as Error
        assert.strictEqual(defect.message, `The specification does not allow:\n${violations.join("\n")}`)
      }
      return violations
    })

  const wrong = [
    ["client", Message.request(1, "tools/call", { arguments: {} })],
    ["server", Message.success(1, { content: 7 })],
    ["server", Message.notification("notifications/message", { level: "loud", data: 1 })],
    ["client", { jsonrpc: "2.0", id: 1 }]
  ] as const

  it.effect("accepts a conversation without violations", () =>
    Effect.gen(function*() {
      const violations = yield* violationsOf([
        ["client", initialize],
        ["server", initialized("2025-11-25")],
        ["client", Message.notification("notifications/initialized")],
        ["client", Message.request(2, "tools/call", { name: "x" })],
        ["server", Message.request(2, "ping")],
        ["client", Message.success(2, {})],
        ["server", Message.success(2, audio)],
        ["server", Message.failure(undefined, { code: -32700, message: "what?" })],
        ["client", Message.request(3, "ours/do", { anything: 1 })],
        ["server", Message.success(3, { goes: true })]
      ])
      assert.deepStrictEqual(violations, [])
    }))

  it.effect("fails a test with a revision that is not a text", () =>
    Effect.gen(function*() {
      const noText = { toString: 1 }
      const violations = yield* violationsOf([
        ["client", Message.request(1, "ping", { _meta: { [Meta.keys.protocolVersion]: noText } })],
        ["client", { ...initialize, id: 2 }],
        ["server", { ...initialized("2025-11-25"), id: 2, result: { protocolVersion: noText } }]
      ])
      assert.include(violations.join(), "InitializeResult of 2025-11-25")
    }))

  it.effect("fails a test with violations, and says which side sent what", () =>
    Effect.gen(function*() {
      const violations = yield* violationsOf(wrong)
      assert.lengthOf(violations, 4)
      assert.match(violations[0]!, /^client → 1 tools\/call .*\n {4}CallToolRequest of 2025-11-25: .*'name'/)
      assert.match(violations[1]!, /^server ← 1 .*\n {4}CallToolResult of 2025-11-25: /)
      assert.match(
        violations[2]!,
        /^server · notifications\/message .*\n {4}LoggingMessageNotification of 2025-11-25: /
      )
      assert.match(violations[3]!, /^client \? .*\n {4}Invalid request: "method" is missing/)
    }))

  it.effect("checks one side only, if so configured", () =>
    Effect.gen(function*() {
      const by = (violations: ReadonlyArray<string>) => violations.map((violation) => violation.slice(0, 6))
      assert.deepStrictEqual(by(yield* violationsOf(wrong, "client")), ["client", "client"])
      assert.deepStrictEqual(by(yield* violationsOf(wrong, "server")), ["server", "server"])
      assert.deepStrictEqual(by(yield* violationsOf(wrong, true)), ["client", "server", "server", "client"])
      assert.deepStrictEqual(by(yield* violationsOf(wrong, false)), [])
    }))

  it.effect("checks by the revision that both sides agreed on", () =>
    Effect.gen(function*() {
      const call = ["client", Message.request(2, "tools/call", { name: "x" })] as const
      const at = (version: string) =>
        violationsOf([["client", initialize], ["server", initialized(version)], call, [
          "server",
          Message.success(2, audio)
        ]])
      assert.deepStrictEqual(yield* at("2025-03-26"), [])
      const [violation] = yield* at("2024-11-05")
      assert.include(violation, "CallToolResult of 2024-11-05")
    }))

  it.effect("matches a response to the request of the other side, when both sides use the same ids", () =>
    Effect.gen(function*() {
      const violations = yield* violationsOf([
        ["client", Message.request(1, "tools/list")],
        ["server", Message.request(1, "roots/list")],
        ["client", Message.success(1, { roots: [] })],
        ["server", Message.success(1, { tools: [] })]
      ])
      assert.deepStrictEqual(violations, [])
    }))

  it.effect("reports an id that is in use, and a result for no open request", () =>
    Effect.gen(function*() {
      const violations = yield* violationsOf([
        ["client", Message.request(1, "tools/list")],
        ["client", Message.request(1, "tools/list")],
        ["server", Message.failure(1, { code: -32600, message: "in use" })],
        ["server", Message.success(1, { tools: [] })],
        ["server", Message.success(1, { tools: [] })],
        ["client", Message.request(1, "tools/list")],
        ["server", Message.success("1", { tools: [] })],
        ["server", Message.failure(1, { code: -32603, message: "no" })],
        // The message with this id may have been malformed.
        ["server", Message.failure(7, { code: -32600, message: "no" })]
      ])
      assert.deepStrictEqual(violations, [
        "client → 1 tools/list\n    An open request has the same id",
        "server ← 1 {\"tools\":[]}\n    The response answers no open request",
        "server ← \"1\" {\"tools\":[]}\n    The response answers no open request"
      ])
    }))
})

describe("A recorded connector", () => {
  for (const kind of ["wire", "direct"] as const) {
    it.effect(`records both directions in their order over ${kind}, with times if so configured`, () =>
      Effect.gen(function*() {
        const transcript = Transcript.make()
        yield* Effect.scoped(Effect.gen(function*() {
          const inner = kind === "wire" ? yield* TestServer.connector() : yield* InProcess.connector
          const connector = TestTransport.recorded(inner, transcript, { times: true })
          assert.strictEqual(connector.name, inner.name)
          const client = yield* Client.make(connector, { versions: ["2025-11-25"] })
          yield* client.ping()
        })).pipe(Effect.provide(McpServer.layer({ name: "test", version: "0.0.0" }, Layer.empty)))
        assert.deepStrictEqual(transcript.entries.map((entry) => Transcript.line(entry).split(" {")[0]), [
          "client → 1 initialize",
          "server ← 1",
          "client · notifications/initialized",
          "client → 2 ping",
          "server ← 2"
        ])
        assert.isTrue(transcript.entries.every(({ at }) => at === 0))
      }))
  }

  it.scoped("records the messages of a batch one by one, and nothing for what is not a message", () =>
    Effect.gen(function*() {
      const transcript = Transcript.make()
      const [client, server] = yield* Transport.memory()
      const { connect } = TestTransport.recorded(Connector.fromTransport(client), transcript)
      const recorded = yield* connect
      const batch = [Message.success(1, {}), 7, Message.notification("a")]
      yield* server.send(Message.fromUnknown(batch) as Message.Message)
      yield* server.send(Message.fromUnknown(7) as Message.Message)
      yield* server.send(Message.notification("b"))
      yield* receive(recorded, 3)
      assert.strictEqual(Transcript.render(transcript), "server ← 1 {}\nserver · a\nserver · b")
    }))
})
