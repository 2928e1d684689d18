import { assert, describe, it } from "@effect/vitest"
import * as Ask from "@effect-mcp/core/Ask"
import type { Dispatcher } from "@effect-mcp/core/Dispatcher"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as MethodHandler from "@effect-mcp/core/MethodHandler"
import * as Middleware from "@effect-mcp/core/Middleware"
import * as Prompt from "@effect-mcp/core/Prompt"
import type { ElicitContent } from "@effect-mcp/core/protocol/Elicitation"
import * as Methods from "@effect-mcp/core/protocol/legacy/Methods"
import * as McpError from "@effect-mcp/core/protocol/McpError"
import type { Root } from "@effect-mcp/core/protocol/Roots"
import type { Registry, Running } from "@effect-mcp/core/Registry"
import { RequestContext } from "@effect-mcp/core/RequestContext"
import * as Resource from "@effect-mcp/core/Resource"
import { ServerSession } from "@effect-mcp/core/ServerSession"
import * as Tool from "@effect-mcp/core/Tool"
import { Context, Effect, Layer, Schema } from "effect"
import { expectTypeOf } from "vitest"

class Db extends Context.Tag("Db")<Db, { readonly find: Effect.Effect<string> }>() {}
class Cache extends Context.Tag("Cache")<Cache, { readonly size: number }>() {}
class Busy extends Schema.TaggedError<Busy>()("Busy", {}) {}

const Tell = Tool.make("tell")

const Readme = Resource.make("readme", { uri: "file:///README.md" })
const Review = Prompt.make("review", { arguments: { code: Schema.String } })

describe("What a handler asks the client", () => {
  it("has an answer of the type of the question", () => {
    const asks = Effect.flatMap(ServerSession, (session) =>
      Effect.gen(function*() {
        const form = yield* session.elicit({ message: "?", schema: Schema.Struct({ at: Schema.Date }) })
        expectTypeOf(form).toEqualTypeOf<Ask.Elicited<{ readonly at: Date }>>()
        if (form.action === "accept") expectTypeOf(form.content.at).toEqualTypeOf<Date>()
        const fields = yield* session.elicit({ message: "?", requestedSchema: { type: "object", properties: {} } })
        expectTypeOf(fields).toEqualTypeOf<Ask.Elicited<ElicitContent>>()
        const answers = yield* session.ask({ sure: Ask.confirm("?"), where: Ask.roots })
        expectTypeOf(answers).toEqualTypeOf<{ readonly sure: boolean; readonly where: ReadonlyArray<Root> }>()
        return yield* session.elicit({ message: "?", url: "a:b", elicitationId: "1" })
      }))
    expectTypeOf<Effect.Effect.Success<typeof asks>>().toEqualTypeOf<"accept" | "decline" | "cancel">()
    // However asking fails, a handler may fail with it.
    const live = [
      McpServer.tool(Tell, () => Effect.asVoid(asks)),
      McpServer.resource(Readme, Effect.as(asks, "")),
      McpServer.prompt(Review, () => Effect.as(asks, "")),
      MethodHandler.request(Methods.ping, () => Effect.as(asks, {}))
    ]
    assert.lengthOf(live, 4)
  })

  it("cannot be asked by middleware, nor by a session layer", () => {
    const middleware = Middleware.make((_, next) => Effect.zipRight(ServerSession, next))
    expectTypeOf(middleware).toEqualTypeOf<Middleware.Middleware<never, ServerSession>>()
    const server = McpServer.layer({ name: "typed", version: "1.0.0" }, Layer.empty, {
      session: Layer.effectDiscard(ServerSession)
    })
    expectTypeOf(server).toEqualTypeOf<Layer.Layer<Dispatcher | Running, never, ServerSession>>()
  })
})

