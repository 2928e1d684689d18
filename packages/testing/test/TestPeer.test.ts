import { assert, describe, it } from "@effect/vitest"
import * as Connector from "@effect-mcp/core/Connector"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Message from "@effect-mcp/core/Message"
import { ServerSession } from "@effect-mcp/core/ServerSession"
import * as Tool from "@effect-mcp/core/Tool"
import * as Transport from "@effect-mcp/core/Transport"
import * as TestPeer from "@effect-mcp/testing/TestPeer"
import * as Transcript from "@effect-mcp/testing/Transcript"
import { Deferred, Effect, Exit, Fiber, Schema, type Scope, Stream } from "effect"
import { preempted } from "./support/Preempted.js"

const Greet = Tool.make("greet", { parameters: { name: Schema.String } })
const GreetLive = McpServer.tool(Greet, ({ name }) => Effect.succeed(`Hello, ${name}!`))
const Server = McpServer.layer({ name: "test", version: "0.0.0" }, GreetLive)

/** A connected side, and the other end of its pipe. */
const connected = Effect.gen(function*() {
  const [mine, other] = yield* Transport.memory()
  return { peer: yield* TestPeer.make(mine), other }
})

/** How a script ends that is run in a scope of its own. */
const ends = <A, E, R>(script: Effect.Effect<A, E, R>): Effect.Effect<string, never, Exclude<R, Scope.Scope>> =>
  Effect.map(
    Effect.exit(Effect.scoped(script)),
    Exit.match({ onFailure: (cause) => String(cause), onSuccess: () => "well" })
  )

describe("A connected side", () => {
  it.live("learns that it has hung up, at whatever step", () =>
    preempted(Effect.scoped(Effect.gen(function*() {
      const { peer } = yield* connected
      yield* peer.hangUp
      yield* peer.expectEnd
    }))))

  it.scoped("sends what the test gives it, valid or not", () =>
    Effect.gen(function*() {
      const { other, peer } = yield* connected
      yield* peer.send(Message.success("made up", {}))
      assert.strictEqual(yield* peer.request("x", { a: 1 }), "test-1")
      const ask = peer.request("x")
      assert.strictEqual(yield* ask, "test-2")
      assert.strictEqual(yield* ask, "test-3")
      assert.strictEqual(yield* peer.request("x", undefined, 0), 0)
      yield* peer.notify("y")
      const received: Array<Transport.Delivery> = []
      yield* Effect.fork(Transport.run(other, (incoming) => {
        received.push(incoming)
      }))
      yield* Effect.repeat(Effect.yieldNow(), { until: () => received.length === 6 })
      assert.deepStrictEqual(received, [
        Message.success("made up", {}),
        Message.request("test-1", "x", { a: 1 }),
        Message.request("test-2", "x"),
        Message.request("test-3", "x"),
        Message.request(0, "x"),
        Message.notification("y")
      ])
    }))

  it.scoped("receives messages in the order in which they were sent", () =>
    Effect.gen(function*() {
      const { other, peer } = yield* connected
      other.unsafeSend(Message.request(1, "a", { n: 1 }))
      other.unsafeSend(Message.notification("b"))
      other.unsafeSend(Message.notification("c", { n: 3 }))
      other.unsafeSend(Message.success("d", { n: 4 }))
      other.unsafeSend(Message.failure("e", { code: 5, message: "no", data: 5 }))
      other.unsafeSend(Message.failure(undefined, { code: 6, message: "what?" }))
      other.unsafeSend(Message.notification("last"))
      assert.deepStrictEqual(yield* peer.expectRequest("a"), Message.request(1, "a", { n: 1 }))
      assert.deepStrictEqual(yield* peer.expectNotification("b"), {})
      assert.deepStrictEqual(yield* peer.expectNotification("c"), { n: 3 })
      assert.deepStrictEqual(yield* peer.expectResult("d"), { n: 4 })
      assert.deepStrictEqual(yield* peer.expectError("e"), { code: 5, message: "no", data: 5 })
      assert.strictEqual((yield* peer.expectError(undefined)).code, 6)
      assert.deepStrictEqual(yield* peer.next, Message.notification("last"))
    }))

  it.scoped("waits for a message that has not arrived", () =>
    Effect.gen(function*() {
      const { other, peer } = yield* connected
      const waiting = yield* Effect.fork(peer.expectNotification("late"))
      yield* Effect.yieldNow()
      assert.isNull(waiting.unsafePoll())
      other.unsafeSend(Message.notification("late", { n: 1 }))
      assert.deepStrictEqual(yield* Fiber.join(waiting), { n: 1 })
    }))

  const unexpected: ReadonlyArray<
    readonly [
      unexpectedMessage: Message.Message,
      expect: (peer: TestPeer.TestPeer) => Effect.Effect<unknown, unknown>,
      complaint: string
    ]
  > = [
    [Message.request(1, "a"), (peer) => peer.expectRequest("b"), "Expected a request \"b\", received:\n→ 1 a"],
    [Message.notification("b"), (peer) => peer.expectRequest("b"), "Expected a request \"b\", received:\n· b"],
    [
      Message.request(1, "b"),
      (peer) => peer.expectNotification("b"),
      "Expected a notification \"b\", received:\n→ 1 b"
    ],
    [Message.success("1", {}), (peer) => peer.expectResult(1), "Expected the result of 1, received:\n← \"1\" {}"],
    [
      Message.failure(1, { code: 2, message: "no" }),
      (peer) => peer.expectResult(1),
      "Expected the result of 1, received:\n✗ 1 2 \"no\""
    ],
    [Message.success(1, {}), (peer) => peer.expectError(1), "Expected an error for 1, received:\n← 1 {}"],
    [
      Message.failure(1, { code: 2, message: "no" }),
      (peer) => peer.expectError(undefined),
      "Expected an error for undefined, received:\n✗ 1 2 \"no\""
    ],
    [
      Message.notification("a"),
      (peer) => peer.expectEnd,
      "Expected the other side to close the connection, received:\n· a"
    ],
    [Message.notification("a"), (peer) => peer.expectSilence, "received:\n· a"],
    [
      new Message.Malformed("request", -32600, "no message") as unknown as Message.Message,
      (peer) => peer.next,
      "Expected a message, received:\n? no message"
    ]
  ]

  for (const [unexpectedMessage, expect, complaint] of unexpected) {
    it.effect(`fails the test when it receives another message: ${complaint.replace("\n", " ")}`, () =>
      Effect.gen(function*() {
        const ended = yield* ends(Effect.flatMap(connected, ({ other, peer }) => {
          other.unsafeSend(unexpectedMessage)
          return expect(peer)
        }))
        assert.include(ended, complaint)
      }))
  }

  it.effect("fails the test when the script does not receive all messages", () =>
    Effect.gen(function*() {
      const script = (pass: Effect.Effect<void, string>) =>
        Effect.gen(function*() {
          const { other, peer } = yield* connected
          for (const method of ["a", "b", "c"]) other.unsafeSend(Message.notification(method))
          yield* peer.expectNotification("a")
          yield* pass
        })
      assert.include(
        yield* ends(script(Effect.void)),
        "The script ended before it received:\n· b\n· c"
      )
      // A script that fails reports its own error.
      assert.notInclude(yield* ends(script(Effect.fail("failed"))), "before it received")
    }))

  it.scoped("sees that the other side has closed the connection", () =>
    Effect.gen(function*() {
      const { other, peer } = yield* connected
      const listening = yield* Effect.fork(Transport.run(other, () => {}))
      yield* Effect.yieldNow()
      other.unsafeSend(Message.notification("last"))
      yield* Fiber.interrupt(listening)
      yield* peer.expectNotification("last")
      yield* peer.expectEnd
      assert.include(String(yield* Effect.cause(peer.next)), "The other side has closed the connection")
      assert.strictEqual((yield* Effect.flip(peer.notify("late"))).reason, "Write")
    }))

  it.scoped("closes the connection, also where it was made uninterruptibly", () =>
    Effect.gen(function*() {
      const { other, peer } = yield* Effect.uninterruptible(connected)
      const listening = yield* Effect.fork(Transport.run(other, () => {}))
      yield* Effect.yieldNow()
      yield* peer.hangUp
      yield* Fiber.join(listening)
      yield* peer.expectEnd
    }))
})

