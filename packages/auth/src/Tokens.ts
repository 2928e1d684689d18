/**
 * The tokens that a token endpoint issues: an access token for one resource, and in some cases a refresh token. Both tokens are `Redacted`,
 * so that logs and errors do not show their texts. A `Grant` gets tokens, and a `CredentialStore` stores them.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/** @category models */
export interface Tokens extends Schema.Schema.Type<typeof Tokens> {}

/**
 * The schema of tokens. Applications may store tokens in the encoded form, which has the secrets in plain text.
 *
 * @category schemas
 */
export const Tokens = Schema.Struct({
  accessToken: Schema.Redacted(Schema.String),
  /** The scheme with which the access token is sent. */
  type: Schema.Literal("Bearer", "DPoP"),
  /** The time at which the access token expires, in milliseconds since 1970; `undefined` when the server does not name the time. */
  expiresAt: Schema.UndefinedOr(Schema.Number),
  /** The time at which the client renews the tokens, in milliseconds since 1970; `undefined` when `expiresAt` is `undefined`. */
  renewAt: Schema.UndefinedOr(Schema.Number),
  refreshToken: Schema.UndefinedOr(Schema.Redacted(Schema.String)),
  /** The id of the client for which the tokens were issued. Only this client can refresh the tokens. */
  clientId: Schema.optional(Schema.String),
  /** The scopes that the server granted. `undefined` when the server does not name them; then the server granted all requested scopes. */
  scopes: Schema.UndefinedOr(Schema.Array(Schema.String))
})
