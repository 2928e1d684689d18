/**
 * Who this client is at an authorization server, in the order in which the client tries: registered there before, identified by a
 * document that the application publishes, registered when it is needed, or asked for. `AuthorizationCode` takes it as options, and
 * `identity/Identities` tries.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization#client-registration-approaches
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"

/**
 * A private key that signs: a PEM text of PKCS #8, or a JWK as JSON.
 *
 * @category models
 */
export interface PrivateKey {
  readonly key: Redacted.Redacted<string>
  /** The algorithm of JOSE: "ES256", "RS256", "EdDSA". */
  readonly algorithm: string
  /** The `kid` of the signatures. Default: the `kid` of a JWK, else none. */
  readonly keyId?: string | undefined
}

/**
 * How a client proves to the token endpoint that it is the registered client.
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
   * Default: `private_key_jwt` with a key; with a secret, basic if the server takes that, else post; otherwise none.
   */
  readonly authMethod?: AuthMethod | undefined
}

/**
 * A client that was registered before, at the authorization server with exactly this issuer.
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
  /** The clients that were registered before. Each is used at its issuer and nowhere else. */
  readonly preRegistered?: ReadonlyArray<PreRegistered> | undefined
  /** The URL, https and with a path, at which the application publishes what `document` gives. */
  readonly metadataDocument?: string | undefined
  /**
   * Whether the client may register itself. Default: true. With `preRegistered`, and without `metadataDocument` and `ask`, false: so a
   * client that is only registered elsewhere fails.
   *
   * @deprecated since 2026-07-28 (#2858); a revision may be without it from 2027-07-28 on.
   */
  readonly dynamicRegistration?: boolean | undefined
  /** Further members of a registration: `client_uri`, `logo_uri`, `software_id`. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
  /** Gets a client from the user, when there is no other way to have one. */
  readonly ask?: ((server: { readonly issuer: string }) => Effect.Effect<Client, unknown>) | undefined
}

/**
 * The client id metadata document that an application publishes at `url`, as JSON.
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
  // The address of the document is the id of the client.
  client_id: url,
  client_name: identity.name,
  redirect_uris: redirectUris,
  grant_types: ["authorization_code", "refresh_token"],
  response_types: ["code"],
  token_endpoint_auth_method: "none"
})
