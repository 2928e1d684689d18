/**
 * The members of an authorization server's metadata that a client uses, and the exceptions that the application has for this server. The
 * client accepts metadata only from an address of the issuer, and only if the metadata names this issuer (`discovery/ServerMetadata`).
 *
 * @see https://www.rfc-editor.org/rfc/rfc8414
 * @since 0.1.0
 */
import type { ProviderExceptions } from "./ProviderExceptions.js"

/** @category models */
export interface AuthorizationServer {
  readonly issuer: string
  /** `undefined` when the server supports only grants without a browser. */
  readonly authorizationEndpoint: string | undefined
  readonly tokenEndpoint: string
  /** `undefined` when clients cannot register themselves. */
  readonly registrationEndpoint: string | undefined
  /** `undefined` when the server does not revoke tokens. */
  readonly revocationEndpoint: string | undefined
  /** `undefined` when the server does not support the device grant. */
  readonly deviceAuthorizationEndpoint: string | undefined
  readonly scopes: ReadonlyArray<string>
  /** `undefined` when the server does not say. */
  readonly grantTypes: ReadonlyArray<string> | undefined
  /** How clients may authenticate at the token endpoint. */
  readonly authMethods: ReadonlyArray<string>
  /** Whether the id of a client may be the URL of its metadata document. */
  readonly takesMetadataDocuments: boolean
  /** Whether each authorization response has the parameter `iss`. */
  readonly sendsIssuer: boolean
  /** The text that `iss` of an authorization response must have: the issuer, unless the application has an exception. */
  readonly responseIssuer: string
  /** `undefined` when the server does not say. */
  readonly codeChallengeMethods: ReadonlyArray<string> | undefined
  /** The algorithms that proofs of DPoP may have; empty when the server does not support DPoP. */
  readonly dpopAlgorithms: ReadonlyArray<string>
  /** `undefined` when the application has no exceptions for this server. */
  readonly exceptions: ProviderExceptions | undefined
}
