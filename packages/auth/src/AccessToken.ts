/**
 * An access token that a resource server has verified: who it was issued to, and what for. This value does not hold the text of the token,
 * so that nothing can send the token on. `ResourceServer` gives this value to handlers as the user, unless the application makes a user of
 * its own from the value.
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
  /** Identifies the user: sessions and tasks belong to it. */
  readonly id: string
  /** What the user may do. */
  readonly scopes: ReadonlyArray<string>
}

/** @category models */
export interface AccessToken<out Claims = Readonly<Record<string, unknown>>> extends Granted {
  /** Issuer and subject, or issuer and client for a token without a subject. Two issuers never give the same id. */
  readonly id: string
  readonly issuer: string
  /** The user, as the issuer names it. */
  readonly subject: string | undefined
  /** The client that the token was issued to; `undefined` when the token does not say. */
  readonly clientId: string | undefined
  /** When the token expires, in milliseconds of the epoch; `undefined` when the authorization server does not say. */
  readonly expiresAt: number | undefined
  /** All claims, decoded by the schema of the server if it has one. */
  readonly claims: Claims
}
