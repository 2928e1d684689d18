import { assert, describe, it } from "@effect/vitest"
import * as Authenticator from "@effect-mcp/core/Authenticator"
import { Dispatcher } from "@effect-mcp/core/Dispatcher"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Message from "@effect-mcp/core/Message"
import * as Prompt from "@effect-mcp/core/Prompt"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import type { LegacyVersion } from "@effect-mcp/core/protocol/Version"
import { RequestContext } from "@effect-mcp/core/RequestContext"
import * as Resource from "@effect-mcp/core/Resource"
import { ServerSession } from "@effect-mcp/core/ServerSession"
import * as OfficialSchema from "@effect-mcp/testing/OfficialSchema"
import { Context, Deferred, Effect, Fiber, Layer, Schema } from "effect"
import { act, answer, byHeader, GreetLive, info, Sender, serve, speaking, until } from "../Serving.js"

/** The answer to a request that comes alone, which the official schema allows. */
const ask = (
  method: string,
  params?: JsonObject,
  { caller, version = "2025-11-25" }: { readonly caller?: Authenticator.Caller; readonly version?: LegacyVersion } = {}
) =>
  Effect.tap(
    answer(Message.request(1, method, params), caller ?? speaking(version)),
    (answered) =>
      Effect.map(OfficialSchema.make("2025-11-25"), (oracle) => assert.isUndefined(oracle.message(answered)))
  )

const greeting = (name: string) => ({ name: "greet", arguments: { name } })

