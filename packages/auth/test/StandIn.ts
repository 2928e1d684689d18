/**
 * Stand-ins for authorization servers as they are: their metadata, their addresses and what they answer, on a network in memory. The
 * test authorization server does the work behind them. The user of the browser consents at once.
 */
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Authorization from "@effect-mcp/auth/Authorization"
import * as AuthorizationCode from "@effect-mcp/auth/AuthorizationCode"
import type { AuthorizationError } from "@effect-mcp/auth/AuthorizationError"
import * as Browser from "@effect-mcp/auth/Browser"
import * as CredentialStore from "@effect-mcp/auth/CredentialStore"
import * as Client from "@effect-mcp/core/Client"
import type { ClientSessionService } from "@effect-mcp/core/ClientSession"
import * as Remote from "@effect-mcp/core/Remote"
import * as TestAuthorizationServer from "@effect-mcp/testing/TestAuthorizationServer"
import { Effect, Layer, Redacted, type Scope } from "effect"
import type { Handler } from "./Net.js"
import * as Net from "./Net.js"
import { causeOf } from "./World.js"

export const SERVER = "https://mcp.test/mcp"

export const CLIENT_ID = "fixed"

const SECRET = "the-secret-of-the-fixed-client"

const RESOURCE = "/.well-known/oauth-protected-resource"

type Json = Readonly<Record<string, unknown>>

/** One authorization server, and an MCP server that names it. */
export interface Shape {
  /** The URL of the MCP server. */
  readonly server?: string
  /** The authorization servers that the MCP server names; without them it has no metadata. */
  readonly named?: ReadonlyArray<string> | undefined
  /** The document at each address. */
  readonly documents?: Readonly<Record<string, unknown>>
  /** What is at each address, as a path of the test authorization server. */
  readonly endpoints?: Readonly<Record<string, "/authorize" | "/register" | "/token">>
  /** Whether a request with the parameter `resource` is refused, as by Entra. */
  readonly refusesResource?: boolean
  /** The `iss` of authorization responses. */
  readonly iss?: string
  /** What the token endpoint answers in place of the JSON of the test authorization server; a text is a form. */
  readonly answer?: (tokens: Json) => unknown
  /** The answer of the registration endpoint. */
  readonly registration?: () => Response
  /** The first challenge of the MCP server. */
  readonly challenge?: string
  /** The scopes of tools. */
  readonly tools?: Readonly<Record<string, string>>
}

export interface Options extends Authorization.Options {
  /** The issuers at which the client is registered by hand. */
  readonly registered?: ReadonlyArray<string>
  readonly identity?: Partial<AuthorizationCode.Options>
  readonly store?: Layer.Layer<CredentialStore.CredentialStore>
}

export interface StandIn {
  readonly net: Net.Net
  /** The URLs that the browser opened. */
  readonly opened: ReadonlyArray<URL>
  /** The forms that a token endpoint got. */
  readonly forms: ReadonlyArray<URLSearchParams>
  readonly revoke: Effect.Effect<void>
  readonly use: <A, E>(
    use: (client: ClientSessionService) => Effect.Effect<A, E, Authorization.Authorization | Scope.Scope>,
    options?: Options
  ) => Effect.Effect<A, unknown>
}

/** The usual metadata of an issuer, without an announcement of PKCE. */
export const metadata = (issuer: string, more: Json = {}): Json => {
  const base = issuer.replace(/\/$/, "")
  return { issuer, authorization_endpoint: `${base}/authorize`, token_endpoint: `${base}/token`, ...more }
}

export const S256 = { code_challenge_methods_supported: ["S256"] }

/** Where the usual metadata of an issuer have their endpoints. */
export const endpoints = (issuer: string): NonNullable<Shape["endpoints"]> => {
  const base = issuer.replace(/\/$/, "")
  return { [`${base}/authorize`]: "/authorize", [`${base}/token`]: "/token", [`${base}/register`]: "/register" }
}

