import { assert, describe, it } from "@effect/vitest"
import * as Prompt from "@effect-mcp/definition/Prompt"
import * as Resource from "@effect-mcp/definition/Resource"
import * as Message from "@effect-mcp/jsonrpc/Message"
import type { Channel } from "@effect-mcp/jsonrpc/Side"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import type { LegacyVersion } from "@effect-mcp/protocol/Version"
import { Dispatcher } from "@effect-mcp/server/Dispatcher"
import * as McpServer from "@effect-mcp/server/McpServer"
import { RequestContext } from "@effect-mcp/server/RequestContext"
import { ServerSession } from "@effect-mcp/server/ServerSession"
import * as OfficialSchema from "@effect-mcp/testing/OfficialSchema"
import { Deferred, Effect, Exit, Layer, Queue, Schema, Scope } from "effect"
import * as RequestOrigin from "../../src/runtime/RequestOrigin.js"
import * as Entrances from "../Entrances.js"
import { act, GreetLive, info, serve, until } from "../Serving.js"

/** The way for answers to one POST, and what has left on it. */
const post = (facts?: RequestOrigin.RequestOrigin) =>
  Effect.gen(function*() {
    const answers = yield* Queue.unbounded<Message.Message>()
    const say = (message: Message.Message) => Queue.unsafeOffer(answers, message)
    const channel: Channel = {
      send: (message) => Effect.sync(() => say(message)),
      unsafeSend: say,
      ...(facts === undefined ? undefined : { origin: facts })
    }
    const judge = (version: string) => OfficialSchema.make(version as LegacyVersion)
    return {
      channel,
      next: Effect.tap(Queue.take(answers), (message) =>
        Effect.map(judge("2025-11-25"), (oracle) => assert.isUndefined(oracle.message(message)))),
      silent: Effect.map(Queue.size(answers), (size) =>
        assert.strictEqual(size, 0))
    }
  })

