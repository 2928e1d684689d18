/** The basket of docs/server/05-sessions.md, with clients of this library and their default options. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { assert, describe, it } from "@effect/vitest"
import * as Authenticator from "@effect-mcp/core/Authenticator"
import * as Client from "@effect-mcp/core/Client"
import * as HttpRefusal from "@effect-mcp/core/HttpRefusal"
import * as InProcess from "@effect-mcp/core/InProcess"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Remote from "@effect-mcp/core/Remote"
import * as Tool from "@effect-mcp/core/Tool"
import * as HttpServer from "@effect-mcp/node/HttpServer"
import { Context, Effect, Layer, Ref, Schema } from "effect"

class Basket extends Context.Tag("test/Basket")<Basket, Ref.Ref<ReadonlyArray<string>>>() {}
class User extends Context.Tag("test/User")<User, string>() {}

const BasketLive = Layer.scoped(Basket, Ref.make<ReadonlyArray<string>>([]))

const AddLive = McpServer.tool(
  Tool.make("add", { parameters: { item: Schema.String } }),
  ({ item }) =>
    Effect.gen(function*() {
      const items = yield* Ref.updateAndGet(yield* Basket, (all) => [...all, item])
      return `${items.length} in the basket`
    })
)

const info = { name: "shop", version: "1.0.0" }

const authenticator = Authenticator.make(User, {
  id: (name) => name,
  http: ({ headers }) =>
    headers.authorization === undefined
      ? Effect.fail(HttpRefusal.unauthorized("Bearer"))
      : Effect.succeed(headers.authorization)
})

const add = (client: Client.Client["Type"]) =>
  Effect.map(client.callTool("add", { item: "bread" }), ({ content }) => (content[0] as { readonly text: string }).text)

describe("A basket", () => {
  it.effect("is kept for a client in the same process", () =>
    Effect.gen(function*() {
      const client = yield* Client.make(InProcess.fromLayer(McpServer.layer(info, AddLive, { session: BasketLive })))
      assert.strictEqual(client.version, "2026-07-28")
      assert.deepStrictEqual([yield* add(client), yield* add(client)], ["1 in the basket", "2 in the basket"])
    }).pipe(Effect.scoped))

  it.scopedLive("is kept over HTTP for a user, whichever connection the user has", () =>
    Effect.gen(function*() {
      const { url } = yield* HttpServer.HttpServer
      const as = (authorization: string) => Client.make(Remote.connector(url, { headers: { authorization } }))
      const ada = yield* as("ada")
      assert.strictEqual(ada.version, "2026-07-28")
      assert.deepStrictEqual([yield* add(ada), yield* add(ada)], ["1 in the basket", "2 in the basket"])
      assert.strictEqual(yield* add(yield* as("bob")), "1 in the basket")
      assert.strictEqual(yield* add(yield* as("ada")), "3 in the basket")
    }).pipe(
      Effect.provide(NodeHttpClient.layerUndici),
      Effect.provide(
        HttpServer.layer({ port: 0 }).pipe(
          Layer.provide(McpServer.layer(info, AddLive, { session: BasketLive, lifetime: "user", authenticator }))
        )
      )
    ))
})