/** An authorization server behind the addresses of a shape. */
export const make = (shape: Shape): StandIn => {
  const { server = SERVER } = shape
  const { origin, pathname } = new URL(server)
  const behind = Effect.runSync(TestAuthorizationServer.make({
    issuer: "https://behind.test",
    clients: [{ clientId: CLIENT_ID, secret: SECRET }],
    accessTokens: "opaque",
    refreshTokens: "fixed",
    metadata: { authorization_response_iss_parameter_supported: false }
  }))
  const opened: Array<URL> = []
  const forms: Array<URLSearchParams> = []

  const refused = (status: number, more: string) =>
    new Response("no", {
      status,
      headers: {
        "www-authenticate": shape.challenge ??
          `Bearer ${more}${shape.named === undefined ? "" : `, resource_metadata="${origin}${RESOURCE}${pathname}"`}`
      }
    })

  const mcp: Handler = ({ headers, method, text }) =>
    Effect.gen(function*() {
      const [, token = ""] = (headers["authorization"] ?? "").split(" ")
      const found = yield* behind.verify(token)
      if (found === undefined) return refused(401, "realm=\"mcp\"")
      if (method !== "POST") return new Response(null, { status: method === "GET" ? 405 : 200 })
      const message = JSON.parse(text) as { id?: number; method: string; params?: { name?: string } }
      const needed = shape.tools?.[message.params?.name ?? ""]
      if (needed !== undefined && !found.scopes.includes(needed)) {
        return refused(403, `error="insufficient_scope", scope="${needed}"`)
      }
      const result = message.method === "initialize"
        ? { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } }
        : { content: [{ type: "text", text: "done" }] }
      return message.id === undefined
        ? new Response(null, { status: 202 })
        : Net.json({ jsonrpc: "2.0", id: message.id, result })
    })

  const endpoint = (path: string, { headers, method, text, url }: Net.Received) =>
    Effect.gen(function*() {
      if (path === "/register" && shape.registration !== undefined) return shape.registration()
      const parameters = new URLSearchParams(method === "POST" ? text : url.search)
      if (path === "/token") forms.push(new URLSearchParams(text))
      if (shape.refusesResource === true && parameters.has("resource")) return yield* notResource(path, parameters)
      // The test authorization server needs one.
      if (path !== "/register") parameters.set("resource", server)
      const request = method === "POST"
        ? new Request(`https://behind.test${path}`, {
          method,
          headers,
          body: path === "/register" ? text : parameters.toString()
        })
        : new Request(`https://behind.test${path}?${parameters}`)
      const response = yield* Effect.orDie(behind.handle(request))
      if (path === "/authorize") return withIssuer(response)
      if (path !== "/token" || shape.answer === undefined || response.status !== 200) return response
      const answer = shape.answer((yield* Effect.promise(() => response.json())) as Json)
      return typeof answer === "string"
        ? new Response(answer, { headers: { "content-type": "application/x-www-form-urlencoded; charset=utf-8" } })
        : Net.json(answer)
    })

  const notResource = (path: string, parameters: URLSearchParams) => {
    const error = {
      error: "invalid_target",
      error_description: "AADSTS9010010: The resource parameter provided in the request doesn't match with the scopes."
    }
    if (path !== "/authorize") return Effect.succeed(Net.json(error, 400))
    const location = new URL(parameters.get("redirect_uri")!)
    location.search = new URLSearchParams({ ...error, state: parameters.get("state")! }).toString()
    return Effect.succeed(new Response(null, { status: 302, headers: { location: location.href } }))
  }

  const withIssuer = (response: Response): Response => {
    const location = response.headers.get("location")
    if (location === null || shape.iss === undefined) return response
    const url = new URL(location)
    url.searchParams.set("iss", shape.iss)
    return new Response(null, { status: 302, headers: { location: url.href } })
  }

  const net = Net.make()
  const handler: Handler = (request) => {
    const { origin: requested, pathname: path } = request.url
    const address = `${requested}${path}`
    const document = shape.documents?.[address]
    if (document !== undefined) return Net.json(document)
    const known = shape.endpoints?.[address]
    if (known !== undefined) return endpoint(known, request)
    if (address === `${origin}${RESOURCE}${pathname}` && shape.named !== undefined) {
      return Net.json({ resource: server, authorization_servers: shape.named })
    }
    return address === server ? mcp(request) : Net.notFound()
  }
  const addresses = [server, ...Object.keys(shape.documents ?? {}), ...Object.keys(shape.endpoints ?? {})]
  const all = [...addresses, ...(shape.named ?? []).filter((one) => URL.canParse(one))]
  for (const one of new Set(all.map((address) => new URL(address).origin))) net.add(one, handler)

  const browser = Browser.layer({
    redirectUri: TestAuthorizationServer.redirectUri,
    open: (url) =>
      Effect.suspend(() => {
        opened.push(url)
        return Effect.map(
          Effect.orDie(HttpClient.withTracerDisabledWhen(net.client, () => true).execute(HttpClientRequest.get(url))),
          ({ headers }) => new URL(headers["location"] ?? "https://no.location").searchParams
        )
      })
  })

  return {
    net,
    opened,
    forms,
    revoke: behind.revokeAll("access"),
    use: (use, { identity, registered = [], store = CredentialStore.layerMemory, ...options } = {}) => {
      const preRegistered = registered.map((issuer) => ({
        issuer,
        clientId: CLIENT_ID,
        clientSecret: Redacted.make(SECRET)
      }))
      const grant = AuthorizationCode.make({
        name: "Test",
        ...(preRegistered.length === 0 ? undefined : { preRegistered }),
        ...identity
      })
      return Client.make(Remote.connector(server, { authorize: Authorization.authorize, standalone: false }), {
        versions: ["2025-11-25"]
      }).pipe(
        Effect.flatMap(use),
        Effect.scoped,
        Effect.provide(Authorization.layer(grant, options).pipe(Layer.provide([browser, store]))),
        Effect.provide(net.layer)
      )
    }
  }
}

/** A call after a login. */
export const call = (standIn: StandIn, options?: Options): Effect.Effect<unknown, unknown> =>
  standIn.use((client) => client.callTool("any"), options)

/** Why a login fails. */
export const refusal = (standIn: StandIn, options?: Options): Effect.Effect<AuthorizationError> =>
  Effect.map(Effect.orDie(Effect.flip(call(standIn, options))), causeOf)
