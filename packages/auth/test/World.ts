/**
 * An MCP server that asks for tokens, an authorization server, and a client between them, all in memory. The user of the
 * browser consents at once, unless a test says otherwise.
 */
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Authorization from "@effect-mcp/auth/Authorization"
import * as AuthorizationCode from "@effect-mcp/auth/AuthorizationCode"
import type { AuthorizationError } from "@effect-mcp/auth/AuthorizationError"
import * as Browser from "@effect-mcp/auth/Browser"
import * as ClientIdentity from "@effect-mcp/auth/ClientIdentity"
import * as CredentialStore from "@effect-mcp/auth/CredentialStore"
import type { Grant } from "@effect-mcp/auth/Grant"
import * as Client from "@effect-mcp/core/Client"
import type { ClientSessionService } from "@effect-mcp/core/ClientSession"
import * as Remote from "@effect-mcp/core/Remote"
import type * as AuthorizationServerModel from "@effect-mcp/testing/AuthorizationServerModel"
import * as TestAuthorizationServer from "@effect-mcp/testing/TestAuthorizationServer"
import { Duration, Effect, Layer, type Scope } from "effect"
import * as Jose from "jose"
import type { Handler, Received } from "./Net.js"
import * as Net from "./Net.js"

export const SERVER = "https://mcp.test/mcp"

export const ISSUER = "https://auth.test"

const PRM = "/.well-known/oauth-protected-resource/mcp"

/** The authorization server. */
export interface ServerOptions
  extends Pick<AuthorizationServerModel.Options, "consent" | "metadata" | "refreshTokens">
{
  readonly issuer?: string
  /** Clients that are registered, with their secrets. */
  readonly clients?: Readonly<Record<string, string | undefined>>
  /** The life of an access token, in seconds. */
  readonly expiresIn?: number | undefined
  /** Answers instead of the server, if it gives something. */
  readonly instead?: (request: Received) => Response | Effect.Effect<Response> | undefined
  /** Whether proofs of DPoP need a nonce. */
  readonly nonces?: boolean
}

export interface Options extends ServerOptions {
  /** Changes the response that the browser is sent back with. */
  readonly redirect?: (response: URL) => void
  /** The grant; by default the authorization code, for a client with this identity. */
  readonly grant?: Grant<Browser.Browser | CredentialStore.CredentialStore>
  readonly identity?: Partial<AuthorizationCode.Options>
  readonly authorization?: Authorization.Options
  /** Members of the metadata of the resource. */
  readonly resourceMetadata?: Readonly<Record<string, unknown>>
  /** The scopes that a tool needs; by name. */
  readonly tools?: Readonly<Record<string, string>>
  /** The scope that the server names in its first challenge. */
  readonly scope?: string
  /** What the browser does with a URL; by default the user consents. */
  readonly browse?: (
    url: URL,
    consent: Effect.Effect<URLSearchParams, AuthorizationError>
  ) => Effect.Effect<URLSearchParams, AuthorizationError>
  /** The redirect URI of the browser. */
  readonly redirectUri?: string
  readonly store?: Layer.Layer<CredentialStore.CredentialStore>
  /** Answers instead of the MCP server, if it gives something. */
  readonly insteadOfMcp?: (request: Received) => Response | Effect.Effect<Response> | undefined
  /** The MCP server behind the check of tokens; by default one that answers every request. */
  readonly handler?: (request: Request) => Promise<Response>
  /** The revisions that the client speaks. Default: 2025-11-25. */
  readonly versions?: NonNullable<Parameters<typeof Client.make>[1]>["versions"]
  /** Whether the client keeps an event stream open. Default: no. */
  readonly standalone?: boolean
  /** Whether the MCP server wants proofs of DPoP; with this nonce. */
  readonly mcpNonce?: string
}

/** An authorization server whose state a test reads and changes at once. */
export interface Server
  extends Pick<TestAuthorizationServer.TestAuthorizationServerService, "issue" | "issuer" | "login" | "verify">
{
  readonly handler: Handler
  /** Makes all access tokens invalid. */
  readonly revoke: () => void
  /** Makes all refresh tokens invalid. */
  readonly revokeRefresh: () => void
  readonly forgetClients: () => void
  readonly secrets: () => ReadonlySet<string>
}

