/**
 * The client credentials grant, for programs that act without a user. The client is registered manually, and authenticates with a secret or
 * with a private key. A private key is more secure. Pass the grant to `Authorization.layer`. `identity/ClientAuthentication` authenticates
 * the client.
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
  /** The issuer of the authorization server at which the client is registered. The secret is sent to no other server. */
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: Redacted.Redacted<string>
  /**
   * The method with which the client sends the secret. Default: `client_secret_post` if the server supports only this one of the two
   * methods, otherwise `client_secret_basic`.
   */
  readonly authMethod?: Extract<AuthMethod, "client_secret_basic" | "client_secret_post"> | undefined
}

/** @category models */
export interface Key {
  readonly issuer: string
  readonly clientId: string
  readonly privateKey: PrivateKey
}

/**
 * Makes a grant of a client that authenticates with a secret.
 *
 * @category utils
 */
export const secret = (options: Secret): Grant => make(options)

/**
 * Makes a grant of a client that authenticates with a signature. The private key never leaves the program.
 *
 * @category utils
 */
export const privateKey = (options: Key): Grant => make({ ...options, authMethod: "private_key_jwt" })

const make = (client: PreRegistered): Grant =>
  FixedClient.make(client, () => Effect.succeed({ grant_type: "client_credentials" }))
