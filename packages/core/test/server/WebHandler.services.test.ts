import { assert, describe, it } from "@effect/vitest"
import * as Authenticator from "@effect-mcp/core/Authenticator"
import { Dispatcher } from "@effect-mcp/core/Dispatcher"
import * as EventStore from "@effect-mcp/core/EventStore"
import * as HttpRefusal from "@effect-mcp/core/HttpRefusal"
import * as Message from "@effect-mcp/core/Message"
import * as Middleware from "@effect-mcp/core/Middleware"
import { RequestContext } from "@effect-mcp/core/RequestContext"
import * as WebHandler from "@effect-mcp/core/WebHandler"
import { Context, Effect, Layer, Option } from "effect"
import { call, initialize, proper } from "./http/TestExchange.js"
import { headers as modernHeaders, request as modern } from "./modern/Posting.js"
import { act, GreetLive, identified, serve } from "./Serving.js"
import { events, open, send, url } from "./WebRequests.js"

const log = (data: unknown) => Effect.flatMap(RequestContext, (context) => context.log("info", data))

class User extends Context.Tag("User")<User, { readonly name: string }>() {}

describe("The services that come with a request", () => {
  const given = Effect.serviceOption(User)

  const name = Effect.map(given, Option.match({ onNone: () => "nobody", onSome: ({ name }) => name }))

  const names = (handler: WebHandler.Handler, as: string | undefined) => {
    const context = as === undefined ? undefined : Context.make(User, { name: as })
    const body = modern("tools/call", { name: "act" }, { logLevel: "info" })
    return Effect.flatMap(
      send(handler, body, { headers: modernHeaders(body) }, context),
      (response) => Effect.map(events(response), (all) => all.map(({ params }) => params?.data).slice(0, -1))
    )
  }

  it.scoped("are there for the authenticator", () =>
    Effect.gen(function*() {
      const { handler } = yield* WebHandler.make()
      const ada = Context.make(User, { name: "Ada" })
      const grace = Context.make(User, { name: "Grace" })
      assert.strictEqual((yield* send(handler, initialize())).status, 401)
      const response = yield* send(handler, initialize(), {}, ada)
      const session = { "mcp-session-id": response.headers.get("mcp-session-id")! }
      const ping = Message.request(1, "ping")
      assert.strictEqual((yield* send(handler, ping, { headers: session }, ada)).status, 200)
      assert.strictEqual((yield* send(handler, ping, { headers: session }, grace)).status, 404)
    }).pipe(Effect.provide(serve(
      GreetLive,
      identified(() =>
        Effect.flatMap(
          given,
          Option.match({
            onNone: () => Effect.fail(HttpRefusal.unauthorized("Bearer")),
            onSome: ({ name }) => Effect.succeed(name)
          })
        )
      )
    ))))

  it.scoped("are there for the handlers of both eras, and for this request only", () =>
    Effect.gen(function*() {
      const { handler } = yield* WebHandler.make()
      assert.deepStrictEqual(yield* names(handler, "Ada"), ["Ada"])
      assert.deepStrictEqual(yield* names(handler, undefined), ["nobody"])
      const session = yield* open(handler)
      const grace = Context.make(User, { name: "Grace" })
      const old = yield* events(yield* send(handler, call(1, "act"), { headers: session }, grace))
      assert.strictEqual(old[0].params.data, "Grace")
    }).pipe(Effect.provide(serve(act(Effect.flatMap(name, log))))))

  it.scoped("are there for middleware, which provides them to handlers that require them", () =>
    Effect.gen(function*() {
      const { handler } = yield* WebHandler.make()
      assert.deepStrictEqual(yield* names(handler, "Ada"), ["Ada"])
    }).pipe(Effect.provide(serve(
      act(Effect.flatMap(User, ({ name }) => log(name))),
      { middleware: Middleware.provide(User, () => Effect.map(given, Option.getOrThrow)) }
    ))))
})

