import { assert, describe, it } from "@effect/vitest"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Message from "@effect-mcp/core/Message"
import * as MethodHandler from "@effect-mcp/core/MethodHandler"
import * as Middleware from "@effect-mcp/core/Middleware"
import * as Prompt from "@effect-mcp/core/Prompt"
import { InvalidRequest } from "@effect-mcp/core/protocol/McpError"
import { RequestContext } from "@effect-mcp/core/RequestContext"
import * as Resource from "@effect-mcp/core/Resource"
import * as ResourceTemplate from "@effect-mcp/core/ResourceTemplate"
import * as Tool from "@effect-mcp/core/Tool"
import type { TestPeer } from "@effect-mcp/testing/TestPeer"
import { Context, Effect, Layer, Schema } from "effect"
import { act, answer, connect, result, serve, uninitialized } from "../Serving.js"

class Cart extends Context.Tag("Cart")<Cart, { readonly of: number; readonly items: Array<string> }>() {}
class Db extends Context.Tag("Db")<Db, string>() {}
class Who extends Context.Tag("Who")<Who, string>() {}

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

describe("The session layer", () => {
  it.scoped("is built once for each client during its handshake, and never shared by two", () =>
    Effect.gen(function*() {
      const { built, session } = carts()
      yield* Effect.gen(function*() {
        assert.strictEqual(built(), 0)
        const one = yield* connect()
        const two = yield* connect()
        assert.strictEqual(built(), 2)
        yield* result(one, "put")
        yield* result(one, "put")
        yield* result(two, "put")
        assert.deepStrictEqual([yield* text(one), yield* text(two)], ["2 in cart 1", "1 in cart 2"])
        assert.strictEqual(built(), 2)
      }).pipe(Effect.provide(serve(Layer.merge(put, count), { session })))
    }))

  it.scoped("is built anew for each client, also where its layer is memoised and the application has it too", () =>
    Effect.gen(function*() {
      const { built, session } = carts()
      // One layer value, known to a memo map already; and a service of the same Tag that all could see.
      const memoised = yield* Layer.memoize(session)
      yield* Layer.build(memoised)
      assert.strictEqual(built(), 1)
      const Shared = Layer.succeed(Cart, { of: 0, items: ["of all"] })
      for (const layer of [session, Layer.merge(session, session), Layer.provideMerge(session, Shared)]) {
        const before = built()
        yield* Effect.gen(function*() {
          const one = yield* connect()
          const two = yield* connect()
          yield* result(one, "put")
          assert.deepStrictEqual([yield* text(one), yield* text(two)], [
            `1 in cart ${before + 1}`,
            `0 in cart ${before + 2}`
          ])
        }).pipe(
          Effect.scoped,
          Effect.provide(Layer.provide(serve(Layer.merge(put, count), { session: layer }), Shared))
        )
        assert.strictEqual(built(), before + 2)
      }
    }))

  it.scoped("provides the same services to all requests of a client", () =>
    Effect.gen(function*() {
      const seen: Array<number> = []
      const note = Effect.map(Cart, ({ of }) => {
        seen.push(of)
      })
      const id = ResourceTemplate.param("id")
      const features = Layer.mergeAll(
        act(note),
        McpServer.resource(Resource.make("a", { uri: "file:///a" }), Effect.as(note, "")),
        McpServer.resourceTemplate(ResourceTemplate.make("n")`note:///${id}`, () => Effect.as(note, ""), {
          list: Effect.as(note, []),
          complete: { id: () => Effect.as(note, []) }
        }),
        McpServer.prompt(Prompt.make("p"), () => Effect.as(note, "")),
        MethodHandler.customRequest("example/note", { params: Schema.Struct({}), result: Schema.Struct({}) }, () =>
          Effect.as(note, {})),
        MethodHandler.rootsListChanged(note)
      )
      yield* Effect.gen(function*() {
        yield* connect()
        const peer = yield* connect()
        const requests: ReadonlyArray<readonly [string, object?]> = [
          ["tools/call", { name: "act" }],
          ["resources/read", { uri: "file:///a" }],
          ["resources/read", { uri: "note:///1" }],
          ["resources/list"],
          ["completion/complete", {
            ref: { type: "ref/resource", uri: "note:///{id}" },
            argument: { name: "id", value: "" }
          }],
          ["prompts/get", { name: "p" }],
          ["example/note"]
        ]
        for (const [method, params] of requests) {
          yield* peer.expectResult(yield* peer.request(method, params as never))
        }
        yield* peer.notify("notifications/roots/list_changed")
        yield* peer.expectSilence
        assert.deepStrictEqual(
          seen,
          Array.from({ length: 8 }, () =>
            2)
        )
      }).pipe(Effect.provide(serve(features, { session: carts().session })))
    }))

  it.scoped("can read the facts of the client", () =>
    Effect.gen(function*() {
      const session = Layer.effect(
        Who,
        Effect.map(RequestContext, (client) =>
          [
            client.client.info?.name,
            client.version,
            client.method,
            Object.keys(client.client.capabilities).join(),
            client.client.supports({ roots: {} }),
            client.client.supports({ sampling: {} })
          ].join(" "))
      )
      const seen: Array<string> = []
      yield* Effect.gen(function*() {
        const one = yield* uninitialized
        yield* one.expectResult(yield* one.request("initialize", hello("one")))
        const two = yield* uninitialized
        yield* two.expectResult(yield* two.request("initialize", { ...hello("two"), protocolVersion: "2024-11-05" }))
        for (const peer of [two, one]) yield* result(peer, "act")
        assert.deepStrictEqual(seen, [
          "two 2024-11-05 initialize roots true false",
          "one 2025-11-25 initialize roots true false"
        ])
      }).pipe(Effect.provide(serve(act(Effect.map(Who, (who) => seen.push(who))), { session })))
    }))

  it.scoped("uses what the application provides, which is built once for all", () =>
    Effect.gen(function*() {
      let built = 0
      const DbLive = Layer.sync(Db, () => `db ${++built}`)
      const seen: Array<string> = []
      const session = Layer.effect(Who, Effect.map(Db, (db) => `somebody of ${db}`))
      yield* Effect.gen(function*() {
        for (const _ of [1, 2]) yield* result(yield* connect(), "act")
        assert.deepStrictEqual([seen, built], [["somebody of db 1", "somebody of db 1"], 1])
      }).pipe(Effect.provide(
        Layer.provide(serve(act(Effect.map(Who, (who) => seen.push(who))), { session }), DbLive)
      ))
    }))

  it.scoped("comes before what a feature was built with, behind what middleware provides, and what the request brings", () =>
    Effect.gen(function*() {
      class A extends Context.Tag("A")<A, string>() {}
      class B extends Context.Tag("B")<B, string>() {}
      class C extends Context.Tag("C")<C, string>() {}
      const all = (who: string) => Layer.mergeAll(Layer.succeed(A, who), Layer.succeed(B, who), Layer.succeed(C, who))
      const seen: Array<unknown> = []
      const session = Layer.mergeAll(
        Layer.succeed(B, "session"),
        Layer.succeed(C, "session"),
        Layer.succeed(RequestContext, { method: "forged" } as never)
      )
      const live = act(Effect.gen(function*() {
        seen.push(yield* A, yield* B, yield* C, (yield* RequestContext).method)
      }))
      yield* Effect.gen(function*() {
        yield* result(yield* connect(), "act")
        assert.deepStrictEqual(seen, ["captured", "session", "middleware", "tools/call"])
      }).pipe(Effect.provide(Layer.provide(
        serve(Layer.provide(live, all("captured")), {
          session,
          middleware: Middleware.provide(C, () => Effect.succeed("middleware"))
        }),
        all("application")
      )))
    }))

  it.scoped("can be used by middleware once it is there", () =>
    Effect.gen(function*() {
      const seen: Array<string> = []
      const middleware = Middleware.make((call, next) =>
        Effect.flatMap(Effect.serviceOption(Cart), (cart) => {
          seen.push(`${call.method} ${cart._tag}`)
          return next
        })
      )
      yield* Effect.gen(function*() {
        const peer = yield* connect()
        yield* result(peer, "put")
        assert.deepStrictEqual(seen, ["initialize None", "notifications/initialized Some", "tools/call Some"])
      }).pipe(Effect.provide(serve(put, { session: carts().session, middleware })))
    }))
})

