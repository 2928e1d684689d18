/**
 * Decides whether a token that was verified is for this server and for now, whatever has verified it. `ResourceServer` asks for each
 * request. Texts are compared exactly: URLs that mean the same are different audiences and different issuers.
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
  /** The claims that have the scopes of a token. */
  readonly scopeClaims: ReadonlyArray<string>
  /** In milliseconds. */
  readonly clockTolerance: number
}

/** An access token, with what a request must prove. */
export interface Accepted {
  readonly token: AccessToken
  /** The thumbprint of the key that the sender must have. */
  readonly jkt: string | undefined
  /** In milliseconds; the token is valid from then on. */
  readonly notBefore: number
}

/** The audiences of a resource: an origin is the same with and without a slash. */
export const audiencesOf = (resource: string): ReadonlyArray<string> =>
  new URL(resource).pathname === "/" ? [resource.replace(/\/$/, ""), `${resource.replace(/\/$/, "")}/`] : [resource]

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
    return TokenVerifier.invalid("The access token is for another resource than this server")
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
  if (id === undefined) return TokenVerifier.invalid("The access token names neither a user nor a client")
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

/** Why the token is not valid at a time; `undefined` when it is. */
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
 * For how many milliseconds a stream may be open that begins now: until the token expires, or when it has expired by the clock of
 * this server, until requests with the token are refused.
 */
export const lifeAt = (
  { token: { expiresAt = Infinity } }: Timed,
  { clockTolerance }: Rules,
  millis: number
): number => expiresAt > millis ? expiresAt - millis : expiresAt + clockTolerance - millis

const isTime = (value: unknown): value is number | undefined => value === undefined || Number.isFinite(value)

/** What a claim is that is there and cannot be read: it is refused, never treated as absent. */
const malformed = Symbol()

type Claim = string | undefined | typeof malformed

const isText = (value: unknown): value is string => typeof value === "string" && value !== ""

/** The user. A token whose user cannot be read would otherwise be the token of its client, which all users of the client share. */
const subjectOf = (sub: unknown): Claim => sub === undefined || isText(sub) ? sub : malformed

/** The client. Issuers write `null` where there is none. */
const clientOf = (client: unknown): Claim =>
  client === undefined || client === null ? undefined : isText(client) ? client : malformed

/** The scopes, separated by spaces. An entry of a list is one scope: `Notes Admin` must not become `Notes` and `Admin`. */
const scopesOf = (scopes: unknown): Claim =>
  scopes === undefined || scopes === null || scopes === ""
    ? undefined
    : typeof scopes === "string"
    ? scopes
    : Array.isArray(scopes) && scopes.every(Predicate.isString)
    ? scopes.filter((one) => !one.includes(" ")).join(" ")
    : malformed
