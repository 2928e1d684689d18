/**
 * Protects an MCP server with OAuth. This module publishes where clients get access tokens, verifies the token of every request, and
 * provides a typed user to features, middleware and the session layer. The module makes an `Authenticator`. As with every `Authenticator`,
 * sessions and tasks belong to users, and applications and tests may provide their own users.
 *
 * Never forward the token of a client to another server. Exchange the token at the authorization server for a token that is for the other
 * server (RFC 8693, `TokenExchange`).
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization
 * @since 0.1.0
 */
import * as Authenticator from "@effect-mcp/core/Authenticator"
import type * as HttpRefusal from "@effect-mcp/core/HttpRefusal"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import type { McpError } from "@effect-mcp/core/protocol/McpError"
import { SharedLimits } from "@effect-mcp/core/SharedLimits"
import * as Clock from "effect/Clock"
import type * as Config from "effect/Config"
import type { ConfigError } from "effect/ConfigError"
import type * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import type { AccessToken, Granted } from "./AccessToken.js"
import * as Challenges from "./resource/Challenges.js"
import * as DpopProofs from "./resource/DpopProofs.js"
import * as TokenCache from "./resource/TokenCache.js"
import * as TokenRules from "./resource/TokenRules.js"
import { TokenError, type TokenVerifier } from "./TokenVerifier.js"

/**
 * The errors with which an effect that finds a user may fail.
 *
 * @category models
 */
export type Refuses = HttpRefusal.HttpRefusal | McpError

/** @category models */
export interface Options<Claims, S, VR = never, CR = never, UR = never, R2 = never, R3 = never> {
  /**
   * The URL of this server that its clients use, for example "https://mcp.example.com/mcp". The URL must have no fragment, and should not
   * end with a slash. Clients request tokens for exactly this text.
   */
  readonly resource: string
  /** The issuers of the authorization servers whose tokens the server accepts, exactly as the authorization servers write them. */
  readonly authorizationServers: readonly [string, ...Array<string>]
  /** The verifier of access tokens: `JwtVerifier.make`, `IntrospectionVerifier.make`, or a `TokenVerifier` of the application. */
  readonly verify: TokenVerifier<VR>
  /** All scopes that the server supports. The server publishes the scopes, and clients choose from them. Default: none. */
  readonly scopes?: ReadonlyArray<string> | undefined
  /** The scopes that every HTTP request needs in addition to the scopes of `Feature.requires`. Default: none. */
  readonly requires?: ReadonlyArray<string> | undefined
  /**
   * The names of the claims that contain the scopes of a token. Each claim is a text or a list of texts. A token may have several of these
   * claims. For example, Auth0 writes the scopes in `permissions`, and Entra writes the scopes of programs without a user in `roles`.
   * Default: `scope` and `scp`.
   */
  readonly scopeClaims?: ReadonlyArray<string> | undefined
  /**
   * Whether the scopes `granted` include the scope `required`. Applications need this option when one scope includes another, for example
   * when `notes` includes `notes:read`. Default: `granted` must contain exactly the required scope.
   */
  readonly covers?: ((granted: ReadonlyArray<string>, required: string) => boolean) | undefined
  /**
   * The values of `aud` that the server accepts. A token must have one of these values. Use this option only when an authorization server
   * does not write `resource` into `aud`. Each value must be a name that the authorization server uses only in tokens for this server.
   * Default: the `resource`.
   */
  readonly audience?: string | ReadonlyArray<string> | undefined
  /**
   * The schema that decodes the claims. The server refuses a token whose claims cannot be decoded. Default: the server does not check the
   * claims.
   */
  readonly claims?: Schema.Schema<Claims, any, CR> | undefined
  /**
   * Finds the user on stdio, from the environment variables that the client has given to the server process. Default: the server refuses
   * clients on stdio.
   */
  readonly stdio?: ((environment: Authenticator.Environment) => Effect.Effect<S, Refuses, R2>) | undefined
  /**
   * Finds the user of a client in the same process. Default: the server refuses this client, except when the connector of the client
   * provides a user.
   */
  readonly inProcess?: Effect.Effect<S, Refuses, R3> | undefined
  /**
   * The rules for tokens that are bound to a key (DPoP). Default: a request with a bound token needs a proof, and a request with another
   * token needs no proof.
   */
  readonly dpop?: DpopOptions | undefined
  /** Further members of the metadata document, such as `resource_name` and `resource_documentation`. Default: none. */
  readonly metadata?: JsonObject | undefined
  /**
   * The largest accepted difference between the clock of this server and the clocks of authorization servers and clients. Default: 30
   * seconds.
   */
  readonly clockTolerance?: Duration.DurationInput | undefined
  /**
   * How many characters a token may have. The server refuses a longer token with status 400 and does not verify the token. By default, Node
   * refuses a request whose headers together have more than 16 KiB: Node answers with status 431 and without a challenge. The
   * `maxHeaderSize` of the HTTP server changes this limit. Default: 8,192.
   */
  readonly maxTokenLength?: number | undefined
  /**
   * How many verified tokens the server caches. The server removes a token from the cache when the token expires, or when the verifier says
   * that the token must be verified again. Default: 10,000.
   */
  readonly maxCachedTokens?: number | undefined
  /** How long the server may take to find the user of a request. See the option `timeout` of `Authenticator`. Default: 10 seconds. */
  readonly timeout?: Duration.DurationInput | undefined
  /**
   * How many requests may wait for the verification of their tokens. Further requests get status 503. In addition, the same number of
   * requests whose tokens are cached may wait for the function `user`. Default: 1,024.
   */
  readonly concurrency?: number | undefined
  /** Makes the user from a verified token. Default: the user is the `AccessToken`. */
  readonly user?: User<Claims, S, UR> | undefined
}

