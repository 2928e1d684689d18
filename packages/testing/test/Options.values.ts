/**
 * A value for every public option of this package, as its docs describe it, without a cast. The compiler checks that it is
 * accepted, and what a layer then requires; nothing runs.
 */
import * as Authenticator from "@effect-mcp/core/Authenticator"
import type * as Client from "@effect-mcp/core/Client"
import * as ClientFeatures from "@effect-mcp/core/ClientFeatures"
import * as Definition from "@effect-mcp/core/Definition"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Middleware from "@effect-mcp/core/Middleware"
import * as TasksServer from "@effect-mcp/core/TasksServer"
import * as Tool from "@effect-mcp/core/Tool"
import type * as AuthorizationServerModel from "@effect-mcp/testing/AuthorizationServerModel"
import * as TestAuthorizationServer from "@effect-mcp/testing/TestAuthorizationServer"
import * as TestClient from "@effect-mcp/testing/TestClient"
import * as TestPeer from "@effect-mcp/testing/TestPeer"
import * as TestServer from "@effect-mcp/testing/TestServer"
import * as TestTransport from "@effect-mcp/testing/TestTransport"
import * as Transcript from "@effect-mcp/testing/Transcript"
import { Context, Effect, Layer } from "effect"
import { expectTypeOf } from "vitest"

/** A new option is missing here until it has a value. */
type Every<O> = { readonly [K in keyof O]-?: Exclude<O[K], undefined> }

class User extends Context.Tag("test/User")<User, { readonly name: string }>() {}
class Basket extends Context.Tag("test/Basket")<Basket, Array<string>>() {}
class Trace extends Context.Tag("test/Trace")<Trace, string>() {}
class Tenant extends Context.Tag("test/Tenant")<Tenant, string>() {}
class Db extends Context.Tag("test/Db")<Db, string>() {}
class Home extends Context.Tag("test/Home")<Home, string>() {}

const recording = { redact: (key, value) => key === "token" ? "…" : value } satisfies Every<Transcript.Options>

const transport = {
  oracle: "client",
  extensions: [TasksServer.extension],
  transcript: Transcript.make(recording),
  capacity: 16,
  onViolation: ({ from, problem }) => void [from, problem]
} satisfies Every<TestTransport.Options>

const client = {
  timeout: "1 second",
  features: Layer.merge(
    ClientFeatures.roots(Effect.map(Home, (uri) => [{ uri }])),
    Layer.effectDiscard(Effect.fail("no model" as const))
  )
} satisfies Client.Options<"no model", ClientFeatures.ClientFeatures | Home>

const scripted = { ...transport, capabilities: { tools: {} }, version: "2025-11-25", client } satisfies Every<
  TestClient.Options<"no model", ClientFeatures.ClientFeatures | Home>
>

const connecting = {
  ...transport,
  transport: "direct",
  client,
  as: Context.make(User, { name: "ada" })
} satisfies Every<
  TestServer.ClientOptions<"no model", ClientFeatures.ClientFeatures | Home>
>

const modern = { version: "2026-07-28", capabilities: {}, logLevel: "debug", progressToken: 1 } satisfies Every<
  TestPeer.ModernOptions
>

/** The others are the options of `McpServer`, which have their values in its tests. */
type Others = Exclude<keyof McpServer.Options, "extensions" | "versions">

const own = {
  ...connecting,
  info: { name: "shop", version: "1.0.0" },
  versions: ["2026-07-28"],
  as: Context.make(User, { name: "ada" }),
  raiseDefects: true
} as const satisfies
  & Every<
    Omit<
      TestServer.Options<
        "no model",
        ClientFeatures.ClientFeatures | Home,
        never,
        never,
        never,
        Authenticator.Authenticator<User>
      >,
      Others
    >
  >
  & Every<Omit<TestServer.MockOptions<"no model", ClientFeatures.ClientFeatures | Home, User>, Others>>

const authenticator = Authenticator.make(User, {
  id: ({ name }) => name,
  stdio: () => Effect.map(Db, (name) => ({ name }))
})

const Act = Tool.make("act")
const Shop = Definition.make(Act)

export const Live = TestServer.layer(
  Shop,
  McpServer.tool(Act, () => Effect.asVoid(Effect.all([User, Basket, Trace, Tenant, Db]))),
  {
    ...own,
    authenticator,
    session: Layer.effect(Basket, Effect.as(Effect.zip(User, Db), [])),
    middleware: Middleware.provide(Trace, () => Effect.map(User, ({ name }) => name)),
    sessionMiddleware: Middleware.provide(Tenant, () => Effect.map(Basket, () => "shop"))
  }
)
expectTypeOf<Layer.Layer.Context<typeof Live>>().toEqualTypeOf<Db | Home>()

export const mocks = [
  TestServer.mock(Shop, { act: () => Effect.void }, { ...own, authenticator }),
  TestServer.mockTools({ act: () => Effect.succeed("done") }, { ...own, authenticator })
]

export const tested = [
  TestServer.client(Shop, connecting),
  TestClient.make(scripted),
  TestTransport.pair(transport),
  TestPeer.requestMeta(modern)
]

const authorization = {
  issuer: "https://login.example.com",
  clients: [{ clientId: "program", secret: "secret", redirectUris: ["https://example.com/callback"] }],
  dynamicRegistration: false,
  clientDocument: (url) => Effect.succeed({ client_id: url }),
  scopes: ["notes:read"],
  consent: () => Effect.succeed({ subject: "ada" }),
  accessTokens: "opaque",
  claims: () => ({ name: "Ada" }),
  lifetime: "1 hour",
  refreshTokens: "none",
  algorithm: "RS256",
  dpop: { isRequired: true, nonces: true },
  trusts: [{ issuer: "https://work.example.com", keys: Effect.succeed({ keys: [] }) }],
  metadata: { service_documentation: "https://example.com" },
  fault: () => undefined
} satisfies Every<AuthorizationServerModel.Options>

const issued = {
  resource: "https://mcp.example.com/mcp",
  subject: "ada",
  clientId: "program",
  scopes: ["notes:read"],
  thumbprint: "x"
} satisfies Every<TestAuthorizationServer.IssueOptions>

export const logins = Effect.map(TestAuthorizationServer.make(authorization), (server) => server.issue(issued))
