/**
 * A server that package `auth` protects, behind any of the HTTP shells, with tokens of `oidc-provider`.
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import type * as AccessToken from "@effect-mcp/auth/AccessToken"
import * as IntrospectionVerifier from "@effect-mcp/auth/IntrospectionVerifier"
import * as JwtVerifier from "@effect-mcp/auth/JwtVerifier"
import * as ResourceServer from "@effect-mcp/auth/ResourceServer"
import * as Feature from "@effect-mcp/core/Feature"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Tool from "@effect-mcp/core/Tool"
import type { HttpOptions } from "@effect-mcp/core/WebHandler"
import { Context, Effect, Layer, Redacted, Schema, type Scope } from "effect"
import { type Shell, shells } from "../Shells.js"
import { tcpProxy } from "../TcpProxy.js"
import { introspector } from "./Protected.js"
import type { Provider } from "./Provider.js"

class User extends Context.Tag("test/oauth/Guarded/User")<User, AccessToken.AccessToken>() {}

const UserOf = Schema.Struct({
  name: Schema.String,
  clientId: Schema.String,
  scopes: Schema.Array(Schema.String)
})

const WhoAmI = Tool.make("whoami", { success: UserOf })
const Write = Tool.make("write", { success: UserOf })

const user = Effect.map(User, ({ clientId = "", scopes, subject = "" }) => ({ name: subject, clientId, scopes }))

export interface Options {
  readonly shell?: Shell
  readonly http?: HttpOptions
  /** Default: by signature. */
  readonly introspects?: boolean
  readonly introspection?: Partial<IntrospectionVerifier.Options>
}

export interface Guarded {
  readonly url: string
  /** How often a tool has run. */
  readonly calls: () => number
}

/** Serves until the scope closes. Every request needs `notes:read`, and the tool `write` also `notes:write`. */
export const make = (provider: Provider, options: Options = {}): Effect.Effect<Guarded, never, Scope.Scope> =>
  Effect.gen(function*() {
    const { http = {}, introspection, introspects = false, shell = shells["node:http"]! } = options
    let port = 0
    // The server must know its URL before it listens.
    const { url: origin } = yield* tcpProxy(() => port)
    let calls = 0
    const counted = Effect.tap(user, () => Effect.sync(() => calls++))
    const authenticator = ResourceServer.make(User, {
      resource: `${origin}/mcp`,
      authorizationServers: [provider.issuer],
      scopes: ["notes:read"],
      requires: ["notes:read"],
      dpop: {},
      verify: introspects
        ? IntrospectionVerifier.make({
          client: { clientId: introspector.client_id, clientSecret: Redacted.make(introspector.client_secret) },
          cacheFor: 0,
          ...introspection
        })
        : JwtVerifier.make({ refreshInterval: "1 millis" })
    })
    const Server = McpServer.layer(
      { name: "guarded", version: "1" },
      Layer.mergeAll(
        McpServer.tool(WhoAmI, () => counted),
        McpServer.tool(Write, () => counted).pipe(Feature.requires(["notes:write"]))
      ),
      { authenticator }
    ).pipe(Layer.provide(NodeHttpClient.layerUndici))
    const context = yield* Layer.build(Server)
    port = yield* Effect.provide(shell({ path: "/mcp", ...http }), context)
    return { url: `${origin}/mcp`, calls: () => calls }
  })