/**
 * A function that makes the user of a token. The function runs for each request. `secret` is the text of the token. Use this text only to
 * get another token from the authorization server (`TokenExchange`).
 *
 * @category models
 */
export type User<Claims, S, R> = (
  token: AccessToken<Claims>,
  secret: Redacted.Redacted<string>
) => Effect.Effect<S, Refuses, R>

/**
 * The option `dpop` of `make`.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9449
 *
 * @category models
 */
export interface DpopOptions {
  /** Whether every token must be bound to a key. Default: false. */
  readonly required?: boolean | undefined
  /** How old a proof may be. Default: 1 minute. */
  readonly maxAge?: Duration.DurationInput | undefined
  /**
   * How many used proofs this process stores, so that it can refuse a proof that is used twice. For each key, this process stores at most a
   * tenth of this number. A request with a further proof gets status 503. When `SharedLimits` is provided, the proofs are stored there, and
   * this limit does not apply. Default: 100,000.
   */
  readonly maxProofs?: number | undefined
  /** How long a nonce of this process is valid. With this option, each proof must have a valid nonce. Default: proofs need no nonce. */
  readonly nonce?: Duration.DurationInput | undefined
}

/**
 * The claims of a token when `make` has no option `claims`.
 *
 * @category models
 */
export type AnyClaims = Readonly<Record<string, unknown>>

/** Requires the option `user` if the service of the tag is not the `AccessToken`. */
type WithUser<Claims, S, R> = AccessToken<Claims> extends S ? unknown : { readonly user: User<Claims, S, R> }

/**
 * Makes an `Authenticator` that provides the user of each request as the service `tag`. Without the option `user`, the service is the
 * `AccessToken`. The server dies at its start when `resource` is not an http or https URL, or when the URL has a fragment.
 *
 * @example
 * ```ts
 * import type * as AccessToken from "@effect-mcp/auth/AccessToken"
 * import * as JwtVerifier from "@effect-mcp/auth/JwtVerifier"
 * import * as ResourceServer from "@effect-mcp/auth/ResourceServer"
 * import * as Feature from "@effect-mcp/core/Feature"
 * import * as McpServer from "@effect-mcp/core/McpServer"
 * import * as Tool from "@effect-mcp/core/Tool"
 * import { Context, Effect, Schema } from "effect"
 *
 * class User extends Context.Tag("User")<User, AccessToken.AccessToken<{ readonly name: string }>>() {}
 *
 * const authenticator = ResourceServer.make(User, {
 *   resource: "https://mcp.example.com/mcp",
 *   authorizationServers: ["https://login.example.com"],
 *   scopes: ["notes:write"],
 *   claims: Schema.Struct({ name: Schema.String }),
 *   verify: JwtVerifier.make()
 * })
 *
 * const Write = McpServer.tool(
 *   Tool.make("write"),
 *   () => Effect.map(User, ({ claims }) => `Written by ${claims.name}`)
 * ).pipe(Feature.requires(["notes:write"]))
 *
 * export const Server = McpServer.layer({ name: "notes", version: "1.0.0" }, Write, { authenticator })
 * ```
 * @category constructors
 */