export interface World {
  readonly net: Net.Net
  readonly server: Server
  /** The authorization servers that the MCP server names now. */
  readonly authorizationServers: Array<string>
  readonly layer: Layer.Layer<Authorization.Authorization>
  /** All authorization servers, by issuer. */
  readonly servers: Map<string, Server>
  /** The URLs that the browser opened. */
  readonly opened: Array<URL>
  /** The requests to a path of any server, such as "POST /token". */
  readonly sent: (what: string) => ReadonlyArray<Received>
  readonly connect: Effect.Effect<ClientSessionService, unknown, Authorization.Authorization | Scope.Scope>
}

/** The thumbprint of the key of a proof, whose signature is right. */
const thumbprint = (proof: string): Promise<string> =>
  Jose.compactVerify(proof, Jose.EmbeddedJWK).then(({ protectedHeader: { jwk } }) => Jose.calculateJwkThumbprint(jwk!))

const rpc = (text: string) => JSON.parse(text) as { id?: number; method: string; params?: { name?: string } }

const resultOf = (method: string): object => {
  switch (method) {
    case "initialize":
      return { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } }
    case "tools/call":
      return { content: [{ type: "text", text: "done" }] }
    default:
      return {}
  }
}

const serverOf = (issuer: string, options: ServerOptions): Server => {
  const { clients = {}, consent, expiresIn, instead, metadata, nonces, refreshTokens } = options
  const server = Effect.runSync(TestAuthorizationServer.make({
    issuer,
    clients: Object.entries(clients).map(([clientId, secret]) => ({ clientId, secret })),
    clientDocument: (url) =>
      Effect.succeed(ClientIdentity.document(url, { name: "Test" }, [TestAuthorizationServer.redirectUri])),
    accessTokens: "opaque",
    consent,
    dpop: { nonces },
    lifetime: expiresIn === undefined ? undefined : Duration.seconds(expiresIn),
    metadata: { client_id_metadata_document_supported: false, ...metadata },
    refreshTokens,
    fault: (request) => {
      const response = instead?.(request)
      return Effect.isEffect(response)
        ? Effect.map(response, (response) => ({ response }))
        : response === undefined
        ? undefined
        : { response }
    }
  }))
  return {
    issuer,
    issue: server.issue,
    login: server.login,
    verify: server.verify,
    handler: ({ headers, method, text, url }) =>
      Effect.orDie(server.handle(new Request(url, { method, headers, ...(method === "POST" ? { body: text } : {}) }))),
    revoke: () => Effect.runSync(server.revokeAll("access")),
    revokeRefresh: () => Effect.runSync(server.revokeAll("refresh")),
    forgetClients: () => Effect.runSync(server.forgetClients),
    secrets: () => Effect.runSync(server.secrets)
  }
}