describe("A scripted client", () => {
  it.effect("performs the handshake with a server, or omits it", () =>
    Effect.gen(function*() {
      const peer = yield* TestPeer.client()
      const early = yield* peer.request("tools/list")
      assert.strictEqual((yield* peer.expectError(early)).code, -32602)
      const { protocolVersion } = yield* peer.initialize({ version: "2025-03-26", capabilities: { roots: {} } })
      assert.strictEqual(protocolVersion, "2025-03-26")
      const call = yield* peer.request("tools/call", { name: "greet", arguments: { name: "Ada" } }, 0)
      assert.deepStrictEqual(yield* peer.expectResult(call), { content: [{ type: "text", text: "Hello, Ada!" }] })
      yield* peer.expectSilence
    }).pipe(Effect.scoped, Effect.provide(Server)))

  it.effect("SHOULD NOT get an answer to a request that it cancels", () =>
    Effect.gen(function*() {
      const started = yield* Deferred.make<void>()
      const stopped = yield* Deferred.make<void>()
      const HangLive = McpServer.tool(Greet, () =>
        Deferred.succeed(started, undefined).pipe(
          Effect.zipRight(Effect.never),
          Effect.onInterrupt(() => Deferred.succeed(stopped, undefined))
        ))
      yield* Effect.gen(function*() {
        const peer = yield* TestPeer.client()
        yield* peer.initialize()
        const call = yield* peer.request("tools/call", { name: "greet", arguments: { name: "Ada" } })
        yield* Deferred.await(started)
        yield* peer.notify("notifications/cancelled", { requestId: call })
        yield* Deferred.await(stopped)
        yield* peer.expectSilence
      }).pipe(Effect.scoped, Effect.provide(McpServer.layer({ name: "test", version: "0.0.0" }, HangLive)))
    }))

  it.effect("may send what the specification does not allow; its server may not", () =>
    Effect.gen(function*() {
      const LoudLive = McpServer.tool(Greet, () =>
        Effect.gen(function*() {
          const session = yield* ServerSession
          yield* session.notify("notifications/message", { level: "loud", data: 1 })
        }))
      const ended = yield* ends(
        Effect.gen(function*() {
          const peer = yield* TestPeer.client()
          yield* peer.initialize()
          const nameless = yield* peer.request("tools/call", {})
          assert.strictEqual((yield* peer.expectError(nameless)).code, -32602)
          const call = yield* peer.request("tools/call", { name: "greet", arguments: { name: "Ada" } })
          yield* peer.expectNotification("notifications/message")
          yield* peer.expectResult(call)
        })
      ).pipe(Effect.provide(McpServer.layer({ name: "test", version: "0.0.0" }, LoudLive)))
      assert.include(ended, "The specification does not allow:\nserver · notifications/message")
      assert.notInclude(ended, "client →")
    }))
})