export const make = <
  I,
  S extends Granted,
  Claims = AnyClaims,
  VR = never,
  CR = never,
  UR = never,
  R2 = never,
  R3 = never
>(
  tag: Context.Tag<I, S>,
  options: Options<Claims, S, VR, CR, UR, R2, R3> & WithUser<Claims, S, UR>
): Authenticator.Authenticator<I, VR | CR | UR | R2 | R3> =>
  Authenticator.scoped(tag, Effect.flatMap(settingsOf(options), (settings) => start(options, settings)))

/**
 * Makes the same `Authenticator` as `make`, with options from the configuration of the program. The result is not a layer: pass the
 * authenticator to `McpServer.layer` as the option `authenticator`.
 *
 * @category constructors
 */
export const makeConfig = <
  I,
  S extends Granted,
  Claims = AnyClaims,
  VR = never,
  CR = never,
  UR = never,
  R2 = never,
  R3 = never
>(
  tag: Context.Tag<I, S>,
  options: Config.Config<Options<Claims, S, VR, CR, UR, R2, R3> & WithUser<Claims, S, UR>>
): Effect.Effect<Authenticator.Authenticator<I, VR | CR | UR | R2 | R3>, ConfigError> =>
  Effect.map(options, (options) => make(tag, options))

interface Settings {
  readonly origin: string
  readonly resourceUrl: string
  readonly rules: TokenRules.Rules
  readonly challenges: Challenges.Challenges
  readonly requires: ReadonlyArray<string>
  /** The metadata document, under each path at which the server publishes it. */
  readonly documents: Readonly<Record<string, JsonObject>>
}

const WELL_KNOWN = "/.well-known/oauth-protected-resource"

/**
 * Returns the paths of the metadata document (RFC 9728). The first path contains the path of the resource, and challenges name this path.
 * The last path does not contain the path of the resource.
 */
const metadataPaths = ({ pathname }: URL): readonly [string, ...Array<string>] => [
  pathname === "/" ? WELL_KNOWN : `${WELL_KNOWN}${pathname}`,
  `${WELL_KNOWN}${pathname.replace(/\/$/, "")}`,
  WELL_KNOWN
]

/** Removes duplicates, and removes `offline_access`, because a resource server does not handle refresh tokens. */
const listedScopes = (scopes: ReadonlyArray<string>): ReadonlyArray<string> =>
  [...new Set(scopes)].filter((scope) => scope !== "offline_access")

const settingsOf = (options: AnyOptions): Effect.Effect<Settings> =>
  Effect.suspend(() => {
    const { dpop, resource } = options
    const url = URL.canParse(resource) ? new URL(resource) : undefined
    if (url === undefined || !/^https?:$/.test(url.protocol) || resource.includes("#")) {
      return Effect.dieMessage(
        `"${resource}" is not a resource: it is the URL of the server, without fragment, as in "https://mcp.example.com/mcp"`
      )
    }
    const requires = listedScopes(options.requires ?? [])
    const scopes = listedScopes([...options.scopes ?? [], ...requires])
    const paths = metadataPaths(url)
    const proofs = dpop === undefined
      ? undefined
      : { required: dpop.required === true, algorithms: DpopProofs.ALGORITHMS }
    const document = documentOf(options, scopes, proofs)
    return Effect.succeed({
      documents: Object.fromEntries(paths.map((path) => [path, document])),
      origin: url.origin,
      resourceUrl: DpopProofs.normalized(resource),
      requires,
      rules: rulesOf(options),
      challenges: Challenges.make({
        resourceMetadata: `${url.origin}${paths[0]}`,
        scopes: requires.length > 0 ? requires : scopes,
        dpop: proofs
      })
    })
  })

type AnyOptions = Options<any, any, any, any, any, any, any>

