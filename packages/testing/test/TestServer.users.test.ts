import { assert, describe, it } from "@effect/vitest"
import * as Authenticator from "@effect-mcp/core/Authenticator"
import * as Client from "@effect-mcp/core/Client"
import * as Definition from "@effect-mcp/core/Definition"
import * as Feature from "@effect-mcp/core/Feature"
import * as HttpRefusal from "@effect-mcp/core/HttpRefusal"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Tool from "@effect-mcp/core/Tool"
import * as TestPeer from "@effect-mcp/testing/TestPeer"
import * as TestServer from "@effect-mcp/testing/TestServer"
import { Context, Effect, Layer, Logger, Schema } from "effect"

class User extends Context.Tag("test/User")<User, { readonly name: string }>() {}
class Other extends Context.Tag("test/Other")<Other, number>() {}

const Whoami = Tool.make("whoami", { success: Schema.String })
const Users = Definition.make(Whoami)
const WhoamiLive = McpServer.tool(Whoami, () => Effect.map(User, ({ name }) => name))

const authenticator = Authenticator.make(User, {
  id: ({ name }) => name,
  http: ({ headers: { authorization } }) =>
    authorization === undefined
      ? Effect.fail(HttpRefusal.unauthorized("Bearer"))
      : Effect.succeed({ name: authorization }),
  stdio: ({ USER }) => Effect.succeed({ name: String(USER) })
})

const name = Effect.flatMap(Effect.map(Client.Client, Client.of(Users)), (users) => users.whoami())

for (const transport of ["wire", "direct"] as const) {
  for (const version of ["2025-11-25", "2026-07-28"] as const) {
    describe(`The client of a test over ${transport}, at ${version}`, () => {
      const options = { transport, versions: [version], authenticator } as const
      const rows: ReadonlyArray<[string, Context.Context<User> | Authenticator.Caller, string]> = [
        ["a user", Context.make(User, { name: "ada" }), "ada"],
        ["a user who is given", Authenticator.given(Context.make(User, { name: "ada" })), "ada"],
        ["what an HTTP transport knows", Authenticator.http({ headers: { authorization: "bob" } }), "bob"],
        ["what a stdio transport knows", Authenticator.stdio({ USER: "eve" }), "eve"]
      ]
      for (const [what, as, expected] of rows) {
        it.effect(`is the user that \`as\` says: ${what}`, () =>
          Effect.map(name, (name) => assert.strictEqual(name, expected)).pipe(
            Effect.provide(TestServer.layer(Users, WhoamiLive, { ...options, as }))
          ))
      }

      it.effect("is refused as its transport would be", () =>
        Effect.gen(function*() {
          const layer = TestServer.layer(Users, WhoamiLive, { ...options, as: Authenticator.http({}) })
          const error = yield* Effect.flip(Effect.scoped(Layer.build(layer)))
          assert.match(error.message, /Unauthorized/)
          const unknown = yield* Effect.flip(Effect.scoped(Layer.build(TestServer.layer(Users, WhoamiLive, options))))
          assert.match(unknown.message, /needs the option inProcess/)
        }).pipe(Effect.provide(Logger.remove(Logger.defaultLogger))))
    })
  }
}

describe("Many clients of a test", () => {
  it.scoped("have users of their own", () =>
    Effect.gen(function*() {
      const names = yield* Effect.forEach(["ada", "bob"], (name) =>
        Effect.gen(function*() {
          const client = yield* Client.make(
            yield* TestServer.connector({ as: Context.make(User, { name }) })
          )
          return (yield* client.callTool("whoami")).structuredContent
        }))
      assert.deepStrictEqual(names, ["ada", "bob"])
      const peer = yield* TestPeer.client({ as: Authenticator.stdio({ USER: "eve" }) })
      yield* peer.initialize()
      const { content } = yield* peer.expectResult(yield* peer.request("tools/call", { name: "whoami" }))
      assert.deepStrictEqual(content, [{ type: "text", text: "eve" }])
    }).pipe(Effect.provide(McpServer.layer({ name: "users", version: "1.0.0" }, WhoamiLive, { authenticator }))))
})

describe("A definition whose features not all users see", () => {
  const Erase = Tool.make("erase", { success: Schema.String })
  const EraseLive = McpServer.tool(Erase, () => Effect.succeed("gone")).pipe(
    Feature.visible(Effect.map(User, ({ name }) => name === "ada"))
  )
  const Console = Definition.make(Whoami, Erase)

  for (const version of ["2025-11-25", "2026-07-28"] as const) {
    it.effect(`is tested as a user who does not see one, at ${version}`, () =>
      Effect.gen(function*() {
        const bob = Client.of(yield* Client.Client, Console)
        assert.strictEqual(yield* bob.whoami(), "bob")
        assert.strictEqual((yield* Effect.flip(bob.erase())).message, "Unknown tool: erase")
        const as = Context.make(User, { name: "ada" })
        const ada = Client.of(yield* Client.make(yield* TestServer.connector({ as })), Console)
        assert.strictEqual(yield* ada.erase(), "gone")
      }).pipe(
        Effect.scoped,
        Effect.provide(TestServer.layer(Console, Layer.merge(WhoamiLive, EraseLive), {
          authenticator,
          versions: [version],
          as: Context.make(User, { name: "bob" })
        }))
      ))
  }
})

describe("A mock of a server with users", () => {
  it.effect("has the user of its client", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* name, "ada")
      const client = yield* Client.make(yield* TestServer.connector({ as: Authenticator.stdio({ USER: "bob" }) }))
      assert.strictEqual((yield* client.callTool("whoami")).structuredContent, "bob")
    }).pipe(
      Effect.scoped,
      Effect.provide(TestServer.mock(Users, { whoami: () => Effect.map(User, ({ name }) => name) }, {
        authenticator,
        as: Context.make(User, { name: "ada" })
      }))
    ))
})

describe("The type of a test with users", () => {
  it("has no user to provide, and takes no other service for it", () => {
    const test: Layer.Layer<Client.Client, unknown> = TestServer.layer(Users, WhoamiLive, {
      authenticator,
      as: Context.make(User, { name: "ada" })
    })
    // @ts-expect-error Another service is not a user.
    TestServer.layer(Users, WhoamiLive, { authenticator, as: Context.make(Other, 1) })
    assert.isDefined(test)
  })
})
