/**
 * A protected server, the test authorization server, and a client with a grant, over a network in memory: everything as an
 * application has it, but the sockets.
 */
import { HttpClient } from "@effect/platform"
import type * as AccessToken from "@effect-mcp/auth/AccessToken"
import * as Authorization from "@effect-mcp/auth/Authorization"
import * as Browser from "@effect-mcp/auth/Browser"
import * as CredentialStore from "@effect-mcp/auth/CredentialStore"
import type { Grant } from "@effect-mcp/auth/Grant"
import * as JwtVerifier from "@effect-mcp/auth/JwtVerifier"
import * as ResourceServer from "@effect-mcp/auth/ResourceServer"
import * as Client from "@effect-mcp/core/Client"
import * as Feature from "@effect-mcp/core/Feature"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Remote from "@effect-mcp/core/Remote"
import * as Tool from "@effect-mcp/core/Tool"
import * as WebHandler from "@effect-mcp/core/WebHandler"
import type { Issuer, Options } from "@effect-mcp/testing/AuthorizationServerModel"
import * as TestAuthorizationServer from "@effect-mcp/testing/TestAuthorizationServer"
import { Context, Effect, Layer, Ref, Schema } from "effect"
import { settled } from "../../testing/test/support/Settled.js"

export const ISSUER = "https://auth.test"

export const SERVER = "https://mcp.test/mcp"

class User extends Context.Tag("test/User")<User, AccessToken.AccessToken>() {}

const Whoami = McpServer.tool(
  Tool.make("whoami", { success: Schema.String }),
  () => Effect.map(User, ({ clientId, scopes, subject }) => `${subject} of ${clientId}: ${scopes}`)
)

const Write = McpServer.tool(
  Tool.make("write", { success: Schema.String }),
  () => Effect.map(User, ({ subject }) => `written by ${subject}`)
).pipe(Feature.requires(["write"]))

const ServerLive = WebHandler.layerWith({ path: "/mcp", allowedHosts: ["mcp.test"] }).pipe(
  Layer.provide(McpServer.layer({ name: "notes", version: "1.0.0" }, Layer.merge(Whoami, Write), {
    authenticator: ResourceServer.make(User, {
      resource: SERVER,
      authorizationServers: [ISSUER],
      requires: ["read"],
      dpop: {},
      verify: JwtVerifier.make()
    })
  })),
  Layer.provide(TestAuthorizationServer.layerHttpClient())
)

const BrowserLive = Layer.unwrapEffect(
  Effect.map(
    TestAuthorizationServer.TestAuthorizationServer,
    ({ login }) => Browser.layer({ redirectUri: TestAuthorizationServer.redirectUri, open: login })
  )
)

export interface Settings extends Options {
  readonly authorization?: Authorization.Options
  /** Sees each request to the MCP server. */
  readonly onRequest?: (request: Request) => void
  /** Another authorization server, such as the identity provider of an enterprise. */
  readonly other?: Issuer & Pick<TestAuthorizationServer.TestAuthorizationServerService, "handle">
}

/** How many requests of the client to any server wait for their response. */
class Unanswered extends Context.Tag("test/Unanswered")<Unanswered, Ref.Ref<number>>() {}

const counted = Layer.effect(
  HttpClient.HttpClient,
  Effect.map(
    Effect.all([HttpClient.HttpClient, Unanswered]),
    ([client, unanswered]) =>
      HttpClient.transform(client, (response) =>
        Effect.acquireUseRelease(
          Ref.update(unanswered, (count) => count + 1),
          () => response,
          () => Ref.update(unanswered, (count) => count - 1)
        ))
  )
)

/** Waits until every request has its response, so that a test may let time pass without ending a request by its own limit of time. */
export const answered: Effect.Effect<void, never, Unanswered> = Effect.flatMap(
  Unanswered,
  (unanswered) =>
    Effect.asVoid(Effect.repeat(Effect.zipRight(settled, Ref.get(unanswered)), { until: (count) => count === 0 }))
)

/** The client does not connect before it is used. */
export const layer = (
  grant: Grant<Browser.Browser | CredentialStore.CredentialStore>,
  { authorization, onRequest, other, ...options }: Settings = {}
) => {
  const Network = TestAuthorizationServer.layerHttpClient(
    Effect.map(WebHandler.WebHandler, ({ handler }) => ({
      "https://mcp.test": (request: Request) => {
        onRequest?.(request)
        return handler(request)
      },
      ...(other === undefined ? undefined : { [other.issuer]: other.handle })
    }))
  ).pipe(Layer.provide(ServerLive))
  const Counted = Layer.provideMerge(Layer.provide(counted, Network), Layer.effect(Unanswered, Ref.make(0)))
  return Authorization.layer(grant, authorization).pipe(
    Layer.provide([BrowserLive, CredentialStore.layerMemory]),
    Layer.provideMerge(Counted),
    Layer.provideMerge(TestAuthorizationServer.layerWith(options))
  )
}

/** A client of the server. */
export const connect = (options: Client.Options = {}) =>
  Client.make(Remote.connector(SERVER, { authorize: Authorization.authorize }), options)

/** The text that a tool answers. */
export const call = (client: Effect.Effect.Success<ReturnType<typeof connect>>, tool: string) =>
  Effect.map(client.callTool(tool), ({ content: [first] }) => first?.type === "text" ? first.text : undefined)

/** The grant types of the token requests so far. */
export const grants = Effect.flatMap(
  TestAuthorizationServer.TestAuthorizationServer,
  ({ requests }) => Effect.map(requests, (all) => all.flatMap(({ form }) => form.get("grant_type") ?? []))
)
