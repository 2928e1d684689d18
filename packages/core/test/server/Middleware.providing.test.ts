import { assert, describe, it } from "@effect/vitest"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as MethodHandler from "@effect-mcp/core/MethodHandler"
import * as Middleware from "@effect-mcp/core/Middleware"
import * as Prompt from "@effect-mcp/core/Prompt"
import { InvalidRequest } from "@effect-mcp/core/protocol/McpError"
import { RequestContext } from "@effect-mcp/core/RequestContext"
import { ServerSession } from "@effect-mcp/core/ServerSession"
import { Context, Effect, Exit, Layer, Schema } from "effect"
import { act, call, connect, GreetLive, result, serve } from "./Serving.js"

class User extends Context.Tag("User")<User, string>() {}
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

const refused = new InvalidRequest({ message: "not you" })

const refusing = (...methods: ReadonlyArray<string>) =>
  Middleware.make((call, next) => methods.includes(call.method) ? Effect.fail(refused) : next)

describe("Middleware that provides", () => {
  const provided = Middleware.provide(User, (call) =>
    Effect.gen(function*() {
      const { method } = yield* RequestContext
      if (call.params?.name === "refused") return yield* refused
      return `user of ${method}`
    }))

  it.scoped("provides a service before the feature's own, also where it is the same object as the application's", () =>
    Effect.gen(function*() {
      const seen: Array<string> = []
      const feature = act(Effect.map(User, (user) => seen.push(user))).pipe(
        Layer.provide(Layer.succeed(User, "the feature's"))
      )
      const same = Middleware.provide(User, () => Effect.succeed("the application's"))
      const server = serve(feature, { middleware: same }).pipe(Layer.provide(Layer.succeed(User, "the application's")))
      yield* Effect.gen(function*() {
        yield* result(yield* connect(), "act")
        assert.deepStrictEqual(seen, ["the application's"])
      }).pipe(Effect.provide(server))
    }))

  it.scoped("provides a service to everything inside, made anew for each message", () =>
    Effect.gen(function*() {
      const seen: Array<string> = []
      const note = Effect.map(User, (user) => {
        seen.push(user)
      })
      const features = Layer.mergeAll(
        act(note),
        McpServer.prompt(Prompt.make("p", { arguments: { a: Schema.String } }), () => Effect.as(note, ""), {
          complete: { a: () => Effect.as(note, []) }
        }),
        MethodHandler.rootsListChanged(note)
      )
      yield* Effect.gen(function*() {
        const peer = yield* connect()
        yield* result(peer, "act")
        yield* peer.expectResult(yield* peer.request("prompts/get", { name: "p", arguments: { a: "" } }))
        yield* peer.expectResult(
          yield* peer.request("completion/complete", {
            ref: { type: "ref/prompt", name: "p" },
            argument: { name: "a", value: "" }
          })
        )
        yield* peer.notify("notifications/roots/list_changed")
        yield* peer.expectSilence
        assert.deepStrictEqual(seen, [
          "user of tools/call",
          "user of prompts/get",
          "user of completion/complete",
          "user of notifications/roots/list_changed"
        ])
      }).pipe(Effect.provide(serve(features, { middleware: provided })))
    }))

  it.scoped("refuses when it fails to provide the service", () =>
    Effect.gen(function*() {
      const peer = yield* connect()
      assert.deepStrictEqual(yield* peer.expectError(yield* call(peer, "refused")), {
        code: -32600,
        message: "not you"
      })
    }).pipe(Effect.provide(serve(act(User), { middleware: provided }))))

  it.scoped("leaves handlers the services of their layers, where only the server has another one", () =>
    Effect.gen(function*() {
      const seen: Array<string> = []
      const live = Layer.provide(act(Effect.map(Db, (db) => seen.push(db))), Layer.succeed(Db, "the feature's"))
      yield* Effect.gen(function*() {
        yield* result(yield* connect(), "act")
        assert.deepStrictEqual(seen, ["the feature's"])
      }).pipe(Effect.provide(
        Layer.provide(serve(live, { middleware: provided }), Layer.succeed(Db, "the server's"))
      ))
    }))

  it.scoped("comes before the services of the feature's layer, and after those of the request", () =>
    Effect.gen(function*() {
      const seen: Array<unknown> = []
      const middleware = Middleware.compose(
        Middleware.provide(User, () => Effect.succeed("the middleware's")),
        Middleware.provide(RequestContext, () => Effect.succeed({ method: "forged" } as never))
      )
      const live = act(Effect.gen(function*() {
        seen.push(yield* User, (yield* RequestContext).method, (yield* RequestContext) === (yield* ServerSession))
      }))
      yield* Effect.gen(function*() {
        yield* result(yield* connect(), "act")
        assert.deepStrictEqual(seen, ["the middleware's", "tools/call", true])
      }).pipe(Effect.provide(serve(Layer.provide(live, Layer.succeed(User, "the feature's")), { middleware })))
    }))
})

describe("Composed middleware", () => {
  it.scoped("runs from the outer to the inner, and back", () =>
    Effect.gen(function*() {
      const log: Array<string> = []
      const named = (name: string) =>
        Middleware.make((call, next) =>
          call.method !== "tools/call" ? next : Effect.gen(function*() {
            log.push(`${name} before`)
            const result = yield* next
            log.push(`${name} after`)
            return result
          })
        )
      const middleware = Middleware.compose(named("outer"), Middleware.compose(named("middle"), named("inner")))
      yield* Effect.gen(function*() {
        yield* result(yield* connect(), "act")
        assert.deepStrictEqual(log, [
          "outer before",
          "middle before",
          "inner before",
          "handler",
          "inner after",
          "middle after",
          "outer after"
        ])
      }).pipe(Effect.provide(serve(act(Effect.sync(() => log.push("handler"))), { middleware })))
    }))

  it.scoped("lets the inner use the services of the outer, and handlers those of both", () =>
    Effect.gen(function*() {
      const seen: Array<string> = []
      const middleware = Middleware.compose(
        Middleware.provide(User, () => Effect.succeed("Ada")),
        Middleware.provide(Db, () => Effect.map(User, (user) => `the database of ${user}`))
      )
      const live = act(Effect.gen(function*() {
        seen.push(yield* User, yield* Db)
      }))
      yield* Effect.gen(function*() {
        yield* result(yield* connect(), "act")
        assert.deepStrictEqual(seen, ["Ada", "the database of Ada"])
      }).pipe(Effect.provide(serve(live, { middleware })))
    }))

  it.scoped("refuses with the first that refuses", () =>
    Effect.gen(function*() {
      const { middleware, seen } = watching()
      const composed = Middleware.compose(refusing("tools/call"), middleware)
      yield* Effect.gen(function*() {
        const peer = yield* connect()
        yield* peer.expectSilence
        seen.length = 0
        yield* peer.expectError(yield* call(peer, "greet", { name: "Ada" }))
        assert.deepStrictEqual(seen, [])
      }).pipe(Effect.provide(serve(GreetLive, { middleware: composed })))
    }))
})
