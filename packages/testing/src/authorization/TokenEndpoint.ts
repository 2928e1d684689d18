/**
 * The token endpoint of the test authorization server. It has the grant types that MCP uses, and token exchange. A test uses token exchange
 * in two ways: as an identity provider that issues ID-JAGs (Identity Assertion JWT Authorization Grants), and for a gateway that gets
 * tokens for its upstream servers. `Grants` issues the tokens, and `Endpoints` calls this endpoint.
 *
 * @see https://www.rfc-editor.org/rfc/rfc6749#section-3.2
 * @see https://www.rfc-editor.org/rfc/rfc8693
 * @see https://www.rfc-editor.org/rfc/rfc7523#section-2.1
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Encoding from "effect/Encoding"
import type { AccessToken, Issuer, Options, Received, RegisteredClient } from "../AuthorizationServerModel.js"
import * as BoundedMemory from "./BoundedMemory.js"
import * as Clients from "./Clients.js"
import type { Grant, Grants } from "./Grants.js"
import * as Keys from "./Keys.js"
import { json, type OAuthError, refuse } from "./OAuthError.js"

export interface ServerState {
  readonly issuer: string
  readonly options: Options
  readonly keys: Keys.Keys
  readonly clients: Clients.Clients
  readonly grants: Grants
}

/** A request with its authenticated client and the thumbprint of its DPoP proof. */
interface Asked {
  readonly form: URLSearchParams
  readonly client: RegisteredClient | undefined
  readonly thumbprint: string | undefined
  readonly scopes: ReadonlyArray<string>
}

const TYPE = "urn:ietf:params:oauth:token-type"

export const GRANT_TYPES = [
  "authorization_code",
  "refresh_token",
  "client_credentials",
  "urn:ietf:params:oauth:grant-type:jwt-bearer",
  "urn:ietf:params:oauth:grant-type:token-exchange"
]

export const scopesOf = (text: string | null): ReadonlyArray<string> =>
  text?.split(" ").filter((one) => one !== "") ?? []

/** Whether a text can be the identifier of a protected server: an absolute URI without a fragment (RFC 8707). */
export const isResource = (text: string | null): text is string =>
  text !== null && URL.canParse(text) && !text.includes("#")

export const checkScopes = (
  scopes: ReadonlyArray<string>,
  { scopes: known }: Options
): Effect.Effect<void, OAuthError> => {
  const unknown = known === undefined ? undefined : scopes.find((one) => !known.includes(one))
  return unknown === undefined ? Effect.void : refuse("invalid_scope", "The server does not know one of the scopes")
}

const s256 = (verifier: string) =>
  Effect.map(
    Effect.promise(() => crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier))),
    (digest) => Encoding.encodeBase64Url(new Uint8Array(digest))
  )

const badGrant = (description: string) => refuse("invalid_grant", description)

export const respond = (
  server: ServerState,
  { form }: Received,
  client: RegisteredClient | undefined,
  thumbprint: string | undefined
): Effect.Effect<Response, OAuthError> =>
  Effect.gen(function*() {
    for (const name of ["code_verifier", "client_secret", "assertion", "client_assertion", "subject_token"]) {
      const value = form.get(name)
      if (value !== null) BoundedMemory.add(server.grants.secrets, value)
    }
    const scopes = scopesOf(form.get("scope"))
    yield* checkScopes(scopes, server.options)
    const type = form.get("grant_type") ?? ""
    const asked: Asked = { form, client, thumbprint, scopes }
    if (type === GRANT_TYPES[3]) return yield* byAssertion(server, asked)
    if (client === undefined) return yield* refuse("invalid_client", "The request names no client", 401)
    switch (type) {
      case "authorization_code":
        return yield* byCode(server, asked, client)
      case "refresh_token":
        return yield* byRefreshToken(server, asked, client)
      case "client_credentials":
        return Clients.isConfidential(client)
          ? yield* issue(server, {
            ...(yield* grantOf(asked, client.clientId, client.clientId)),
            scopes
          })
          : yield* refuse("unauthorized_client", "A client without a secret or a key cannot act for itself")
      case GRANT_TYPES[4]:
        return yield* byExchange(server, asked, client)
      default:
        return yield* refuse("unsupported_grant_type", "The server does not know the grant type")
    }
  })

