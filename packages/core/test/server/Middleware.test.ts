import { assert, describe, it } from "@effect/vitest"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Message from "@effect-mcp/core/Message"
import * as MethodHandler from "@effect-mcp/core/MethodHandler"
import * as Middleware from "@effect-mcp/core/Middleware"
import * as Prompt from "@effect-mcp/core/Prompt"
import { InvalidRequest } from "@effect-mcp/core/protocol/McpError"
import { RequestContext } from "@effect-mcp/core/RequestContext"
import * as Tool from "@effect-mcp/core/Tool"
import type { TestPeer } from "@effect-mcp/testing/TestPeer"
import { Context, Effect, Exit, FiberRef, Layer, Schema, TestClock } from "effect"
import {
  act,
  call,
  connect,
  GreetLive,
  internalError,
  logbook,
  names,
  result,
  serve,
  unchecked,
  uninitialized,
  until
} from "./Serving.js"

class Db extends Context.Tag("Db")<Db, string>() {}

/** Middleware that writes down what it sees, and how it ends. */
const watching = () => {
  const seen: Array<string> = []
  const middleware = Middleware.make((call, next) =>
    Effect.onExit(
      next,
      (exit) =>
        Effect.sync(() =>
          seen.push(`${call.method} ${call.id === undefined ? "told" : Exit.isSuccess(exit) ? "answered" : "refused"}`)
        )
    )
  )
  return { seen, middleware }
}

const refusal = (peer: TestPeer, method: string, params?: object) =>
  Effect.flatMap(peer.request(method, params as never), peer.expectError)

