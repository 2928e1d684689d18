import { assert, describe, expectTypeOf, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import * as Definition from "@effect-mcp/core/Definition"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Middleware from "@effect-mcp/core/Middleware"
import { InvalidRequest } from "@effect-mcp/core/protocol/McpError"
import type { Registry } from "@effect-mcp/core/Registry"
import { RequestContext } from "@effect-mcp/core/RequestContext"
import { ServerSession } from "@effect-mcp/core/ServerSession"
import * as Tool from "@effect-mcp/core/Tool"
import * as TestFeatures from "@effect-mcp/testing/TestFeatures"
import * as TestServer from "@effect-mcp/testing/TestServer"
import { Chunk, Context, Deferred, Effect, Layer, Option, Ref, Schema, Stream } from "effect"
import { act, logbook } from "./Serving.js"
import { everything, useAll, used, watching } from "./Surrounded.js"

class Cart extends Context.Tag("Cart")<Cart, string>() {}
class User extends Context.Tag("User")<User, string>() {}
class Quota extends Context.Tag("Quota")<Quota, string>() {}
class Db extends Context.Tag("Db")<Db, string>() {}

const eras = ["2025-11-25", "2026-07-28"] as const
const nothing = Definition.make()

for (const version of eras) {
  describe(`Middleware around features, for clients of ${version}`, () => {
    it.effect("runs once around each handler of the features, and provides what the handlers require", () =>
      Effect.gen(function*() {
        const quotas: Array<string> = []
        const { middleware, seen } = watching()
        const features = everything(Effect.map(Quota, (quota) => quotas.push(quota))).pipe(
          Middleware.around(Middleware.provide(Quota, ({ method }) => Effect.succeed(method))),
          Middleware.around(middleware)
        )
        yield* Effect.provide(useAll, TestServer.layer(nothing, features, { versions: [version] }))
        assert.deepStrictEqual(quotas, used)
        assert.deepStrictEqual(seen, used.map((method) => `seen ${method}`))
      }))

    it.effect("leaves the features alone that it is not around", () =>
      Effect.gen(function*() {
        const { middleware, seen } = watching()
        const features = Layer.merge(
          act(Effect.void, "inside").pipe(Middleware.around(middleware)),
          everything(Effect.void)
        )
        yield* Effect.provide(useAll, TestServer.layer(nothing, features, { versions: [version] }))
        assert.deepStrictEqual(seen, [])
      }))

    it.effect("runs inside of the server's, with what the session layer and those outside provide", () =>
      Effect.gen(function*() {
        const order: Array<string> = []
        const noting = <R>(name: string, what: Effect.Effect<string, never, R>) =>
          Middleware.make((call, next) =>
            Effect.zipRight(
              Effect.map(what, (value) => {
                if (call.method === "tools/call") order.push(`${name} ${value}`)
              }),
              next
            )
          )
        const feature = act(Effect.map(Effect.all([Cart, User, Quota, Db]), (all) => order.push(all.join(" "))), "tool")
          .pipe(
            Middleware.around(noting("inner", Effect.map(Effect.all([Cart, User, Quota, Db]), (all) => all.join(" ")))),
            Middleware.around(Middleware.provide(Quota, () => Effect.map(Effect.all([Cart, User]), ([c, u]) => c + u)))
          )
        const server = TestServer.layer(nothing, feature, {
          versions: [version],
          session: Layer.effect(Cart, Effect.map(RequestContext, ({ method }) => method.slice(0, 5))),
          middleware: Middleware.compose(
            noting("outer", Effect.succeed("")),
            Middleware.provide(User, () => Effect.succeed("ada"))
          ),
          sessionMiddleware: noting("session", Effect.map(Effect.all([Cart, User]), (all) => all.join(" ")))
        })
        yield* Effect.flatMap(Client.Client, (client) => client.callTool("tool")).pipe(
          Effect.provide(server),
          Effect.provideService(Db, "db")
        )
        const cart = version === "2025-11-25" ? "initi" : "serve"
        const all = `${cart} ada ${cart}ada db`
        assert.deepStrictEqual(order, ["outer ", `session ${cart} ada`, `inner ${all}`, all])
      }))

    it.effect("runs with the services of its own layer, and the handler with those of the feature", () =>
      Effect.gen(function*() {
        const seen: Array<string> = []
        const note = (name: string) => Effect.map(Db, (db) => seen.push(`${name} ${db}`))
        const feature = act(note("handler"), "tool").pipe(
          Layer.provide(Layer.succeed(Db, "of the feature")),
          Middleware.around(Middleware.make((_, next) => Effect.zipRight(note("middleware"), next))),
          Layer.provide(Layer.succeed(Db, "of the middleware"))
        )
        yield* Effect.flatMap(Client.Client, (client) => client.callTool("tool")).pipe(
          Effect.provide(TestServer.layer(nothing, feature, { versions: [version] }))
        )
        assert.deepStrictEqual(seen, ["middleware of the middleware", "handler of the feature"])
      }))

    it.effect("refuses a request with an McpError; the handler does not run", () =>
      Effect.gen(function*() {
        let ran = 0
        const refuse = Middleware.make(() => Effect.fail(new InvalidRequest({ message: "not you" })))
        const features = everything(Effect.sync(() => ran++)).pipe(Middleware.around(refuse))
        yield* Effect.gen(function*() {
          const client = yield* Client.Client
          const requests: ReadonlyArray<Effect.Effect<unknown, unknown>> = [
            client.callTool("tool"),
            client.readResource("test://fixed"),
            client.readResource("test://template/7"),
            client.complete({ type: "ref/resource", uri: "test://template/{id}" }, { name: "id", value: "" }),
            client.getPrompt("prompt", { a: "" }),
            client.complete({ type: "ref/prompt", name: "prompt" }, { name: "a", value: "" }),
            client.request("x/custom", {})
          ]
          for (const request of requests) {
            assert.deepInclude((yield* Effect.flip(request)) as object, { _tag: "InvalidRequest", message: "not you" })
          }
          // A list goes on without the resources of a template that the client may not use.
          const listed = Chunk.toArray(yield* Stream.runCollect(client.resources))
          assert.deepStrictEqual(listed.map(({ uri }) => uri), ["test://fixed"])
        }).pipe(Effect.provide(TestServer.layer(nothing, features, { versions: [version] })))
        assert.strictEqual(ran, 0)
      }))

    it.effect("refuses a tool call with a failure that the tool declares, which the middleware outside sees as a result", () =>
      Effect.gen(function*() {
        class Spent extends Schema.TaggedError<Spent>()("Spent", { limit: Schema.Number }) {}
        const Buy = Tool.make("buy", { success: Schema.String, failure: Spent })
        const outside: Array<unknown> = []
        const feature = McpServer.tool(Buy, () => Effect.succeed("bought")).pipe(
          Middleware.around(Middleware.make(() => new Spent({ limit: 3 }))),
          Middleware.around(
            Middleware.make((_, next) => Effect.tap(next, (end) => Effect.sync(() => outside.push(end))))
          )
        )
        yield* Effect.gen(function*() {
          const { buy } = Client.of(yield* Client.Client, Definition.make(Buy))
          assert.deepStrictEqual(yield* Effect.flip(buy()), new Spent({ limit: 3 }))
          assert.lengthOf(outside, 1)
          assert.deepInclude(outside[0] as object, { isError: true })
        }).pipe(Effect.provide(TestServer.layer(Definition.make(Buy), feature, { versions: [version] })))
      }))

    it.effect("of a failure that the tool does not declare, tells the client nothing, and the operator the cause", () =>
      Effect.gen(function*() {
        const { layer, lines } = logbook()
        const feature = act(Effect.void, "tool").pipe(
          Middleware.around(Middleware.make(() => Effect.fail(new Error("the password is hunter2"))))
        )
        yield* Effect.gen(function*() {
          const client = yield* Client.Client
          const failed = yield* client.callTool("tool")
          assert.deepStrictEqual([failed.isError, failed.content], [true, [{ type: "text", text: "Internal error" }]])
        }).pipe(
          Effect.provide(TestServer.layer(nothing, feature, { versions: [version] })),
          Effect.provide(layer)
        )
        assert.isTrue(lines.some(({ cause, message }) => `${message} ${String(cause)}`.includes("hunter2")))
      }))

    it.effect("is interrupted with its handler when the client cancels the call", () =>
      Effect.gen(function*() {
        const [began, stopped] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
        const feature = act(Effect.zipRight(Deferred.succeed(began, undefined), Effect.never), "tool").pipe(
          Middleware.around(
            Middleware.make((_, next) => Effect.onInterrupt(next, () => Deferred.succeed(stopped, undefined)))
          )
        )
        yield* Effect.gen(function*() {
          const client = yield* Client.Client
          const calling = yield* Effect.fork(client.callTool("tool"))
          yield* Deferred.await(began)
          yield* calling.interruptAsFork(calling.id())
          yield* Deferred.await(stopped)
        }).pipe(Effect.provide(TestServer.layer(nothing, feature, { versions: [version] })))
      }))

    it.effect("may ask the person before the handler runs", () => {
      const person = TestFeatures.elicitation([
        { action: "accept", content: { sure: true } },
        { action: "accept", content: { sure: false } }
      ])
      return Effect.gen(function*() {
        const [rounds, calls] = [yield* Ref.make(0), yield* Ref.make(0)]
        const confirmed = Middleware.make((_, next) =>
          Effect.gen(function*() {
            yield* Ref.update(rounds, (n) => n + 1)
            const session = yield* ServerSession
            const answer = yield* session.elicit({ message: "Sure?", schema: Schema.Struct({ sure: Schema.Boolean }) })
            return answer.action === "accept" && answer.content.sure
              ? yield* next
              : yield* new InvalidRequest({ message: "not sure" })
          })
        )
        const feature = act(Ref.update(calls, (n) => n + 1), "tool").pipe(Middleware.around(confirmed))
        yield* Effect.gen(function*() {
          const client = yield* Client.Client
          yield* client.callTool("tool")
          assert.strictEqual(yield* calls, 1)
          assert.deepInclude(yield* Effect.flip(client.callTool("tool")), { message: "not sure" })
          assert.strictEqual(yield* calls, 1)
          // From 2026-07-28 on, middleware and handler run again with the answer.
          assert.strictEqual(yield* rounds, version === "2026-07-28" ? 4 : 2)
        }).pipe(
          Effect.provide(TestServer.layer(nothing, feature, { versions: [version], client: { features: person } }))
        )
      })
    })

    it.effect("has its span around those of the handler", () =>
      Effect.gen(function*() {
        const seen: Array<string> = []
        const note = Effect.flatMap(Effect.currentSpan, (span) =>
          Effect.sync(() => {
            const parent = Option.match(span.parent, {
              onNone: () => "none",
              onSome: (parent) => parent._tag === "Span" ? parent.name : "external"
            })
            seen.push(`${parent} > ${span.name}`)
          }))
        const feature = act(Effect.orDie(Effect.withSpan(note, "handler")), "tool").pipe(
          Middleware.around(Middleware.make((_, next) => Effect.withSpan(next, "inner"))),
          Middleware.around(Middleware.make((_, next) => Effect.withSpan(Effect.zipRight(note, next), "outer")))
        )
        yield* Effect.flatMap(Client.Client, (client) => client.callTool("tool")).pipe(
          Effect.provide(TestServer.layer(nothing, feature, {
            versions: [version],
            sessionMiddleware: Middleware.make((_, next) => Effect.withSpan(next, "session"))
          }))
        )
        assert.deepStrictEqual(seen, ["session > outer", "inner > handler"])
      }))

    it.effect("sees no service of another call at the same time", () =>
      Effect.gen(function*() {
        const seen: Array<string> = []
        const echo = McpServer.tool(Tool.make("echo", { parameters: { text: Schema.String } }), ({ text }) =>
          Effect.map(Effect.zipRight(Effect.yieldNow(), Quota), (quota) => {
            seen.push(`${text} ${quota}`)
          })).pipe(
            Middleware.around(Middleware.provide(Quota, ({ params }) =>
              Effect.as(Effect.yieldNow(), JSON.stringify(params?.arguments))))
          )
        yield* Effect.gen(function*() {
          const client = yield* Client.Client
          const texts = ["a", "b", "c", "d"]
          yield* Effect.forEach(texts, (text) =>
            client.callTool("echo", { text }), { concurrency: "unbounded" })
          assert.sameMembers(
            seen,
            texts.map((text) =>
              `${text} {"text":"${text}"}`
            )
          )
        }).pipe(Effect.provide(TestServer.layer(nothing, echo, { versions: [version] })))
      }))
  })
}

const needs = <O, E, R>(_layer: Layer.Layer<O, E, R>) => expectTypeOf<R>()

describe("The types of middleware around features", () => {
  const info = { name: "typed", version: "1.0.0" }
  const buy = act(Effect.all([Cart, User, Quota, Db]))
  const quota = Middleware.provide(Quota, () => Effect.as(Effect.all([User, Cart, RequestContext]), ""))
  const asks = Middleware.make((_, next) => Effect.zipRight(ServerSession, next))

  it("subtract what it provides, and add what it requires, around one feature and around a group", () => {
    needs(buy.pipe(Middleware.around(quota))).toEqualTypeOf<Registry | Cart | User | Db>()
    const group = Layer.mergeAll(buy, act(Quota)).pipe(Middleware.around(quota))
    needs(group).toEqualTypeOf<Registry | Cart | User | Db>()
    needs(McpServer.layer(info, group, { session: Layer.effect(Cart, User) })).toEqualTypeOf<User | Db>()
  })

  it("of the session require what session layer, server middleware and authenticator do not provide", () => {
    const options = { session: Layer.effect(Cart, User), sessionMiddleware: quota }
    needs(McpServer.layer(info, buy, options)).toEqualTypeOf<User | Db>()
    needs(McpServer.layer(info, buy, { sessionMiddleware: quota })).toEqualTypeOf<Cart | User | Db>()
    const middleware = Middleware.provide(User, () => Effect.succeed("ada"))
    needs(McpServer.layer(info, act(Quota), { ...options, session: Layer.succeed(Cart, ""), middleware }))
      .toEqualTypeOf<
        never
      >()
    const composed = Middleware.compose(quota, Middleware.make((_, next) => Effect.zipRight(Quota, next)))
    needs(McpServer.layer(info, buy, { ...options, sessionMiddleware: composed })).toEqualTypeOf<User | Db>()
  })

  it("let middleware ask the client only where the session exists", () => {
    needs(act(Effect.void).pipe(Middleware.around(asks))).toEqualTypeOf<Registry>()
    needs(McpServer.layer(info, Layer.empty, { sessionMiddleware: asks })).toEqualTypeOf<never>()
    needs(McpServer.layer(info, Layer.empty, { middleware: asks })).toEqualTypeOf<ServerSession>()
  })
})
