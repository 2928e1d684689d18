/**
 * A small authorization server for tests of protected servers and of the clients that log in to them: strict, in memory, with
 * the time of `TestClock`, and with faults. It follows OAuth 2.1 and the extensions that MCP uses.
 *
 * It is for tests: it asks no user for a password, and forgets everything when it closes.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization
 * @since 0.1.0
 */
import type * as HttpApp from "@effect/platform/HttpApp"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientError from "@effect/platform/HttpClientError"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Edition from "@effect-mcp/jsonrpc/unstable/kit/Edition"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import * as Jose from "jose"
import * as Clients from "./authorization/Clients.js"
import * as Endpoints from "./authorization/Endpoints.js"
import type { AccessToken, Host, Hosts, Issuer, Jwk, Options, Received } from "./AuthorizationServerOptions.js"

/** @category models */
export interface TestAuthorizationServerService extends Issuer {
  /** Answers a request. Fails when a fault breaks the connection. */
  readonly handle: (request: Request) => Effect.Effect<Response, unknown>
  /**
   * Does what the user's browser does: opens the address of an authorization request, and gives the parameters that the server
   * sends it back with. It is the `open` of `Browser.layer`. Dies when the server shows a page in place of that.
   */
  readonly login: (url: URL) => Effect.Effect<URLSearchParams>
  /** An access token for a test that needs no login. */
  readonly issue: (token: IssueOptions) => Effect.Effect<string>
  /** A JWT with any claims, signed by the newest key: an identity token, the token of a workload, or one with an error. */
  readonly sign: (
    claims: Readonly<Record<string, unknown>>,
    header?: Readonly<Record<string, unknown>>
  ) => Effect.Effect<string>
  /** The access token, while it is valid. */
  readonly verify: (token: string) => Effect.Effect<AccessToken | undefined>
  /** Makes all access tokens, or all refresh tokens, invalid. A JWT stays valid for those that do not ask this server. */
  readonly revokeAll: (kind: "access" | "refresh") => Effect.Effect<void>
  /** Forgets all clients. */
  readonly forgetClients: Effect.Effect<void>
  /** Signs with a new key from now on. `withdraw` no longer publishes the old ones. */
  readonly rotateKeys: (options?: { readonly withdraw?: boolean | undefined }) => Effect.Effect<void>
  /** The requests so far, the newest 10,000. */
  readonly requests: Effect.Effect<ReadonlyArray<Received>>
  /** All codes, tokens and secrets that the server has issued or received: no log and no error may hold one. */
  readonly secrets: Effect.Effect<ReadonlySet<string>>
}

/** @category models */
export interface IssueOptions {
  readonly resource: string
  /** Default: "ada". */
  readonly subject?: string | undefined
  /** Default: "test". */
  readonly clientId?: string | undefined
  readonly scopes?: ReadonlyArray<string> | undefined
  /** Binds the token to the key with this thumbprint. */
  readonly thumbprint?: string | undefined
}

/** @category tags */
export class TestAuthorizationServer extends Context.Tag("@effect-mcp/testing/TestAuthorizationServer")<
  TestAuthorizationServer,
  TestAuthorizationServerService
>() {}

/**
 * Where a client receives responses unless it has redirect URIs of its own. Nothing listens there.
 *
 * @category constants
 */
export const redirectUri: string = Clients.REDIRECT_URI

/**
 * A server. Keys are made when they are first needed.
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
 * A server for the tests of an application.
 *
 * @example
 * ```ts
 * import * as Authorization from "@effect-mcp/auth/Authorization"
 * import * as AuthorizationCode from "@effect-mcp/auth/AuthorizationCode"
 * import * as Browser from "@effect-mcp/auth/Browser"
 * import * as CredentialStore from "@effect-mcp/auth/CredentialStore"
 * import * as Client from "@effect-mcp/client/Client"
 * import * as Remote from "@effect-mcp/client/Remote"
 * import type * as Dispatcher from "@effect-mcp/server/Dispatcher"
 * import * as WebHandler from "@effect-mcp/server/WebHandler"
 * import * as TestAuthorizationServer from "@effect-mcp/testing/TestAuthorizationServer"
 * import { assert, it } from "@effect/vitest"
 * import type { HttpClient } from "@effect/platform"
 * import { Effect, Layer } from "effect"
 *
 * // The application: its `ResourceServer` names the issuer "https://auth.test".
 * declare const Server: Layer.Layer<Dispatcher.Dispatcher, never, HttpClient.HttpClient>
 *
 * const ServerLive = WebHandler.layer({ path: "/mcp", allowedHosts: ["mcp.test"] }).pipe(
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
 *   Layer.provide(TestAuthorizationServer.layer())
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
export const layer = (options?: Options): Layer.Layer<TestAuthorizationServer> =>
  Layer.effect(TestAuthorizationServer, make(options))

/**
 * An HTTP client that reaches the authorization server and these hosts, without sockets. A request to any other origin fails as
 * if nothing listened there.
 *
 * @category layers
 */
