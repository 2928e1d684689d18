import { assert, describe, it } from "@effect/vitest"
import * as Authenticator from "@effect-mcp/core/Authenticator"
import type { Dispatcher } from "@effect-mcp/core/Dispatcher"
import * as HttpRefusal from "@effect-mcp/core/HttpRefusal"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Middleware from "@effect-mcp/core/Middleware"
import { RequestContext } from "@effect-mcp/core/RequestContext"
import * as Tool from "@effect-mcp/core/Tool"
import { Context, Effect, Layer } from "effect"
import { expectTypeOf } from "vitest"

class User extends Context.Tag("User")<User, { readonly name: string }>() {}
class Cart extends Context.Tag("Cart")<Cart, { readonly items: ReadonlyArray<string> }>() {}
class Quota extends Context.Tag("Quota")<Quota, { readonly left: number }>() {}
class Db extends Context.Tag("Db")<Db, { readonly find: Effect.Effect<string> }>() {}
class Keys extends Context.Tag("Keys")<Keys, { readonly header: string }>() {}
class Home extends Context.Tag("Home")<Home, string>() {}

const info = { name: "typed", version: "1.0.0" }

const BuyLive = McpServer.tool(
  Tool.make("buy"),
  () => Effect.asVoid(Effect.all([User, Cart, Quota, Effect.flatMap(Db, ({ find }) => find)]))
)

const CartLive = Layer.effect(
  Cart,
  Effect.map(Effect.zip(User, RequestContext), () => ({ items: [] as ReadonlyArray<string> }))
)

const quota = Middleware.provide(
  Quota,
  () => Effect.map(Effect.zip(User, RequestContext), ([{ name }]) => ({ left: name.length }))
)

const users = Authenticator.make(User, {
  id: ({ name }) => name,
  http: ({ headers }) =>
    Effect.flatMap(Keys, ({ header }) =>
      headers[header] === undefined
        ? Effect.fail(HttpRefusal.unauthorized("Bearer"))
        : Effect.succeed({ name: headers[header] })),
  stdio: ({ USER }) => Effect.map(Home, (home) => ({ name: USER ?? home }))
})

const needs = <E, R>(_server: Layer.Layer<Dispatcher, E, R>) => expectTypeOf<R>()

describe("The type of a server with users", () => {
  it("has the requirements of the authenticator, and the user is none", () => {
    expectTypeOf(users).toEqualTypeOf<Authenticator.Authenticator<User, Keys | Home>>()
    const server = McpServer.layer(info, BuyLive, { session: CartLive, middleware: quota, authenticator: users })
    needs(server).toEqualTypeOf<Db | Keys | Home>()
  })

  it("is inferred where everything is written in place", () => {
    const server = McpServer.layer(info, BuyLive, {
      session: Layer.effect(Cart, Effect.map(User, () => ({ items: [] as ReadonlyArray<string> }))),
      middleware: Middleware.provide(Quota, () => Effect.map(User, ({ name }) => ({ left: name.length }))),
      authenticator: Authenticator.make(User, {
        id: ({ name }) => name,
        http: ({ headers }) => Effect.map(Keys, ({ header }) => ({ name: headers[header] ?? "" })),
        stdio: ({ USER }) => Effect.succeed({ name: USER ?? "" }),
        inProcess: Effect.map(Home, (name) => ({ name }))
      })
    })
    needs(server).toEqualTypeOf<Db | Keys | Home>()
  })

  it("requires the user without an authenticator, also where the option is `undefined`", () => {
    const none = McpServer.layer(info, BuyLive, { session: CartLive, middleware: quota })
    needs(none).toEqualTypeOf<Db | User>()
    const bare = McpServer.layer(info, BuyLive)
    needs(bare).toEqualTypeOf<Db | User | Cart | Quota>()
    const empty = McpServer.layer(info, BuyLive, { authenticator: undefined })
    needs(empty).toEqualTypeOf<Db | User | Cart | Quota>()
    // @ts-expect-error The user is missing.
    const launch: Effect.Effect<never> = Layer.launch(
      none.pipe(Layer.provide(Layer.succeed(Db, { find: Effect.succeed("") })))
    )
    assert.isDefined(launch)
  })

  it("has the requirements of an authenticator that is there under a condition", () => {
    const maybe = McpServer.layer(info, BuyLive, { authenticator: info.name === "typed" ? users : undefined })
    needs(maybe).toEqualTypeOf<Db | Keys | Home | Cart | Quota>()
  })

  it("has middleware composed of parts, and its inner part may use what the outer one provides", () => {
    const composed = Middleware.compose(quota, Middleware.make((_, next) => Effect.zipRight(Quota, next)))
    const server = McpServer.layer(info, BuyLive, { session: CartLive, middleware: composed, authenticator: users })
    needs(server).toEqualTypeOf<Db | Keys | Home>()
  })

  it("does not compile with a user of another type, nor with one that cannot be identified", () => {
    const bad = [
      // @ts-expect-error no name
      Authenticator.make(User, { id: ({ name }) => name, http: () => Effect.succeed({ id: "ada" }) }),
      // @ts-expect-error no id
      Authenticator.make(User, { http: () => Effect.succeed({ name: "ada" }) }),
      // @ts-expect-error a failure that says nothing to the client
      Authenticator.make(User, { id: ({ name }) => name, http: () => Effect.fail(new Error("no")) })
    ]
    assert.lengthOf(bad, 3)
  })
})
