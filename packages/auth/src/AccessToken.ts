/**
 * The data of an access token that a resource server has verified: the user, the client and the scopes. This value does not contain the
 * text of the token, so handlers cannot forward the token. By default `ResourceServer` provides this value to handlers as the user. Its
 * option `user` can make another value.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9068
 * @since 0.1.0
 */

/**
 * The members that every user of a resource server has, on every transport.
 *
 * @category models
 */
export interface Granted {
  /** The id of the user. Each session and each task belongs to the id of a user. */
  readonly id: string
  /** The scopes that the token has. */
  readonly scopes: ReadonlyArray<string>
}

/** @category models */
export interface AccessToken<out Claims = Readonly<Record<string, unknown>>> extends Granted {
  /**
   * The id of the user. It is made from the issuer and the subject of the token. If the token has no subject, it is made from the issuer
   * and the client. Tokens of two issuers never have the same id.
   */
  readonly id: string
  readonly issuer: string
  /** The name of the user at the issuer (the claim `sub`); `undefined` for a token without a user. */
  readonly subject: string | undefined
  /** The client for which the token was issued; `undefined` when the token does not name a client. */
  readonly clientId: string | undefined
  /** The time at which the token expires, in milliseconds since 1970; `undefined` when the token has no expiry time. */
  readonly expiresAt: number | undefined
  /** All claims of the token. The option `claims` of `ResourceServer` decodes the claims, if the application gives this option. */
  readonly claims: Claims
}
