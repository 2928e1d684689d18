/**
 * Verifies access tokens by a request to the authorization server, which says whether a token is active. Its answer is used for a
 * short time. A server that does not answer in time costs only the requests whose tokens are not known yet.
 *
 * @see https://www.rfc-editor.org/rfc/rfc7662
 * @since 0.1.0
 */
import * as HttpClient from "@effect/platform/HttpClient"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type { AuthorizationError } from "./AuthorizationError.js"
import type { Client } from "./ClientIdentity.js"
import * as Documents from "./discovery/Documents.js"
import { failure } from "./discovery/Failure.js"
import * as ServerMetadata from "./discovery/ServerMetadata.js"
import * as Text from "./discovery/Text.js"
import * as TokenEndpoint from "./flow/TokenEndpoint.js"
import * as Refreshed from "./resource/Refreshed.js"
import type { RequestOptions, TokenVerifier } from "./TokenVerifier.js"
import * as Verifier from "./TokenVerifier.js"

/** @category models */
export interface Options extends RequestOptions {
  /** This server, as the authorization server knows it: it authenticates with each request. */
  readonly client: Client
  /** The authorization server. Default: the only one that the resource server names. */
  readonly issuer?: string | undefined
  /** The address of the introspection endpoint. Default: that in the metadata of the authorization server. */
  readonly endpoint?: string | undefined
  /** How long an answer is used. A token that was revoked is accepted for so long. Default: 30 seconds. */
  readonly cacheFor?: Duration.DurationInput | undefined
  /** How many requests there may be at the same time; for further tokens the clients get 503. Default: 64. */
  readonly maxConcurrent?: number | undefined
}

/**
 * Dies when there are several authorization servers and no option `issuer`.
 *
 * @category constructors
 */
export const make = (options: Options): TokenVerifier<HttpClient.HttpClient> =>
  Verifier.scoped(Effect.fnUntraced(function*({ issuers }) {
    const issuer = options.issuer ?? issuers[0]
    if (issuer === undefined || (options.issuer === undefined && issuers.length > 1)) {
      return yield* Effect.dieMessage(
        "IntrospectionVerifier needs the option issuer: the server trusts several issuers"
      )
    }
    const documents = yield* Documents.ofIssuer(yield* HttpClient.HttpClient, issuer, options)
    const cacheFor = Duration.toMillis(options.cacheFor ?? "30 seconds")
    const { maxConcurrent = 64 } = options
    const metadata = Refreshed.make({
      what: `the metadata of ${Text.shorten(issuer)}`,
      request: ServerMetadata.document(documents, issuer),
      isSame: () => false,
      timeout: documents.timeout,
      maxAge: Duration.toMillis("1 hour"),
      staleFor: Infinity,
      interval: QUIET
    }, yield* Effect.scope)
    let running = 0
    let reported = -Infinity

    const request = Effect.fnUntraced(function*(token: string) {
      const known = options.endpoint === undefined || options.client.authMethod === undefined ? yield* metadata.get : {}
      const endpoint = options.endpoint ?? known["introspection_endpoint"]
      if (typeof endpoint !== "string") {
        return yield* failed(`The metadata of ${Text.shorten(issuer)} names no introspection endpoint`)
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
        : yield* failed(`The introspection endpoint of ${Text.shorten(issuer)} answered ${status}`)
    })

    const limited = (token: string) =>
      Effect.acquireUseRelease(
        Effect.suspend(() =>
          running < maxConcurrent
            ? Effect.succeed(running++)
            : failed(`${maxConcurrent} requests to the introspection endpoint are running`)
        ),
        () => request(token),
        () => Effect.sync(() => running--)
      )

    const report = (error: AuthorizationError) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => {
        if (now - reported < QUIET) return Effect.void
        reported = now
        return Effect.logWarning(`The server could not introspect an access token: ${error.message}`)
      })

    return Effect.fnUntraced(function*(token) {
      const began = yield* Clock.currentTimeMillis
      const claims = yield* limited(Redacted.value(token)).pipe(
        Effect.tapError(report),
        Effect.catchAll(() => Verifier.unavailable)
      )
      const { active, iss, token_type: type } = claims
      if (active !== true) return yield* Verifier.invalid("The access token is not active")
      if (iss !== undefined && iss !== issuer) {
        return yield* Verifier.invalid("The access token is from an issuer that this server does not trust")
      }
      // Some servers introspect refresh tokens, too.
      if (type !== undefined && !(typeof type === "string" && /^(bearer|dpop)$/i.test(type))) {
        return yield* Verifier.invalid("The token is no access token")
      }
      return { issuer, claims, isCurrent: (millis) => millis < began + cacheFor }
    })
  }))

/** How long the log says nothing more after a failure. */
const QUIET = Duration.toMillis("30 seconds")

const failed = (message: string) => failure("Unreachable", message)
