import { assert, describe, it } from "@effect/vitest"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Message from "@effect-mcp/core/Message"
import { RequestContext } from "@effect-mcp/core/RequestContext"
import { Deferred, Effect, Layer, Option } from "effect"
import {
  act,
  call,
  connect,
  Greet,
  GreetLive,
  internalError,
  logbook,
  names,
  result,
  serve,
  uninitialized
} from "../Serving.js"

const boom = new Error("the password is hunter2")

describe("A legacy conversation", () => {
  it.scoped("SHOULD NOT serve a request before initialize, other than a ping", () =>
    Effect.gen(function*() {
      const peer = yield* uninitialized
      const requests: ReadonlyArray<readonly [string, object?]> = [
        ["tools/list"],
        ["tools/call", { name: "greet", arguments: { name: "Ada" } }],
        ["tools/call", { name: 1 }],
        ["logging/setLevel", { level: "info" }]
      ]
      for (const [method, params] of requests) {
        const error = yield* peer.expectError(yield* peer.request(method, params as never))
        assert.strictEqual(error.code, -32602)
        assert.strictEqual(error.message, `Invalid request parameters: "${method}" was sent before "initialize"`)
      }
      assert.deepStrictEqual(yield* peer.expectResult(yield* peer.request("ping")), {})
      yield* peer.initialize()
      assert.deepStrictEqual(yield* names(peer), ["greet"])
    }).pipe(Effect.provide(serve(GreetLive))))

  it.scoped("answers -32601 to unknown methods, before initialize and after", () =>
    Effect.gen(function*() {
      const peer = yield* uninitialized
      const ask = Effect.gen(function*() {
        for (const method of ["tools/fetch", "resources/list", "server/discover", "notifications/initialized"]) {
          const error = yield* peer.expectError(yield* peer.request(method))
          assert.strictEqual(error.code, -32601)
          assert.strictEqual(error.message, `Method not found: ${method}`)
        }
      })
      yield* ask
      yield* peer.initialize()
      yield* ask
    }).pipe(Effect.provide(serve(GreetLive))))

  it.scoped("answers -32601 to the methods of features that the server does not have", () =>
    Effect.gen(function*() {
      const peer = yield* connect()
      const resources = ["resources/list", "resources/templates/list", "resources/read", "resources/subscribe"]
      for (
        const method of ["tools/list", "tools/call", "logging/setLevel", "prompts/list", "prompts/get", ...resources]
      ) {
        const params = { name: "greet", level: "info", uri: "a:///1" }
        const { code, message } = yield* peer.expectError(yield* peer.request(method, params))
        assert.deepStrictEqual([code, message], [-32601, `Method not found: ${method}`])
      }
    }).pipe(Effect.provide(serve(Layer.empty, { logging: false }))))

  it.scoped("does not repeat more of a name than a person would read", () =>
    Effect.gen(function*() {
      const peer = yield* connect()
      const error = yield* peer.expectError(yield* peer.request("x".repeat(100_000)))
      assert.strictEqual(error.code, -32601)
      assert.isBelow(JSON.stringify(error).length, 500)
      const unknown = yield* peer.expectError(yield* call(peer, "y".repeat(100_000)))
      assert.strictEqual(unknown.code, -32602)
      assert.isBelow(JSON.stringify(unknown).length, 500)
    }).pipe(Effect.provide(serve(GreetLive))))

  it.scoped("names the places of wrong parameters", () =>
    Effect.gen(function*() {
      const peer = yield* uninitialized
      yield* peer.initialize()
      const wrong: ReadonlyArray<readonly [string, object | undefined, string]> = [
        ["tools/list", { cursor: 1 }, "cursor"],
        ["tools/call", undefined, "name"],
        ["tools/call", { name: "greet", arguments: "Ada" }, "arguments"],
        ["tools/call", { name: "greet", arguments: ["Ada"] }, "arguments"],
        ["tools/call", { name: null }, "name"],
        ["tools/call", { name: "greet", _meta: { progressToken: true } }, "_meta.progressToken"],
        ["logging/setLevel", { level: "loud" }, "level"],
        ["ping", { _meta: 1 }, "_meta"]
      ]
      for (const [method, params, path] of wrong) {
        const error = yield* peer.expectError(yield* peer.request(method, params as never))
        assert.strictEqual(error.code, -32602)
        assert.match(error.message, /^Invalid params: /)
        const { issues } = error.data as { readonly issues: ReadonlyArray<{ readonly path: string }> }
        assert.include(issues.map(({ path }) => path), path)
      }
      yield* peer.expectSilence
    }).pipe(Effect.provide(serve(GreetLive))))

  it.scoped("never answers a notification, known or not, well-formed or not", () =>
    Effect.gen(function*() {
      const peer = yield* uninitialized
      yield* peer.notify("notifications/initialized", { _meta: 1 })
      yield* peer.initialize()
      yield* peer.notify("notifications/initialized", { _meta: 1 })
      yield* peer.notify("notifications/roots/list_changed")
      yield* peer.notify("notifications/cancelled", { requestId: "nothing" })
      yield* peer.notify("notifications/cancelled")
      yield* peer.notify("notifications/progress", { progressToken: 1, progress: 1 })
      yield* peer.notify("tools/call", { name: "greet", arguments: { name: "Ada" } })
      yield* peer.expectSilence
    }).pipe(Effect.provide(serve(GreetLive))))

  it.effect("answers \"Internal error\" when a handler dies, and nothing more; the operator learns the cause", () =>
    Effect.gen(function*() {
      const { layer, lines } = logbook()
      const features = Layer.mergeAll(
        act(Effect.die(boom), "dies"),
        act(
          Effect.sync(() => {
            throw boom
          }),
          "throws"
        ),
        act(Effect.fail(boom).pipe(Effect.orDie, Effect.withSpan("secret-span")), "spans"),
        McpServer.tool(Greet, () => {
          throw boom
        })
      )
      yield* Effect.gen(function*() {
        const peer = yield* connect()
        for (const name of ["dies", "throws", "spans", "greet"]) {
          assert.deepStrictEqual<unknown>(
            yield* result(peer, name, name === "greet" ? { name: "Ada" } : {}),
            internalError
          )
          assert.strictEqual(lines.length, 1)
          const [line] = lines.splice(0)
          assert.strictEqual(line!.level, "Error")
          assert.include(line!.message, `The handler of tool "${name}" died`)
          assert.include(String(line!.cause), "hunter2")
        }
        yield* peer.expectSilence
      }).pipe(Effect.scoped, Effect.provide(Layer.provide(serve(features), layer)))
    }))

  it.scoped("serves a limited number of requests of a client at once, and lets more of that client wait", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      yield* Effect.gen(function*() {
        const peer = yield* connect()
        const other = yield* connect()
        const taken = [yield* call(peer, "act"), yield* call(peer, "act"), yield* call(peer, "act")]
        const error = yield* peer.expectError(yield* call(peer, "act"))
        assert.deepStrictEqual(error, {
          code: -32000,
          message: "Too many requests: 2 are running and 1 wait; send it again when another request is answered"
        })
        // MUST respond promptly to a ping
        yield* peer.expectSilence
        yield* other.expectSilence
        const theirs = yield* call(other, "act")
        yield* Deferred.succeed(gate, undefined)
        for (const id of taken) yield* peer.expectResult(id)
        yield* other.expectResult(theirs)
        yield* peer.expectSilence
      }).pipe(Effect.provide(serve(act(Deferred.await(gate)), { limits: { maxInFlight: 2, maxWaiting: 1 } })))
    }))

  it.scoped("SHOULD NOT answer a cancelled request", () =>
    Effect.gen(function*() {
      const started = yield* Deferred.make<void>()
      const stopped = yield* Deferred.make<Option.Option<string>>()
      const forever = Effect.flatMap(RequestContext, ({ cancelReason }) =>
        Effect.zipRight(Deferred.succeed(started, undefined), Effect.never).pipe(
          Effect.onInterrupt(() =>
            Effect.flatMap(cancelReason, (reason) => Deferred.succeed(stopped, reason))
          )
        ))
      yield* Effect.gen(function*() {
        const peer = yield* connect()
        const id = yield* call(peer, "act")
        yield* Deferred.await(started)
        yield* peer.notify("notifications/cancelled", { requestId: id, reason: "enough" })
        assert.deepStrictEqual(yield* Deferred.await(stopped), Option.some("enough"))
        yield* peer.expectSilence
        assert.strictEqual((yield* result(peer, "greet", { name: "Ada" })).isError, undefined)
      }).pipe(Effect.provide(serve(Layer.merge(act(forever), GreetLive))))
    }))
})

