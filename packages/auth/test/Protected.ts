/**
 * A protected MCP server in memory, behind a web handler, and issuers that sign tokens for it. There is no socket, and only the
 * test clock.
 */
import type { HttpClient } from "@effect/platform"
import type * as AccessToken from "@effect-mcp/auth/AccessToken"
import * as JwtVerifier from "@effect-mcp/auth/JwtVerifier"
import * as ResourceServer from "@effect-mcp/auth/ResourceServer"
import type { TokenVerifier } from "@effect-mcp/auth/TokenVerifier"
import type * as EventStore from "@effect-mcp/core/EventStore"
import * as Feature from "@effect-mcp/core/Feature"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Message from "@effect-mcp/core/Message"
import type { Registry } from "@effect-mcp/core/Registry"
import { RequestContext } from "@effect-mcp/core/RequestContext"
import * as Resource from "@effect-mcp/core/Resource"
import * as SharedLimits from "@effect-mcp/core/SharedLimits"
import * as TasksServer from "@effect-mcp/core/TasksServer"
import * as TaskStore from "@effect-mcp/core/TaskStore"
import * as Tool from "@effect-mcp/core/Tool"
import type { HttpOptions } from "@effect-mcp/core/WebHandler"
import * as WebHandler from "@effect-mcp/core/WebHandler"
import { Clock, Context, Effect, Layer } from "effect"
import * as Jose from "jose"
import * as Net from "./Net.js"

export const RESOURCE = "https://mcp.test/mcp"

export const ISSUER = "https://login.test"

export const METADATA = "https://mcp.test/.well-known/oauth-protected-resource/mcp"

export class User extends Context.Tag("test/User")<User, AccessToken.AccessToken>() {}

export interface Signed {
  readonly claims?: Readonly<Record<string, unknown>>
  readonly header?: Readonly<Record<string, unknown>>
  /** The number of the key. Default: the newest. */
  readonly key?: number
}

export interface Issuer {
  readonly issuer: string
  /** The key set that the issuer publishes. */
  readonly published: Array<Jose.JWK>
  /** Begins to sign with a new key, which it publishes. */
  readonly rotate: Effect.Effect<void>
  /** A token for the server, for ada, with scope `notes:read`, for an hour. */
  readonly sign: (options?: Signed) => Effect.Effect<string>
  readonly handler: Net.Handler
}

export const issuer = (url: string = ISSUER, algorithm: string = "ES256"): Effect.Effect<Issuer> =>
  Effect.gen(function*() {
    const keys: Array<Jose.CryptoKey> = []
    const published: Array<Jose.JWK> = []
    const rotate = Effect.promise(async () => {
      const { privateKey, publicKey } = await Jose.generateKeyPair(algorithm, { extractable: true })
      published.push({ ...await Jose.exportJWK(publicKey), kid: `key-${keys.length}`, alg: algorithm, use: "sig" })
      keys.push(privateKey)
    })
    yield* rotate
    return {
      issuer: url,
      published,
      rotate,
      sign: ({ claims, header, key = keys.length - 1 } = {}) =>
        Effect.flatMap(Clock.currentTimeMillis, (millis) => {
          const now = Math.floor(millis / 1000)
          const all = {
            iss: url,
            aud: RESOURCE,
            sub: "ada",
            client_id: "client",
            scope: "notes:read",
            iat: now,
            exp: now + 3600,
            ...claims
          }
          return Effect.promise(() =>
            new Jose.SignJWT(all)
              .setProtectedHeader({ alg: algorithm, typ: "at+jwt", kid: `key-${key}`, ...header })
              .sign(keys[key]!)
          )
        }),
      handler: (request) =>
        Net.documents({
          "/.well-known/oauth-authorization-server": {
            issuer: url,
            token_endpoint: `${url}/token`,
            jwks_uri: `${url}/keys`,
            introspection_endpoint: `${url}/introspect`
          },
          "/keys": { keys: published }
        })(request)
    }
  })

const act = (name: string) =>
  McpServer.tool(
    Tool.make(name),
    () =>
      Effect.map(Effect.zip(User, RequestContext), ([{ id }, { principal }]) => `${id} ${String(id === principal?.id)}`)
  )

export const features = Layer.mergeAll(
  act("whoami"),
  act("write").pipe(Feature.requires(["notes:write"])),
  act("purge").pipe(Feature.requires(["notes:write"]), Feature.requires(["notes:admin", "notes:write"])),
  McpServer.tool(Tool.make("slow"), () => Effect.as(Effect.sleep("2 minutes"), "slept")),
  McpServer.tool(Tool.make("report", { task: "optional" }), () => Effect.never),
  Layer.provide(TasksServer.layer, TaskStore.layerMemory),
  McpServer.resource(Resource.make("secret", { uri: "test://secret" }), Effect.succeed("secret")).pipe(
    Feature.requires(["notes:admin"])
  )
)