export const layerHttpClient = <E = never, R = never>(
  hosts: Hosts | Effect.Effect<Hosts, E, R> = {}
): Layer.Layer<HttpClient.HttpClient, E, R | TestAuthorizationServer> =>
  Layer.effect(
    HttpClient.HttpClient,
    Effect.gen(function*() {
      const { handle, issuer } = yield* TestAuthorizationServer
      const others = Effect.isEffect(hosts) ? yield* hosts : hosts
      return networkOf(new Map([[new URL(issuer).origin, handle], ...Object.entries(others)]))
    })
  )

/**
 * The server for `HttpServer.serve` of @effect/platform, where a test needs a real one. Its issuer must be its address.
 *
 * @category utils
 */
export const httpApp: HttpApp.Default<never, TestAuthorizationServer> = Effect.gen(function*() {
  const { handle } = yield* TestAuthorizationServer
  const request = yield* HttpServerRequest.toWeb(yield* HttpServerRequest.HttpServerRequest)
  return HttpServerResponse.fromWeb(yield* Effect.orElseSucceed(handle(request), broken))
}).pipe(Effect.orDie)

/**
 * The server as a web handler, with the clock of this effect. A fault that breaks the connection rejects.
 *
 * @category utils
 */
export const webHandler: Effect.Effect<(request: Request) => Promise<Response>, never, TestAuthorizationServer> = Effect
  .gen(function*() {
    const { handle } = yield* TestAuthorizationServer
    const services = yield* Edition.services
    return (request) => Edition.runPromise(services, handle(request), request.signal)
  })

/** A body that breaks off: an application cannot close a connection of the platform otherwise. */
const broken = (): Response =>
  new Response(new ReadableStream({ start: (controller) => controller.error(new Error("The connection breaks")) }))

/**
 * A new pair of keys for a client that authenticates with signatures.
 *
 * @category utils
 */
export const keyPair: Effect.Effect<{
  /** The `privateKey` of the client. */
  readonly privateKey: { readonly key: Redacted.Redacted<string>; readonly algorithm: string }
  /** The `publicKey` of the client at this server. */
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

const bodyOf = ({ body }: HttpClientRequest.HttpClientRequest): Effect.Effect<BodyInit | undefined> => {
  switch (body._tag) {
    case "Empty":
      return Effect.succeed(undefined)
    case "FormData":
      return Effect.succeed(body.formData)
    case "Stream":
      return Stream.toReadableStreamEffect(Stream.orDie(body.stream))
    default:
      // The platform types the body of "Raw" as unknown: it is what the application gave to `fetch`.
      return Effect.succeed(body.body as BodyInit)
  }
}

/** Each origin is a function that answers web requests. */
const networkOf = (hosts: ReadonlyMap<string, Host>): HttpClient.HttpClient =>
  HttpClient.make((request, url, signal) => {
    const broken = (cause: unknown) => new HttpClientError.RequestError({ request, reason: "Transport", cause })
    const host = hosts.get(url.origin)
    if (host === undefined) return Effect.fail(broken(new Error(`Nothing listens at ${url.origin}`)))
    return Effect.gen(function*() {
      const body = yield* bodyOf(request)
      const { "content-length": _, ...headers } = request.headers
      const init = { method: request.method, headers, signal, ...(body === undefined ? {} : { body, duplex: "half" }) }
      const answer = host(new Request(url, init))
      const response = yield* Effect.isEffect(answer)
        ? Effect.mapError(answer, broken)
        : Effect.tryPromise({ try: () => answer, catch: broken })
      return HttpClientResponse.fromWeb(request, response)
    })
  })
