/**
 * Authenticates the client at a token endpoint, with the method that the client has chosen or that the server takes.
 * `Identities` and the grants decide which client that is.
 *
 * @see https://www.rfc-editor.org/rfc/rfc6749#section-2.3
 * @see https://www.rfc-editor.org/rfc/rfc7523#section-2.2
 * @see https://www.rfc-editor.org/rfc/rfc7523#section-3
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Jose from "jose"
import { AuthorizationError } from "../AuthorizationError.js"
import type { AuthorizationServer } from "../AuthorizationServer.js"
import type { AuthMethod, Client, PrivateKey } from "../ClientIdentity.js"

/** What a request needs beside the parameters of its grant. */
export interface Proof {
  readonly headers: Readonly<Record<string, string>>
  readonly parameters: Readonly<Record<string, string>>
}

/** The method, when the client does not name one. */
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

export const prove = (
  client: Client,
  server: Pick<AuthorizationServer, "authMethods" | "issuer">
): Effect.Effect<Proof, AuthorizationError> => {
  const { clientId, clientSecret, privateKey } = client
  const method = methodOf(client, server.authMethods)
  switch (method) {
    case "none":
      return Effect.succeed({ headers: {}, parameters: clientId === "" ? {} : { client_id: clientId } })
    case "client_secret_basic":
      return Effect.map(required(clientSecret, method), (secret) => ({
        headers: { authorization: `Basic ${base64(`${encode(clientId)}:${encode(Redacted.value(secret))}`)}` },
        parameters: {}
      }))
    case "client_secret_post":
      return Effect.map(required(clientSecret, method), (secret) => ({
        headers: {},
        parameters: { client_id: clientId, client_secret: Redacted.value(secret) }
      }))
    case "private_key_jwt":
      return Effect.flatMap(
        required(privateKey, method),
        (key) =>
          Effect.map(
            assertion(key, clientId, server.issuer),
            (assertion) => ({
              headers: {},
              parameters: {
                client_id: clientId,
                client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
                client_assertion: assertion
              }
            })
          )
      )
  }
}

const required = <A>(value: A | undefined, method: AuthMethod): Effect.Effect<A, AuthorizationError> =>
  value !== undefined ? Effect.succeed(value) : Effect.fail(
    new AuthorizationError({
      reason: "UnknownClient",
      message: `The client has no ${method === "private_key_jwt" ? "private key" : "secret"} for "${method}"`
    })
  )

/** As a form writes it: RFC 6749, appendix B. */
const encode = (text: string): string => new URLSearchParams([["", text]]).toString().slice(1)

const base64 = (text: string): string => btoa(text)

/** How long a signed JWT lives, in seconds. */
const LIFETIME = 60

/** Signs a JWT by which the client proves who it is. Each is used once. */
const assertion = (key: PrivateKey, clientId: string, audience: string): Effect.Effect<string, AuthorizationError> =>
  Effect.flatMap(Clock.currentTimeMillis, (millis) =>
    Effect.tryPromise({
      try: () => {
        const now = Math.floor(millis / 1000)
        return loadKey(key).then(({ keyId, signer }) =>
          new Jose.SignJWT({})
            .setProtectedHeader({
              alg: key.algorithm,
              typ: "JWT",
              ...(keyId === undefined ? undefined : { kid: keyId })
            })
            .setIssuer(clientId)
            .setSubject(clientId)
            .setAudience(audience)
            .setJti(crypto.randomUUID())
            .setIssuedAt(now)
            .setExpirationTime(now + LIFETIME)
            .sign(signer)
        )
      },
      // The error of a parser may quote the key.
      catch: () =>
        new AuthorizationError({
          reason: "Signing",
          message:
            `The private key cannot sign with ${key.algorithm}: it must be PKCS #8 as PEM, or a JWK, of that algorithm`
        })
    }))

const loadKey = ({ algorithm, key, keyId }: PrivateKey) => {
  const text = Redacted.value(key).trim()
  if (!text.startsWith("{")) return Jose.importPKCS8(text, algorithm).then((signer) => ({ keyId, signer }))
  const jwk = JSON.parse(text) as Jose.JWK
  return Jose.importJWK(jwk, algorithm).then((signer) => ({ keyId: keyId ?? jwk.kid, signer }))
}
