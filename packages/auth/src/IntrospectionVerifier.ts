/**
 * Verifies access tokens with token introspection: the server asks the authorization server whether a token is active. Pass this verifier
 * to `ResourceServer` as the option `verify`. `ResourceServer` keeps each answer for a short time (`resource/TokenCache`). When the
 * authorization server does not answer in time, only requests with tokens that are not in the cache fail. The verifier counts introspection
 * requests for new tokens and for tokens that were active before separately. So an attacker who sends many invented tokens cannot block
 * valid tokens.
 *
 * @see https://www.rfc-editor.org/rfc/rfc7662
 * @since 0.1.0
 */
import * as HttpClient from "@effect/platform/HttpClient"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Ref from "effect/Ref"
import type * as Scope from "effect/Scope"
import type { AuthorizationError } from "./AuthorizationError.js"
import type { Client } from "./ClientIdentity.js"
import * as Documents from "./discovery/Documents.js"
import { failure } from "./discovery/Failure.js"
import * as ServerMetadata from "./discovery/ServerMetadata.js"
import * as ServerText from "./discovery/ServerText.js"
import * as TokenEndpoint from "./flow/TokenEndpoint.js"
import * as Refreshed from "./resource/Refreshed.js"
import * as SeenTokens from "./resource/SeenTokens.js"
import * as TokenVerifier from "./TokenVerifier.js"

/** @category models */
export interface Options extends TokenVerifier.RequestOptions {
  /** The OAuth client as which this server authenticates at the authorization server, in each introspection request. */
  readonly client: Client
  /** The issuer of the authorization server. Default: the issuer in `authorizationServers` of `ResourceServer`, if there is only one. */
  readonly issuer?: string | undefined
  /** The address of the introspection endpoint. Default: the address in the metadata of the authorization server. */
  readonly endpoint?: string | undefined
  /**
   * How long the server uses an answer of the authorization server. So the server may still accept a revoked token for up to this time.
   * Default: 30 seconds.
   */
  readonly cacheFor?: Duration.DurationInput | undefined
  /**
   * How many introspection requests may run at the same time for new tokens. For tokens that were active before, the same number of
   * requests may run in addition. When a limit is reached, the MCP client gets status 503 for a further token. Default: 64.
   */
  readonly maxConcurrent?: number | undefined
}

/**
 * Makes a verifier for the option `verify` of `ResourceServer.make`. The start of the server fails with a defect when `ResourceServer` has
 * several authorization servers and the option `issuer` of this verifier is missing.
 *
 * @category constructors
 */
export const make = (options: Options): TokenVerifier.TokenVerifier<HttpClient.HttpClient> =>
  TokenVerifier.scoped(Effect.fnUntraced(function*({ issuers }) {
    const issuer = options.issuer ?? issuers[0]
    if (issuer === undefined || (options.issuer === undefined && issuers.length > 1)) {
      return yield* Effect.dieMessage(
        "IntrospectionVerifier needs the option issuer: the server trusts several issuers"
      )
    }
    const documents = yield* Documents.ofIssuer(yield* HttpClient.HttpClient, issuer, options)
    const self: Self = {
      options,
      issuer,
      documents,
      metadata: metadataOf(documents, issuer, yield* Effect.scope),
      running: { known: yield* Ref.make(0), unknown: yield* Ref.make(0) },
      seen: SeenTokens.make(),
      reported: yield* Ref.make(-Infinity)
    }
    return (token) => verify(self, token)
  }))

/** After the verifier has logged a failure, it logs no further failures for this time, in milliseconds. */
const QUIET = Duration.toMillis("30 seconds")

/** The data that the functions of this module share. */
interface Self {
  readonly options: Options
  readonly issuer: string
  readonly documents: Documents.Documents
  readonly metadata: Refreshed.Refreshed<Claims>
  /**
   * How many requests to the introspection endpoint are running. `known` counts requests for tokens that were active before, and `unknown`
   * counts requests for other tokens.
   */
  readonly running: Readonly<Record<"known" | "unknown", Ref.Ref<number>>>
  readonly seen: SeenTokens.SeenTokens
  /** The time of the last failure that was logged, in milliseconds since 1970. */
  readonly reported: Ref.Ref<number>
}

