/**
 * Chooses the identity of this client at an authorization server, for `AuthorizationCode` and `DeviceAuthorization`. `Registration`
 * registers the client, and `Registered` stores the registration by issuer. The client registers again when the secret of the registration
 * has expired, or when the registration does not have the redirect URI.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { AuthorizationError } from "../AuthorizationError.js"
import type { Client, ClientIdentity } from "../ClientIdentity.js"
import type * as CredentialStore from "../CredentialStore.js"
import { failure } from "../discovery/Failure.js"
import * as ServerText from "../discovery/ServerText.js"
import type { GrantContext } from "../Grant.js"
import * as Registered from "./Registered.js"
import * as Registration from "./Registration.js"

/**
 * Chooses the client for a token request. `redirectUri` is `undefined` when there is no browser login: for a refresh, a revocation, or a
 * login on another device.
 */
export const choose = Effect.fnUntraced(function*(
  identity: ClientIdentity,
  context: GrantContext,
  store: CredentialStore.CredentialStoreService,
  redirectUri: string | undefined
) {
  const { previousIssuer, resource, server } = context
  const { issuer } = server
  const registered = (issuer: string) => identity.preRegistered?.find((client) => client.issuer === issuer)
  // SHOULD be used in this order (2026-07-28 basic/authorization#client-registration-approaches)
  const known = registered(issuer)
  if (known !== undefined) return known as Client
  if (previousIssuer !== undefined && registered(previousIssuer) !== undefined) {
    // A client that was registered manually at one issuer is not used at another issuer.
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
  const { ask } = identity
  if (mayRegister(identity) && server.registrationEndpoint !== undefined && redirectUri !== undefined) {
    const registration = yield* registerAnew(identity, context, redirectUri)
    yield* Registered.replace(store, issuer, { ...registration, resources: [resource] })
    return registration as Client
  }
  if (ask === undefined) return yield* unknown(whyUnknown(identity, context))
  const given = yield* Effect.mapError(
    ask({ issuer }),
    (cause) => failure("UnknownClient", "`ask` returned no client", { cause })
  )
  const { authMethod, clientId, clientSecret, privateKey } = given
  // A private key is not stored, so `ask` must return the key again.
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

/**
 * Registers the client. Fails when the server returns an id that the client already has at another server, because with this id a hostile
 * server could get a code of the other server.
 */
const registerAnew = Effect.fnUntraced(function*(identity: ClientIdentity, context: GrantContext, redirectUri: string) {
  const registration = yield* Registration.register(context, identity, redirectUri)
  const owner = identity.preRegistered?.find(({ clientId }) => clientId === registration.clientId)
  if (owner === undefined) return registration
  return yield* unknown(
    `${ServerText.shorten(context.server.issuer)} has registered this client with the id that it has at ${
      ServerText.shorten(owner.issuer)
    }; the client does not log in there`
  )
})

/** Whether the application has only clients that were registered manually. Then the client must not register itself at another issuer. */
const isFixed = ({ ask, metadataDocument, preRegistered = [] }: ClientIdentity): boolean =>
  preRegistered.length > 0 && metadataDocument === undefined && ask === undefined

const mayRegister = (identity: ClientIdentity): boolean => identity.dynamicRegistration ?? !isFixed(identity)

const whyUnknown = (identity: ClientIdentity, { server, url }: GrantContext): string => {
  const { dynamicRegistration, preRegistered = [] } = identity
  const elsewhere = preRegistered.length === 0
    ? ""
    : `: it is registered at ${ServerText.shorten(preRegistered.map((client) => client.issuer).join(", "))} only`
  const mayAllow = dynamicRegistration === undefined && isFixed(identity) && server.registrationEndpoint !== undefined
  return `This client has no identity at ${ServerText.shorten(server.issuer)}, the authorization server of ${
    ServerText.location(new URL(url))
  }${elsewhere}. If that server is right, register the client there and give it as \`preRegistered\`${
    mayAllow ? ", or let the client register itself with `dynamicRegistration: true`" : ""
  }`
}

const isUsable = (
  { redirectUris, secretExpiresAt }: CredentialStore.Registration,
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
