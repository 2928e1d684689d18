/**
 * Decides whether a verified token is for this server and valid now. The rules are the same for all verifiers. `ResourceServer` calls
 * `accept` one time for a token, and checks the times of the token for each request. Texts are compared exactly: two different texts for
 * the same URL are different audiences and different issuers.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9068#section-4
 */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type { AccessToken } from "../AccessToken.js"
import * as Challenge from "../discovery/Challenge.js"
import * as TokenVerifier from "../TokenVerifier.js"

export interface Rules {
  readonly issuers: ReadonlyArray<string>
  readonly audiences: ReadonlyArray<string>
  /** The names of the claims that contain the scopes of a token. */
  readonly scopeClaims: ReadonlyArray<string>
  /** The largest accepted difference between clocks, in milliseconds. */
  readonly clockTolerance: number
}

/** An access token, and the key that the sender of a request must have. */
export interface Accepted {
  readonly token: AccessToken
  /** The thumbprint of the key that the sender must have; `undefined` when the token is not bound to a key. */
  readonly jkt: string | undefined
  /** The time from which the token is valid, in milliseconds since 1970. */
  readonly notBefore: number
}

/** Returns the accepted values of `aud` for a resource. The URL of an origin is accepted with and without a slash at the end. */
export const audiencesOf = (resource: string): ReadonlyArray<string> =>
  new URL(resource).pathname === "/" ? [resource.replace(/\/$/, ""), `${resource.replace(/\/$/, "")}/`] : [resource]

/** Makes the access token from verified claims. Fails when the token is for another server, or has claims that this server cannot read. */
export const accept = (
  { claims, issuer }: TokenVerifier.Verified,
  rules: Rules
): Effect.Effect<Accepted, TokenVerifier.TokenError> => {
  if (!rules.issuers.includes(issuer)) {
    return TokenVerifier.invalid("The access token is from an issuer that this server does not trust")
  }
  const { aud, azp, client_id, cnf, exp, nbf, sub } = claims
  const audiences = Array.isArray(aud) ? aud : [aud]
  if (!audiences.some((one) => rules.audiences.includes(one))) {
    return TokenVerifier.invalid("The access token is not for this server")
  }
  if (!isTime(exp) || !isTime(nbf)) {
    return TokenVerifier.invalid("The times of the access token (exp and nbf) must be numbers")
  }
  const jkt = Predicate.isRecord(cnf) ? cnf["jkt"] : undefined
  if (cnf !== undefined && !(Predicate.isRecord(cnf) && Object.keys(cnf).length === 1 && typeof jkt === "string")) {
    return TokenVerifier.invalid("The access token is bound in a way that this server cannot check")
  }
  const subject = subjectOf(sub)
  if (subject === malformed) {
    return TokenVerifier.invalid("The user of the access token (sub) must be a string that is not empty")
  }
  const clients = [clientOf(client_id), clientOf(azp)]
  if (clients.includes(malformed)) {
    return TokenVerifier.invalid("The client of the access token (client_id or azp) must be a string that is not empty")
  }
  const [clientId, another] = (clients as ReadonlyArray<string | undefined>).filter(Predicate.isNotUndefined)
  if (another !== undefined && another !== clientId) {
    return TokenVerifier.invalid("The access token names two clients: client_id and azp differ")
  }
  const scopes = rules.scopeClaims.map((name) => scopesOf(claims[name]))
  if (scopes.includes(malformed)) {
    return TokenVerifier.invalid(
      `The scopes of the access token (${rules.scopeClaims.join(" or ")}) must be a string or a list of strings`
    )
  }
  // An issuer has no fragment and no query, so two different users never have the same id.
  const id = subject !== undefined
    ? `${issuer}#${subject}`
    : clientId !== undefined
    ? `${issuer}?${clientId}`
    : undefined
  if (id === undefined) return TokenVerifier.invalid("The access token has no user and no client")
  return Effect.succeed({
    token: {
      id,
      issuer,
      subject,
      clientId,
      scopes: Challenge.scopesOf(scopes.filter(Predicate.isString).join(" ")),
      expiresAt: exp === undefined ? undefined : exp * 1000,
      claims
    },
    jkt: jkt as string | undefined,
    notBefore: nbf === undefined ? -Infinity : nbf * 1000 - rules.clockTolerance
  })
}

/** The times of a token. */
interface Timed extends Pick<Accepted, "notBefore"> {
  readonly token: Pick<AccessToken, "expiresAt">
}

/** Returns the reason why the token is not valid at a time; `undefined` when the token is valid. */
export const problemAt = (
  { notBefore, token: { expiresAt = Infinity } }: Timed,
  { clockTolerance }: Rules,
  millis: number
): string | undefined =>
  millis >= expiresAt + clockTolerance
    ? "The access token has expired"
    : millis < notBefore
    ? "The access token is not valid yet"
    : undefined

/**
 * Returns for how many milliseconds a stream that begins now may stay open. A stream may stay open until the token expires. If the token
 * has already expired but is within the clock tolerance, the stream may stay open until the tolerance ends.
 */
export const lifeAt = (
  { token: { expiresAt = Infinity } }: Timed,
  { clockTolerance }: Rules,
  millis: number
): number => expiresAt > millis ? expiresAt - millis : expiresAt + clockTolerance - millis

const isTime = (value: unknown): value is number | undefined => value === undefined || Number.isFinite(value)

/** The value for a claim that exists but cannot be read. A token with such a claim is refused. */
const malformed = Symbol()

type Claim = string | undefined | typeof malformed

const isText = (value: unknown): value is string => typeof value === "string" && value !== ""

/**
 * Reads the user. An unreadable `sub` must not count as absent. Otherwise the token would belong to its client, and all users of the client
 * would be one user.
 */
const subjectOf = (sub: unknown): Claim => sub === undefined || isText(sub) ? sub : malformed

/** Reads the client. Some issuers write `null` when there is no client. */
const clientOf = (client: unknown): Claim =>
  client === undefined || client === null ? undefined : isText(client) ? client : malformed

/**
 * Reads the scopes and separates them with spaces. Each entry of a list is one scope. An entry with a space, such as `Notes Admin`, is left
 * out, because it must not become the two scopes `Notes` and `Admin`.
 */
const scopesOf = (scopes: unknown): Claim =>
  scopes === undefined || scopes === null || scopes === ""
    ? undefined
    : typeof scopes === "string"
    ? scopes
    : Array.isArray(scopes) && scopes.every(Predicate.isString)
    ? scopes.filter((one) => !one.includes(" ")).join(" ")
    : malformed
