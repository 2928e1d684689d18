import { assert, describe, it } from "@effect/vitest"
import { JsonRpcError } from "@effect-mcp/core/JsonRpcError"
import * as MethodHandler from "@effect-mcp/core/MethodHandler"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import { InternalError, InvalidParams, MethodNotFound } from "@effect-mcp/core/protocol/McpError"
import { RequestContext } from "@effect-mcp/core/RequestContext"
import { ServerSession } from "@effect-mcp/core/ServerSession"
import * as TestPeer from "@effect-mcp/testing/TestPeer"
import { Context, Deferred, Effect, Layer, Schema } from "effect"
import { connect, GreetLive, logbook, names, serve, unchecked, uninitialized, until } from "./Serving.js"

class Sum extends Schema.Class<Sum>("Sum")({ at: Schema.Date, sum: Schema.Number }) {}
class Db extends Context.Tag("Db")<Db, string>() {}

const ask = (peer: TestPeer.TestPeer, method: string, params?: JsonObject) =>
  Effect.flatMap(peer.request(method, params), peer.expectResult)
const refusal = (peer: TestPeer.TestPeer, method: string, params?: JsonObject) =>
  Effect.flatMap(peer.request(method, params), peer.expectError)

describe("A method that the application defines", () => {
  const Add = MethodHandler.customRequest(
    "example/add",
    { params: Schema.Struct({ a: Schema.NumberFromString, b: Schema.optional(Schema.Number) }), result: Sum },
    ({ a, b }) => Effect.succeed(new Sum({ at: new Date(0), sum: a + (b ?? 0) }))
  )

  it.scoped("is handled with decoded parameters and an encoded result", () =>
    Effect.gen(function*() {
      const peer = yield* connect()
      assert.deepStrictEqual(yield* ask(peer, "example/add", { a: "1", b: 2 }), {
        at: "1970-01-01T00:00:00.000Z",
        sum: 3
      })
      assert.deepStrictEqual((yield* ask(peer, "example/add", { a: "1", _meta: { progressToken: 1 } })).sum, 1)
    }).pipe(Effect.provide(serve(Add))))

  it.scoped("is refused when its parameters do not decode, with their places", () =>
    Effect.gen(function*() {
      const peer = yield* connect()
      for (const params of [undefined, {}, { a: "x" }, { a: "1", b: "2" }]) {
        const { code, data, message } = yield* refusal(peer, "example/add", params)
        assert.strictEqual(code, -32602)
        assert.isTrue(message.startsWith("Invalid params: "), message)
        const { issues } = data as { readonly issues: ReadonlyArray<{ readonly path: string }> }
        assert.include(["a", "b"], issues[0]?.path)
      }
      const { code } = yield* refusal(yield* unchecked(), "example/add", { a: "1", _meta: 1 } as never)
      assert.strictEqual(code, -32602)
    }).pipe(Effect.provide(serve(Add))))

  it.scoped("is not handled before initialize, and unknown to a server without the handler", () =>
    Effect.gen(function*() {
      const peer = yield* uninitialized
      assert.include((yield* refusal(peer, "example/add", { a: "1" })).message, `was sent before "initialize"`)
      yield* Effect.gen(function*() {
        assert.strictEqual((yield* refusal(yield* connect(), "example/add", { a: "1" })).code, -32601)
      }).pipe(Effect.provide(serve(GreetLive)))
    }).pipe(Effect.provide(serve(Add))))

  it.scoped("runs with the services of its layer and of the request, and can be cancelled", () =>
    Effect.gen(function*() {
      const stopped = yield* Deferred.make<void>()
      const released: Array<string> = []
      const schemas = {
        params: Schema.Struct({ wait: Schema.Boolean }),
        result: Schema.Struct({ text: Schema.String })
      }
      const live = MethodHandler.customRequest("example/wait", schemas, ({ wait }) =>
        Effect.gen(function*() {
          yield* Effect.addFinalizer(() => Effect.sync(() => released.push("released")))
          const { method } = yield* RequestContext
          const session = yield* ServerSession
          yield* session.progress(1)
          if (wait) yield* Effect.onInterrupt(Effect.never, () => Deferred.succeed(stopped, undefined))
          return { text: `${yield* Db} of ${method}` }
        }))
      yield* Effect.gen(function*() {
        const peer = yield* connect()
        assert.deepStrictEqual(yield* ask(peer, "example/wait", { wait: false }), { text: "db of example/wait" })
        assert.deepStrictEqual(released, ["released"])
        const id = yield* peer.request("example/wait", { wait: true, _meta: { progressToken: 1 } })
        yield* peer.expectNotification("notifications/progress")
        yield* peer.notify("notifications/cancelled", { requestId: id })
        yield* Deferred.await(stopped)
        yield* peer.expectSilence
      }).pipe(Effect.provide(Layer.provide(serve(live), Layer.succeed(Db, "db"))))
    }))

  it.effect("fails with protocol errors; the client learns \"Internal error\" of any other failure, and the operator the cause", () =>
    Effect.gen(function*() {
      const { layer, lines } = logbook()
      const failing = (name: string, effect: Effect.Effect<number, InternalError | JsonRpcError>) =>
        MethodHandler.customRequest(
          name,
          { params: Schema.Struct({}), result: Schema.Struct({ n: Schema.Int }) },
          () => Effect.map(effect, (n) => ({ n }))
        )
      yield* Effect.gen(function*() {
        const peer = yield* connect()
        assert.deepStrictEqual(yield* refusal(peer, "x/later"), { code: -32603, message: "later", data: 1 })
        assert.deepStrictEqual(yield* refusal(peer, "x/coded"), { code: 42, message: "own code" })
        assert.deepStrictEqual(lines, [])
        for (
          const [method, why] of [["x/dead", "hunter2"], ["x/wrong", `The handler of "x/wrong" returned`]] as const
        ) {
          assert.deepStrictEqual(yield* refusal(peer, method), { code: -32603, message: "Internal error" })
          assert.include(String(lines.splice(0)[0]?.cause), why)
        }
      }).pipe(
        Effect.scoped,
        Effect.provide(Layer.provide(
          serve(Layer.mergeAll(
            failing("x/later", new InternalError({ message: "later", data: 1 })),
            failing("x/coded", new JsonRpcError({ code: 42, message: "own code" })),
            failing("x/dead", Effect.die(new Error("hunter2"))),
            failing("x/wrong", Effect.succeed(1.5))
          )),
          layer
        ))
      )
    }))

  it.scoped("is handled as a notification when its parameters decode", () =>
    Effect.gen(function*() {
      const heard: Array<unknown> = []
      const live = MethodHandler.customNotification(
        "example/moved",
        Schema.Struct({ to: Schema.NumberFromString }),
        ({ to }) =>
          Effect.gen(function*() {
            const { id, method } = yield* RequestContext
            heard.push([to, method, id, yield* Db])
          })
      )
      yield* Effect.gen(function*() {
        const peer = yield* uninitialized
        yield* peer.notify("example/moved", { to: "0" })
        yield* peer.initialize()
        yield* peer.notify("example/moved", { to: "1" })
        yield* peer.notify("example/moved", { to: "x" })
        yield* peer.notify("example/moved")
        yield* peer.notify("example/other", { to: "3" })
        yield* peer.notify("example/moved", { to: "2" })
        yield* peer.expectSilence
        assert.deepStrictEqual(heard, [
          [1, "example/moved", undefined, "db"],
          [2, "example/moved", undefined, "db"]
        ])
        // As a request there is no such method.
        assert.strictEqual((yield* refusal(peer, "example/moved", { to: "1" })).code, -32601)
      }).pipe(Effect.provide(Layer.provide(serve(live), Layer.succeed(Db, "db"))))
    }))

  it.effect("disturbs nothing else when the handler of its notification dies, and the operator learns the cause", () =>
    Effect.gen(function*() {
      const { layer, lines } = logbook()
      yield* Effect.gen(function*() {
        const peer = yield* connect()
        yield* peer.notify("example/dead")
        yield* until(() => lines.length > 0)
        assert.include(lines[0]?.message ?? "", `The handler of "example/dead" died`)
        assert.include(String(lines[0]?.cause), "hunter2")
        assert.deepStrictEqual(yield* names(peer), ["greet"])
      }).pipe(
        Effect.scoped,
        Effect.provide(Layer.provide(
          serve(Layer.merge(
            GreetLive,
            MethodHandler.customNotification("example/dead", Schema.Struct({}), () => Effect.die(new Error("hunter2")))
          )),
          layer
        ))
      )
    }))
})