describe("The session layer where there is no session:", () => {
  it.scoped("the layer is built for each request that comes alone, and gone before its answer", () =>
    Effect.gen(function*() {
      const log: Array<string> = []
      let built = 0
      const session = Layer.scoped(
        Cart,
        Effect.acquireRelease(
          Effect.map(RequestContext, ({ method }) => {
            log.push(`built for ${method}`)
            return { of: ++built, items: [] }
          }),
          () => Effect.sync(() => log.push("released"))
        )
      )
      yield* Effect.gen(function*() {
        const served = (request: Message.Request) =>
          Effect.tap(answer(request), () => Effect.sync(() => log.push("answered")))
        for (const  of of[1, 2]) {
          const { result } = yield* served(Message.request(1, "tools/call", { name: "count" }))
          assert.deepStrictEqual(result.content, [{ type: "text", text: `0 in cart ${of}` }])
          assert.deepStrictEqual(log.splice(0), ["built for tools/call", "released", "answered"])
        }
        yield* served(Message.request(1, "initialize", hello()))
        assert.deepStrictEqual(log, ["answered"])
      }).pipe(Effect.provide(serve(count, { session })))
    }))

  it.scoped("a request is refused as the layer is", () =>
    Effect.gen(function*() {
      const { error } = yield* answer(Message.request(1, "tools/call", { name: "count" }))
      assert.deepStrictEqual(error, { code: -32600, message: "closed" })
    }).pipe(Effect.provide(serve(count, {
      session: Layer.effect(Cart, Effect.fail(new InvalidRequest({ message: "closed" })))
    }))))
})
