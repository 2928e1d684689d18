import { assert, describe, it } from "@effect/vitest"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as MethodHandler from "@effect-mcp/core/MethodHandler"
import { InvalidRequest } from "@effect-mcp/core/protocol/McpError"
import { RequestContext } from "@effect-mcp/core/RequestContext"
import * as Tool from "@effect-mcp/core/Tool"
import type { TestPeer } from "@effect-mcp/testing/TestPeer"
import { Context, Deferred, Effect, Layer } from "effect"
import { act, call, connect, GreetLive, logbook, names, result, serve, uninitialized, until } from "../Serving.js"

class Cart extends Context.Tag("Cart")<Cart, { readonly of: number; readonly items: Array<string> }>() {}

const hello = (name = "test") => ({
  protocolVersion: "2025-11-25",
  capabilities: { roots: {} },
  clientInfo: { name, version: "0.0.0" }
})

/** A layer that counts how often it is built. */
const carts = () => {
  let built = 0
  return {
    built: () => built,
    session: Layer.sync(Cart, () => ({ of: ++built, items: [] }))
  }
}

const put = act(Effect.flatMap(Cart, ({ items }) => Effect.sync(() => items.push("thing"))), "put")
const count = McpServer.tool(
  Tool.make("count"),
  () => Effect.map(Cart, ({ items, of }) => `${items.length} in cart ${of}`)
)

const text = (peer: TestPeer) =>
  Effect.map(
    result(peer, "count"),
    ({ content }) => (content as ReadonlyArray<{ readonly text: string }>)[0]?.text
  )

const refusal = (peer: TestPeer, method: string, params?: object) =>
  Effect.flatMap(peer.request(method, params as never), peer.expectError)

describe("A message that arrives while a session is built", () => {
  const slow = (gate: Effect.Effect<void>) => Layer.effect(Cart, Effect.as(gate, { of: 1, items: [] as Array<string> }))

  it.scoped("waits for the session, in order, except a ping", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      const heard: Array<string> = []
      const features = Layer.mergeAll(
        put,
        count,
        MethodHandler.rootsListChanged(Effect.map(Cart, () => {
          heard.push("roots")
        }))
      )
      yield* Effect.gen(function*() {
        const peer = yield* uninitialized
        const first = yield* peer.request("initialize", hello())
        yield* peer.notify("notifications/initialized")
        const second = yield* call(peer, "put")
        yield* peer.notify("notifications/roots/list_changed")
        const third = yield* peer.request("tools/fetch")
        yield* peer.expectSilence
        assert.deepStrictEqual(heard, [])
        yield* Deferred.succeed(gate, undefined)
        yield* peer.expectResult(first)
        yield* peer.expectResult(second)
        assert.strictEqual((yield* peer.expectError(third)).code, -32601)
        yield* until(() => heard.length > 0)
        assert.strictEqual(yield* text(peer), "1 in cart 1")
      }).pipe(Effect.provide(serve(features, { session: slow(Deferred.await(gate)) })))
    }))

  it.scoped("can be cancelled while it waits, and is not answered then", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      yield* Effect.gen(function*() {
        const peer = yield* uninitialized
        const first = yield* peer.request("initialize", hello())
        const second = yield* call(peer, "put")
        const third = yield* call(peer, "count")
        yield* peer.notify("notifications/cancelled", { requestId: second })
        // MUST NOT be cancelled by the client.
        yield* peer.notify("notifications/cancelled", { requestId: first })
        yield* peer.expectSilence
        yield* Deferred.succeed(gate, undefined)
        yield* peer.expectResult(first)
        assert.deepStrictEqual((yield* peer.expectResult(third)).content, [{ type: "text", text: "0 in cart 1" }])
      }).pipe(Effect.provide(serve(Layer.merge(put, count), { session: slow(Deferred.await(gate)) })))
    }))

  it.scoped("is refused as too early when the session layer fails", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      const heard: Array<string> = []
      const features = Layer.merge(
        put,
        MethodHandler.rootsListChanged(Effect.sync(() => {
          heard.push("roots")
        }))
      )
      const session = Layer.effect(
        Cart,
        Effect.zipRight(Deferred.await(gate), Effect.fail(new InvalidRequest({ message: "closed" })))
      )
      yield* Effect.gen(function*() {
        const peer = yield* uninitialized
        const first = yield* peer.request("initialize", hello())
        yield* peer.notify("notifications/initialized")
        yield* peer.notify("notifications/roots/list_changed")
        const second = yield* call(peer, "put")
        yield* Deferred.succeed(gate, undefined)
        assert.deepStrictEqual(yield* peer.expectError(first), { code: -32600, message: "closed" })
        const { code, message } = yield* peer.expectError(second)
        assert.deepStrictEqual([code, message], [
          -32602,
          `Invalid request parameters: "tools/call" was sent before "initialize"`
        ])
        yield* peer.expectSilence
        assert.deepStrictEqual(heard, [])
      }).pipe(Effect.provide(serve(features, { session })))
    }))

  it.scoped("belongs to one session, also when initialize is sent twice", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      const { built, session } = carts()
      const slowly = Layer.provideMerge(Layer.effectDiscard(Deferred.await(gate)), session)
      yield* Effect.gen(function*() {
        const peer = yield* uninitialized
        const first = yield* peer.request("initialize", hello())
        const again = yield* peer.request("initialize", hello("other"))
        assert.strictEqual((yield* peer.expectError(again)).code, -32600)
        yield* Deferred.succeed(gate, undefined)
        yield* peer.expectResult(first)
        assert.strictEqual(yield* text(peer), "0 in cart 1")
        assert.strictEqual(built(), 1)
      }).pipe(Effect.provide(serve(count, { session: slowly })))
    }))

  it.scoped("counts as in flight, and does not delay other clients", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      let first = true
      const session = Layer.effect(
        Cart,
        Effect.suspend(() => {
          const wait = first
          first = false
          return Effect.as(wait ? Deferred.await(gate) : Effect.void, { of: 1, items: [] })
        })
      )
      yield* Effect.gen(function*() {
        const slow = yield* uninitialized
        const hi = yield* slow.request("initialize", hello())
        const waiting = yield* call(slow, "count")
        assert.strictEqual((yield* slow.expectError(yield* call(slow, "count"))).code, -32000)
        assert.strictEqual(yield* text(yield* connect()), "0 in cart 1")
        yield* Deferred.succeed(gate, undefined)
        yield* slow.expectResult(hi)
        yield* slow.expectResult(waiting)
      }).pipe(Effect.provide(serve(count, { session, limits: { maxInFlight: 2, maxWaiting: 0 } })))
    }))
})