describe("A fallback handler", () => {
  const Proxy = MethodHandler.fallback(({ method, params }) =>
    method === "example/none"
      ? new MethodNotFound({ method })
      : method === "example/bad"
      ? new InvalidParams({ message: "no" })
      : Effect.succeed({ method, params: params ?? null })
  )

  it.scoped("gets requests as the client sent them, and its result is sent as it is", () =>
    Effect.gen(function*() {
      const peer = yield* unchecked()
      const params = { a: [1, { b: null }], _meta: { "example.com/x": 1 } }
      assert.deepStrictEqual(yield* ask(peer, "example/any", params), { method: "example/any", params })
      assert.deepStrictEqual(yield* ask(peer, "example/any"), { method: "example/any", params: null })
      assert.strictEqual((yield* refusal(peer, "example/none")).code, -32601)
      assert.deepStrictEqual(yield* refusal(peer, "example/bad"), { code: -32602, message: "no" })
    }).pipe(Effect.provide(serve(Proxy))))

  it.scoped("gets methods of features that the server does not have, and no others", () =>
    Effect.gen(function*() {
      // What it says is not a result of these methods: it is a proxy's business.
      const peer = yield* TestPeer.client({ oracle: false })
      yield* peer.initialize()
      for (
        const method of [
          "resources/list",
          "resources/read",
          "resources/subscribe",
          "resources/unsubscribe",
          "prompts/get",
          "completion/complete",
          "logging/setLevel",
          "tasks/list"
        ]
      ) {
        assert.deepStrictEqual(yield* ask(peer, method, { uri: 1 }), { method, params: { uri: 1 } })
      }
      assert.deepStrictEqual(yield* names(peer), ["greet"])
      assert.deepStrictEqual(yield* ask(peer, "ping"), {})
      assert.strictEqual((yield* refusal(peer, "initialize", {})).code, -32602)
    }).pipe(Effect.provide(serve(Layer.merge(GreetLive, Proxy), { logging: false }))))

  it.scoped("gets nothing before initialize", () =>
    Effect.gen(function*() {
      const peer = yield* uninitialized
      assert.include((yield* refusal(peer, "example/any")).message, `was sent before "initialize"`)
    }).pipe(Effect.provide(serve(Proxy))))

  it.scoped("gets methods that are newer than the client's revision", () =>
    Effect.gen(function*() {
      const peer = yield* unchecked("2024-11-05")
      assert.deepStrictEqual(yield* ask(peer, "newer/method"), { method: "newer/method", params: null })
      yield* peer.notify("newer/notification")
      yield* peer.expectSilence
    }).pipe(Effect.provide(serve(Proxy))))
})