describe("The type of a server with a session layer and middleware", () => {
  class Cart extends Context.Tag("Cart")<Cart, { readonly items: number }>() {}
  class User extends Context.Tag("User")<User, string>() {}
  const info = { name: "typed", version: "1.0.0" }
  const features = McpServer.tool(Tell, () => Effect.asVoid(Effect.all([Cart, User, Db])))
  const CartLive = Layer.effect(Cart, Effect.as(Effect.zipRight(RequestContext, Cache), { items: 0 }))
  const auth = Middleware.provide(User, () => Effect.map(Effect.zipRight(RequestContext, Db), () => "ada"))

  it("requires what its features require and do not provide themselves", () => {
    expectTypeOf(McpServer.layer(info, features)).toEqualTypeOf<
      Layer.Layer<Dispatcher | Running, never, Cart | User | Db>
    >()
  })

  it("does not require what the session layer provides, but what that layer requires", () => {
    expectTypeOf(McpServer.layer(info, features, { session: CartLive })).toEqualTypeOf<
      Layer.Layer<Dispatcher | Running, never, User | Db | Cache>
    >()
    const scoped = Layer.scoped(Cart, Effect.acquireRelease(Effect.succeed({ items: 0 }), () => Effect.void))
    expectTypeOf(McpServer.layer(info, features, { session: scoped })).toEqualTypeOf<
      Layer.Layer<Dispatcher | Running, never, User | Db>
    >()
    // How it fails is said to the client: a server does not fail with it.
    const failing = Layer.effect(Cart, Effect.as(new Busy(), { items: 0 }))
    expectTypeOf(McpServer.layer(info, features, { session: failing })).toEqualTypeOf<
      Layer.Layer<Dispatcher | Running, never, User | Db>
    >()
  })

  it("does not require what middleware provides, but what that middleware requires", () => {
    expectTypeOf(auth).toEqualTypeOf<Middleware.Middleware<User, Db>>()
    expectTypeOf(McpServer.layer(info, features, { middleware: auth })).toEqualTypeOf<
      Layer.Layer<Dispatcher | Running, never, Cart | Db>
    >()
    expectTypeOf(McpServer.layer(info, features, { middleware: auth, session: CartLive })).toEqualTypeOf<
      Layer.Layer<Dispatcher | Running, never, Cache | Db>
    >()
    const plain = Middleware.make((_, next) => Effect.zipRight(Cache, next))
    expectTypeOf(plain).toEqualTypeOf<Middleware.Middleware<never, Cache>>()
  })

  it("has the services of both parts of composed middleware, and the inner may use those of the outer", () => {
    const carts = Middleware.provide(Cart, () => Effect.map(User, (user) => ({ items: user.length })))
    expectTypeOf(carts).toEqualTypeOf<Middleware.Middleware<Cart, User>>()
    const both = Middleware.compose(auth, carts)
    expectTypeOf(both).toEqualTypeOf<Middleware.Middleware<User | Cart, Db>>()
    expectTypeOf(McpServer.layer(info, features, { middleware: both })).toEqualTypeOf<
      Layer.Layer<Dispatcher | Running, never, Db>
    >()
    // The other way round the user is missing.
    expectTypeOf(Middleware.compose(carts, auth)).toEqualTypeOf<Middleware.Middleware<User | Cart, User | Db>>()
  })
})

describe("The type of a method's handler", () => {
  it("has the parameters and the result of the method", () => {
    const live = MethodHandler.request(Methods.listTools, ({ cursor }) => {
      expectTypeOf(cursor).toEqualTypeOf<string | undefined>()
      return Effect.as(Effect.zipRight(ServerSession, Db), { tools: [] })
    })
    expectTypeOf(live).toEqualTypeOf<Layer.Layer<never, never, Registry | Db>>()
    const custom = MethodHandler.customRequest(
      "example/add",
      { params: Schema.Struct({ a: Schema.NumberFromString }), result: Schema.Struct({ at: Schema.Date }) },
      ({ a }) => Effect.map(Cache, () => ({ at: new Date(a) }))
    )
    expectTypeOf(custom).toEqualTypeOf<Layer.Layer<never, never, Registry | Cache>>()
    const bad = [
      // @ts-expect-error no result of this method
      MethodHandler.request(Methods.listTools, () => Effect.succeed({ prompts: [] })),
      // @ts-expect-error an undeclared error
      MethodHandler.request(Methods.ping, () => new Busy()),
      // @ts-expect-error a notification is not answered
      MethodHandler.request(Methods.rootsListChanged, () => Effect.succeed({})),
      // @ts-expect-error a notification has no response for an error
      MethodHandler.notification(Methods.rootsListChanged, () => new McpError.InternalError({ message: "no" }))
    ]
    assert.lengthOf(bad, 4)
  })
})
