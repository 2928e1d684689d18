import { assert, describe, it } from "@effect/vitest"
import { Dispatcher } from "@effect-mcp/core/Dispatcher"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Message from "@effect-mcp/core/Message"
import * as MethodHandler from "@effect-mcp/core/MethodHandler"
import * as Middleware from "@effect-mcp/core/Middleware"
import { RequestContext } from "@effect-mcp/core/RequestContext"
import * as Resource from "@effect-mcp/core/Resource"
import { ServerSession } from "@effect-mcp/core/ServerSession"
import * as Tool from "@effect-mcp/core/Tool"
import * as Transport from "@effect-mcp/core/Transport"
import * as TestPeer from "@effect-mcp/testing/TestPeer"
import { Deferred, Effect, Fiber, Layer, Schema, TestClock } from "effect"
import { act, GreetLive, info, serve } from "../Serving.js"
import { call, connect, envelope, error, request, result, silence, stamp, text, uncached } from "./Modern.js"

const Facts = McpServer.tool(
  Tool.make("facts", { success: Schema.Unknown }),
  () =>
    Effect.map(RequestContext, ({ client, id, meta, version }) => ({
      clientCapabilities: client.capabilities,
      clientInfo: client.info,
      id,
      progressToken: meta.progressToken,
      sessionId: client.sessionId ?? null,
      version
    }))
)

describe("server/discover", () => {
  it.scoped("names the revisions, the capabilities and the instructions of the server", () =>
    Effect.gen(function*() {
      const peer = yield* connect
      assert.deepStrictEqual(yield* result(peer, "server/discover"), {
        supportedVersions: ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"],
        capabilities: { logging: {}, tools: { listChanged: true } },
        instructions: "Greet first.",
        ...uncached,
        ...stamp
      })
    }).pipe(Effect.provide(serve(GreetLive, { instructions: "Greet first." }))))

  it.scoped("is not needed before any other request", () =>
    Effect.gen(function*() {
      const peer = yield* connect
      assert.strictEqual(text(yield* call(peer, "greet", { arguments: { name: "Ada" } })), "Hello, Ada!")
    }).pipe(Effect.provide(serve(GreetLive))))
})

