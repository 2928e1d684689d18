/**
 * What an authorization server publishes about itself, as far as a client uses it, and the exceptions that the application has for it. The
 * client accepts such metadata only from an address of the issuer, and only when they name that issuer (`discovery/ServerMetadata`).
 *
 * @see https://www.rfc-editor.org/rfc/rfc8414
 * @since 0.1.0
 */
import type { ProviderExceptions } from "./ProviderExceptions.js"

/** @category models */
export interface AuthorizationServer {
  readonly issuer: string
  /** `undefined` for servers that only serve grants without a browser. */
  readonly authorizationEndpoint: string | undefined
  readonly tokenEndpoint: string
  readonly registrationEndpoint: string | undefined
  readonly revocationEndpoint: string | undefined
  /** `undefined` for servers without the device grant. */
  readonly deviceAuthorizationEndpoint: string | undefined
  readonly scopes: ReadonlyArray<string>
  /** `undefined` when the server does not say. */
  readonly grantTypes: ReadonlyArray<string> | undefined
  /** How clients may authenticate at the token endpoint. */
  readonly authMethods: ReadonlyArray<string>
  /** Whether clients may be identified by the URL of a document. */
  readonly takesMetadataDocuments: boolean
  /** Whether each authorization response has the parameter `iss`. */
  readonly sendsIssuer: boolean
  /** The text that `iss` must be: the issuer, unless the application has an exception. */
  readonly responseIssuer: string
  /** `undefined` when the server does not say. */
  readonly codeChallengeMethods: ReadonlyArray<string> | undefined
  /** The algorithms that proofs for DPoP may have; empty when the server does not support it. */
  readonly dpopAlgorithms: ReadonlyArray<string>
  readonly exceptions: ProviderExceptions | undefined
}
