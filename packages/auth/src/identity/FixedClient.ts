/**
 * Makes the `Grant` of a client that is registered at one authorization server, for the grants without a login: `ClientCredentials`,
 * `EnterpriseManaged`, `TokenExchange` and `WorkloadIdentity`. The credentials of the client are sent only to that server. When the MCP
 * server uses another authorization server, the grant fails and sends nothing.
 */
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type { AuthorizationError } from "../AuthorizationError.js"
import type { PreRegistered } from "../ClientIdentity.js"
import { failure } from "../discovery/Failure.js"
import * as ServerText from "../discovery/ServerText.js"
import type { Grant, GrantContext } from "../Grant.js"

/**
 * Makes the grant. `form` returns the parameters of a token request, without the scopes. `client` and `obtain` of the grant fail when the
 * MCP server uses another authorization server.
 */
export const make = <R>(
  client: PreRegistered,
  form: (context: GrantContext) => Effect.Effect<Readonly<Record<string, string>>, AuthorizationError, R>
): Grant<R> => {
  const check = ({ server: { issuer }, url }: GrantContext): Effect.Effect<PreRegistered, AuthorizationError> =>
    issuer === client.issuer ? Effect.succeed(client) : failure(
      "UnknownClient",
      `This client is registered at ${ServerText.shorten(client.issuer)}, and the MCP server ${
        ServerText.location(new URL(url))
      } uses the authorization server ${ServerText.shorten(issuer)}; the client sends no credentials to that server`
    )
  return {
    isInteractive: false,
    isRegistered: (issuer) => issuer === client.issuer,
    client: check,
    obtain: (context) =>
      Effect.zipRight(check(context), form(context)).pipe(
        Effect.flatMap((parameters) =>
          context.token(client, {
            ...parameters,
            ...(context.scopes === undefined ? undefined : { scope: context.scopes.join(" ") })
          })
        )
      )
  }
}

/** Returns the text of a token that the application gives to the grant. Fails with `message` when the effect of the application fails. */
export const given = <R>(
  token: Effect.Effect<Redacted.Redacted<string>, unknown, R>,
  message: string
): Effect.Effect<string, AuthorizationError, R> =>
  Effect.mapBoth(token, { onFailure: (cause) => failure("Denied", message, { cause }), onSuccess: Redacted.value })
