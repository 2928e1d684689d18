/**
 * Chooses who this client is at an authorization server. What was registered is stored by issuer, and registered anew when it
 * has expired or does not have the redirect URI.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { AuthorizationError } from "../AuthorizationError.js"
import type { Client, ClientIdentity } from "../ClientIdentity.js"
import type { CredentialStoreService, Registration } from "../CredentialStore.js"
import { failure } from "../discovery/Failure.js"
import * as ServerText from "../discovery/ServerText.js"
import type { GrantContext } from "../Grant.js"
import * as Registered from "./Registered.js"
import * as Registrations from "./Registration.js"

/** `redirectUri` is `undefined` when the client is needed to refresh tokens only. */
export const choose = Effect.fnUntraced(function*(
  identity: ClientIdentity,
  context: GrantContext,
  store: CredentialStoreService,
  redirectUri: string | undefined
) {
  const { previousIssuer, resource, server } = context
  const { issuer } = server
  const registered = (issuer: string) => identity.preRegistered?.find((client) => client.issuer === issuer)
  // SHOULD be used in this order (2026-07-28 basic/authorization#client-registration-approaches)
  const known = registered(issuer)
  if (known !== undefined) return known as Client
  if (previousIssuer !== undefined && registered(previousIssuer) !== undefined) {
    // What was registered by hand for one issuer is not used at another.
    return yield* unknown(
      `This client is registered at ${
        ServerText.shorten(previousIssuer)
      }, and the MCP server now uses the authorization server ${
        ServerText.shorten(issuer)
      }; if that is right, register the client there and add it to \`preRegistered\``
    )
  }
  if (identity.metadataDocument !== undefined && server.takesMetadataDocuments) {
    return yield* byDocument(identity.metadataDocument)
  }
  const stored = yield* Registered.find(store, issuer, context.clientId)
  const now = yield* Clock.currentTimeMillis
  if (stored !== undefined && isUsable(stored, redirectUri, now)) {
    if (redirectUri === undefined || (yield* Registered.use(store, issuer, resource, stored))) return stored as Client
  }
  if (
    identity.dynamicRegistration !== false && server.registrationEndpoint !== undefined && redirectUri !== undefined
  ) {
    const registration = yield* Registrations.register(context, identity, redirectUri)
    yield* Registered.replace(store, issuer, { ...registration, resources: [resource] })
    return registration as Client
  }
  if (identity.ask === undefined) {
    return yield* unknown(
      `This client has no identity at the authorization server ${
        ServerText.shorten(issuer)
      }: register it there and give it as \`preRegistered\``
    )
  }
  const given = yield* Effect.mapError(
    identity.ask({ issuer }),
    (cause) => failure("UnknownClient", "`ask` gave no client", { cause })
  )
  const { authMethod, clientId, clientSecret, privateKey } = given
  // A key is not stored: `ask` gives it again.
  if (privateKey === undefined && authMethod !== "private_key_jwt") {
    const redirectUris = redirectUri === undefined ? [] : [redirectUri]
    yield* Registered.replace(
      store,
      issuer,
      { clientId, clientSecret, authMethod, secretExpiresAt: undefined, redirectUris, resources: [resource] }
    )
  }
  return given
})

const isUsable = (
  { redirectUris, secretExpiresAt }: Registration,
  redirectUri: string | undefined,
  now: number
): boolean =>
  (secretExpiresAt === undefined || secretExpiresAt > now) &&
  (redirectUri === undefined || redirectUris.includes(redirectUri))

const byDocument = (url: string): Effect.Effect<Client, AuthorizationError> => {
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  // MUST be an https URL with a path (2026-07-28 basic/authorization#client-id-metadata-documents)
  return parsed?.protocol === "https:" && parsed.pathname !== "/" && parsed.hash === "" && parsed.username === ""
    ? Effect.succeed({ clientId: url, authMethod: "none" })
    : unknown("`metadataDocument` must be an https URL with a path")
}

const unknown = (message: string) => failure("UnknownClient", message)
