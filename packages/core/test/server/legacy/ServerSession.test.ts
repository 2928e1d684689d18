import { assert, describe, it } from "@effect/vitest"
import { Dispatcher } from "@effect-mcp/core/Dispatcher"
import type { JsonRpcError } from "@effect-mcp/core/JsonRpcError"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Message from "@effect-mcp/core/Message"
import * as MethodHandler from "@effect-mcp/core/MethodHandler"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import * as Methods from "@effect-mcp/core/protocol/legacy/Methods"
import { RequestContext, type RequestContextService } from "@effect-mcp/core/RequestContext"
import * as Resource from "@effect-mcp/core/Resource"
import { ServerSession } from "@effect-mcp/core/ServerSession"
import * as Tool from "@effect-mcp/core/Tool"
import * as Transport from "@effect-mcp/core/Transport"
import * as TestPeer from "@effect-mcp/testing/TestPeer"
import { Deferred, Effect, Layer } from "effect"
import { act, call, connect, result, serve, unchecked, uninitialized, until } from "../Serving.js"

const withContext = (
  f: (context: RequestContextService) => Effect.Effect<unknown>,
  name?: string
) => act(Effect.flatMap(RequestContext, f), name)

const logs = (...levels: ReadonlyArray<Parameters<RequestContextService["log"]>[0]>) =>
  withContext((context) => Effect.forEach(levels, (level) => context.log(level, { level })))

describe("Progress", () => {
  const steps = withContext((context) =>
    Effect.gen(function*() {
      yield* context.progress(1, { total: 3, message: "one" })
      yield* context.progress(2.5)
      yield* context.progress(3, { total: 3 })
    })
  )

  it.scoped("is sent with the token of the request, before its result", () =>
    Effect.gen(function*() {
      const peer = yield* connect()
      const id = yield* call(peer, "act", undefined, "token")
      const progress = peer.expectNotification("notifications/progress")
      assert.deepStrictEqual(yield* progress, { progressToken: "token", progress: 1, total: 3, message: "one" })
      assert.deepStrictEqual(yield* progress, { progressToken: "token", progress: 2.5 })
      assert.deepStrictEqual(yield* progress, { progressToken: "token", progress: 3, total: 3 })
      yield* peer.expectResult(id)
    }).pipe(Effect.provide(serve(steps))))

  for (const token of [0, "", "0"]) {
    it.scoped(`accepts ${JSON.stringify(token)} as a token`, () =>
      Effect.gen(function*() {
        const peer = yield* connect()
        const id = yield* call(peer, "act", undefined, token)
        for (const _ of [1, 2, 3]) {
          assert.strictEqual((yield* peer.expectNotification("notifications/progress")).progressToken, token)
        }
        yield* peer.expectResult(id)
      }).pipe(Effect.provide(serve(steps))))
  }

  it.scoped("is not sent to a client that did not ask for it", () =>
    Effect.gen(function*() {
      const peer = yield* connect()
      yield* result(peer, "act")
      yield* peer.expectSilence
    }).pipe(Effect.provide(serve(steps))))

  it.scoped("MUST increase with each notification: other progress is dropped", () =>
    Effect.gen(function*() {
      const peer = yield* connect()
      const id = yield* call(peer, "act", undefined, 1)
      const heard: Array<unknown> = []
      for (const _ of [1, 2, 3]) heard.push((yield* peer.expectNotification("notifications/progress")).progress)
      assert.deepStrictEqual(heard, [-1, 0, 2])
      yield* peer.expectResult(id)
    }).pipe(Effect.provide(serve(withContext((context) =>
      Effect.forEach([-Infinity, -1, -1, -2, NaN, 0, -0, Infinity, 2, 1, 2], (n) =>
        context.progress(n))
    )))))

  it.scoped("leaves out a total that is not a JSON number", () =>
    Effect.gen(function*() {
      const peer = yield* connect()
      const id = yield* call(peer, "act", undefined, 1)
      for (const progress of [1, 2]) {
        assert.deepStrictEqual(yield* peer.expectNotification("notifications/progress"), { progressToken: 1, progress })
      }
      yield* peer.expectResult(id)
    }).pipe(Effect.provide(serve(withContext((context) =>
      Effect.zipRight(context.progress(1, { total: Infinity }), context.progress(2, { total: NaN, message: undefined }))
    )))))

  it.scoped("is sent without its message before 2025-03-26", () =>
    Effect.gen(function*() {
      for (const [version, message] of [["2024-11-05", undefined], ["2025-03-26", "one"]] as const) {
        const peer = yield* connect(version)
        const id = yield* call(peer, "act", undefined, 1)
        assert.strictEqual((yield* peer.expectNotification("notifications/progress")).message, message)
        yield* peer.expectNotification("notifications/progress")
        yield* peer.expectNotification("notifications/progress")
        yield* peer.expectResult(id)
      }
    }).pipe(Effect.provide(serve(steps))))

  it.scoped("is not sent after the request was answered", () =>
    Effect.gen(function*() {
      const answered = yield* Deferred.make<void>()
      const told = yield* Deferred.make<void>()
      const late = withContext((context) =>
        Deferred.await(answered).pipe(
          Effect.zipRight(context.progress(1)),
          Effect.zipRight(context.log("emergency", "late")),
          Effect.zipRight(context.notify("notifications/late")),
          Effect.zipRight(Deferred.succeed(told, undefined)),
          Effect.forkDaemon
        )
      )
      yield* Effect.gen(function*() {
        const peer = yield* connect()
        const id = yield* call(peer, "act", undefined, 1)
        yield* peer.expectResult(id)
        yield* Deferred.succeed(answered, undefined)
        yield* Deferred.await(told)
        yield* peer.expectSilence
      }).pipe(Effect.provide(serve(late)))
    }))

  it.scoped("of one client is never sent to another", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      const both = withContext((context) =>
        Effect.zipRight(
          context.progress(1, { message: String(context.meta.who) }),
          Effect.zipRight(context.log("info", context.meta.who), Deferred.await(gate))
        )
      )
      yield* Effect.gen(function*() {
        const clients = yield* Effect.all([connect(), connect()])
        // Equal ids and equal tokens, at the same time.
        const ask = (who: number) =>
          clients[who]!.request("tools/call", { name: "act", _meta: { progressToken: 1, who: `client ${who}` } }, 1)
        yield* ask(0)
        yield* ask(1)
        for (const [who, peer] of clients.entries()) {
          assert.strictEqual((yield* peer.expectNotification("notifications/progress")).message, `client ${who}`)
          assert.strictEqual((yield* peer.expectNotification("notifications/message")).data, `client ${who}`)
          yield* peer.expectSilence
        }
        yield* clients[0]!.notify("notifications/cancelled", { requestId: 1 })
        yield* Deferred.succeed(gate, undefined)
        yield* clients[1]!.expectResult(1)
        yield* clients[0]!.expectSilence
      }).pipe(Effect.provide(serve(both)))
    }))
})

