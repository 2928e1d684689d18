/**
 * An authorization server in memory, for tests of protected servers and of clients that log in to these servers. The server enforces OAuth
 * 2.1 and the extensions that MCP uses. The server uses the time of `TestClock`, and can simulate faults. An `HttpClient` without sockets
 * connects the server, the client and other hosts of a test.
 *
 * Use this server only for tests, because it never asks a user for a password. The folder `authorization` has the endpoints.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization
 * @since 0.1.0
 */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import type * as HttpApp from "@effect/platform/HttpApp"
import type * as HttpClient from "@effect/platform/HttpClient"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as EffectInternals from "@effect-mcp/core/unstable/kit/EffectInternals"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Jose from "jose"
import * as Clients from "./authorization/Clients.js"
import * as Endpoints from "./authorization/Endpoints.js"
import type { AccessToken, Host, Hosts, Issuer, Jwk, Options, Received } from "./AuthorizationServerModel.js"

/** @category models */
export interface TestAuthorizationServerService extends Issuer {
  /** Answers a request. Fails when a fault breaks the connection. */
  readonly handle: (request: Request) => Effect.Effect<Response, unknown>
  /**
   * Acts as the user's browser: opens the URL of an authorization request, and returns the parameters of the redirect to the client. Pass
   * this function to `Browser.layer` as `open`. Dies when the server shows a page and does not redirect.
   */
  readonly login: (url: URL) => Effect.Effect<URLSearchParams>
  /** Issues an access token, for a test without a login. */
  readonly issue: (token: IssueOptions) => Effect.Effect<string>
  /**
   * Makes a JWT with any claims, and signs it with the newest key. The JWT can be an identity token, the token of a workload, or a token
   * with a mistake.
   */
  readonly sign: (
    claims: Readonly<Record<string, unknown>>,
    header?: Readonly<Record<string, unknown>>
  ) => Effect.Effect<string>
  /** Returns the rights of an access token; `undefined` when the token is not valid. */
  readonly verify: (token: string) => Effect.Effect<AccessToken | undefined>
  /** Revokes all access tokens or all refresh tokens. Servers that verify JWTs without introspection still accept a revoked JWT. */
  readonly revokeAll: (kind: "access" | "refresh") => Effect.Effect<void>
  /** Removes all registered clients from the server. */
  readonly forgetClients: Effect.Effect<void>
  /** Makes a new key for all later signatures. With `withdraw`, the server no longer publishes the old keys. */
  readonly rotateKeys: (options?: { readonly withdraw?: boolean | undefined }) => Effect.Effect<void>
  /** The newest 10,000 requests. */
  readonly requests: Effect.Effect<ReadonlyArray<Received>>
  /**
   * All codes, tokens and secrets that the server has issued or received. A test can check that no log and no error contains one of these.
   */
  readonly secrets: Effect.Effect<ReadonlySet<string>>
}

/** @category models */
export interface IssueOptions {
  readonly resource: string
  /** The user of the token. Default: "ada". */
  readonly subject?: string | undefined
  /** The client of the token. Default: "test". */
  readonly clientId?: string | undefined
  readonly scopes?: ReadonlyArray<string> | undefined
  /** The thumbprint of the key to which the token is bound. Default: the token is not bound. */
  readonly thumbprint?: string | undefined
}

/** @category tags */
export class TestAuthorizationServer extends Context.Tag("@effect-mcp/testing/TestAuthorizationServer")<
  TestAuthorizationServer,
  TestAuthorizationServerService
>() {}

/**
 * The redirect URI of clients that have no redirect URIs in their registration. No server listens at this address.
 *
 * @category constants
 */
export const redirectUri: string = Clients.REDIRECT_URI

/**
 * Makes a server. The server makes its keys when it first needs them.
 *
 * @category constructors
 */
