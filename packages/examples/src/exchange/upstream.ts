/**
 * A protected server with the accounts of its users. Clients reach it through the gateway, which acts for them; the access token
 * names both.
 */
import type * as AccessToken from "@effect-mcp/auth/AccessToken"
import * as JwtVerifier from "@effect-mcp/auth/JwtVerifier"
import * as ResourceServer from "@effect-mcp/auth/ResourceServer"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Tool from "@effect-mcp/core/Tool"
import { Context, Effect, Schema } from "effect"

/** RFC 8693: `act` names the server that acts for the user. */
const Claims = Schema.Struct({ act: Schema.optional(Schema.Struct({ sub: Schema.String })) })

class User extends Context.Tag("upstream/User")<User, AccessToken.AccessToken<typeof Claims.Type>>() {}

const Balance = Tool.make("balance", { success: Schema.String })

const BalanceLive = McpServer.tool(
  Balance,
  () =>
    Effect.map(User, ({ claims, subject }) => `100 euro of ${subject}, through ${claims.act?.sub ?? "no other server"}`)
)

export const layer = (resource: string, issuer: string) =>
  McpServer.layer({ name: "upstream", version: "1.0.0" }, BalanceLive, {
    authenticator: ResourceServer.make(User, {
      resource,
      authorizationServers: [issuer],
      requires: ["accounts"],
      claims: Claims,
      verify: JwtVerifier.make()
    })
  })
