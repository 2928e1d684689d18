/**
 * The options for the identity of this client at an authorization server. There are four ways to get an identity. `identity/Identities`
 * tries the ways in this order: a client that was registered manually, a metadata document that the application publishes, a registration
 * that the client makes itself, and a client that the user provides. `AuthorizationCode` has all of these options, and
 * `DeviceAuthorization` has some of them.
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
  /** The JOSE algorithm of the signatures, such as "ES256", "RS256" or "EdDSA". */
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
 * The data with which a client is registered at an authorization server.
 *
 * @category models
 */
export interface Client {
  readonly clientId: string
  readonly clientSecret?: Redacted.Redacted<string> | undefined
  readonly privateKey?: PrivateKey | undefined
  /**
   * How the client authenticates. Default: `private_key_jwt` if the client has a key, `client_secret_basic` if the client has a secret, and
   * `none` if the client has no key and no secret. A client with a secret uses `client_secret_post` if the server supports this method but
   * not `client_secret_basic`.
   */
  readonly authMethod?: AuthMethod | undefined
}

/**
 * A client that was registered manually at the authorization server with exactly this issuer.
 *
 * @category models
 */
export interface PreRegistered extends Client {
  readonly issuer: string
}

/** @category models */
export interface ClientIdentity {
  /** The name that the authorization server shows to the user. */
  readonly name: string
  /** The clients that were registered manually. Each client is used only at its issuer. Default: none. */
  readonly preRegistered?: ReadonlyArray<PreRegistered> | undefined
  /**
   * The URL at which the application publishes the result of `document`. It must be an https URL with a path. Default: the application
   * publishes no document.
   */
  readonly metadataDocument?: string | undefined
  /**
   * Whether the client may register itself at an authorization server. Default: false if you give only `preRegistered`, without
   * `metadataDocument` and without `ask`; otherwise true. With false, a login at an issuer that is not in `preRegistered` fails.
   *
   * @deprecated since 2026-07-28 (#2858). A later revision of the specification may remove it, from 2027-07-28 on.
   */
  readonly dynamicRegistration?: boolean | undefined
  /** Further members of a registration and of the metadata document, such as `client_uri`, `logo_uri` and `software_id`. Default: none. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
  /** Asks the user for a client, when the other three ways give no client. Default: the login fails. */
  readonly ask?: ((server: { readonly issuer: string }) => Effect.Effect<Client, unknown>) | undefined
}

/**
 * Makes the client id metadata document. The application publishes this document as JSON at `url`.
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