const grantOf = ({ form, thumbprint }: Asked, clientId: string, subject: string) => {
  const resource = form.get("resource")
  return isResource(resource)
    ? Effect.succeed({ clientId, subject, resource, thumbprint, actor: undefined, family: { isRevoked: false } })
    : refuse("invalid_target", "The parameter `resource` must name the protected server by its absolute URI")
}

const issue = (
  { grants, issuer, keys }: ServerState,
  grant: Grant,
  renewable?: Grant,
  more: Readonly<Record<string, unknown>> = {}
): Effect.Effect<Response> =>
  Effect.gen(function*() {
    const { accessToken, refreshToken, seconds } = yield* grants.issue(grant, renewable)
    const { clientId, scopes, subject, thumbprint } = grant
    const now = Math.floor((yield* Clock.currentTimeMillis) / 1000)
    const identity = scopes.includes("openid")
      ? yield* keys.sign({ iss: issuer, sub: subject, aud: clientId, iat: now, exp: now + seconds })
      : undefined
    return json({
      access_token: accessToken,
      token_type: thumbprint === undefined ? "Bearer" : "DPoP",
      expires_in: seconds,
      ...(scopes.length === 0 ? undefined : { scope: scopes.join(" ") }),
      refresh_token: refreshToken,
      id_token: identity,
      ...more
    })
  })

const byCode = (server: ServerState, asked: Asked, { clientId }: RegisteredClient) =>
  Effect.gen(function*() {
    const { form, thumbprint } = asked
    const code = yield* server.grants.takeCode(form.get("code") ?? "")
    if (code === undefined || code.clientId !== clientId) {
      return yield* badGrant("The code is unknown, has expired, was used before, or is another client's")
    }
    if (code.redirectUri !== form.get("redirect_uri")) return yield* badGrant("The redirect URI is another than before")
    if ((yield* s256(form.get("code_verifier") ?? "")) !== code.challenge) {
      return yield* badGrant("The code verifier does not fit the code challenge")
    }
    const { resource } = yield* grantOf(asked, clientId, code.subject)
    if (resource !== code.resource) return yield* refuse("invalid_target", "The code is for another resource")
    const grant = { ...code, thumbprint }
    return yield* issue(server, grant, grant)
  })

const byRefreshToken = (server: ServerState, asked: Asked, { clientId }: RegisteredClient) =>
  Effect.gen(function*() {
    const { form, scopes, thumbprint } = asked
    const token = form.get("refresh_token") ?? ""
    const { resource } = yield* grantOf(asked, clientId, clientId)
    const isFor = (one: Grant) => one.clientId === clientId && one.thumbprint === thumbprint
    const grant = server.grants.findRefreshToken(token, isFor)
    if (grant === undefined) return yield* badGrant("The refresh token is unknown, revoked, or was used before")
    if (resource !== grant.resource) return yield* refuse("invalid_target", "The refresh token is for another resource")
    if (!scopes.every((one) => grant.scopes.includes(one))) {
      return yield* refuse("invalid_scope", "A refresh gives no more scopes than the login did")
    }
    server.grants.useRefreshToken(token)
    // The new refresh token MUST have the scopes of the old refresh token (RFC 6749, section 6).
    return yield* issue(server, { ...grant, scopes: scopes.length === 0 ? grant.scopes : scopes }, grant)
  })