/** Makes the metadata document (RFC 9728). */
const documentOf = (
  { authorizationServers, metadata, resource }: AnyOptions,
  scopes: ReadonlyArray<string>,
  proofs: Challenges.Options["dpop"]
): JsonObject => ({
  ...metadata,
  resource,
  authorization_servers: [...authorizationServers],
  ...(scopes.length === 0 ? undefined : { scopes_supported: [...scopes] }),
  bearer_methods_supported: ["header"],
  ...(proofs === undefined ? undefined : {
    dpop_signing_alg_values_supported: [...proofs.algorithms],
    dpop_bound_access_tokens_required: proofs.required
  })
})

const rulesOf = (
  { audience, authorizationServers, clockTolerance, resource, scopeClaims = ["scope", "scp"] }: AnyOptions
): TokenRules.Rules => ({
  scopeClaims,
  issuers: authorizationServers,
  audiences: audience === undefined
    ? TokenRules.audiencesOf(resource)
    : typeof audience === "string"
    ? [audience]
    : audience,
  clockTolerance: Duration.toMillis(clockTolerance ?? "30 seconds")
})

const start = <Claims, S extends Granted, VR, CR, UR, R2, R3>(
  options: Options<Claims, S, VR, CR, UR, R2, R3>,
  settings: Settings
): Effect.Effect<Authenticator.Options<S, UR, R2, R3>, never, VR | CR | Scope.Scope> =>
  Effect.gen(function*() {
    const { concurrency = 1024, dpop = {}, maxCachedTokens = 10_000 } = options
    const scope = yield* Effect.scope
    const shared = Option.getOrUndefined(yield* Effect.serviceOption(SharedLimits))
    const self: Self<Claims, S, UR> = {
      options,
      settings,
      verified: yield* verifierOf(options, settings),
      cache: TokenCache.make<Known<Claims>, TokenError>(maxCachedTokens, scope, concurrency, BUSY),
      proofs: DpopProofs.make(dpop, settings.rules.clockTolerance, shared)
    }
    return {
      id: ({ id }) => id,
      documents: settings.documents,
      http: (request) => http(self, request),
      stdio: options.stdio,
      inProcess: options.inProcess,
      permit: (user, more) => permit(self, user, more),
      timeout: options.timeout,
      concurrency: 2 * concurrency
    }
  })

/** The data that the functions of this module share. */
interface Self<Claims, S, UR> {
  readonly options: Pick<Options<Claims, S, any, any, UR, any, any>, "covers" | "dpop" | "maxTokenLength" | "user">
  readonly settings: Settings
  /** Verifies a token that is not in the cache, and decodes its claims. */
  readonly verified: (
    secret: Redacted.Redacted<string>
  ) => Effect.Effect<TokenCache.Entry<Known<Claims>>, TokenError>
  readonly cache: TokenCache.TokenCache<Known<Claims>, TokenError>
  readonly proofs: DpopProofs.DpopProofs
}

const verifierOf = <Claims, VR, CR>(
  options: Options<Claims, any, VR, CR, any, any, any>,
  { rules }: Settings
): Effect.Effect<Self<Claims, unknown, unknown>["verified"], never, VR | CR | Scope.Scope> =>
  Effect.gen(function*() {
    const { authorizationServers, claims: schema, resource } = options
    const verify = yield* options.verify.start({ resource, issuers: authorizationServers })
    const context = yield* Effect.context<VR | CR>()
    const decode = schema === undefined ? undefined : Schema.decodeUnknown(schema)
    return (secret) =>
      Effect.gen(function*() {
        const verified = yield* verify(secret)
        const found = yield* TokenRules.accept(verified, rules)
        const claims = decode === undefined
          ? verified.claims as Claims
          : yield* Effect.mapError(decode(verified.claims), () => UNFIT)
        const value: Known<Claims> = { ...found, token: { ...found.token, claims } }
        return { value, isCurrent: verified.isCurrent ?? never }
      }).pipe(Effect.provide(context))
  })