/** One POST, from beginning to end. */
const ask = (
  method: string,
  params?: JsonObject,
  options: {
    readonly id?: Message.RequestId
    readonly version?: LegacyVersion
    readonly facts?: RequestOrigin.RequestOrigin
  } = {}
) =>
  Effect.gen(function*() {
    const exchange = yield* Entrances.exchange
    const { channel, next } = yield* post(options.facts)
    exchange(Message.request(options.id ?? 1, method, params), channel, options.version ?? "2025-11-25")
    return (yield* next) as Message.Response & { readonly result: JsonObject; readonly error: { code: number } }
  })

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
      const { channel, next } = yield* post()
      const exchange = yield* Entrances.exchange
      exchange(Message.request(1, "tools/call", { name: "act" }), channel, "2025-11-25")
      assert.deepInclude(yield* next, { id: 1 })
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
      const facts = { ...RequestOrigin.none, headers: { "x-tenant": "a" }, principal: { id: "ada" } }
      yield* ask("tools/call", { name: "act" }, { facts, version: "2025-03-26" }).pipe(
        Effect.provide(serve(act(Effect.map(RequestContext, (context) =>
          seen.push(
            context.headers,
            context.principal,
            context.client.sessionId,
            context.version,
            context.client.info,
            context.client.capabilities
          )))))
      )
      assert.deepStrictEqual(seen, [{ "x-tenant": "a" }, { id: "ada" }, undefined, "2025-03-26", undefined, {}])
    }))

  it.effect("sends notifications on its own channel, before its answer", () =>
    Effect.gen(function*() {
      const exchange = yield* Entrances.exchange
      const posts = yield* Effect.all([post(), post()])
      for (const [i, { channel }] of posts.entries()) {
        const params = { name: "act", _meta: { progressToken: `token ${i}` } }
        exchange(Message.request(7, "tools/call", params), channel, "2025-11-25")
      }
      for (const [i, { next, silent }] of posts.entries()) {
        const { params } = (yield* next) as Message.Notification
        assert.deepInclude(params, { progressToken: `token ${i}`, progress: 1 })
        assert.deepInclude(yield* next, { id: 7 })
        yield* silent
      }
    }).pipe(Effect.provide(serve(act(Effect.flatMap(RequestContext, (context) =>
      Effect.zipRight(context.progress(1), context.standalone.notify("notifications/nowhere"))))))))

  it.effect("MUST NOT meet another of the same id: each is answered on its own channel", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      yield* Effect.gen(function*() {
        const exchange = yield* Entrances.exchange
        const slow = yield* post()
        const quick = yield* post()
        exchange(Message.request(7, "tools/call", { name: "act" }), slow.channel, "2025-11-25")
        exchange(Message.request(7, "tools/call", greeting("Ada")), quick.channel, "2025-11-25")
        const answer = (yield* quick.next) as Message.Success
        assert.deepStrictEqual(answer.result.content, [{ type: "text", text: "Hello, Ada!" }])
        yield* slow.silent
        yield* Deferred.succeed(gate, undefined)
        assert.deepInclude(yield* slow.next, { id: 7 })
      }).pipe(Effect.provide(serve(Layer.merge(act(Deferred.await(gate)), GreetLive))))
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

  it.effect("is interrupted and answered when the server closes", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const started = yield* Deferred.make<void>()
      const stopped = yield* Deferred.make<void>()
      const forever = Effect.zipRight(Deferred.succeed(started, undefined), Effect.never).pipe(
        Effect.onInterrupt(() => Deferred.succeed(stopped, undefined))
      )
      const context = yield* Layer.buildWithScope(serve(act(forever)), scope)
      const { channel, next } = yield* post()
      yield* Effect.gen(function*() {
        const exchange = yield* Entrances.exchange
        exchange(Message.request(1, "tools/call", { name: "act" }), channel, "2025-11-25")
        yield* Deferred.await(started)
        yield* Scope.close(scope, Exit.void)
        yield* Deferred.await(stopped)
        assert.deepInclude(yield* next, { id: 1, error: { code: -32000, message: "Connection closed" } })
        exchange(Message.request(2, "ping"), channel, "2025-11-25")
        assert.deepInclude(yield* next, { id: 2, error: { code: -32000, message: "Connection closed" } })
      }).pipe(Effect.provide(context))
    }))

  it.effect("does not count as a conversation, and gets no notifications of changes", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      yield* Effect.gen(function*() {
        const dispatcher = yield* Dispatcher
        const exchange = yield* Entrances.exchange
        const { channel, next, silent } = yield* post()
        exchange(Message.request(1, "tools/call", { name: "act" }), channel, "2025-11-25")
        assert.strictEqual(dispatcher.conversations(), 0)
        yield* ask("tools/call", { name: "touch" })
        yield* silent
        yield* Deferred.succeed(gate, undefined)
        yield* next
      }).pipe(Effect.provide(serve(Layer.mergeAll(
        act(Deferred.await(gate)),
        act(McpServer.resourceUpdated("file:///a"), "touch"),
        McpServer.resource(Resource.make("a", { uri: "file:///a" }), Effect.succeed("A")),
        McpServer.prompt(Prompt.make("a"), () => Effect.succeed(""))
      ))))
    }))

  it.effect("is interrupted by its caller, and no other of its id is", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      let stopped = 0
      const waiting = Effect.onInterrupt(Deferred.await(gate), () => Effect.sync(() => stopped++))
      yield* Effect.gen(function*() {
        const exchange = yield* Entrances.exchange
        const [one, two] = yield* Effect.all([post(), post()])
        const active = exchange(Message.request(7, "tools/call", { name: "act" }), one.channel, "2025-11-25")
        exchange(Message.request(7, "tools/call", { name: "act" }), two.channel, "2025-11-25")
        active!.cancel()
        yield* until(() => stopped === 1)
        yield* Deferred.succeed(gate, undefined)
        assert.property(yield* two.next, "result")
        yield* one.silent
        // Too late: it has ended.
        active!.cancel()
        assert.strictEqual(stopped, 1)
      }).pipe(Effect.provide(serve(act(waiting))))
    }))

  it.effect("waits above the limit of all clients together, and is refused when too many wait", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      yield* Effect.gen(function*() {
        const exchange = yield* Entrances.exchange
        const posts = yield* Effect.all([post(), post(), post(), post()])
        for (const { channel } of posts) {
          exchange(Message.request(7, "tools/call", { name: "act" }), channel, "2025-11-25")
        }
        assert.deepInclude(yield* posts[3].next, {
          error: {
            code: -32000,
            message: "Too many requests: 2 are running and 1 wait; send it again when one is answered"
          }
        })
        yield* Deferred.succeed(gate, undefined)
        for (const { next } of posts.slice(0, 3)) assert.property(yield* next, "result")
      }).pipe(Effect.provide(serve(act(Deferred.await(gate)), { maxExchanges: 2, maxWaiting: 1 })))
    }))

  it.effect("waits above the limit of its principal; clients without one share the limit of all", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      yield* Effect.gen(function*() {
        const exchange = yield* Entrances.exchange
        const facts = (id: string) => ({ ...RequestOrigin.none, principal: { id } })
        const send = (id: number, { channel }: { readonly channel: Channel }) =>
          exchange(Message.request(id, "tools/call", { name: "act" }), channel, "2025-11-25")
        const [ada, adas, bob] = yield* Effect.all([post(facts("ada")), post(facts("ada")), post(facts("bob"))])
        const one = yield* post()
        for (const from of [ada, bob, one]) send(1, from)
        for (const from of [adas, one]) send(2, from)
        for (const from of [adas, one]) send(3, from)
        send(4, adas)
        assert.deepInclude(yield* adas.next, {
          id: 4,
          error: {
            code: -32000,
            message: "Too many requests: 2 are running and 1 wait; send it again when one is answered"
          }
        })
        yield* Effect.all([bob.silent, one.silent])
        yield* Deferred.succeed(gate, undefined)
        for (const from of [ada, adas, adas, bob, one, one, one]) assert.property(yield* from.next, "result")
        send(4, ada)
        assert.property(yield* ada.next, "result")
      }).pipe(Effect.provide(serve(act(Deferred.await(gate)), { maxInFlight: 2, maxWaiting: 1 })))
    }))

  it.effect("is not served when it is cancelled while it waits", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      let served = 0
      const handler = Effect.zipRight(Effect.sync(() => served++), Deferred.await(gate))
      yield* Effect.gen(function*() {
        const exchange = yield* Entrances.exchange
        const [one, other] = yield* Effect.all([post(), post()])
        const [, waiting] = [one, other].map(({ channel }) =>
          exchange(Message.request(1, "tools/call", { name: "act" }), channel, "2025-11-25")
        )
        waiting!.cancel()
        yield* Deferred.succeed(gate, undefined)
        assert.property(yield* one.next, "result")
        yield* other.silent
        assert.strictEqual(served, 1)
      }).pipe(Effect.provide(serve(act(handler), { maxExchanges: 1 })))
    }))
})
