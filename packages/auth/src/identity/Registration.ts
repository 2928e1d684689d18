/**
 * Registers the client at an authorization server. The registration is only for the authorization code grant and for refresh tokens.
 * `Identities` decides when the client registers, and stores the registration.
 *
 * @see https://www.rfc-editor.org/rfc/rfc7591
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization#dynamic-client-registration
 */
import { isLoopback } from "@effect-mcp/core/unstable/kit/HostName"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type { AuthorizationError } from "../AuthorizationError.js"
import type { AuthorizationServer } from "../AuthorizationServer.js"
import type { ClientIdentity } from "../ClientIdentity.js"
import type { Registration } from "../CredentialStore.js"
import { refusal } from "../discovery/Failure.js"
import * as ServerText from "../discovery/ServerText.js"
import type { Answer, GrantContext } from "../Grant.js"

const methods = ["none", "client_secret_basic", "client_secret_post"] as const

export const register = (
  { post, server }: Pick<GrantContext, "post" | "server">,
  identity: Pick<ClientIdentity, "metadata" | "name">,
  redirectUri: string
): Effect.Effect<Registration, AuthorizationError> =>
  Effect.gen(function*() {
    const method = methods.find((one) => server.authMethods.includes(one)) ?? "none"
    const refreshes = server.grantTypes === undefined || server.grantTypes.includes("refresh_token")
    const answer = yield* post("the registration endpoint", server.registrationEndpoint ?? "", {
      json: {
        ...identity.metadata,
        client_name: identity.name,
        redirect_uris: [redirectUri],
        // Some servers issue refresh tokens only to clients that name this grant.
        grant_types: refreshes ? ["authorization_code", "refresh_token"] : ["authorization_code"],
        response_types: ["code"],
        token_endpoint_auth_method: method,
        application_type: applicationType(redirectUri)
      }
    })
    return yield* read(answer, server, redirectUri)
  })

/** Returns the application type: "native" for a program on the user's machine, "web" for a web application. */
const applicationType = (redirectUri: string): "native" | "web" => {
  const { hostname, protocol } = new URL(redirectUri)
  return protocol === "https:" && !isLoopback(hostname) ? "web" : "native"
}

const read = (
  answer: Answer,
  { issuer, registrationEndpoint }: AuthorizationServer,
  redirectUri: string
): Effect.Effect<Registration, AuthorizationError> => {
  const { json = {}, status } = answer
  const { client_id: clientId, client_secret: secret, client_secret_expires_at: expires } = json
  const { registration_access_token: token, registration_client_uri: url } = json
  if (status < 200 || status >= 300 || typeof clientId !== "string" || clientId === "") {
    return refusal(
      "UnknownClient",
      `The authorization server ${ServerText.shorten(issuer)} did not register this client: it`,
      answer,
      ". Register the client by hand and give it as `preRegistered`"
    )
  }
  const named = methods.find((one) => one === json["token_endpoint_auth_method"])
  const clientSecret = typeof secret === "string" && secret !== "" ? Redacted.make(secret) : undefined
  return Effect.succeed({
    clientId,
    clientSecret,
    authMethod: clientSecret === undefined ? "none" : named === "none" ? undefined : named,
    secretExpiresAt: typeof expires === "number" && expires > 0 ? expires * 1000 : undefined,
    redirectUris: [redirectUri],
    management: typeof token === "string" && isSameOrigin(url, registrationEndpoint)
      ? { url, token: Redacted.make(token) }
      : undefined
  })
}

/**
 * Whether a URL has the same origin as the registration endpoint. The client later sends a token to this URL, and only the server that
 * registered the client may get the token.
 */
const isSameOrigin = (url: unknown, endpoint: string | undefined): url is string =>
  typeof url === "string" && endpoint !== undefined && URL.canParse(url) &&
  new URL(url).origin === new URL(endpoint).origin
