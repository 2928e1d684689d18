/**
 * The grant of programs that act for themselves, without a user: the client is registered, and proves who it is with a secret or, better,
 * with a private key. `Authorization.layer` takes the grant; `identity/ClientAuthentication` proves who the client is.
 *
 * @see https://modelcontextprotocol.io/extensions/auth/oauth-client-credentials
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import type { AuthMethod, PreRegistered, PrivateKey } from "./ClientIdentity.js"
import type { Grant } from "./Grant.js"
import * as FixedClient from "./identity/FixedClient.js"

/** @category models */
export interface Secret {
  /** The authorization server that knows the client; the secret is sent to no other server. */
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: Redacted.Redacted<string>
  /** Default: basic if the server takes that, else post. */
  readonly authMethod?: Extract<AuthMethod, "client_secret_basic" | "client_secret_post"> | undefined
}

/** @category models */
export interface Key {
  readonly issuer: string
  readonly clientId: string
  readonly privateKey: PrivateKey
}

/**
 * Proves who the client is with a secret.
 *
 * @category utils
 */
export const secret = (options: Secret): Grant => make(options)

/**
 * Proves who the client is with a signature; no secret is sent.
 *
 * @category utils
 */
export const privateKey = (options: Key): Grant => make({ ...options, authMethod: "private_key_jwt" })

const make = (client: PreRegistered): Grant =>
  FixedClient.make(client, () => Effect.succeed({ grant_type: "client_credentials" }))