describe("Logging", () => {
  const levels = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"] as const
  const all = logs(...levels)

  it.scoped("reaches a client that set no level, at every level", () =>
    Effect.gen(function*() {
      const peer = yield* connect()
      const id = yield* call(peer, "act")
      for (const level of levels) {
        assert.deepStrictEqual(yield* peer.expectNotification("notifications/message"), { level, data: { level } })
      }
      yield* peer.expectResult(id)
    }).pipe(Effect.provide(serve(all))))

  it.scoped("respects the level that this client set last", () =>
    Effect.gen(function*() {
      const quiet = yield* connect()
      const loud = yield* connect()
      for (const [level, heard] of [["alert", ["alert", "emergency"]], ["critical", levels.slice(5)]] as const) {
        assert.deepStrictEqual(yield* quiet.expectResult(yield* quiet.request("logging/setLevel", { level })), {})
        const id = yield* call(quiet, "act")
        for (const level of heard) {
          assert.strictEqual((yield* quiet.expectNotification("notifications/message")).level, level)
        }
        yield* quiet.expectResult(id)
      }
      const id = yield* call(loud, "act")
      for (const _ of levels) yield* loud.expectNotification("notifications/message")
      yield* loud.expectResult(id)
    }).pipe(Effect.provide(serve(all))))

  it.scoped("applies a new level to requests that are running", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      const late = withContext((context) =>
        Effect.zipRight(Deferred.await(gate), Effect.zipRight(context.log("info", 1), context.log("error", 2)))
      )
      yield* Effect.gen(function*() {
        const peer = yield* connect()
        const id = yield* call(peer, "act")
        yield* peer.expectResult(yield* peer.request("logging/setLevel", { level: "error" }))
        yield* Deferred.succeed(gate, undefined)
        assert.deepStrictEqual(yield* peer.expectNotification("notifications/message"), { level: "error", data: 2 })
        yield* peer.expectResult(id)
      }).pipe(Effect.provide(serve(late)))
    }))

  it.scoped("names its logger, and sends null for missing data", () =>
    Effect.gen(function*() {
      const peer = yield* connect()
      const id = yield* call(peer, "act")
      const message = peer.expectNotification("notifications/message")
      assert.deepStrictEqual(yield* message, { level: "info", data: "hi", logger: "db" })
      assert.deepStrictEqual(yield* message, { level: "info", data: null })
      yield* peer.expectResult(id)
    }).pipe(Effect.provide(serve(withContext((context) =>
      Effect.zipRight(context.log("info", "hi", "db"), context.log("info", undefined))
    )))))

  it.scoped("is absent on a server without it, where clients cannot set a level either", () =>
    Effect.gen(function*() {
      const peer = yield* connect()
      yield* result(peer, "act")
      const error = yield* peer.expectError(yield* peer.request("logging/setLevel", { level: "debug" }))
      assert.strictEqual(error.code, -32601)
      yield* peer.expectSilence
    }).pipe(Effect.provide(serve(all, { logging: false }))))
})

