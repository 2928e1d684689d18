/**
 * The grant of workloads: the platform that runs the program, such as Kubernetes or a cloud, has given it a token that says
 * which workload it is, and the authorization server trusts that platform. There is no secret to keep.
 *
 * @see https://www.rfc-editor.org/rfc/rfc7523#section-2.1
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { AuthorizationError } from "./AuthorizationError.js"
import type { Grant } from "./Grant.js"
import * as FixedClient from "./identity/FixedClient.js"

export interface Options<R = never> {
  /** The authorization server that the token is for; the token is sent to no other. */
  readonly issuer: string
  /** The token of the workload; runs each time, because platforms replace it, often in a file. */
  readonly token: Effect.Effect<Redacted.Redacted<string>, unknown, R>
  /** The id of the client, where the authorization server requires one. */
  readonly clientId?: string | undefined
}

/** A token that the authorization server refuses fails the request: the program has no other. */
export const make = <R = never>({ clientId = "", issuer, token }: Options<R>): Grant<R> => {
  const client = { issuer, clientId }
  return {
    ...FixedClient.make(client),
    obtain: (context) =>
      Effect.gen(function*() {
        yield* FixedClient.check(client, context)
        const assertion = yield* Effect.mapError(
          token,
          (cause) => new AuthorizationError({ reason: "Denied", message: "The workload has no token", cause })
        )
        return yield* context.token(client, {
          grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer",
          assertion: Redacted.value(assertion),
          ...(context.scopes === undefined ? undefined : { scope: context.scopes.join(" ") })
        })
      })
  }
}