describe("A modern client", () => {
  it.scoped("sends the revision, its name and its capabilities with each request, and what the options have", () =>
    Effect.gen(function*() {
      const { other, peer } = yield* connected
      const received = yield* Effect.fork(Stream.runCollect(Stream.take(other.incoming, 3)))
      const modern = peer.modern({ capabilities: { roots: {} }, logLevel: "info", progressToken: 7 })
      yield* modern.request("tools/list", { cursor: "c", _meta: { "com.example/own": 1, progressToken: 8 } }, 1)
      yield* modern.notify("notifications/x")
      yield* peer.request("tools/list", undefined, 2)
      const _meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { name: "test", version: "0.0.0" },
        "io.modelcontextprotocol/clientCapabilities": { roots: {} },
        "io.modelcontextprotocol/logLevel": "info"
      }
      assert.deepStrictEqual([...(yield* Fiber.join(received))], [
        Message.request(1, "tools/list", { cursor: "c", _meta: { ..._meta, "com.example/own": 1, progressToken: 8 } }),
        Message.notification("notifications/x", { _meta: { ..._meta, progressToken: 7 } }),
        Message.request(2, "tools/list")
      ])
    }))

  it.scoped("expects silence without a `ping`, which its revision does not have", () =>
    Effect.gen(function*() {
      const peer = (yield* TestPeer.client()).modern()
      const id = yield* peer.request("tools/call", { name: "greet", arguments: { name: "Ada" } })
      assert.nestedPropertyVal(yield* peer.expectResult(id), "content.0.text", "Hello, Ada!")
      yield* peer.expectSilence
    }).pipe(Effect.provide(Server)))
})

describe("A connected server", () => {
  it.scoped("performs the handshake with the client that connects, and sends what the test gives it", () =>
    Effect.gen(function*() {
      const transcript = Transcript.make()
      const [server, connector] = yield* TestPeer.server({ transcript })
      assert.strictEqual(connector.name, "a scripted server")
      const wire = yield* connector.connect
      const shaking = yield* Effect.fork(server.initialized({ version: "2024-11-05", capabilities: { tools: {} } }))
      wire.unsafeSend(Message.request(1, "initialize", {
        protocolVersion: "2025-11-25",
        capabilities: {},
        clientInfo: { name: "test", version: "0.0.0" }
      }))
      wire.unsafeSend(Message.notification("notifications/initialized"))
      yield* Fiber.join(shaking)
      yield* server.send(Message.success(2, { anything: "goes" }))
      assert.deepStrictEqual(Transcript.render(transcript).split("\n").slice(2), [
        "server ← 1 {\"protocolVersion\":\"2024-11-05\",\"capabilities\":{\"tools\":{}}," +
        "\"serverInfo\":{\"name\":\"test\",\"version\":\"0.0.0\"}}",
        "server ← 2 {\"anything\":\"goes\"}"
      ])
    }))

  it.effect("may send what the specification does not allow; its client may not", () =>
    Effect.gen(function*() {
      const ended = yield* ends(Effect.gen(function*() {
        const [server, connector] = yield* TestPeer.server()
        const wire = yield* connector.connect
        yield* server.notify("notifications/message", { level: "loud", data: 1 })
        wire.unsafeSend(Message.request(1, "tools/call", {}))
        yield* server.expectRequest("tools/call")
      }))
      assert.include(ended, "The specification does not allow:\nclient → 1 tools/call {}")
      assert.notInclude(ended, "server ·")
    }))

  it.scoped("can be connected to in a scope, like any server", () =>
    Effect.gen(function*() {
      const [, connector] = yield* TestPeer.server()
      const same: Connector.Connector = Connector.make("the same", connector.connect)
      assert.strictEqual(yield* same.connect, yield* connector.connect)
    }))
})
