/**
 * An access token that a resource server has verified: the user, the client and the scopes. This value does not contain the text of the
 * token, so that no handler can forward the token. `ResourceServer` provides this value to handlers as the user, unless its option `user`
 * makes another value.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9068
 * @since 0.1.0
 */

/**
 * What every user of a resource server has, on every transport.
 *
 * @category models
 */
export interface Granted {
  /** Identifies the user. Sessions and tasks belong to this id. */
  readonly id: string
  /** The scopes that the token has. */
  readonly scopes: ReadonlyArray<string>
}

/** @category models */
export interface AccessToken<out Claims = Readonly<Record<string, unknown>>> extends Granted {
  /** Made from issuer and subject; for a token without a subject, from issuer and client. Tokens of two issuers never have the same id. */
  readonly id: string
  readonly issuer: string
  /** The user, as the issuer names the user; `undefined` for a token without a user. */
  readonly subject: string | undefined
  /** The client that the token was issued to; `undefined` when the token does not say. */
  readonly clientId: string | undefined
  /** When the token expires, in milliseconds since 1970; `undefined` when the authorization server does not say. */
  readonly expiresAt: number | undefined
  /** All claims, decoded by the option `claims` of `ResourceServer` if there is one. */
  readonly claims: Claims
}
