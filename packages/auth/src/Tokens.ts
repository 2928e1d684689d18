/**
 * What a token endpoint issues: an access token for one resource, and perhaps a refresh token. Both are redacted: logs and errors that
 * hold tokens do not show them. A `Grant` gives tokens, and a `CredentialStore` keeps them.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/** @category models */
export interface Tokens extends Schema.Schema.Type<typeof Tokens> {}

/**
 * The schema, in which applications may store tokens; the encoded form has the secrets in clear.
 *
 * @category schemas
 */
export const Tokens = Schema.Struct({
  accessToken: Schema.Redacted(Schema.String),
  /** How the token is sent. */
  type: Schema.Literal("Bearer", "DPoP"),
  /** When the token expires, in milliseconds since 1970; `undefined` when the server does not say. */
  expiresAt: Schema.UndefinedOr(Schema.Number),
  /** When the client gets the next token, before this token expires. */
  renewAt: Schema.UndefinedOr(Schema.Number),
  refreshToken: Schema.UndefinedOr(Schema.Redacted(Schema.String)),
  /** The id of the client that they were issued to, which alone can refresh them. */
  clientId: Schema.optional(Schema.String),
  /** The scopes that were granted; `undefined` when the server does not say: then the requested scopes were granted. */
  scopes: Schema.UndefinedOr(Schema.Array(Schema.String))
})
