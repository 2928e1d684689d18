/**
 * A protected server that calls another one for its users. It never passes on the token that a client has sent: that token is
 * for the gateway. The authorization server exchanges it for one that is for the upstream.
 */
import * as Authorization from "@effect-mcp/auth/Authorization"
import * as CredentialStore from "@effect-mcp/auth/CredentialStore"
import * as JwtVerifier from "@effect-mcp/auth/JwtVerifier"
import * as ResourceServer from "@effect-mcp/auth/ResourceServer"
import * as TokenExchange from "@effect-mcp/auth/TokenExchange"
import * as Client from "@effect-mcp/core/Client"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Remote from "@effect-mcp/core/Remote"
import * as Tool from "@effect-mcp/core/Tool"
import { Context, Effect, Layer, Redacted, Schema } from "effect"

interface Settings {
  readonly issuer: string
  readonly upstream: string
}

class User extends Context.Tag("gateway/User")<User, {
  readonly id: string
  readonly scopes: ReadonlyArray<string>
  /** For the exchange, and for nothing else. */
  readonly token: Redacted.Redacted<string>
}>() {}

/** The tokens of one user, for the upstream. */
const authorizationOf = (token: Redacted.Redacted<string>, issuer: string) =>
  Authorization.layer(TokenExchange.make({
    client: { issuer, clientId: "gateway", clientSecret: Redacted.make("gateway-secret") },
    subjectToken: Effect.succeed(token)
  })).pipe(Layer.provide(CredentialStore.layerMemory))

const Balance = Tool.make("balance", { success: Schema.String })

const BalanceLive = ({ issuer, upstream }: Settings) =>
  McpServer.tool(
    Balance,
    () =>
      Effect.flatMap(User, ({ token }) =>
        Client.make(Remote.connector(upstream, { authorize: Authorization.authorize })).pipe(
          Effect.flatMap((client) =>
            client.callTool("balance")
          ),
          Effect.map(({ structuredContent }) => String(structuredContent)),
          Effect.scoped,
          Effect.provide(authorizationOf(token, issuer)),
          Effect.orDie
        ))
  )

export const layer = (resource: string, settings: Settings) =>
  McpServer.layer({ name: "gateway", version: "1.0.0" }, BalanceLive(settings), {
    authenticator: ResourceServer.make(User, {
      resource,
      authorizationServers: [settings.issuer],
      requires: ["accounts"],
      verify: JwtVerifier.make(),
      user: ({ id, scopes }, token) => Effect.succeed({ id, scopes, token })
    })
  })