describe("A modern request", () => {
  it.scoped("gives its handler the facts of its own envelope, whatever another request of the pipe said", () =>
    Effect.gen(function*() {
      const peer = yield* connect
      const first = yield* request(peer, "tools/call", { name: "facts" }, { capabilities: { roots: {} } })
      const second = yield* request(peer, "tools/call", { name: "facts" }, { progressToken: 7 })
      const one = yield* peer.expectResult(first)
      const two = yield* peer.expectResult(second)
      const common = { clientInfo: info, sessionId: null, version: "2026-07-28" }
      assert.deepStrictEqual(one.structuredContent, { ...common, id: first, clientCapabilities: { roots: {} } })
      assert.deepStrictEqual(two.structuredContent, {
        ...common,
        id: second,
        clientCapabilities: {},
        progressToken: 7
      })
    }).pipe(Effect.provide(serve(Facts))))

  it.scoped("is served without clientInfo", () =>
    Effect.gen(function*() {
      const peer = yield* connect
      const { _meta: { "io.modelcontextprotocol/clientInfo": _, ...rest } } = envelope()
      const facts = yield* peer.expectResult(yield* peer.request("tools/call", { name: "facts", _meta: rest }))
      assert.notProperty(facts.structuredContent, "clientInfo")
    }).pipe(Effect.provide(serve(Facts))))

  it.scoped("MUST be refused with -32602 when its envelope lacks a required field", () =>
    Effect.gen(function*() {
      const peer = yield* connect
      const { _meta } = envelope()
      const { "io.modelcontextprotocol/clientCapabilities": _, ...incomplete } = _meta
      const refused = yield* peer.expectError(yield* peer.request("tools/list", { _meta: incomplete }))
      assert.strictEqual(refused.code, -32602)
      assert.include(refused.message, "io.modelcontextprotocol/clientCapabilities")
      for (const params of [undefined, {}, { _meta: {} }]) {
        assert.strictEqual((yield* peer.expectError(yield* peer.request("tools/list", params))).code, -32602)
      }
    }).pipe(Effect.provide(serve(GreetLive, { versions: ["2026-07-28"] }))))

  it.scoped("MUST be refused with -32022 and the supported revisions when it names another revision", () =>
    Effect.gen(function*() {
      const peer = yield* connect
      const refused = yield* error(peer, "tools/list", {}, { version: "2099-01-01" })
      assert.strictEqual(refused.code, -32022)
      assert.deepStrictEqual(refused.data, { supported: ["2025-11-25", "2026-07-28"], requested: "2099-01-01" })
      const long = yield* error(peer, "tools/list", {}, { version: "9".repeat(100_000) })
      assert.isBelow(JSON.stringify(long).length, 1000)
    }).pipe(Effect.provide(serve(GreetLive, { versions: ["2025-11-25", "2026-07-28"] }))))

  it.scoped("SHOULD be refused with -32602 when it names an unknown log level", () =>
    Effect.gen(function*() {
      const peer = yield* connect
      assert.strictEqual((yield* error(peer, "tools/list", {}, { logLevel: "loud" })).code, -32602)
    }).pipe(Effect.provide(serve(GreetLive))))

  it.scoped("is refused with -32601 for the methods that only the older revisions have", () =>
    Effect.gen(function*() {
      const peer = yield* connect
      for (const method of ["ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe", "unknown"]) {
        assert.strictEqual((yield* error(peer, method, { uri: "a:b", level: "info" })).code, -32601, method)
      }
    }).pipe(Effect.provide(serve(GreetLive))))

  it.scoped("is refused with -32601 for the methods of features that the server does not have", () =>
    Effect.gen(function*() {
      const peer = yield* connect
      for (const method of ["prompts/list", "resources/list", "completion/complete"]) {
        assert.strictEqual((yield* error(peer, method)).code, -32601, method)
      }
    }).pipe(Effect.provide(serve(GreetLive))))

  it.scoped("is interrupted by a cancellation of its client, and SHOULD NOT be answered", () =>
    Effect.gen(function*() {
      const started = yield* Deferred.make<void>()
      const stopped = yield* Deferred.make<void>()
      const waiting = Effect.zipRight(Deferred.succeed(started, undefined), Effect.never).pipe(
        Effect.onInterrupt(() => Deferred.succeed(stopped, undefined))
      )
      yield* Effect.gen(function*() {
        const peer = yield* connect
        const requestId = yield* request(peer, "tools/call", { name: "act" })
        yield* Deferred.await(started)
        yield* peer.notify("notifications/cancelled", { requestId })
        yield* Deferred.await(stopped)
        yield* silence(peer)
      }).pipe(Effect.scoped, Effect.provide(serve(act(waiting))))
    }))

  it.scoped("SHOULD NOT be refused with a code from -32000 to -32019 when too many requests wait", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      yield* Effect.gen(function*() {
        const peer = yield* connect
        const first = yield* request(peer, "tools/call", { name: "act" })
        const refused = yield* error(peer, "tools/call", { name: "act" })
        assert.strictEqual(refused.code, -32603)
        assert.include(refused.message, "Too many requests")
        yield* Deferred.succeed(gate, undefined)
        yield* peer.expectResult(first)
      }).pipe(
        Effect.scoped,
        Effect.provide(serve(act(Deferred.await(gate)), { limits: { maxInFlight: 1, maxWaiting: 0 } }))
      )
    }))

  const closings = [
    ["it runs", Effect.never, 64],
    ["it runs and cannot be interrupted", Effect.uninterruptible(Effect.never), 64],
    ["it waits for another to end", Effect.never, 1]
  ] as const

  for (const [what, handler, maxInFlight] of closings) {
    it.scoped(`SHOULD NOT be answered with a code from -32000 to -32019 when the server ends the conversation and ${what}`, () =>
      Effect.gen(function*() {
        const started = yield* Deferred.make<void>()
        yield* Effect.gen(function*() {
          const dispatcher = yield* Dispatcher
          const [mine, theirs] = yield* Transport.memory()
          const peer = yield* TestPeer.make(mine)
          const accepted = yield* Effect.fork(dispatcher.accept(theirs))
          const ids = [
            yield* request(peer, "tools/call", { name: "act" }),
            yield* request(peer, "tools/call", { name: "act" })
          ]
          yield* Deferred.await(started)
          const closing = yield* Effect.fork(Fiber.interrupt(accepted))
          yield* TestClock.adjust("5 seconds")
          const refused = { code: -32603, message: "Connection closed" }
          const answers = yield* Effect.all([peer.next, peer.next])
          assert.sameDeepMembers(answers, ids.map((id) => Message.failure(id, refused)))
          yield* Fiber.join(closing)
        }).pipe(
          Effect.scoped,
          Effect.provide(
            serve(act(Effect.zipRight(Deferred.succeed(started, undefined), handler)), { limits: { maxInFlight } })
          )
        )
      }))
  }
})

describe("The result of a modern request", () => {
  it.scoped("MUST have a type, and SHOULD name the server", () =>
    Effect.gen(function*() {
      const peer = yield* connect
      assert.deepStrictEqual(yield* call(peer, "greet", { arguments: { name: "Ada" } }), {
        content: [{ type: "text", text: "Hello, Ada!" }],
        ...stamp
      })
    }).pipe(Effect.provide(serve(GreetLive))))

  it.scoped("of a tool that dies has a type, too", () =>
    Effect.gen(function*() {
      const peer = yield* connect
      assert.deepStrictEqual(yield* call(peer, "act"), {
        content: [{ type: "text", text: "Internal error" }],
        isError: true,
        ...stamp
      })
    }).pipe(Effect.provide(serve(act(Effect.die("boom"))))))
})

