import type { HttpClient } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import type * as AccessToken from "@effect-mcp/auth/AccessToken"
import * as JwtVerifier from "@effect-mcp/auth/JwtVerifier"
import * as ResourceServer from "@effect-mcp/auth/ResourceServer"
import * as Authenticator from "@effect-mcp/core/Authenticator"
import * as Client from "@effect-mcp/core/Client"
import * as Definition from "@effect-mcp/core/Definition"
import * as Feature from "@effect-mcp/core/Feature"
import * as HttpRefusal from "@effect-mcp/core/HttpRefusal"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Tool from "@effect-mcp/core/Tool"
import * as TestServer from "@effect-mcp/testing/TestServer"
import { Config, ConfigProvider, Context, Effect, Layer, Redacted, Schema } from "effect"
import { expectTypeOf } from "vitest"
import * as Net from "./Net.js"
import * as Protected from "./Protected.js"

interface Member extends AccessToken.Granted {
  readonly name: string
}

class User extends Context.Tag("test/Member")<User, Member>() {}
class Names extends Context.Tag("test/Names")<Names, (subject: string) => string | undefined>() {}
class Home extends Context.Tag("test/Home")<Home, string>() {}

const options = {
  resource: Protected.RESOURCE,
  authorizationServers: [Protected.ISSUER],
  verify: JwtVerifier.make()
} as const

const authenticator = ResourceServer.make(User, {
  ...options,
  claims: Schema.Struct({
    sub: Schema.String,
    level: Schema.optionalWith(Schema.NumberFromString, { default: () => 0 })
  }),
  user: ({ claims, id, scopes }) =>
    Effect.flatMap(Names, (nameOf) => {
      const name = nameOf(claims.sub)
      return name === undefined
        ? Effect.fail(HttpRefusal.forbidden("Forbidden: this user has left"))
        : Effect.succeed({ id, scopes, name: `${name} ${claims.level}` })
    }),
  stdio: ({ USER }) => Effect.map(Home, (home) => ({ id: USER ?? home, scopes: ["notes:write"], name: USER ?? home })),
  inProcess: Effect.succeed({ id: "local", scopes: [], name: "local" })
})

const Write = Tool.make("write", { success: Schema.Struct({ by: Schema.String }) })
const definition = Definition.make(Write)
const features = McpServer.tool(Write, () => Effect.map(User, ({ name }) => ({ by: name }))).pipe(
  Feature.requires(["notes:write"])
)

const names = Layer.succeed(Names, (subject) => subject === "ada" ? "Ada" : undefined)

const ada = { id: "ada", scopes: ["notes:write"], name: "Ada" }

describe("ResourceServer.makeConfig", () => {
  it.effect("makes an authenticator with options from the configuration, and names what is missing", () =>
    Effect.gen(function*() {
      const made = ResourceServer.makeConfig(
        User,
        Config.map(Config.string("RESOURCE"), (resource) => ({
          ...options,
          resource,
          user: ({ id, scopes }: { readonly id: string; readonly scopes: ReadonlyArray<string> }) =>
            Effect.succeed({ id, scopes, name: id })
        }))
      )
      const from = (values: ReadonlyArray<readonly [string, string]>) =>
        Effect.withConfigProvider(ConfigProvider.fromMap(new Map(values)))
      assert.isObject(yield* from([["RESOURCE", Protected.RESOURCE]])(made))
      assert.include(String(yield* Effect.flip(from([])(made))), "RESOURCE")
    }))
})

describe("The user of a protected server", () => {
  it("has the type that the application gives it, and its effects have requirements", () => {
    expectTypeOf(authenticator).toEqualTypeOf<
      Authenticator.Authenticator<User, HttpClient.HttpClient | Names | Home>
    >()
    // @ts-expect-error The user is not the token: the option `user` is missing.
    ResourceServer.make(User, options)
    class Claimed extends Context.Tag("Claimed")<Claimed, AccessToken.AccessToken<{ readonly name: string }>>() {}
    // @ts-expect-error The claims have no name.
    ResourceServer.make(Claimed, options)
    const typed = ResourceServer.make(Claimed, { ...options, claims: Schema.Struct({ name: Schema.String }) })
    expectTypeOf(typed).toEqualTypeOf<Authenticator.Authenticator<Claimed, HttpClient.HttpClient>>()
  })

  for (const version of ["2025-11-25", "2026-07-28"] as const) {
    const as = (asker: TestServer.Asker, issuer: Net.Handler = Net.notFound) =>
      TestServer.layer(definition, features, { authenticator, versions: [version], as: asker }).pipe(
        Layer.provide([names, Layer.succeed(Home, "home"), Net.make({ [Protected.ISSUER]: issuer }).layer])
      )
    const write = Effect.flatMap(Client.Client, (client) => client.callTool("write"))

    it.effect(`comes from the environment on stdio, from the process, or from the test: ${version}`, () =>
      Effect.gen(function*() {
        const called = (asker: TestServer.Asker) => Effect.provide(write, as(asker))
        assert.deepStrictEqual((yield* called(Authenticator.stdio({ USER: "bob" }))).structuredContent, { by: "bob" })
        assert.deepStrictEqual((yield* called(Context.make(User, ada))).structuredContent, { by: "Ada" })
        for (const asker of [Authenticator.inProcess, Context.make(User, { ...ada, scopes: [] })]) {
          const error = yield* Effect.flip(called(asker))
          assert.strictEqual(
            (error as Error).message,
            "Forbidden: This requires the scope notes:write, which the user has not granted to this client"
          )
        }
      }))

    it.effect(`comes from the token over HTTP: ${version}`, () =>
      Effect.gen(function*() {
        const login = yield* Protected.issuer()
        const called = (claims: object) =>
          Effect.flatMap(login.sign({ claims: { scope: "notes:write", ...claims } }), (token) =>
            Effect.either(Effect.provide(
              write,
              as(Authenticator.http({ headers: { authorization: `Bearer ${token}` } }), login.handler)
            )))
        assert.deepStrictEqual((yield* Effect.flatten(called({ level: "7" }))).structuredContent, { by: "Ada 7" })
        assert.include(
          (yield* Effect.flip(Effect.flatten(called({ sub: "eve" })))).message,
          "Forbidden: this user has left"
        )
        assert.match(
          (yield* Effect.flip(Effect.flatten(called({ level: "high" })))).message,
          /Unauthorized: The access token lacks claims that this server needs/
        )
      }))
  }

  it.scoped("may be made with the token itself, for an exchange", () =>
    Effect.gen(function*() {
      class Exchanging extends Context.Tag("Exchanging")<
        Exchanging,
        AccessToken.Granted & { readonly secret: Redacted.Redacted<string> }
      >() {}
      let seen: Redacted.Redacted<string> | undefined
      const exchanging = ResourceServer.make(Exchanging, {
        ...options,
        user: ({ id, scopes }, secret) => Effect.succeed({ id, scopes, secret })
      })
      const login = yield* Protected.issuer()
      const token = yield* login.sign()
      const tool = McpServer.tool(Tool.make("act"), () =>
        Effect.map(Exchanging, ({ secret }) => {
          seen = secret
        }))
      yield* Effect.provide(
        Effect.flatMap(Client.Client, (client) => client.callTool("act")),
        TestServer.layer(Definition.make(), tool, {
          authenticator: exchanging,
          as: Authenticator.http({ headers: { authorization: `Bearer ${token}` } })
        }).pipe(Layer.provide(Net.make({ [Protected.ISSUER]: login.handler }).layer))
      )
      assert.strictEqual(Redacted.value(seen!), token)
      assert.notInclude(String(seen), token)
    }))
})