type Claims = Readonly<Record<string, unknown>>

const metadataOf = (documents: Documents.Documents, issuer: string, scope: Scope.Scope): Refreshed.Refreshed<Claims> =>
  Refreshed.make({
    what: `the metadata of ${ServerText.shorten(issuer)}`,
    request: ServerMetadata.document(documents, issuer),
    isSame: () => false,
    timeout: documents.timeout,
    maxAge: Duration.toMillis("1 hour"),
    staleFor: Infinity,
    interval: QUIET
  }, scope)

const verify = Effect.fnUntraced(function*(self: Self, token: Redacted.Redacted<string>) {
  const { issuer, options: { cacheFor = "30 seconds" } } = self
  const began = yield* Clock.currentTimeMillis
  const secret = Redacted.value(token)
  if (self.seen.isInactive(secret, began)) return yield* NOT_ACTIVE
  const claims = yield* limited(self, secret).pipe(
    Effect.tapError((error) => report(self, error)),
    Effect.catchAll(() => TokenVerifier.unavailable)
  )
  const { active, iss, token_type: type } = claims
  self.seen.set(secret, active === true, yield* Clock.currentTimeMillis)
  if (active !== true) return yield* NOT_ACTIVE
  if (iss !== undefined && iss !== issuer) {
    return yield* TokenVerifier.invalid("The access token is from an issuer that this server does not trust")
  }
  // Some servers also introspect refresh tokens.
  if (type !== undefined && !(typeof type === "string" && /^(bearer|dpop)$/i.test(type))) {
    return yield* TokenVerifier.invalid("The token is not an access token")
  }
  const until = began + Duration.toMillis(cacheFor)
  return { issuer, claims, isCurrent: (millis: number) => millis < until }
})

const NOT_ACTIVE = TokenVerifier.invalid("The access token is not active")

const limited = (self: Self, token: string): Effect.Effect<Claims, AuthorizationError> => {
  const { options: { maxConcurrent = 64 }, seen } = self
  const running = self.running[seen.wasActive(token) ? "known" : "unknown"]
  const begun = Ref.modify(running, (count) => count < maxConcurrent ? [true, count + 1] : [false, count])
  const tooMany = failed(`${maxConcurrent} requests to the introspection endpoint are running`)
  return Effect.acquireUseRelease(
    Effect.flatMap(begun, (isAllowed) => isAllowed ? Effect.void : tooMany),
    () => request(self, token),
    () => Ref.update(running, (count) => count - 1)
  )
}

const request = Effect.fnUntraced(function*({ documents, issuer, metadata, options }: Self, token: string) {
  const known = options.endpoint === undefined || options.client.authMethod === undefined ? yield* metadata.get : {}
  const endpoint = options.endpoint ?? known["introspection_endpoint"]
  if (typeof endpoint !== "string") {
    return yield* failed(`The metadata of ${ServerText.shorten(issuer)} names no introspection endpoint`)
  }
  const methods = known["introspection_endpoint_auth_methods_supported"] ??
    known["token_endpoint_auth_methods_supported"]
  const { json, status } = yield* TokenEndpoint.postForm(
    Documents.at(documents, options.endpoint),
    { issuer, authMethods: ServerMetadata.strings(methods) ?? [] },
    "the introspection endpoint",
    endpoint,
    options.client,
    { token, token_type_hint: "access_token" }
  )
  return status === 200 && json !== undefined
    ? json
    : yield* failed(`The introspection endpoint of ${ServerText.shorten(issuer)} answered ${status}`)
})

const report = Effect.fnUntraced(function*({ reported }: Self, error: AuthorizationError) {
  const now = yield* Clock.currentTimeMillis
  if (now - (yield* Ref.get(reported)) < QUIET) return
  yield* Ref.set(reported, now)
  yield* Effect.logWarning(`The server could not introspect an access token: ${error.message}`)
})

const failed = (message: string) => failure("Unreachable", message)