describe("A session layer that fails", () => {
  it.effect("fails initialize, with an McpError for the client, which may try again", () =>
    Effect.gen(function*() {
      let open = false
      const session = Layer.effect(
        Cart,
        Effect.suspend(() =>
          open
            ? Effect.succeed({ of: 1, items: [] as Array<string> })
            : Effect.fail(new InvalidRequest({ message: "come back later", data: { after: 1 } }))
        )
      )
      yield* Effect.gen(function*() {
        const peer = yield* uninitialized
        assert.deepStrictEqual(yield* refusal(peer, "initialize", hello()), {
          code: -32600,
          message: "come back later",
          data: { after: 1 }
        })
        assert.include((yield* refusal(peer, "tools/list")).message, `was sent before "initialize"`)
        open = true
        const { protocolVersion } = yield* peer.initialize({ version: "2024-11-05" })
        assert.strictEqual(protocolVersion, "2024-11-05")
        assert.strictEqual(yield* text(peer), "0 in cart 1")
      }).pipe(Effect.scoped, Effect.provide(serve(count, { session })))
    }))

  it.effect("is answered with \"Internal error\" for any other failure, and the operator learns the cause", () =>
    Effect.gen(function*() {
      const { layer, lines } = logbook()
      for (const failing of [Effect.fail(new Error("hunter2")), Effect.die(new Error("hunter2"))]) {
        yield* Effect.gen(function*() {
          const peer = yield* uninitialized
          assert.deepStrictEqual(yield* refusal(peer, "initialize", hello()), {
            code: -32603,
            message: "Internal error"
          })
          const [line] = lines.splice(0)
          assert.include(line?.message ?? "", `The handler of "initialize" died`)
          assert.include(String(line?.cause), "hunter2")
        }).pipe(
          Effect.scoped,
          Effect.provide(Layer.provide(serve(GreetLive, { session: Layer.effectDiscard(failing) }), layer))
        )
      }
    }))

  it.effect("does not affect other clients", () =>
    Effect.gen(function*() {
      const session = Layer.effectDiscard(Effect.flatMap(RequestContext, ({ client }) =>
        client.info?.name === "bad" ? Effect.fail(new InvalidRequest({ message: "no" })) : Effect.void))
      yield* Effect.gen(function*() {
        const bad = yield* uninitialized
        yield* refusal(bad, "initialize", hello("bad"))
        assert.deepStrictEqual(yield* names(yield* connect()), ["greet"])
      }).pipe(Effect.scoped, Effect.provide(serve(GreetLive, { session })))
    }))
})
