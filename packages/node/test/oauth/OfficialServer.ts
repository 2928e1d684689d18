/**
 * Servers of the official SDK, of both versions, that require tokens: with the SDK's own check of bearer tokens and its own
 * metadata document.
 */
import { getRequestListener } from "@hono/node-server"
import { InvalidTokenError } from "@modelcontextprotocol/sdk/server/auth/errors.js"
import { requireBearerAuth as bearer1 } from "@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js"
import { mcpAuthMetadataRouter } from "@modelcontextprotocol/sdk/server/auth/router.js"
import { McpServer as Server1 } from "@modelcontextprotocol/sdk/server/mcp.js"
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js"
import {
  type AuthInfo,
  createMcpHandler,
  getOAuthProtectedResourceMetadataUrl,
  McpServer as Server2,
  OAuthError,
  OAuthErrorCode,
  oauthMetadataResponse,
  requireBearerAuth as bearer2
} from "@modelcontextprotocol/server"
import { Effect, type Scope } from "effect"
import express from "express"
import { listening } from "../HttpFixture.js"
import { introspector } from "./Protected.js"
import type { Provider } from "./Provider.js"

export interface OfficialServer {
  readonly url: string
  /** The scopes that requests need. */
  readonly required: Array<string>
}

/** What introspection says of a token that is valid for a resource; fails with `error` for others. */
const introspect = ({ issuer }: Provider, resource: string, error: () => Error) => (token: string): Promise<AuthInfo> =>
  fetch(`${issuer}/token/introspection`, {
    method: "POST",
    headers: { authorization: `Basic ${btoa(`${introspector.client_id}:${introspector.client_secret}`)}` },
    body: new URLSearchParams({ token })
  }).then((response) => response.json()).then((claims) => {
    if (claims.active !== true || claims.aud !== resource) throw error()
    return { token, clientId: claims.client_id, scopes: claims.scope.split(" "), expiresAt: claims.exp }
  })

const metadataOf = ({ issuer }: Provider) =>
  Effect.promise(() => fetch(`${issuer}/.well-known/oauth-authorization-server`).then((response) => response.json()))

/** What the tool answers. */
const answer = (authInfo: AuthInfo | undefined) => ({
  content: [{ type: "text" as const, text: JSON.stringify({ scopes: authInfo?.scopes }) }]
})

const two = (provider: Provider): Effect.Effect<OfficialServer, never, Scope.Scope> =>
  Effect.gen(function*() {
    const required = ["notes:read"]
    const oauthMetadata = yield* metadataOf(provider)
    const handler = createMcpHandler(({ authInfo }) => {
      const server = new Server2({ name: "official", version: "2" })
      server.registerTool("whoami", {}, () => answer(authInfo))
      return server
    }, { legacy: "stateless" })
    const { origin } = yield* listening(getRequestListener(async (request) => {
      const resource = new URL("/mcp", request.url)
      const metadata = oauthMetadataResponse(request, {
        oauthMetadata,
        resourceServerUrl: resource,
        scopesSupported: ["notes:read"],
        dangerouslyAllowInsecureIssuerUrl: true
      })
      if (metadata !== undefined) return metadata
      const auth = await bearer2({
        verifier: {
          verifyAccessToken: introspect(
            provider,
            resource.href,
            () => new OAuthError(OAuthErrorCode.InvalidToken, "no")
          )
        },
        requiredScopes: required,
        resourceMetadataUrl: getOAuthProtectedResourceMetadataUrl(resource)
      })(request)
      return auth instanceof Response ? auth : handler.fetch(request, { authInfo: auth })
    }, { overrideGlobalObjects: false }))
    yield* Effect.addFinalizer(() => Effect.promise(() => handler.close()))
    return { url: `${origin}/mcp`, required }
  })

const one = (provider: Provider): Effect.Effect<OfficialServer, never, Scope.Scope> =>
  Effect.gen(function*() {
    const required = ["notes:read"]
    const oauthMetadata = yield* metadataOf(provider)
    const app = express()
    const { origin } = yield* listening(app)
    const resource = new URL("/mcp", origin)
    app.use(mcpAuthMetadataRouter({ oauthMetadata, resourceServerUrl: resource, scopesSupported: ["notes:read"] }))
    app.all(
      "/mcp",
      (request, response, next) =>
        bearer1({
          verifier: {
            verifyAccessToken: introspect(provider, resource.href, () => new InvalidTokenError("no")) as never
          },
          requiredScopes: required,
          resourceMetadataUrl: `${origin}/.well-known/oauth-protected-resource/mcp`
        })(request, response, next),
      (request, response) => {
        const server = new Server1({ name: "official", version: "1" })
        server.registerTool("whoami", {}, ({ authInfo }) => answer(authInfo))
        const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true } as never)
        response.on("close", () => void server.close())
        void server.connect(transport as never).then(() => transport.handleRequest(request, response))
      }
    )
    return { url: resource.href, required }
  })

export const servers: Readonly<
  Record<string, (provider: Provider) => Effect.Effect<OfficialServer, never, Scope.Scope>>
> = {
  "the server of SDK 1.32": one,
  "the server of SDK 2.4": two
}