describe("The hints for caches", () => {
  const Readme = Resource.make("readme", { uri: "file:///readme" })
  const News = Resource.make("news", { uri: "file:///news" })
  const features = Layer.merge(
    McpServer.resource(Readme, Effect.succeed("Read me"), { cache: { ttl: "1 hour", scope: "public" } }),
    McpServer.resource(News, Effect.succeed("News"))
  )
  const hints = ({ cacheScope, ttlMs }: { readonly [key: string]: unknown }) => [ttlMs, cacheScope]

  it.scoped("MUST be in every cacheable result: without options, results are not cached", () =>
    Effect.gen(function*() {
      const peer = yield* connect
      for (const method of ["server/discover", "resources/list", "resources/templates/list"]) {
        assert.deepStrictEqual(hints(yield* result(peer, method)), [0, "private"], method)
      }
      assert.deepStrictEqual(hints(yield* result(peer, "resources/read", { uri: "file:///news" })), [0, "private"])
    }).pipe(Effect.provide(serve(features))))

  it.scoped("come from the resource, from the options of the method, or from those of the server, in this order", () =>
    Effect.gen(function*() {
      const peer = yield* connect
      const read = (uri: string) => Effect.map(result(peer, "resources/read", { uri }), hints)
      assert.deepStrictEqual(hints(yield* result(peer, "server/discover")), [60_000, "private"])
      assert.deepStrictEqual(hints(yield* result(peer, "resources/list")), [5000, "public"])
      assert.deepStrictEqual(yield* read("file:///news"), [60_000, "private"])
      assert.deepStrictEqual(yield* read("file:///readme"), [3_600_000, "public"])
    }).pipe(
      Effect.provide(
        serve(features, {
          cache: { ttl: "1 minute", methods: { "resources/list": { ttl: "5 seconds", scope: "public" } } }
        })
      )
    ))
})

describe("Log messages", () => {
  const logs = act(
    Effect.flatMap(
      ServerSession,
      ({ log }) => Effect.zipRight(log("debug", "quiet"), log("error", { loud: true }, "main"))
    )
  )

  it.scoped("MUST NOT be sent for a request that names no level", () =>
    Effect.gen(function*() {
      const peer = yield* connect
      yield* call(peer, "act")
    }).pipe(Effect.provide(serve(logs))))

  it.scoped("are not sent by a server without them, whatever level the request names", () =>
    Effect.gen(function*() {
      const peer = yield* connect
      yield* call(peer, "act", {}, { logLevel: "debug" })
    }).pipe(Effect.provide(serve(logs, { logging: false }))))

  it.scoped("are sent from the level on that the request names, before its response", () =>
    Effect.gen(function*() {
      const peer = yield* connect
      const id = yield* request(peer, "tools/call", { name: "act" }, { logLevel: "warning" })
      assert.deepStrictEqual(yield* peer.expectNotification("notifications/message"), {
        level: "error",
        logger: "main",
        data: { loud: true }
      })
      yield* peer.expectResult(id)
    }).pipe(Effect.provide(serve(logs))))
})

describe("Middleware", () => {
  it.scoped("runs around modern requests, those that are refused included", () =>
    Effect.gen(function*() {
      const seen: Array<string> = []
      const middleware = Middleware.make((call, next) =>
        Effect.tapBoth(next, {
          onFailure: () => Effect.sync(() => seen.push(`${call.method} failed`)),
          onSuccess: () => Effect.sync(() => seen.push(call.method))
        })
      )
      yield* Effect.gen(function*() {
        const peer = yield* connect
        yield* call(peer, "greet", { arguments: { name: "Ada" } })
        yield* error(peer, "unknown")
        yield* error(peer, "tools/list", {}, { version: "2099-01-01" })
        assert.deepStrictEqual(seen, ["tools/call", "unknown failed", "tools/list failed"])
      }).pipe(Effect.scoped, Effect.provide(serve(GreetLive, { middleware })))
    }))
})

describe("Handlers of whole methods", () => {
  it.scoped("serve modern requests, and get what nothing else serves", () =>
    Effect.gen(function*() {
      const peer = yield* connect
      assert.deepStrictEqual(yield* result(peer, "acme/add", { a: 1, b: 2 }), { sum: 3, ...stamp })
      assert.deepStrictEqual(yield* result(peer, "other"), { method: "other", ...stamp })
    }).pipe(Effect.provide(serve(Layer.merge(
      MethodHandler.customRequest(
        "acme/add",
        {
          params: Schema.Struct({ a: Schema.Number, b: Schema.Number }),
          result: Schema.Struct({ sum: Schema.Number })
        },
        ({ a, b }) => Effect.succeed({ sum: a + b })
      ),
      MethodHandler.fallback(({ method }) => Effect.succeed({ method }))
    )))))

  it.scoped("receive modern notifications", () =>
    Effect.gen(function*() {
      const received = yield* Deferred.make<string>()
      yield* Effect.gen(function*() {
        const peer = yield* connect
        yield* peer.notify("acme/note", { text: "hi", ...envelope() })
        assert.strictEqual(yield* Deferred.await(received), "hi")
      }).pipe(
        Effect.scoped,
        Effect.provide(serve(MethodHandler.customNotification(
          "acme/note",
          Schema.Struct({ text: Schema.String }),
          ({ text }) => Deferred.succeed(received, text)
        )))
      )
    }))
})
