import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import * as Definition from "@effect-mcp/core/Definition"
import { Dispatcher } from "@effect-mcp/core/Dispatcher"
import * as InProcess from "@effect-mcp/core/InProcess"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Resource from "@effect-mcp/core/Resource"
import { ServerSession } from "@effect-mcp/core/ServerSession"
import { Effect, Exit, Layer, Queue, Scope, Stream } from "effect"
import { untilSuspended } from "../../../testing/test/support/Suspended.js"
import { act, Greet, GreetLive, serve } from "./Serving.js"

/** A client of the server in the context. */
const client = Effect.flatMap(InProcess.connector, (connector) => Client.make(connector))

describe("InProcess", () => {
  it.scoped("connects a client to the server", () =>
    Effect.gen(function*() {
      const session = yield* client
      assert.strictEqual(session.version, "2026-07-28")
      const tools = yield* Stream.runCollect(session.tools)
      assert.deepStrictEqual(Array.from(tools, ({ name }) => name), ["greet"])
      const greet = Client.of(session, Definition.make(Greet))
      assert.deepStrictEqual((yield* greet.greet({ name: "Ada" })).content, [{ type: "text", text: "Hello, Ada!" }])
    }).pipe(Effect.provide(serve(GreetLive))))

  for (const version of ["2025-11-25", "2026-07-28"] as const) {
    // More than are sent in one turn of the event loop.
    it.scoped(`announces each of 300 changes that come one after another, at ${version}`, () =>
      Effect.gen(function*() {
        const session = yield* Client.make(yield* InProcess.connector, { versions: [version] })
        const updates = yield* Queue.unbounded<string>()
        const reader = yield* Effect.forkScoped(
          Stream.runForEach(session.resourceUpdates, (uri) => Queue.offer(updates, uri))
        )
        yield* untilSuspended(reader)
        yield* session.subscribeResource("file:///a")
        for (let change = 0; change < 300; change++) {
          yield* McpServer.resourceUpdated("file:///a")
          yield* Queue.take(updates)
        }
      }).pipe(Effect.provide(serve(McpServer.resource(Resource.make("a", { uri: "file:///a" }), Effect.succeed("a"))))))
  }

  for (const version of ["2025-11-25", "2026-07-28"] as const) {
    it.scoped(`MUST send progress that increases, also of two fibers of a handler that never wait, at ${version}`, () =>
      Effect.gen(function*() {
        const session = yield* Client.make(yield* InProcess.connector, { versions: [version] })
        const received: Array<number> = []
        yield* session.callTool("act", {}, { onProgress: ({ progress }) => Effect.sync(() => received.push(progress)) })
        assert.deepStrictEqual(received, Array.from({ length: 600 }, (_, at) => at + 1))
      }).pipe(Effect.provide(serve(act(Effect.gen(function*() {
        const { progress } = yield* ServerSession
        let sent = 0
        const worker = Effect.repeatN(Effect.suspend(() => progress(++sent)), 299)
        yield* Effect.all([worker, worker], { concurrency: "unbounded" })
      }))))))
  }

  it.scoped("makes a conversation for each connection", () =>
    Effect.gen(function*() {
      const dispatcher = yield* Dispatcher
      const connector = yield* InProcess.connector
      assert.strictEqual(connector.name, "a server in this process")
      const scope = yield* Scope.make()
      yield* Scope.extend(Client.make(connector), scope)
      const staying = yield* Client.make(connector)
      assert.strictEqual(dispatcher.conversations(), 2)
      yield* Scope.close(scope, Exit.void)
      assert.strictEqual(dispatcher.conversations(), 1)
      yield* staying.ping()
    }).pipe(Effect.provide(serve(GreetLive))))

  it.scoped("closes its connections with the server, and refuses new ones after that", () =>
    Effect.gen(function*() {
      const [connector, session] = yield* Effect.all([InProcess.connector, client]).pipe(
        Effect.provide(serve(GreetLive))
      )
      yield* session.ended
      assert.strictEqual((yield* Effect.flip(session.callTool("greet")))._tag, "ConnectionClosed")
      assert.strictEqual((yield* Effect.flip(Client.make(connector)))._tag, "ConnectionClosed")
    }))

  it.scoped("can build a server for each connection, and releases it with the connection", () =>
    Effect.gen(function*() {
      const log: Array<string> = []
      const living = Layer.scopedDiscard(Effect.acquireRelease(
        Effect.sync(() => log.push("built")),
        () => Effect.sync(() => log.push("gone"))
      ))
      const connector = InProcess.fromLayer(serve(Layer.merge(GreetLive, living)))
      for (const _ of [1, 2]) {
        yield* Effect.scoped(Effect.flatMap(Client.make(connector), (session) => session.ping()))
      }
      assert.deepStrictEqual(log, ["built", "gone", "built", "gone"])
    }))

  it.scoped("fails to connect when the server cannot be built", () =>
    Effect.gen(function*() {
      const connector = InProcess.fromLayer(serve(Layer.fail("no database")))
      const error = yield* Effect.flip(Client.make(connector))
      assert.deepInclude(error, { _tag: "TransportError", reason: "Open", cause: "no database" })
    }))
})
