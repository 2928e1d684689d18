/**
 * Requests tokens at a token endpoint. This module accepts a response only if the client can use the token: a bearer token, or a DPoP token
 * when a proof was sent. `TokenRequests` passes `request` to the grant as the function `token`. `Revocation` and `IntrospectionVerifier`
 * send forms with `postForm`.
 *
 * @see https://www.rfc-editor.org/rfc/rfc6749#section-5
 */
import * as Headers from "@effect/platform/Headers"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as RefusedResponse from "@effect-mcp/core/unstable/client/RefusedResponse"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type { AuthorizationError } from "../AuthorizationError.js"
import type { AuthorizationServer } from "../AuthorizationServer.js"
import type { Client } from "../ClientIdentity.js"
import * as Challenge from "../discovery/Challenge.js"
import * as Documents from "../discovery/Documents.js"
import * as Exceptions from "../discovery/Exceptions.js"
import { failure, refusal } from "../discovery/Failure.js"
import * as ServerText from "../discovery/ServerText.js"
import type { Prover } from "../Dpop.js"
import type { Answer } from "../Grant.js"
import * as ClientAuthentication from "../identity/ClientAuthentication.js"
import type { ProviderExceptions } from "../ProviderExceptions.js"
import type { Tokens } from "../Tokens.js"

/** How long before its expiry a token is renewed, in milliseconds. A token is never renewed before half of its lifetime has passed. */
const EARLY = 60_000

/** Sends a form to an authorization server as the given client. Sends the form a second time when the server asks for a new DPoP nonce. */
export const postForm = Effect.fnUntraced(function*(
  documents: Documents.Documents,
  server: Pick<AuthorizationServer, "authMethods" | "issuer">,
  what: string,
  url: string,
  client: Client | undefined,
  form: Readonly<Record<string, string>>,
  prover?: Prover
) {
  const attempt = Effect.gen(function*() {
    // Each attempt makes a new proof, because a server accepts a signature of the client only one time.
    const { headers, parameters } = client === undefined
      ? { headers: {}, parameters: {} }
      : yield* ClientAuthentication.prove(client, server)
    const proof = prover === undefined ? {} : yield* prover.headers("POST", url, undefined)
    const request = HttpClientRequest.post(url).pipe(
      HttpClientRequest.setHeaders({ ...headers, ...proof }),
      HttpClientRequest.bodyUrlParams({ ...form, ...parameters })
    )
    const answer = yield* Documents.send(documents, what, request)
    const secret = client?.clientSecret === undefined ? "" : Redacted.value(client.clientSecret)
    return {
      answer: withoutSecrets(answer, { ...headers, ...form, ...parameters, client_secret: secret }),
      isNewNonce: prover?.keepNonce(url, answer.headers, proof["dpop"]) === true
    }
  })
  const first = yield* attempt
  const isAgain = first.isNewNonce && first.answer.json?.["error"] === "use_dpop_nonce"
  return (isAgain ? yield* attempt : first).answer
})

/** Requests tokens with the parameters of the grant (`form`). The function adds the id and the authentication of the client. */
export const request = Effect.fnUntraced(function*(
  documents: Documents.Documents,
  server: AuthorizationServer,
  client: Client,
  form: Readonly<Record<string, string>>,
  prover?: Prover
) {
  const answer = yield* postForm(documents, server, "the token endpoint", server.tokenEndpoint, client, form, prover)
  const now = yield* Clock.currentTimeMillis
  const tokens = yield* read(answer, server, now, { isProven: prover !== undefined, advice: adviceFor(client) })
  yield* checkTarget(server, documents.policy.server, tokens)
  return { ...tokens, clientId: client.clientId }
})

/**
 * Fails when the function `isTokenFor` of the application returns that the token is not for the MCP server. Then the client does not send
 * the token to this server.
 */
const checkTarget = Effect.fnUntraced(function*(
  { exceptions, issuer }: Pick<AuthorizationServer, "exceptions" | "issuer">,
  server: URL,
  { accessToken }: Tokens
) {
  if (exceptions?.isTokenFor === undefined) return
  const who = `the token that ${ServerText.shorten(issuer)} has issued`
  const isFor = yield* Effect.mapError(
    exceptions.isTokenFor(accessToken, server),
    (cause) => failure("TokenRefused", `\`isTokenFor\` failed for ${who}`, { cause })
  )
  if (!isFor) {
    return yield* failure(
      "TokenRefused",
      `The client does not use ${who}: \`isTokenFor\` says that it is not for ${ServerText.location(server)}`
    )
  }
})

