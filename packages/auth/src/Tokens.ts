/**
 * What a token endpoint issues: an access token for one resource, and perhaps a refresh token. Both tokens are `Redacted`, so that logs and
 * errors do not show their texts. A `Grant` gives tokens, and a `CredentialStore` keeps them.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/** @category models */
export interface Tokens extends Schema.Schema.Type<typeof Tokens> {}

/**
 * The schema of tokens, with which applications may store them. The encoded form has the secrets in plain text.
 *
 * @category schemas
 */
export const Tokens = Schema.Struct({
  accessToken: Schema.Redacted(Schema.String),
  /** The scheme with which the access token is sent. */
  type: Schema.Literal("Bearer", "DPoP"),
  /** When the access token expires, in milliseconds since 1970; `undefined` when the server does not say. */
  expiresAt: Schema.UndefinedOr(Schema.Number),
  /** When the client renews the tokens, in milliseconds since 1970; `undefined` when `expiresAt` is. */
  renewAt: Schema.UndefinedOr(Schema.Number),
  refreshToken: Schema.UndefinedOr(Schema.Redacted(Schema.String)),
  /** The id of the client that the tokens were issued to. Only this client can refresh the tokens. */
  clientId: Schema.optional(Schema.String),
  /** The scopes that were granted. `undefined` when the server does not say; this means that all requested scopes were granted. */
  scopes: Schema.UndefinedOr(Schema.Array(Schema.String))
})