describe("A request without a session", () => {
  it.effect("is served without a handshake", () =>
    Effect.gen(function*() {
      const { result } = yield* ask("tools/call", greeting("Ada"))
      assert.deepStrictEqual(result.content, [{ type: "text", text: "Hello, Ada!" }])
      assert.deepStrictEqual((yield* ask("ping")).result, {})
      assert.strictEqual((yield* ask("tools/fetch")).error.code, -32601)
      assert.strictEqual((yield* ask("tools/call", { name: 1 })).error.code, -32602)
    }).pipe(Effect.provide(serve(GreetLive))))

  it.effect("is answered in the form of its own revision", () =>
    Effect.gen(function*() {
      for (const [version, title] of [["2025-11-25", "A"], ["2024-11-05", undefined], ["2025-06-18", "A"]] as const) {
        const { result } = yield* ask("resources/list", undefined, { version })
        const [resource] = result.resources as ReadonlyArray<{ readonly title?: string }>
        assert.strictEqual(resource?.title, title)
      }
    }).pipe(Effect.provide(serve(McpServer.resource(
      Resource.make("a", { uri: "file:///a", title: "A" }),
      Effect.succeed("A")
    )))))

  it.effect("answers initialize, and another one, with the requested revision", () =>
    Effect.gen(function*() {
      for (const version of ["2024-11-05", "2025-06-18", "2025-06-18"] as const) {
        const { result } = yield* ask("initialize", {
          protocolVersion: version,
          capabilities: { roots: {} },
          clientInfo: { name: "test", version: "0.0.0" }
        })
        assert.deepStrictEqual([result.protocolVersion, result.serverInfo], [version, info])
      }
      // Nothing is remembered of it.
      assert.strictEqual((yield* ask("tools/list")).error, undefined)
    }).pipe(Effect.provide(serve(GreetLive))))

  it.effect("remembers nothing for the next: it serves neither a log level nor subscriptions, and sends no logs", () =>
    Effect.gen(function*() {
      assert.property(yield* ask("tools/call", { name: "act" }), "result")
      assert.strictEqual((yield* ask("logging/setLevel", { level: "emergency" })).error.code, -32601)
      for (const method of ["resources/subscribe", "resources/unsubscribe"]) {
        const { error } = yield* ask(method, { uri: "file:///a" })
        assert.strictEqual(error.code, -32601, method)
      }
    }).pipe(Effect.provide(serve(Layer.merge(
      act(Effect.flatMap(RequestContext, (context) => context.log("info", 1))),
      McpServer.resource(Resource.make("a", { uri: "file:///a" }), Effect.succeed("A"))
    )))))

  it.effect("has its own facts, and none of the client", () =>
    Effect.gen(function*() {
      const seen: Array<unknown> = []
      const caller = speaking("2025-03-26", { authorization: "ada" })
      yield* ask("tools/call", { name: "act" }, { caller }).pipe(
        Effect.provide(serve(
          act(Effect.map(RequestContext, (context) =>
            seen.push(
              context.headers.authorization,
              context.principal,
              context.client.sessionId,
              context.version,
              context.client.info,
              context.client.capabilities
            ))),
          byHeader
        ))
      )
      assert.deepStrictEqual(seen, ["ada", { id: "ada" }, undefined, "2025-03-26", undefined, {}])
    }))

  it.effect("cannot send requests to the client", () =>
    Effect.gen(function*() {
      const tags: Array<string> = []
      const asks = act(Effect.gen(function*() {
        const session = yield* ServerSession
        const questions: ReadonlyArray<Effect.Effect<unknown, { readonly _tag: string }>> = [
          session.elicit({ message: "?", schema: Schema.Struct({}) }),
          session.listRoots,
          session.request("ping"),
          session.request("roots/list"),
          session.standalone.request("roots/list")
        ]
        for (const question of questions) tags.push((yield* Effect.orDie(Effect.flip(question)))._tag)
      }))
      yield* Effect.gen(function*() {
        assert.property(yield* ask("tools/call", { name: "act" }), "result")
        assert.deepStrictEqual(tags, [
          "MissingClientCapability",
          "MissingClientCapability",
          "NoBackChannel",
          "NoBackChannel",
          "NoBackChannel"
        ])
      }).pipe(Effect.provide(serve(asks)))
    }))

  it.effect("does not count as a conversation, and gets no notifications of changes", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      yield* Effect.gen(function*() {
        const dispatcher = yield* Dispatcher
        const waiting = yield* Effect.fork(ask("tools/call", { name: "act" }))
        yield* Effect.yieldNow()
        assert.strictEqual(dispatcher.conversations(), 0)
        yield* ask("tools/call", { name: "touch" })
        yield* Deferred.succeed(gate, undefined)
        // It is the only message.
        assert.property(yield* Fiber.join(waiting), "result")
      }).pipe(Effect.provide(serve(Layer.mergeAll(
        act(Deferred.await(gate)),
        act(McpServer.resourceUpdated("file:///a"), "touch"),
        McpServer.resource(Resource.make("a", { uri: "file:///a" }), Effect.succeed("A")),
        McpServer.prompt(Prompt.make("a"), () => Effect.succeed(""))
      ))))
    }))

  it.effect("waits above the limit of its principal; clients without one share the limit of all", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      let running = 0
      const wait = Effect.zipRight(Effect.sync(() => running++), Deferred.await(gate))
      yield* Effect.gen(function*() {
        const as = (user?: string) => Authenticator.given(Context.make(Sender, user))
        const call = (user?: string) => Effect.fork(ask("tools/call", { name: "act" }, { caller: as(user) }))
        // Two of one principal run and one waits; without a principal all run.
        const calls = yield* Effect.all(["ada", "bob", "ada", undefined, undefined, undefined, "ada"].map(call))
        yield* until(() => running === 6)
        const { error } = yield* ask("tools/call", { name: "act" }, { caller: as("ada") })
        assert.deepStrictEqual(error, {
          code: -32000,
          message: "Too many requests: 2 are running and 1 wait; send it again when another request is answered"
        })
        yield* Deferred.succeed(gate, undefined)
        for (const { result } of yield* Effect.forEach(calls, Fiber.join)) assert.isDefined(result)
        assert.property(yield* ask("tools/call", { name: "act" }, { caller: as("ada") }), "result")
      }).pipe(Effect.provide(serve(act(wait), { ...byHeader, limits: { maxInFlight: 2, maxWaiting: 1 } })))
    }))
})
