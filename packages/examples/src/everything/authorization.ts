/**
 * How the client of the conformance suite is authorized in the scenarios of authorization: by the grant that a scenario is about,
 * and with a browser whose user consents at once. `client.ts` runs the scenarios.
 */
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Authorization from "@effect-mcp/auth/Authorization"
import * as AuthorizationCode from "@effect-mcp/auth/AuthorizationCode"
import { AuthorizationError } from "@effect-mcp/auth/AuthorizationError"
import * as Browser from "@effect-mcp/auth/Browser"
import * as ClientCredentials from "@effect-mcp/auth/ClientCredentials"
import * as CredentialStore from "@effect-mcp/auth/CredentialStore"
import * as Dpop from "@effect-mcp/auth/Dpop"
import * as EnterpriseManaged from "@effect-mcp/auth/EnterpriseManaged"
import type { Grant } from "@effect-mcp/auth/Grant"
import type { ProviderExceptions } from "@effect-mcp/auth/ProviderExceptions"
import * as WorkloadIdentity from "@effect-mcp/auth/WorkloadIdentity"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"

/** What the suite gives a scenario. */
type Context = Readonly<Record<string, string>>

/** The user follows the redirect by hand: nothing listens at this address. */
const consenting = Layer.unwrapEffect(
  Effect.map(HttpClient.HttpClient, (client) =>
    Browser.layer({
      redirectUri: "http://localhost:3000/callback",
      open: (url) =>
        client.execute(HttpClientRequest.get(url)).pipe(
          Effect.map(({ headers }) => new URL(headers["location"] ?? "").searchParams),
          Effect.scoped,
          Effect.mapError((cause) =>
            new AuthorizationError({ reason: "Browser", message: "The authorization server gave no response", cause })
          )
        )
    }))
)

const DOCUMENT = "https://conformance-test.local/client-metadata.json"

/** The issuer that the administrator of a program would configure: the suite names it, or it is the only one there is. */
const issuerOf = (url: string, context: Context) =>
  context["issuer"] === undefined ? onlyIssuerOf(url) : Effect.succeed(context["issuer"])

/** The authorization server that the metadata of a server names. */
const onlyIssuerOf = (url: string) =>
  Effect.flatMap(HttpClient.HttpClient, (client) => {
    const { origin, pathname } = new URL(url)
    return client.get(`${origin}/.well-known/oauth-protected-resource${pathname}`).pipe(
      Effect.flatMap((response) => response.json),
      Effect.map((json) => (json as { readonly authorization_servers: readonly [string] }).authorization_servers[0]),
      Effect.scoped
    )
  })

const grantOf = (
  scenario: string,
  context: Context,
  issuer: string
): Grant<Browser.Browser | CredentialStore.CredentialStore> => {
  const of = (name: string): string => context[name] ?? ""
  const secret = (name: string) => Redacted.make(of(name))
  const client = { issuer, clientId: of("client_id"), clientSecret: secret("client_secret") }
  switch (scenario) {
    case "auth/client-credentials-basic":
      return ClientCredentials.secret(client)
    case "auth/client-credentials-jwt":
      return ClientCredentials.privateKey({
        issuer,
        clientId: of("client_id"),
        privateKey: { key: secret("private_key_pem"), algorithm: of("signing_algorithm") }
      })
    // An older suite has the second name.
    case "auth/enterprise-managed-authorization":
    case "auth/cross-app-access-complete-flow":
      return EnterpriseManaged.make({
        provider: {
          tokenEndpoint: of("idp_token_endpoint"),
          client: { clientId: of("idp_client_id") },
          subjectToken: Effect.succeed(secret("idp_id_token"))
        },
        client
      })
    case "auth/wif-jwt-bearer":
      return WorkloadIdentity.make({ issuer, token: Effect.succeed(secret("valid_jwt")) })
    case "auth/pre-registration":
      return AuthorizationCode.make({ name: "everything", preRegistered: [client] })
    default:
      return AuthorizationCode.make({
        name: "everything",
        ...(scenario === "auth/basic-cimd" ? { metadataDocument: DOCUMENT } : undefined)
      })
  }
}

/** The grants for which an administrator configures the issuer. */
const configured = [
  "auth/pre-registration",
  "auth/client-credentials-basic",
  "auth/client-credentials-jwt",
  "auth/enterprise-managed-authorization",
  "auth/cross-app-access-complete-flow",
  "auth/wif-jwt-bearer"
]

/** In the older suite the metadata of this scenario is at the origin and names another issuer, as a few providers do. */
const exceptionsOf = (url: string, scenario: string): ReadonlyArray<ProviderExceptions> => {
  const { origin } = new URL(url)
  return scenario === "auth/2025-03-26-oauth-metadata-backcompat"
    ? [{ issuer: `${origin}/oauth`, namedAs: origin }]
    : []
}

/** Authorizes the client at a server as the scenario wants it. */
export const layer = (url: string, scenario: string, context: Context) =>
  Layer.unwrapEffect(
    Effect.map(
      configured.includes(scenario) ? issuerOf(url, context) : Effect.succeed(""),
      (issuer) =>
        Authorization.layer(
          grantOf(scenario, context, issuer),
          {
            exceptions: exceptionsOf(url, scenario),
            ...(scenario.startsWith("auth/dpop") ? { dpop: Dpop.es256 } : undefined)
          }
        )
    )
  ).pipe(Layer.provide([consenting, CredentialStore.layerMemory]))