export const make = (options: Options = {}): World => {
  const server = serverOf(options.issuer ?? ISSUER, options)
  const authorizationServers = [server.issuer]
  const opened: Array<URL> = []

  const challenge = (status: number, parameters: Readonly<Record<string, string>>, headers = {}): Response => {
    const all = { ...parameters, resource_metadata: `https://mcp.test${PRM}` }
    const text = Object.entries(all).map(([name, value]) => `${name}="${value}"`).join(", ")
    return new Response("no", { status, headers: { "www-authenticate": `Bearer ${text}`, ...headers } })
  }

  const servers = new Map([[server.issuer, server]])
  const mcp: Handler = (request) =>
    Effect.gen(function*() {
      const { headers, method, text, url } = request
      const other = options.insteadOfMcp?.(request)
      if (other !== undefined) return Effect.isEffect(other) ? yield* other : other
      if (url.pathname === PRM) {
        return Net.json({ resource: SERVER, authorization_servers: authorizationServers, ...options.resourceMetadata })
      }
      if (url.pathname !== "/mcp") return Net.notFound()
      const [scheme, token = ""] = (headers["authorization"] ?? "").split(" ")
      const named = options.scope === undefined ? undefined : { scope: options.scope }
      let found: AuthorizationServerModel.AccessToken | undefined
      for (const issuer of authorizationServers) {
        found ??= yield* servers.get(issuer)?.verify(token) ?? Effect.succeed(undefined)
      }
      if (found === undefined || found.resource !== SERVER) {
        return challenge(401, token === "" ? { ...named } : { ...named, error: "invalid_token" })
      }
      if (found.thumbprint !== undefined) {
        const proof = headers["dpop"]
        if (scheme !== "DPoP" || proof === undefined) return challenge(401, { error: "invalid_token" })
        if ((yield* Effect.promise(() => thumbprint(proof))) !== found.thumbprint) {
          return challenge(401, { error: "invalid_dpop_proof" })
        }
        if (options.mcpNonce !== undefined && !atob(proof.split(".")[1]!).includes(`"nonce":"${options.mcpNonce}"`)) {
          return challenge(401, { error: "use_dpop_nonce" }, { "dpop-nonce": options.mcpNonce })
        }
      } else if (scheme !== "Bearer") {
        return challenge(401, { error: "invalid_token" })
      }
      if (options.handler !== undefined) {
        const request = new Request(url, { method, headers, ...(method === "POST" ? { body: text } : undefined) })
        return yield* Effect.promise(() => options.handler!(request))
      }
      if (method !== "POST") return new Response(null, { status: method === "GET" ? 405 : 200 })
      const message = rpc(text)
      const needed = options.tools?.[message.params?.name ?? ""]
      if (needed !== undefined && !needed.split(" ").every((one) => found.scopes.includes(one))) {
        return challenge(403, { error: "insufficient_scope", scope: needed })
      }
      return message.id === undefined
        ? new Response(null, { status: 202 })
        : Net.json({ jsonrpc: "2.0", id: message.id, result: resultOf(message.method) })
    })

  const net = Net.make({ "https://mcp.test": mcp, [new URL(server.issuer).origin]: server.handler })

  const consent = (url: URL): Effect.Effect<URLSearchParams> =>
    Effect.map(
      Effect.orDie(HttpClient.withTracerDisabledWhen(net.client, () => true).execute(HttpClientRequest.get(url))),
      ({ headers, status }) => {
        if (status !== 302) throw new Error(`The authorization server shows a page with ${status}`)
        const response = new URL(headers["location"]!)
        options.redirect?.(response)
        return response.searchParams
      }
    )

  const browser = Browser.layer({
    redirectUri: options.redirectUri ?? TestAuthorizationServer.redirectUri,
    open: (url) =>
      Effect.suspend(() => {
        opened.push(url)
        const done = consent(url)
        return options.browse?.(url, done) ?? done
      })
  })

  const grant = options.grant ?? AuthorizationCode.make({ name: "Test", ...options.identity })
  return {
    net,
    server,
    authorizationServers,
    servers,
    opened,
    layer: Authorization.layer(grant, options.authorization).pipe(
      Layer.provide([browser, net.layer, options.store ?? CredentialStore.layerMemory])
    ),
    sent: (what) => net.received.filter(({ method, url }) => `${method} ${url.pathname}` === what),
    connect: Client.make(
      Remote.connector(SERVER, {
        authorize: Authorization.authorize,
        standalone: options.standalone ?? false
      }),
      { versions: options.versions ?? ["2025-11-25"] }
    ).pipe(Effect.provide(net.layer))
  }
}

/** Adds a second authorization server, and gives it. */
export const addServer = (
  world: World,
  issuer: string,
  options: ServerOptions = {}
): Server => {
  const server = serverOf(issuer, options)
  world.servers.set(issuer, server)
  world.net.add(new URL(issuer).origin, server.handler)
  return server
}

/** Runs an effect with the client of a world, which closes with it. */
export const run = <A, E>(
  world: World,
  use: (client: ClientSessionService) => Effect.Effect<A, E, Authorization.Authorization | Scope.Scope>
): Effect.Effect<A, unknown> => Effect.scoped(Effect.provide(Effect.flatMap(world.connect, use), world.layer))

/** Logs in before the first request. */
export const login = (world: World, server: string = SERVER): Effect.Effect<void, AuthorizationError> =>
  Effect.provide(Effect.flatMap(Authorization.Authorization, (one) => one.login(server)), world.layer)

/** The error of authorization that connecting fails with. */
export const refused = (world: World): Effect.Effect<AuthorizationError> =>
  Effect.map(Effect.orDie(Effect.flip(run(world, () => Effect.void))), causeOf)

/** The error of authorization in the cause of an error. */
export const causeOf = (error: unknown): AuthorizationError => {
  const { cause } = error as { readonly cause: AuthorizationError }
  if (cause?._tag !== "AuthorizationError") throw new Error(`Not an error of authorization: ${String(error)}`)
  return cause
}
