/**
 * A protected server: each request needs an access token, the user of the token is a service of the handlers, and a tool names
 * the scope that it requires.
 */
import type * as AccessToken from "@effect-mcp/auth/AccessToken"
import * as JwtVerifier from "@effect-mcp/auth/JwtVerifier"
import * as ResourceServer from "@effect-mcp/auth/ResourceServer"
import * as Feature from "@effect-mcp/core/Feature"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Tool from "@effect-mcp/core/Tool"
import { Context, Effect, Layer, Schema } from "effect"

class User extends Context.Tag("login/User")<User, AccessToken.AccessToken>() {}

const Whoami = Tool.make("whoami", { success: Schema.String })
const WhoamiLive = McpServer.tool(
  Whoami,
  () => Effect.map(User, ({ scopes, subject }) => `${subject}, who may ${scopes}`)
)

const Write = Tool.make("write", { success: Schema.String })
const WriteLive = McpServer.tool(Write, () => Effect.succeed("written")).pipe(Feature.requires(["write"]))

/** `resource` is the URL of this server, `issuer` the URL of the authorization server. */
export const layer = (resource: string, issuer: string) =>
  McpServer.layer({ name: "protected", version: "1.0.0" }, Layer.merge(WhoamiLive, WriteLive), {
    authenticator: ResourceServer.make(User, {
      resource,
      authorizationServers: [issuer],
      scopes: ["read", "write"],
      requires: ["read"],
      verify: JwtVerifier.make()
    })
  })
