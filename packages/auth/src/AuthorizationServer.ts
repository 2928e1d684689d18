/**
 * The members of the metadata of an authorization server that a client uses, and the exceptions of the application for this server. The
 * client accepts metadata only from an address of the issuer, and only if the metadata names this issuer (`discovery/ServerMetadata`).
 *
 * @see https://www.rfc-editor.org/rfc/rfc8414
 * @since 0.1.0
 */
import type { ProviderExceptions } from "./ProviderExceptions.js"

/** @category models */
export interface AuthorizationServer {
  readonly issuer: string
  /** The authorization endpoint; `undefined` when the server supports only grants without a browser. */
  readonly authorizationEndpoint: string | undefined
  readonly tokenEndpoint: string
  /** The registration endpoint; `undefined` when clients cannot register themselves. */
  readonly registrationEndpoint: string | undefined
  /** The revocation endpoint; `undefined` when the server does not support the revocation of tokens. */
  readonly revocationEndpoint: string | undefined
  /** The device authorization endpoint; `undefined` when the server does not support the device grant. */
  readonly deviceAuthorizationEndpoint: string | undefined
  readonly scopes: ReadonlyArray<string>
  /** The grants that the server supports; `undefined` when the metadata does not list them. */
  readonly grantTypes: ReadonlyArray<string> | undefined
  /** How clients may authenticate at the token endpoint. */
  readonly authMethods: ReadonlyArray<string>
  /** Whether the id of a client may be the URL of its metadata document. */
  readonly takesMetadataDocuments: boolean
  /** Whether each authorization response has the parameter `iss`. */
  readonly sendsIssuer: boolean
  /** The text that `iss` of an authorization response must have. It is the issuer, or the text in the exception of the application. */
  readonly responseIssuer: string
  /** The methods of PKCE that the server supports; `undefined` when the metadata does not list them. */
  readonly codeChallengeMethods: ReadonlyArray<string> | undefined
  /** The algorithms that the server accepts for DPoP proofs; empty when the server does not support DPoP. */
  readonly dpopAlgorithms: ReadonlyArray<string>
  /** The exceptions of the application for this server; `undefined` when there are none. */
  readonly exceptions: ProviderExceptions | undefined
}