export const make = (options: Options = {}): Effect.Effect<TestAuthorizationServerService> =>
  Effect.sync(() => {
    const { issuer = "https://auth.test" } = options
    const { clients, grants, handle, keys, received } = Endpoints.make(issuer, options)
    return {
      issuer,
      keys: keys.published,
      handle,
      login: (url) =>
        Effect.flatMap(Effect.orDie(handle(new Request(url))), (response) => {
          const location = response.headers.get("location")
          return location === null
            ? Effect.flatMap(
              Effect.promise(() => response.text()),
              (text) =>
                Effect.dieMessage(`The authorization server shows the user a page with ${response.status}: ${text}`)
            )
            : Effect.succeed(new URL(location).searchParams)
        }),
      issue: ({ clientId = "test", resource, scopes = [], subject = "ada", thumbprint }) =>
        Effect.map(
          grants.issue(
            { clientId, resource, scopes, subject, thumbprint, actor: undefined, family: { isRevoked: false } }
          ),
          ({ accessToken }) => accessToken
        ),
      sign: (claims, header) =>
        Effect.flatMap(Clock.currentTimeMillis, (millis) => {
          const now = Math.floor(millis / 1000)
          return keys.sign({ iss: issuer, iat: now, exp: now + 300, ...claims }, header)
        }),
      verify: grants.find,
      revokeAll: (kind) => Effect.sync(() => grants.revokeAll(kind)),
      forgetClients: Effect.sync(clients.forget),
      rotateKeys: keys.rotate,
      requests: Effect.sync(() => received.slice()),
      secrets: Effect.sync(() => new Set(grants.secrets))
    }
  })

/**
 * Provides the same server as `layer`, with options.
 *
 * @category layers
 */
export const layerWith = (options?: Options): Layer.Layer<TestAuthorizationServer> =>
  Layer.effect(TestAuthorizationServer, make(options))

/**
 * Provides a server for the tests of an application.
 *
 * @example
 * ```ts
 * import * as Authorization from "@effect-mcp/auth/Authorization"
 * import * as AuthorizationCode from "@effect-mcp/auth/AuthorizationCode"
 * import * as Browser from "@effect-mcp/auth/Browser"
 * import * as CredentialStore from "@effect-mcp/auth/CredentialStore"
 * import * as Client from "@effect-mcp/core/Client"
 * import type * as Dispatcher from "@effect-mcp/core/Dispatcher"
 * import * as Remote from "@effect-mcp/core/Remote"
 * import * as WebHandler from "@effect-mcp/core/WebHandler"
 * import * as TestAuthorizationServer from "@effect-mcp/testing/TestAuthorizationServer"
 * import type { HttpClient } from "@effect/platform"
 * import { assert, it } from "@effect/vitest"
 * import { Effect, Layer } from "effect"
 *
 * // The application: its `ResourceServer` names the issuer "https://auth.test".
 * declare const Server: Layer.Layer<Dispatcher.Dispatcher, never, HttpClient.HttpClient>
 *
 * const ServerLive = WebHandler.layerWith({ path: "/mcp", allowedHosts: ["mcp.test"] }).pipe(
 *   Layer.provide(Server),
 *   Layer.provide(TestAuthorizationServer.layerHttpClient())
 * )
 *
 * const Network = TestAuthorizationServer.layerHttpClient(
 *   Effect.map(WebHandler.WebHandler, ({ handler }) => ({ "https://mcp.test": handler }))
 * ).pipe(Layer.provide(ServerLive))
 *
 * const BrowserTest = Layer.unwrapEffect(
 *   Effect.map(TestAuthorizationServer.TestAuthorizationServer, ({ login }) =>
 *     Browser.layer({ redirectUri: TestAuthorizationServer.redirectUri, open: login }))
 * )
 *
 * const ClientLive = Client.layer(
 *   Remote.connector("https://mcp.test/mcp", { authorize: Authorization.authorize })
 * ).pipe(
 *   Layer.provide(Authorization.layer(AuthorizationCode.make({ name: "Test" }))),
 *   Layer.provide([BrowserTest, CredentialStore.layerMemory, Network]),
 *   Layer.provide(TestAuthorizationServer.layer)
 * )
 *
 * it.effect("knows the user who has logged in", () =>
 *   Effect.gen(function*() {
 *     const client = yield* Client.Client
 *     assert.strictEqual((yield* client.callTool("whoami")).structuredContent, "ada")
 *   }).pipe(Effect.provide(ClientLive)))
 * ```
 * @category layers
 */
