import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/client/Client"
import * as Definition from "@effect-mcp/definition/Definition"
import * as Tool from "@effect-mcp/definition/Tool"
import { Dispatcher } from "@effect-mcp/server/Dispatcher"
import * as InProcess from "@effect-mcp/server/InProcess"
import * as McpServer from "@effect-mcp/server/McpServer"
import { RequestContext } from "@effect-mcp/server/RequestContext"
import { Deferred, Effect, Exit, FiberRef, Layer, Schema, Scope, Stream } from "effect"
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
      const greet = yield* Effect.provideService(Client.of(Definition.make(Greet)), Client.Client, session)
      assert.deepStrictEqual((yield* greet.greet({ name: "Ada" })).content, [{ type: "text", text: "Hello, Ada!" }])
    }).pipe(Effect.provide(serve(GreetLive))))

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

  it.scoped("interrupts a handler when its caller is interrupted", () =>
    Effect.gen(function*() {
      const started = yield* Deferred.make<void>()
      const stopped = yield* Deferred.make<void>()
      const forever = Effect.zipRight(Deferred.succeed(started, undefined), Effect.never).pipe(
        Effect.onInterrupt(() => Deferred.succeed(stopped, undefined))
      )
      yield* Effect.gen(function*() {
        const session = yield* client
        yield* Effect.raceFirst(session.callTool("act"), Deferred.await(started))
        yield* Deferred.await(stopped)
      }).pipe(Effect.provide(serve(act(forever))))
    }))

  it.scoped("serves in the context of the server, not of its caller", () =>
    Effect.gen(function*() {
      const who = FiberRef.unsafeMake("nobody")
      const Who = Tool.make("who", { success: Schema.String })
      const live = McpServer.tool(Who, () => FiberRef.get(who))
      yield* Effect.gen(function*() {
        const session = yield* Effect.locally(client, who, "the one who connects")
        const result = yield* Effect.locally(session.callTool("who"), who, "the one who calls")
        assert.deepStrictEqual(result.content, [{ type: "text", text: "the server" }])
      }).pipe(
        Effect.provide(Layer.provide(serve(live), Layer.scopedDiscard(Effect.locallyScoped(who, "the server"))))
      )
    }))

  it.scoped("closes its connections with the server, and refuses new ones after that", () =>
    Effect.gen(function*() {
      const [connector, session] = yield* Effect.all([InProcess.connector, client]).pipe(
        Effect.provide(serve(GreetLive))
      )
      yield* session.ended
      assert.strictEqual((yield* Effect.flip(session.callTool("greet")))._tag, "ConnectionClosed")
      assert.strictEqual((yield* Effect.flip(Client.make(connector)))._tag, "ConnectionClosed")
    }))

  it.scoped("delivers progress before the result, as a transport does", () =>
    Effect.gen(function*() {
      const heard: Array<number> = []
      const session = yield* client
      const result = yield* session.callTool("act", undefined, {
        onProgress: ({ progress }) => Effect.sync(() => heard.push(progress))
      })
      assert.deepStrictEqual(result, { content: [] })
      assert.deepStrictEqual(heard, [1, 2, 3])
    }).pipe(Effect.provide(serve(act(
      Effect.flatMap(RequestContext, (context) => Effect.forEach([1, 2, 2, 3], (n) => context.progress(n)))
    )))))

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