/** The JWT bearer grant, for an ID-JAG of an enterprise or the token of a workload. */
const byAssertion = (server: ServerState, asked: Asked, used = server.options.trusts ?? []) =>
  Effect.gen(function*() {
    const { client, form, scopes } = asked
    const verified = yield* Keys.verifyOf(form.get("assertion") ?? "", used, server.issuer)
    if (verified === undefined) {
      return yield* badGrant(`The assertion must be for ${server.issuer}, valid, and signed by an issuer in \`trusts\``)
    }
    const { payload: { client_id: named, scope, sub = "" }, protectedHeader } = verified
    const isIdJag = protectedHeader.typ === "oauth-id-jag+jwt"
    if (isIdJag && (client === undefined || client.clientId !== named)) {
      return yield* badGrant("The ID-JAG was issued to another client")
    }
    const grant = yield* grantOf(asked, client?.clientId ?? sub, sub)
    const given = scopes.length === 0 && typeof scope === "string" ? scopesOf(scope) : scopes
    return yield* issue(server, { ...grant, scopes: given })
  })

/** Token exchange (RFC 8693): exchanges the token of a user for a token that the client may use at another server. */
const byExchange = (server: ServerState, asked: Asked, client: RegisteredClient) =>
  Effect.gen(function*() {
    const { form, scopes } = asked
    if (!Clients.isConfidential(client)) {
      return yield* refuse("unauthorized_client", "A client without a secret or a key cannot exchange tokens")
    }
    const subject = yield* subjectOf(server, form)
    if (subject === undefined) {
      return yield* refuse("invalid_request", "The subject token is not valid, or its type is not supported")
    }
    const given = scopes.length === 0 ? subject.scopes : scopes
    if (form.get("requested_token_type") === `${TYPE}:id-jag`) {
      return yield* idJag(server, asked, client, subject.subject)
    }
    const grant = yield* grantOf(asked, client.clientId, subject.subject)
    return yield* issue(server, { ...grant, actor: client.clientId, scopes: given }, undefined, {
      issued_token_type: `${TYPE}:access_token`
    })
  })

const subjectOf = (
  { grants, issuer, keys, options: { trusts = [] } }: ServerState,
  form: URLSearchParams
): Effect.Effect<Pick<AccessToken, "scopes" | "subject"> | undefined> => {
  const token = form.get("subject_token") ?? ""
  const own: Issuer = { issuer, keys: keys.published }
  switch (form.get("subject_token_type")) {
    case `${TYPE}:access_token`:
      return grants.find(token)
    case `${TYPE}:id_token`:
    case `${TYPE}:jwt`:
      return Effect.map(
        Keys.verifyOf(token, [own, ...trusts]),
        (verified) => verified === undefined ? undefined : { subject: verified.payload.sub ?? "", scopes: [] }
      )
    default:
      return Effect.succeed(undefined)
  }
}

const ID_JAG_LIFE = 300

const idJag = (
  { issuer, keys }: ServerState,
  { form, scopes }: Asked,
  { clientId, idsElsewhere }: RegisteredClient,
  subject: string
): Effect.Effect<Response, OAuthError> =>
  Effect.gen(function*() {
    const audience = form.get("audience")
    if (audience === null) return yield* refuse("invalid_target", "`audience` must name the other authorization server")
    const now = Math.floor((yield* Clock.currentTimeMillis) / 1000)
    const token = yield* keys.sign({
      iss: issuer,
      sub: subject,
      aud: audience,
      client_id: idsElsewhere?.[audience] ?? clientId,
      jti: crypto.randomUUID(),
      iat: now,
      exp: now + ID_JAG_LIFE,
      resource: form.get("resource") ?? undefined,
      ...(scopes.length === 0 ? undefined : { scope: scopes.join(" ") })
    }, { typ: "oauth-id-jag+jwt" })
    return json({
      access_token: token,
      issued_token_type: `${TYPE}:id-jag`,
      token_type: "N_A",
      expires_in: ID_JAG_LIFE,
      ...(scopes.length === 0 ? undefined : { scope: scopes.join(" ") })
    })
  })