describe("Middleware", () => {
  it.scoped("sees every message: the handshake, pings, unknown methods, wrong parameters, early requests, notifications", () =>
    Effect.gen(function*() {
      const { middleware, seen } = watching()
      yield* Effect.gen(function*() {
        const peer = yield* uninitialized
        yield* refusal(peer, "tools/list")
        yield* peer.expectSilence
        yield* peer.initialize()
        assert.deepStrictEqual(yield* names(peer), ["greet"])
        yield* refusal(peer, "tools/fetch")
        yield* refusal(peer, "tools/call", { name: 1 })
        yield* refusal(peer, "tools/call", { name: "none" })
        yield* peer.notify("notifications/roots/list_changed")
        yield* peer.notify("notifications/any")
        yield* peer.notify("notifications/cancelled", { requestId: "none" })
        yield* result(peer, "greet", { name: "Ada" })
        assert.deepStrictEqual(seen, [
          "tools/list refused",
          "ping answered",
          "initialize answered",
          "notifications/initialized told",
          "tools/list answered",
          "tools/fetch refused",
          "tools/call refused",
          "tools/call refused",
          "notifications/roots/list_changed told",
          "notifications/any told",
          "notifications/cancelled told",
          "tools/call answered"
        ])
      }).pipe(Effect.provide(serve(GreetLive, { middleware })))
    }))

  it.scoped("does not see what is dropped before initialize, nor malformed messages", () =>
    Effect.gen(function*() {
      const { middleware, seen } = watching()
      yield* Effect.gen(function*() {
        const peer = yield* uninitialized
        yield* peer.notify("notifications/initialized")
        yield* peer.send(Message.fromUnknown({ jsonrpc: "2.0", id: 1, method: 1 }) as unknown as Message.Message)
        yield* peer.expectError(1)
        yield* peer.notify("notifications/any")
        yield* peer.expectSilence
        assert.deepStrictEqual(seen, ["ping answered"])
      }).pipe(Effect.provide(serve(GreetLive, { middleware })))
    }))

  it.scoped("gets the message before its parameters are checked, and its sender", () =>
    Effect.gen(function*() {
      const seen: Array<unknown> = []
      const middleware = Middleware.make((call, next) =>
        Effect.flatMap(RequestContext, ({ client, id, method }) => {
          seen.push([call, client.info?.name, id === call.id && method === call.method])
          return next
        })
      )
      yield* Effect.gen(function*() {
        const peer = yield* unchecked()
        yield* peer.expectSilence
        seen.length = 0
        yield* peer.request("tools/call", { name: 1, _meta: { a: 1 } }, 7)
        yield* peer.expectError(7)
        yield* peer.notify("notifications/any")
        yield* peer.expectSilence
        assert.deepStrictEqual(seen.slice(0, 2), [
          [{ id: 7, method: "tools/call", params: { name: 1, _meta: { a: 1 } } }, "test", true],
          [{ id: undefined, method: "notifications/any", params: undefined }, "test", true]
        ])
      }).pipe(Effect.provide(serve(GreetLive, { middleware })))
    }))

  it.scoped("can answer in place of the server, also for unknown methods", () =>
    Effect.gen(function*() {
      const content = [{ type: "text", text: "from the cache" }]
      const middleware = Middleware.make((call, next) =>
        call.method === "tools/call"
          ? Effect.succeed({ content })
          : call.method === "example/own"
          ? Effect.succeed({ own: true })
          : next
      )
      yield* Effect.gen(function*() {
        const peer = yield* connect()
        assert.deepStrictEqual(yield* result(peer, "greet", { name: "Ada" }), { content })
        assert.deepStrictEqual(yield* result(peer, "none"), { content })
        assert.deepStrictEqual(yield* peer.expectResult(yield* peer.request("example/own")), { own: true })
      }).pipe(Effect.provide(serve(GreetLive, { middleware })))
    }))

  it.scoped("can change a result, which the client gets in the form of its revision", () =>
    Effect.gen(function*() {
      const middleware = Middleware.make((call, next) =>
        call.method !== "tools/list" ? next : Effect.map(next, (result) => ({
          tools: (result as { readonly tools: ReadonlyArray<object> }).tools.map((tool) => ({
            ...tool,
            title: "Changed",
            description: "Changed, too"
          }))
        }))
      )
      const tool = (version: string) =>
        Effect.gen(function*() {
          const peer = yield* connect(version)
          const { tools } = yield* peer.expectResult(yield* peer.request("tools/list"))
          const [{ description, title }] = tools as readonly [{ readonly description: string; readonly title?: string }]
          return [title, description]
        })
      yield* Effect.gen(function*() {
        assert.deepStrictEqual(yield* tool("2025-11-25"), ["Changed", "Changed, too"])
        assert.deepStrictEqual(yield* tool("2024-11-05"), [undefined, "Changed, too"])
      }).pipe(Effect.provide(serve(GreetLive, { middleware })))
    }))

  it.effect("is answered with \"Internal error\" when it returns a value of another type, and the operator learns why", () =>
    Effect.gen(function*() {
      const { layer, lines } = logbook()
      let garbage: unknown
      const middleware = Middleware.make((call, next) =>
        call.method === "tools/list" || call.method === "example/none" ? Effect.sync(() => garbage) : next
      )
      yield* Effect.gen(function*() {
        const peer = yield* connect()
        for (const value of [undefined, null, "text", 1, [], () => {}]) {
          garbage = value
          for (const method of ["tools/list", "example/none"]) {
            assert.deepStrictEqual(yield* refusal(peer, method), { code: -32603, message: "Internal error" })
            assert.strictEqual(lines.splice(0).filter(({ level }) => level === "Error").length, 1)
          }
        }
        garbage = { tools: [{ title: 1 }] }
        assert.deepStrictEqual(yield* refusal(peer, "tools/list"), { code: -32603, message: "Internal error" })
        assert.include(String(lines[0]?.cause), `"tools/list" returned a value that is not a result of the method`)
        assert.deepStrictEqual(yield* peer.expectResult(yield* peer.request("example/none")), { tools: [{ title: 1 }] })
      }).pipe(Effect.scoped, Effect.provide(Layer.provide(serve(GreetLive, { middleware }), layer)))
    }))

  it.effect("is answered with \"Internal error\" when it dies, and the server goes on", () =>
    Effect.gen(function*() {
      const { layer, lines } = logbook()
      const middleware = Middleware.make((call, next) => {
        if (call.method === "tools/call") throw new Error("hunter2")
        if (call.method === "tools/fetch") return Effect.die(new Error("hunter2"))
        if (call.method === "notifications/any") return Effect.die(new Error("hunter2"))
        if (call.method === "ping") return Effect.fail("hunter2")
        return next
      })
      yield* Effect.gen(function*() {
        const peer = yield* connect()
        for (const method of ["tools/call", "tools/fetch", "ping"]) {
          const id = yield* peer.request(method, { name: "greet" })
          if (method === "tools/call") assert.deepStrictEqual<unknown>(yield* peer.expectResult(id), internalError)
          else assert.deepStrictEqual(yield* peer.expectError(id), { code: -32603, message: "Internal error" })
          assert.include(String(lines.splice(0)[0]?.cause), "hunter2")
        }
        yield* peer.notify("notifications/any")
        yield* until(() => lines.length > 0)
        assert.include(lines[0]?.message ?? "", `The handler of "notifications/any" died`)
        assert.deepStrictEqual(yield* names(peer), ["greet"])
      }).pipe(Effect.scoped, Effect.provide(Layer.provide(serve(GreetLive, { middleware }), layer)))
    }))

  it.effect("sees how every message ends, also with a thrown error", () =>
    Effect.gen(function*() {
      const { layer } = logbook()
      const { middleware, seen } = watching()
      const boom = (): never => {
        throw new Error("boom")
      }
      const features = Layer.mergeAll(
        McpServer.tool(Tool.make("boom"), boom),
        McpServer.prompt(Prompt.make("boom", { arguments: { a: Schema.String } }), boom, { complete: { a: boom } }),
        MethodHandler.fallback(boom)
      )
      yield* Effect.gen(function*() {
        const peer = yield* connect()
        yield* peer.expectSilence
        seen.length = 0
        assert.deepStrictEqual<unknown>(yield* result(peer, "boom"), internalError)
        yield* refusal(peer, "prompts/get", { name: "boom", arguments: { a: "" } })
        yield* refusal(peer, "example/boom")
        yield* refusal(peer, "completion/complete", {
          ref: { type: "ref/prompt", name: "boom" },
          argument: { name: "a", value: "" }
        })
        assert.deepStrictEqual(seen, [
          "tools/call refused",
          "prompts/get refused",
          "example/boom refused",
          "completion/complete refused"
        ])
      }).pipe(Effect.scoped, Effect.provide(Layer.provide(serve(features, { middleware }), layer)))
    }))

  it.scoped("can limit the time of a handler, which is interrupted and released before the answer", () =>
    Effect.gen(function*() {
      const log: Array<string> = []
      const middleware = Middleware.make((call, next) =>
        Effect.timeoutFail(next, {
          duration: "5 seconds",
          onTimeout: () => new InvalidRequest({ message: call.method })
        })
      )
      const slow = act(
        Effect.acquireRelease(Effect.void, () => Effect.sync(() => log.push("released"))).pipe(
          Effect.zipRight(Effect.onInterrupt(Effect.never, () => Effect.sync(() => log.push("interrupted"))))
        )
      )
      yield* Effect.gen(function*() {
        const peer = yield* connect()
        const id = yield* call(peer, "act")
        yield* TestClock.adjust("5 seconds")
        assert.deepStrictEqual(yield* peer.expectError(id), { code: -32600, message: "tools/call" })
        assert.deepStrictEqual(log, ["interrupted", "released"])
      }).pipe(Effect.provide(serve(slow, { middleware })))
    }))

  it.scoped("uses the services of the server and of the request", () =>
    Effect.gen(function*() {
      const seen: Array<unknown> = []
      const middleware = Middleware.make((call, next) =>
        Effect.gen(function*() {
          yield* Effect.addFinalizer(() => Effect.sync(() => seen.push(`released ${call.method}`)))
          seen.push(`${yield* Db} ${(yield* RequestContext).method}`)
          return yield* next
        })
      )
      yield* Effect.gen(function*() {
        const peer = yield* connect()
        yield* peer.expectSilence
        seen.length = 0
        yield* result(peer, "greet", { name: "Ada" })
        assert.deepStrictEqual(seen, ["db tools/call", "released tools/call"])
      }).pipe(Effect.provide(Layer.provide(serve(GreetLive, { middleware }), Layer.succeed(Db, "db"))))
    }))

  it.scoped("passes fiber-local values to handlers", () =>
    Effect.gen(function*() {
      const who = FiberRef.unsafeMake("nobody")
      const seen: Array<string> = []
      const middleware = Middleware.make((call, next) => Effect.locally(next, who, call.method))
      yield* Effect.gen(function*() {
        yield* result(yield* connect(), "act")
        assert.deepStrictEqual(seen, ["tools/call"])
      }).pipe(Effect.provide(serve(act(Effect.map(FiberRef.get(who), (name) => seen.push(name))), { middleware })))
    }))

  it.scoped("runs its finalizers before requests after the handshake are answered", () =>
    Effect.gen(function*() {
      const middleware = Middleware.make((call, next) =>
        call.method === "initialize"
          ? Effect.zipRight(Effect.addFinalizer(() => Effect.sleep("1 second")), next)
          : next
      )
      yield* Effect.gen(function*() {
        const peer = yield* uninitialized
        const first = yield* peer.request("initialize", {
          protocolVersion: "2025-11-25",
          capabilities: {},
          clientInfo: { name: "test", version: "0.0.0" }
        })
        const second = yield* peer.request("tools/list")
        yield* TestClock.adjust("1 second")
        yield* peer.expectResult(first)
        yield* peer.expectResult(second)
      }).pipe(Effect.provide(serve(GreetLive, { middleware })))
    }))
})