export const layer: Layer.Layer<TestAuthorizationServer> = layerWith()

/**
 * Provides an HTTP client that reaches the authorization server and `hosts` without sockets. A request to any other origin fails like a
 * request to an address at which no server listens.
 *
 * @category layers
 */
export const layerHttpClient = <E = never, R = never>(
  hosts: Hosts | Effect.Effect<Hosts, E, R> = {}
): Layer.Layer<HttpClient.HttpClient, E, R | TestAuthorizationServer> =>
  Layer.provide(
    // The layer is `fresh` because a program may have several of these clients with different hosts.
    Layer.fresh(FetchHttpClient.layer),
    Layer.effect(
      FetchHttpClient.Fetch,
      Effect.gen(function*() {
        const { handle, issuer } = yield* TestAuthorizationServer
        const others = Effect.isEffect(hosts) ? yield* hosts : hosts
        const services = yield* EffectInternals.services
        return fetchOf(services, new Map([[new URL(issuer).origin, handle], ...Object.entries(others)]))
      })
    )
  )

/**
 * The server as an application for `HttpServer.serve` of `@effect/platform`, for a test that needs sockets. The option `issuer` must be the
 * URL of the HTTP server.
 *
 * @category utils
 */
export const httpApp: HttpApp.Default<never, TestAuthorizationServer> = Effect.gen(function*() {
  const { handle } = yield* TestAuthorizationServer
  const request = yield* HttpServerRequest.toWeb(yield* HttpServerRequest.HttpServerRequest)
  return HttpServerResponse.fromWeb(yield* Effect.orElseSucceed(handle(request), broken))
}).pipe(Effect.orDie)

/**
 * The server as a web handler, with the clock of the fiber that runs this effect. The promise of the handler is rejected when a fault
 * breaks the connection.
 *
 * @category utils
 */
export const webHandler: Effect.Effect<(request: Request) => Promise<Response>, never, TestAuthorizationServer> = Effect
  .gen(function*() {
    const { handle } = yield* TestAuthorizationServer
    const services = yield* EffectInternals.services
    return (request) => EffectInternals.runPromise(services, handle(request), request.signal)
  })

/** Makes a response whose body fails. An application of the platform has no other way to break a connection. */
const broken = (): Response =>
  new Response(new ReadableStream({ start: (controller) => controller.error(new Error("The connection breaks")) }))

/**
 * Makes a new pair of keys for a client that authenticates with signatures.
 *
 * @category utils
 */
export const keyPair: Effect.Effect<{
  /** The value for the option `privateKey` of the client. */
  readonly privateKey: { readonly key: Redacted.Redacted<string>; readonly algorithm: string }
  /** The value for the option `publicKey` of the registered client at this server. */
  readonly publicKey: Jwk
}> = Effect.promise(() =>
  Jose.generateKeyPair("ES256", { extractable: true }).then(({ privateKey, publicKey }) =>
    Promise.all([Jose.exportJWK(privateKey), Jose.exportJWK(publicKey)])
  )
).pipe(
  Effect.map(([privateKey, publicKey]) => ({
    privateKey: { key: Redacted.make(JSON.stringify(privateKey)), algorithm: "ES256" },
    publicKey: { ...publicKey, alg: "ES256" }
  }))
)

/** Makes a `fetch` without sockets. For each origin, a function answers the requests. */
const fetchOf =
  (services: EffectInternals.Services<never>, hosts: ReadonlyMap<string, Host>): typeof fetch => (input, init) => {
    const request = new Request(input, init)
    const { origin } = new URL(request.url)
    const host = hosts.get(origin)
    if (host === undefined) return Promise.reject(new Error(`Nothing listens at ${origin}`))
    const answer = host(request)
    return Effect.isEffect(answer) ? EffectInternals.runPromise(services, answer, request.signal) : answer
  }