describe("A batch", () => {
  // A batch is not a message: it is what is left of one, and only the conversation knows what it is good for.
  const batch = (...elements: ReadonlyArray<unknown>) => Message.fromUnknown(elements) as unknown as Message.Message
  const list = (id: number) => ({ jsonrpc: "2.0", id, method: "tools/list" })

  it.scoped("MUST be received at 2025-03-26: each element as if it had arrived alone", () =>
    Effect.gen(function*() {
      const peer = yield* uninitialized
      yield* peer.initialize({ version: "2025-03-26" })
      yield* peer.send(batch(list(1), { jsonrpc: "2.0", method: "notifications/unknown" }, list(2), { nonsense: true }))
      yield* peer.expectResult(1)
      yield* peer.expectResult(2)
      assert.strictEqual((yield* peer.expectError(undefined)).code, -32600)
      yield* peer.expectSilence
    }).pipe(Effect.provide(serve(GreetLive))))

  it.scoped("is refused before initialize, which MUST NOT be part of one", () =>
    Effect.gen(function*() {
      const peer = yield* uninitialized
      const hello = { protocolVersion: "2025-03-26", capabilities: {}, clientInfo: { name: "a", version: "0" } }
      yield* peer.send(batch({ jsonrpc: "2.0", id: 1, method: "initialize", params: hello }))
      assert.strictEqual((yield* peer.expectError(undefined)).code, -32600)
      assert.strictEqual((yield* peer.expectError(yield* peer.request("tools/list"))).code, -32602)
    }).pipe(Effect.provide(serve(GreetLive))))

  for (const version of ["2024-11-05", "2025-06-18", "2025-11-25"]) {
    it.scoped(`is refused at ${version}, which has no batches`, () =>
      Effect.gen(function*() {
        const peer = yield* uninitialized
        yield* peer.initialize({ version })
        yield* peer.send(batch(list(1)))
        const error = yield* peer.expectError(undefined)
        assert.strictEqual(error.code, -32600)
        assert.include(error.message, "batch")
        yield* peer.expectSilence
      }).pipe(Effect.provide(serve(GreetLive))))
  }
})