const http = <Claims, S, UR>(
  self: Self<Claims, S, UR>,
  request: Authenticator.HttpRequest
): Effect.Effect<S, Refuses, UR> => {
  const { cache, options: { maxTokenLength = 8192 }, settings: { challenges }, verified } = self
  const credentials = Challenges.credentialsOf(request, maxTokenLength)
  if (credentials._tag === "None") return Effect.fail(challenges.missing)
  if (credentials._tag === "Malformed") return Effect.fail(challenges.malformed(credentials.message))
  const { token } = credentials
  return Effect.flatMap(Clock.currentTimeMillis, (millis) => {
    const known = cache.get(token, millis)
    return known !== undefined
      ? userOf(self, request, credentials, known, millis)
      : Effect.flatMap(
        Effect.mapError(cache.verify(token, verified(Redacted.make(token))), (error) => refused(challenges, error)),
        (known) => userOf(self, request, credentials, known, millis)
      )
  })
}

const refused = (challenges: Challenges.Challenges, error: TokenError): HttpRefusal.HttpRefusal =>
  error.reason === "Unavailable" ? Challenges.unavailable(error.message) : challenges.invalidToken(error.message)

const userOf = <Claims, S, UR>(
  self: Self<Claims, S, UR>,
  request: Authenticator.HttpRequest,
  { scheme, token }: Challenges.Token,
  { isCurrent, value: known }: TokenCache.Entry<Known<Claims>>,
  millis: number
): Effect.Effect<S, Refuses, UR> => {
  const { cache, options: { dpop, user }, settings: { challenges, rules } } = self
  const problem = TokenRules.problemAt(known, rules, millis)
  if (problem !== undefined) {
    cache.remove(token)
    return Effect.fail(challenges.invalidToken(problem))
  }
  const found = Effect.zipRight(
    Authenticator.validFor(TokenRules.lifeAt(known, rules, millis), recheckAfter(isCurrent, millis)),
    // Without the option `user`, the user is the `AccessToken`.
    user === undefined ? Effect.succeed(known.token as unknown as S) : user(known.token, Redacted.make(token))
  )
  const { jkt } = known
  if (jkt === undefined) {
    return scheme === "bearer" && dpop?.required !== true
      ? found
      : Effect.fail(challenges.invalidToken("The access token is not bound to a key"))
  }
  if (scheme !== "dpop") return Effect.fail(challenges.invalidToken("The access token needs a proof of DPoP"))
  // A proof is accepted only one time. The proof of a forwarded request was already accepted: by another node, or by this node when the
  // stream began.
  return request.isForwarded === true ? found : Effect.zipRight(proven(self, request, { token, jkt, millis }), found)
}

const proven = (
  { proofs, settings: { challenges, origin, resourceUrl } }: Self<any, any, any>,
  { headers, method, url }: Authenticator.HttpRequest,
  bound: Pick<DpopProofs.Request, "jkt" | "millis" | "token">
) => {
  const path = url.split("?", 1)[0]!
  const urls = [resourceUrl, DpopProofs.normalized(`${origin}${path}`)]
  return Effect.mapError(proofs.check({ ...bound, proof: headers["dpop"], method, urls }), challenges.proof)
}

const permit = (
  { options: { covers = has }, settings: { challenges, requires } }: Self<any, any, any>,
  user: Granted,
  more: ReadonlyArray<string>
) => {
  const needed = [...new Set([...requires, ...more])]
  return needed.every((scope) => covers(user.scopes, scope)) ? undefined : challenges.insufficientScope(needed)
}

/** A verified token. */
type Known<Claims> = Omit<TokenRules.Accepted, "token"> & { readonly token: AccessToken<Claims> }

const UNFIT = new TokenError({ reason: "Invalid", message: "The access token lacks claims that this server needs" })

const BUSY = new TokenError({
  reason: "Unavailable",
  message: "the server verifies too many access tokens at the moment"
})

/**
 * How often the token of an open stream is checked, in milliseconds. `SOON` is used when the verifier must verify the token again within
 * `RECHECK`.
 */
const RECHECK = 30_000
const SOON = 5000

const recheckAfter = (isCurrent: (millis: number) => boolean, millis: number): number =>
  isCurrent === never || isCurrent(millis + RECHECK) ? RECHECK : SOON

const has = (granted: ReadonlyArray<string>, required: string): boolean => granted.includes(required)

const never = (): boolean => false

/**
 * Returns the paths of the metadata document. When you mount an endpoint in a router, the router must also pass requests for these paths to
 * the endpoint. Throws when `resource` is not a URL.
 *
 * @category utils
 */
export const wellKnownPaths = (
  resource: string
): ReadonlyArray<string> => [...new Set(metadataPaths(new URL(resource)))]
