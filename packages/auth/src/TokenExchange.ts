/**
 * The token exchange grant, for servers that act for their users at other servers. The grant exchanges the access token that a user has
 * sent to this server for a token that is for the other server. The user's token is sent only to the authorization server. Pass the grant
 * to `Authorization.layer`.
 *
 * @see https://www.rfc-editor.org/rfc/rfc8693
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import type { PreRegistered } from "./ClientIdentity.js"
import type { Grant } from "./Grant.js"
import * as FixedClient from "./identity/FixedClient.js"

/** @category models */
export interface Options<R = never> {
  /**
   * The client that is registered for this server at the authorization server. This server and the other server must both trust that
   * authorization server.
   */
  readonly client: PreRegistered
  /** The user's token. The effect runs for each exchange. `ResourceServer` passes the token to its option `user`. */
  readonly subjectToken: Effect.Effect<Redacted.Redacted<string>, unknown, R>
  /** The type of the user's token. Default: `access_token`. */
  readonly subjectTokenType?: "access_token" | "id_token" | "jwt" | undefined
  /**
   * The parameter `audience` of the exchange: the name of the other server. Some authorization servers need this name because they do not
   * use the URL of the server. Default: the parameter is not sent.
   */
  readonly audience?: string | undefined
}

const TYPE = "urn:ietf:params:oauth:token-type"

/**
 * Makes a grant whose tokens belong to one user. Make one `Authorization` for each user, each with its own `CredentialStore`.
 *
 * @example
 * ```ts
 * import * as Authorization from "@effect-mcp/auth/Authorization"
 * import * as CredentialStore from "@effect-mcp/auth/CredentialStore"
 * import * as TokenExchange from "@effect-mcp/auth/TokenExchange"
 * import type { Redacted } from "effect"
 * import { Effect, Layer } from "effect"
 *
 * export const forUser = (token: Redacted.Redacted<string>, clientSecret: Redacted.Redacted<string>) =>
 *   Authorization.layer(TokenExchange.make({
 *     client: { issuer: "https://login.example", clientId: "gateway", clientSecret },
 *     subjectToken: Effect.succeed(token)
 *   })).pipe(Layer.provide(CredentialStore.layerMemory))
 * ```
 * @category constructors
 */
export const make = <R = never>(options: Options<R>): Grant<R> =>
  FixedClient.make(
    options.client,
    () =>
      Effect.map(FixedClient.given(options.subjectToken, "There is no token of the user to exchange"), (token) => ({
        grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
        subject_token: token,
        subject_token_type: `${TYPE}:${options.subjectTokenType ?? "access_token"}`,
        requested_token_type: `${TYPE}:access_token`,
        ...(options.audience === undefined ? undefined : { audience: options.audience })
      }))
  )