describe("A handler's notifications", () => {
  it.scoped("leave before its result, in order and unchanged", () =>
    Effect.gen(function*() {
      const peer = yield* connect()
      const id = yield* call(peer, "act", undefined, 1)
      assert.deepStrictEqual(yield* peer.expectNotification("notifications/a"), { a: 1 })
      assert.strictEqual((yield* peer.expectNotification("notifications/progress")).progress, 1)
      assert.deepStrictEqual(yield* peer.expectNotification("notifications/b"), {})
      yield* peer.expectResult(id)
    }).pipe(Effect.provide(serve(withContext((context) =>
      Effect.all([context.notify("notifications/a", { a: 1 }), context.progress(1), context.notify("notifications/b")])
    )))))

  it.scoped("suspend it while the client does not read", () =>
    Effect.gen(function*() {
      let told = 0
      const chatty = withContext((context) =>
        Effect.forEach(
          Array.from({ length: 100 }),
          (_, i) => Effect.zipRight(context.notify("notifications/n", { i }), Effect.sync(() => told++))
        )
      )
      yield* Effect.gen(function*() {
        const dispatcher = yield* Dispatcher
        const [mine, theirs] = yield* Transport.memory({ capacity: 4 })
        yield* Effect.forkScoped(dispatcher.accept(theirs))
        mine.unsafeSend(Message.request("hello", "initialize", {
          protocolVersion: "2025-11-25",
          capabilities: {},
          clientInfo: { name: "test", version: "0.0.0" }
        }))
        mine.unsafeSend(Message.request("call", "tools/call", { name: "act" }))
        yield* until(() => told > 0)
        yield* Effect.forEach(Array.from({ length: 100 }), () => Effect.yieldNow())
        assert.isAtMost(told, 4)
        const peer = yield* TestPeer.make(mine)
        yield* peer.expectResult("hello")
        for (let i = 0; i < 100; i++) assert.strictEqual((yield* peer.expectNotification("notifications/n")).i, i)
        yield* peer.expectResult("call")
      }).pipe(Effect.provide(serve(chatty)))
    }))
})