export interface Options extends Partial<ResourceServer.Options<ResourceServer.AnyClaims, AccessToken.AccessToken>> {
  readonly http?: HttpOptions
  /** Features in place of those above, of a server with the extension of tasks. */
  readonly features?: Layer.Layer<never, never, Registry | User>
  readonly events?: Layer.Layer<EventStore.EventStore>
  readonly verifier?: TokenVerifier<HttpClient.HttpClient>
  readonly limits?: SharedLimits.SharedLimitsService
}

export interface Sent {
  readonly status: number
  readonly headers: Headers
  readonly challenge: string | null
  readonly text: string
  readonly json: any
}

export interface Protected {
  readonly handler: (request: Request) => Promise<Response>
  readonly fetch: (path: string, init?: RequestInit) => Effect.Effect<Sent>
  /** A call of a tool at 2026-07-28. */
  readonly call: (
    tool: string,
    token?: string,
    headers?: Readonly<Record<string, string>>,
    path?: string
  ) => Effect.Effect<Sent>
  /** A message up to 2025-11-25. */
  readonly legacy: (body: unknown, token?: string, headers?: Readonly<Record<string, string>>) => Effect.Effect<Sent>
}

/** The token as the header has it. */
const bearer = (token: string | undefined): Record<string, string> =>
  token === undefined ? {} : { authorization: /^[A-Za-z]+ /.test(token) ? token : `Bearer ${token}` }

export const make = (net: Net.Net, { events, features: own, http, limits, verifier, ...options }: Options = {}) =>
  Effect.gen(function*() {
    const authenticator = ResourceServer.make(User, {
      resource: RESOURCE,
      authorizationServers: [ISSUER],
      scopes: ["notes:read", "notes:write", "offline_access"],
      verify: verifier ?? JwtVerifier.make(),
      ...options
    })
    const server = own === undefined
      ? McpServer.layer({ name: "notes", version: "1" }, features, { authenticator })
      : McpServer.layer({ name: "notes", version: "1" }, own, { authenticator, extensions: [TasksServer.extension] })
    const { handler } = yield* Effect.flatMap(
      Layer.build(server.pipe(
        Layer.provide(limits === undefined ? Layer.empty : Layer.succeed(SharedLimits.SharedLimits, limits)),
        Layer.provide(net.layer),
        Layer.merge(events ?? Layer.empty)
      )),
      (context) => Effect.provide(WebHandler.make({ path: "/mcp", allowedHosts: ["mcp.test"], ...http }), context)
    )
    const fetch = (path: string, init?: RequestInit): Effect.Effect<Sent> =>
      Effect.promise(async () => {
        const response = await handler(new Request(`https://mcp.test${path}`, init))
        const text = await response.text()
        const { headers, status } = response
        const isJson = headers.get("content-type")?.startsWith("application/json") === true
        return {
          status,
          headers,
          text,
          challenge: headers.get("www-authenticate"),
          json: isJson ? JSON.parse(text) : undefined
        }
      })
    const post = (path: string, body: unknown, headers: Readonly<Record<string, string>>) =>
      fetch(path, {
        method: "POST",
        headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers },
        body: JSON.stringify(body)
      })
    const made: Protected = {
      handler: (request) => handler(request),
      fetch,
      call: (name, token, headers, path = "/mcp") =>
        post(
          path,
          Message.request(1, "tools/call", {
            name,
            arguments: {},
            _meta: {
              "io.modelcontextprotocol/protocolVersion": "2026-07-28",
              "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
              "io.modelcontextprotocol/clientCapabilities": {}
            }
          }),
          {
            "mcp-protocol-version": "2026-07-28",
            "mcp-method": "tools/call",
            "mcp-name": name,
            ...bearer(token),
            ...headers
          }
        ),
      legacy: (body, token, headers) => post("/mcp", body, { ...bearer(token), ...headers })
    }
    return made
  })

/** A network with one issuer, and a server that trusts it. */
export const world = (options?: Options) =>
  Effect.gen(function*() {
    const login = yield* issuer()
    const net = Net.make({ [ISSUER]: login.handler })
    return { login, net, server: yield* make(net, options) }
  })

export const initialize = Message.request(1, "initialize", {
  protocolVersion: "2025-11-25",
  capabilities: {},
  clientInfo: { name: "test", version: "1" }
})