describe("A web handler of a layer", () => {
  const ping = Message.request(1, "ping")

  it.effect("builds the server at the first request, once, and releases it when it is disposed", () =>
    Effect.gen(function*() {
      let [built, released] = [0, 0]
      const live = Layer.scopedDiscard(
        Effect.acquireRelease(Effect.sync(() => built++), () => Effect.sync(() => released++))
      )
      const { dispose, handler } = WebHandler.fromLayer(Layer.provideMerge(serve(GreetLive), live))
      assert.strictEqual(built, 0)
      const responses = yield* Effect.all([send(handler, initialize()), send(handler, initialize())], {
        concurrency: 2
      })
      assert.deepStrictEqual(responses.map(({ status }) => status), [200, 200])
      assert.deepStrictEqual([built, released], [1, 0])
      yield* Effect.promise(() => Promise.all([dispose(), dispose()]))
      assert.deepStrictEqual([built, released], [1, 1])
      assert.strictEqual((yield* send(handler, ping)).status, 503)
    }))

  it.effect("rejects while the layer fails, and builds it again at the next request", () =>
    Effect.gen(function*() {
      let [built, released] = [0, 0]
      const database = Layer.scopedDiscard(
        Effect.acquireRelease(Effect.sync(() => built++), () => Effect.sync(() => released++)).pipe(
          Effect.zipRight(Effect.suspend(() => built < 3 ? Effect.fail("no database") : Effect.void))
        )
      )
      const { dispose, handler } = WebHandler.fromLayer(Layer.provideMerge(serve(GreetLive), database))
      const ask = Effect.tryPromise({
        try: () =>
          handler(new Request(url, { method: "POST", headers: proper as any, body: JSON.stringify(initialize()) })),
        catch: String
      })
      assert.include(yield* Effect.flip(ask), "no database")
      assert.include(yield* Effect.flip(ask), "no database")
      assert.strictEqual((yield* ask).status, 200)
      assert.deepStrictEqual([built, released], [3, 2])
      yield* Effect.promise(() => dispose())
    }))

  it.effect("builds the server before the first request where the application wants to know that it can", () =>
    Effect.gen(function*() {
      let built = 0
      const live = Layer.effectDiscard(Effect.sync(() => built++))
      const { dispose, handler, ready } = WebHandler.fromLayer(Layer.provideMerge(serve(GreetLive), live))
      yield* Effect.promise(() => ready())
      assert.deepStrictEqual([built, (yield* send(handler, initialize())).status, built], [1, 200, 1])
      const broken = WebHandler.fromLayer(Layer.provideMerge(serve(GreetLive), Layer.fail("no database")))
      assert.include(yield* Effect.flip(Effect.tryPromise({ try: () => broken.ready(), catch: String })), "no database")
      yield* Effect.promise(() => dispose())
    }))

  it.effect("refuses requests when it was disposed before the first one", () =>
    Effect.gen(function*() {
      const { dispose, handler } = WebHandler.fromLayer(serve(GreetLive))
      yield* Effect.promise(() => dispose())
      assert.strictEqual((yield* send(handler, initialize())).status, 503)
    }))

  it.effect("hands over the user, which its type demands", () =>
    Effect.gen(function*() {
      const users = Layer.succeed(User, { name: "Ada" })
      const authenticator = Authenticator.make(User, { id: ({ name }) => name })
      const server = serve(act(Effect.flatMap(User, ({ name }) => log(name))), { authenticator })
      const { dispose, handler } = WebHandler.fromLayer(server, { user: User })
      const request = (body: unknown) =>
        new Request(url, { method: "POST", headers: proper as any, body: JSON.stringify(body) })
      const ada = Context.make(User, { name: "Ada" })
      assert.strictEqual((yield* Effect.promise(() => handler(request(initialize()), ada))).status, 200)
      // @ts-expect-error The user is missing: the request is refused.
      assert.strictEqual((yield* Effect.promise(() => handler(request(initialize())))).status, 403)
      // @ts-expect-error The layer provides no server.
      WebHandler.fromLayer(users)
      yield* Effect.promise(() => dispose())
    }))

  it.effect("has streams that can be resumed when the layer has an event store", () =>
    Effect.gen(function*() {
      const server: Layer.Layer<Dispatcher> = serve(act(log("hello")))
      const withStore: Layer.Layer<Dispatcher> = Layer.merge(server, EventStore.layerMemory)
      for (const [layer, resumable] of [[server, false], [withStore, true]] as const) {
        const { dispose, handler } = WebHandler.fromLayer(layer)
        const session = yield* open(handler)
        const response = yield* send(handler, call(1, "act"), { headers: session })
        assert.strictEqual(/^id: /m.test(yield* Effect.promise(() => response.text())), resumable)
        yield* Effect.promise(() => dispose())
      }
    }))

  it.effect("is a service, for an application that has a runtime of its own", () =>
    Effect.gen(function*() {
      const [{ handler }, { conversations }] = yield* Effect.all([WebHandler.WebHandler, Dispatcher])
      yield* open(handler)
      assert.strictEqual(conversations(), 1)
    }).pipe(Effect.provide(Layer.provideMerge(WebHandler.layer, serve(GreetLive)))))
})
