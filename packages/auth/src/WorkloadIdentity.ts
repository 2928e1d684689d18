/**
 * The grant for workloads. The platform that runs the program, such as Kubernetes or a cloud, gives a token to the program. The token
 * identifies the program, and the authorization server trusts the platform. Therefore the program needs no secret. Pass the grant to
 * `Authorization.layer`.
 *
 * @see https://www.rfc-editor.org/rfc/rfc7523#section-2.1
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import type { Grant } from "./Grant.js"
import * as FixedClient from "./identity/FixedClient.js"

/** @category models */
export interface Options<R = never> {
  /** The issuer of the authorization server for which the token was made. The token is sent to no other server. */
  readonly issuer: string
  /**
   * Returns the token of the workload. The effect runs for each token request, because platforms replace the token from time to time, often
   * in a file.
   */
  readonly token: Effect.Effect<Redacted.Redacted<string>, unknown, R>
  /** The id of the client, if the authorization server requires one. Default: no `client_id` is sent. */
  readonly clientId?: string | undefined
}

/**
 * Makes a grant that exchanges the token of the workload for an access token. When the authorization server refuses the token of the
 * workload, the request fails.
 *
 * @category constructors
 */
export const make = <R = never>({ clientId = "", issuer, token }: Options<R>): Grant<R> =>
  FixedClient.make(
    { issuer, clientId },
    () =>
      Effect.map(FixedClient.given(token, "The workload has no token"), (assertion) => ({
        grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer",
        assertion
      }))
  )
