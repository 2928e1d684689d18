/**
 * The identity of this client at an authorization server. There are four ways, which `identity/Identities` tries in this order: a client
 * that was registered by hand, a metadata document that the application publishes, a registration that the client makes itself, and a
 * client that the user provides. `AuthorizationCode` takes these as its options, `DeviceAuthorization` takes some of them.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization#client-registration-approaches
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"

/**
 * A private key for signatures.
 *
 * @category models
 */
export interface PrivateKey {
  /** A PEM text in PKCS #8, or a JWK as JSON. */
  readonly key: Redacted.Redacted<string>
  /** The algorithm of JOSE, such as "ES256", "RS256" or "EdDSA". */
  readonly algorithm: string
  /** The `kid` in the header of the signatures. Default: the `kid` of the JWK, if there is one. */
  readonly keyId?: string | undefined
}

/**
 * How a client authenticates at the token endpoint.
 *
 * @category models
 */
export type AuthMethod = "none" | "client_secret_basic" | "client_secret_post" | "private_key_jwt"

/**
 * A client as an authorization server knows it.
 *
 * @category models
 */
export interface Client {
  readonly clientId: string
  readonly clientSecret?: Redacted.Redacted<string> | undefined
  readonly privateKey?: PrivateKey | undefined
  /**
   * How the client authenticates. Default: `private_key_jwt` when the client has a key; when it has a secret, `client_secret_post` if the
   * server supports this method and not `client_secret_basic`, otherwise `client_secret_basic`; without key and secret, `none`.
   */
  readonly authMethod?: AuthMethod | undefined
}

/**
 * A client that was registered by hand at the authorization server with exactly this issuer.
 *
 * @category models
 */
export interface PreRegistered extends Client {
  readonly issuer: string
}

/** @category models */
export interface ClientIdentity {
  /** The name that the authorization server shows the user. */
  readonly name: string
  /** The clients that were registered by hand. Each client is used only at its issuer. Default: none. */
  readonly preRegistered?: ReadonlyArray<PreRegistered> | undefined
  /**
   * The URL at which the application publishes the result of `document`. It must be https and have a path. Default: there is no document.
   */
  readonly metadataDocument?: string | undefined
  /**
   * Whether the client may register itself at an authorization server. Default: true, but false when `preRegistered` is given without
   * `metadataDocument` and `ask`. Then a login at an issuer that is not in `preRegistered` fails.
   *
   * @deprecated since 2026-07-28 (#2858); a revision may be without it from 2027-07-28 on.
   */
  readonly dynamicRegistration?: boolean | undefined
  /** Further members of a registration and of the metadata document, such as `client_uri`, `logo_uri` and `software_id`. Default: none. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
  /** Gets a client from the user, when no other way gives one. Default: the login fails. */
  readonly ask?: ((server: { readonly issuer: string }) => Effect.Effect<Client, unknown>) | undefined
}

/**
 * The client id metadata document, which the application publishes at `url` as JSON.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization#client-id-metadata-documents
 * @category utils
 */
export const document = (
  url: string,
  identity: Pick<ClientIdentity, "metadata" | "name">,
  redirectUris: readonly [string, ...Array<string>]
): Readonly<Record<string, unknown>> => ({
  ...identity.metadata,
  // The URL of the document is the id of the client.
  client_id: url,
  client_name: identity.name,
  redirect_uris: redirectUris,
  grant_types: ["authorization_code", "refresh_token"],
  response_types: ["code"],
  token_endpoint_auth_method: "none"
})
