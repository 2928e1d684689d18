/**
 * Authenticates the client at a token endpoint, for `TokenEndpoint`. The method is the `authMethod` of the client. If the client has no
 * `authMethod`, the method depends on whether the client has a private key or a secret. For a secret, it also depends on the methods that
 * the server supports. `Identities` and the grants choose the client.
 *
 * @see https://www.rfc-editor.org/rfc/rfc6749#section-2.3
 * @see https://www.rfc-editor.org/rfc/rfc7523#section-2.2
 * @see https://www.rfc-editor.org/rfc/rfc7523#section-3
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Jose from "jose"
import type { AuthorizationError } from "../AuthorizationError.js"
import type { AuthorizationServer } from "../AuthorizationServer.js"
import type { AuthMethod, Client, PrivateKey } from "../ClientIdentity.js"
import { failure } from "../discovery/Failure.js"

/** The headers and parameters that a request needs in addition to the parameters of its grant. */
export interface Proof {
  readonly headers: Readonly<Record<string, string>>
  readonly parameters: Readonly<Record<string, string>>
}

/**
 * Returns the authentication method of the client. When the client names no method, the method depends on the key, the secret and the
 * methods that the server supports.
 */
export const methodOf = (client: Client, supported: ReadonlyArray<string>): AuthMethod =>
  client.authMethod ?? (
    client.privateKey !== undefined
      ? "private_key_jwt"
      : client.clientSecret === undefined
      ? "none"
      : supported.includes("client_secret_basic") || !supported.includes("client_secret_post")
      ? "client_secret_basic"
      : "client_secret_post"
  )

export const prove = Effect.fnUntraced(function*(
  client: Client,
  server: Pick<AuthorizationServer, "authMethods" | "issuer">
): Effect.fn.Return<Proof, AuthorizationError> {
  const { clientId, clientSecret, privateKey } = client
  const method = methodOf(client, server.authMethods)
  const named = (more: Proof["parameters"]): Proof => ({ headers: {}, parameters: { client_id: clientId, ...more } })
  if (method === "none") return clientId === "" ? { headers: {}, parameters: {} } : named({})
  if (method === "private_key_jwt") {
    return named({
      client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
      client_assertion: yield* sign(yield* required(privateKey, method), clientId, server.issuer)
    })
  }
  const secret = Redacted.value(yield* required(clientSecret, method))
  if (method === "client_secret_post") return named({ client_secret: secret })
  return { headers: { authorization: `Basic ${btoa(`${encode(clientId)}:${encode(secret)}`)}` }, parameters: {} }
})

const required = <A>(value: A | undefined, method: AuthMethod): Effect.Effect<A, AuthorizationError> =>
  value !== undefined
    ? Effect.succeed(value)
    : failure(
      "UnknownClient",
      `The client has no ${method === "private_key_jwt" ? "private key" : "secret"} for "${method}"`
    )

/** Encodes a text in the same way as in a form, as RFC 6749, appendix B, requires. */
const encode = (text: string): string => new URLSearchParams([["", text]]).toString().slice(1)

/** How long a signed JWT is valid, in milliseconds. */
const LIFETIME = 60_000

/** Signs a JWT that proves the identity of the client. Each JWT is used only one time. */
const sign = (key: PrivateKey, clientId: string, audience: string): Effect.Effect<string, AuthorizationError> =>
  Effect.flatMap(Clock.currentTimeMillis, (millis) =>
    Effect.tryPromise({
      try: () => {
        const jwt = new Jose.SignJWT({ jti: crypto.randomUUID() })
          .setIssuer(clientId)
          .setSubject(clientId)
          .setAudience(audience)
          .setIssuedAt(new Date(millis))
          .setExpirationTime(new Date(millis + LIFETIME))
        return loadKey(key).then(({ kid, signer }) =>
          jwt.setProtectedHeader({ alg: key.algorithm, typ: "JWT", ...kid }).sign(signer)
        )
      },
      // The error of a parser may quote the key.
      catch: () =>
        failure(
          "Signing",
          `The private key cannot sign with ${key.algorithm}: it must be PKCS #8 as PEM, or a JWK, of that algorithm`
        )
    }))

const loadKey = ({ algorithm, key, keyId }: PrivateKey) => {
  const text = Redacted.value(key).trim()
  const jwk = text.startsWith("{") ? JSON.parse(text) as Jose.JWK : undefined
  const kid = keyId ?? jwk?.kid
  const loading = jwk === undefined ? Jose.importPKCS8(text, algorithm) : Jose.importJWK(jwk, algorithm)
  return loading.then((signer) => ({ kid: kid === undefined ? {} : { kid }, signer }))
}
