/**
 * A client that is known at one authorization server and has no other way to be known. What proves it is sent to that one only.
 * The grants of programs have one.
 */
import * as Effect from "effect/Effect"
import { AuthorizationError } from "../AuthorizationError.js"
import type { PreRegistered } from "../ClientIdentity.js"
import * as Text from "../discovery/Text.js"
import type { Grant, GrantContext } from "../Grant.js"

/** Fails when the MCP server uses another authorization server. */
export const check = (
  { issuer }: Pick<PreRegistered, "issuer">,
  { server, url }: Pick<GrantContext, "server" | "url">
): Effect.Effect<void, AuthorizationError> =>
  server.issuer === issuer ? Effect.void : Effect.fail(
    new AuthorizationError({
      reason: "UnknownClient",
      message: `This client is registered at ${Text.shorten(issuer)}, and the MCP server ${
        Text.location(new URL(url))
      } uses the authorization server ${Text.shorten(server.issuer)}; the client sends nothing there`
    })
  )

/** What every grant of such a client has. */
export const make = (client: PreRegistered): Omit<Grant, "obtain"> => ({
  isInteractive: false,
  isRegistered: (issuer) => issuer === client.issuer,
  client: (context) => Effect.as(check(client, context), client)
})