describe("What the agreed revision does not know, or the server did not declare", () => {
  const sent = [
    "notifications/tools/list_changed",
    "notifications/prompts/list_changed",
    "notifications/resources/updated",
    "notifications/message",
    "notifications/elicitation/complete",
    "notifications/initialized",
    "notifications/example/own"
  ]
  const params: Record<string, JsonObject> = {
    "notifications/resources/updated": { uri: "file:///a" },
    "notifications/message": { level: "info", data: 1 },
    "notifications/elicitation/complete": { elicitationId: "1" }
  }

  it.effect("is not sent as a notification by name, on any channel", () =>
    Effect.gen(function*() {
      const features = act(Effect.flatMap(ServerSession, (session) =>
        Effect.forEach(sent, (method) =>
          Effect.all([
            session.notify(method, params[method]),
            session.standalone.notify(method, params[method]),
            session.standalone.notify(method, params[method])
          ]))))
      for (
        const [version, elicitation, expected] of [
          ["2025-11-25", { url: {} }, [sent[0], sent[4], sent[6]]],
          ["2025-11-25", { form: {} }, [sent[0], sent[6]]],
          ["2025-06-18", { url: {} }, [sent[0], sent[6]]]
        ] as const
      ) {
        yield* Effect.gen(function*() {
          const peer = yield* unchecked(version, { elicitation })
          const id = yield* call(peer, "act")
          for (const method of expected) {
            for (const _ of [1, 2, 3]) yield* peer.expectNotification(method!)
          }
          yield* peer.expectResult(id)
          yield* peer.expectSilence
        }).pipe(Effect.scoped, Effect.provide(serve(features, { logging: false })))
      }
    }))

  it.effect("is not sent as a request by name, on any channel", () =>
    Effect.gen(function*() {
      const codes: Array<number> = []
      const features = act(Effect.flatMap(ServerSession, (session) =>
        Effect.forEach(["elicitation/create", "tools/list"], (method) =>
          Effect.forEach([session.request, session.standalone.request], (request) =>
            Effect.matchEffect(request(method), {
              onFailure: (error) =>
                Effect.sync(() =>
                  codes.push((error as JsonRpcError).code)
                ),
              onSuccess: () =>
                Effect.dieMessage("answered")
            })))))
      yield* Effect.gen(function*() {
        const peer = yield* connect("2025-03-26")
        yield* result(peer, "act")
        yield* peer.expectSilence
        assert.deepStrictEqual(codes, [-32601, -32601, -32601, -32601])
      }).pipe(Effect.scoped, Effect.provide(serve(features)))
    }))
})

describe("What the client sent in initialize", () => {
  it.scoped("is readable, with the revision that it requested and did not get", () =>
    Effect.gen(function*() {
      const peer = yield* uninitialized
      yield* peer.initialize({ version: "2099-01-01" })
      const { content } = yield* result(peer, "act")
      assert.deepStrictEqual(content, [{ type: "text", text: "2099-01-01 2025-11-25" }])
    }).pipe(Effect.provide(serve(McpServer.tool(
      Tool.make("act"),
      () => Effect.map(RequestContext, ({ client: { requestedVersion }, version }) => `${requestedVersion} ${version}`)
    )))))
})

describe("One client", () => {
  const verbs = withContext((context) =>
    Effect.all([
      context.changed.tools,
      context.changed.resources,
      context.changed.prompts,
      context.changed.resource("file:///a"),
      context.changed.resource("file:///b")
    ])
  )
  const A = McpServer.resource(Resource.make("a", { uri: "file:///a" }), Effect.succeed(""))

  it.scoped("is notified of changes alone, where they were declared, and of the resources that it subscribed to", () =>
    Effect.gen(function*() {
      const peer = yield* connect()
      const other = yield* connect()
      for (const client of [peer, other]) {
        yield* client.expectResult(yield* client.request("resources/subscribe", { uri: "file:///a" }))
      }
      const id = yield* call(peer, "act")
      const received = yield* Effect.replicateEffect(peer.next, 4)
      assert.sameDeepMembers(received.map((message) => (message as { readonly method?: string }).method), [
        "notifications/tools/list_changed",
        "notifications/resources/list_changed",
        "notifications/resources/updated",
        undefined
      ])
      assert.deepInclude(received, Message.notification("notifications/resources/updated", { uri: "file:///a" }))
      assert.isTrue(received.some((message) => Message.isResponse(message) && message.id === id))
      yield* peer.expectSilence
      yield* other.expectSilence
    }).pipe(Effect.provide(serve(Layer.merge(verbs, A)))))

  it.scoped("is notified of any resource where the application handles subscriptions", () =>
    Effect.gen(function*() {
      const peer = yield* connect()
      yield* call(peer, "act")
      const uris = (yield* Effect.replicateEffect(peer.next, 5)).flatMap((message) =>
        Message.isNotification(message as Message.Message) &&
          (message as Message.Notification).method === "notifications/resources/updated"
          ? [(message as Message.Notification).params?.uri]
          : []
      )
      assert.sameMembers(uris, ["file:///a", "file:///b"])
    }).pipe(Effect.provide(serve(
      Layer.mergeAll(verbs, A, MethodHandler.request(Methods.subscribe, () => Effect.succeed({})))
    ))))
})