/** Reads the response of a token endpoint. */
const read = Effect.fnUntraced(function*(
  answer: Answer,
  { exceptions, issuer }: Pick<AuthorizationServer, "exceptions" | "issuer">,
  now: number,
  { advice, isProven }: { readonly isProven: boolean; readonly advice: (error: string | undefined) => string }
): Effect.fn.Return<Tokens, AuthorizationError> {
  const { json = {}, status } = answer
  const who = `The token endpoint of ${ServerText.shorten(issuer)}`
  if (status >= 500 || status === 429) {
    return yield* refusal("Unreachable", who, answer, "; it may serve the request later")
  }
  // Some servers send an error with status 200.
  const error = ServerText.errorCode(json["error"])
  if (status < 200 || status >= 300 || error !== undefined) {
    return yield* refusal("TokenRefused", who, answer, advice(error))
  }
  const fields = exceptions?.readTokens === undefined ? json : yield* readBy(exceptions.readTokens, json, who)
  const { access_token: token, expires_in: expires, refresh_token: refresh, scope, token_type: type } = fields
  if (typeof token !== "string" || !/^[\x21-\x7e]+$/.test(token)) {
    return yield* failure("TokenRefused", `${who} issued no access token${ELSEWHERE}`)
  }
  const kind = typeof type === "string" ? type.toLowerCase() : ""
  if (kind !== "bearer" && !(kind === "dpop" && isProven)) {
    return yield* failure("TokenRefused", `${who} issued a token of a type that this client cannot send${ELSEWHERE}`)
  }
  const seconds = typeof expires === "string" ? Number(expires) : expires
  const millis = typeof seconds === "number" ? seconds * 1000 : 0
  // Some servers write 0, or no `expires_in`, for a token that does not expire. The client sends this token until the MCP server refuses
  // the token.
  const life = millis > 0 && Number.isFinite(millis) ? millis : undefined
  return {
    accessToken: Redacted.make(token),
    type: kind === "dpop" ? "DPoP" : "Bearer",
    expiresAt: life === undefined ? undefined : now + life,
    renewAt: life === undefined ? undefined : now + Math.max(life / 2, life - EARLY),
    refreshToken: typeof refresh === "string" && refresh !== "" ? Redacted.make(refresh) : undefined,
    scopes: typeof scope === "string" ? Challenge.scopesOf(scope) : undefined
  }
})

/** Returns the advice in an error. A server that wants a secret often answers only that it does not know the client. */
const adviceFor = ({ clientId, clientSecret, privateKey }: Client) => (error: string | undefined): string =>
  (error === "invalid_client" || error === "unauthorized_client") && clientSecret === undefined &&
    privateKey === undefined && clientId !== ""
    ? ". The client has sent no secret, because none is configured: if it is registered with one, give its `clientSecret`"
    : Exceptions.adviceFor(error)

const ELSEWHERE = Exceptions.cure("the provider documents that its answers have another form", "readTokens")

/**
 * Runs `readTokens` of the application. The message of the error does not repeat an exception of this function, because the exception may
 * quote the answer.
 */
const readBy = (
  readTokens: NonNullable<ProviderExceptions["readTokens"]>,
  json: Readonly<Record<string, unknown>>,
  who: string
): Effect.Effect<Readonly<Record<string, unknown>>, AuthorizationError> =>
  Effect.try({
    try: () => readTokens(json),
    catch: () => failure("TokenRefused", `${who} answered what \`readTokens\` could not read: it threw an error`)
  })

/** The parameters whose values an error may repeat. */
const PUBLIC = new Set([
  "audience",
  "client_assertion_type",
  "client_id",
  "grant_type",
  "redirect_uri",
  "requested_token_type",
  "resource",
  "scope",
  "subject_token_type"
])

/** Returns the answer without the secrets of the client. The errors of the server may repeat these secrets. */
const withoutSecrets = (answer: Answer, sent: Readonly<Record<string, string>>): Answer => {
  const { json } = answer
  if (json === undefined) return answer
  const secrets = Headers.fromInput(Object.entries(sent).filter(([name]) => !PUBLIC.has(name)))
  const clean = (text: unknown): unknown => typeof text === "string" ? RefusedResponse.redact(text, secrets) : text
  return {
    ...answer,
    json: { ...json, error: clean(json["error"]), error_description: clean(json["error_description"]) }
  }
}
