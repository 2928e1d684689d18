/**
 * How authorization can fail. Applications find this error as the `cause` of the `LocalError.TransportError` of a call. No message holds
 * a token, a code, a secret or the query of a URL.
 *
 * @since 0.1.0
 */
import * as Data from "effect/Data"

/**
 * - `UnsafeUrl`: a server named a URL that the client does not use: not https, a private address, another origin.
 * - `Unreachable`: an authorization server or a metadata document could not be reached, or did not answer in time.
 * - `InvalidMetadata`: a metadata document is missing, is malformed, or describes another server.
 * - `UnknownClient`: this client has no identity at the authorization server, and could not get one.
 * - `UnsupportedServer`: the authorization server cannot do what the client requires, PKCE for example.
 * - `UntrustedResponse`: the response to an authorization request is not an answer to that request; it was not used.
 * - `Denied`: the user or the authorization server denied access; `error` has the code.
 * - `TokenRefused`: the token endpoint refused the request or its response is malformed; `error` has the code.
 * - `InsufficientScope`: the server still requires scopes after the client had asked for them, or has caused too many logins.
 * - `Browser`: the browser could not be opened, or no response came in time.
 * - `LoginRequired`: there are no tokens that the server accepts, and the grant asks the user only when the program calls `login`.
 * - `Store`: stored credentials could not be read or written.
 * - `Signing`: a key could not sign.
 * - `Closed`: the layer of `Authorization` has closed, and no tokens are got any more.
 *
 * @category models
 */
export type Reason =
  | "UnsafeUrl"
  | "Unreachable"
  | "InvalidMetadata"
  | "UnknownClient"
  | "UnsupportedServer"
  | "UntrustedResponse"
  | "Denied"
  | "TokenRefused"
  | "InsufficientScope"
  | "Browser"
  | "LoginRequired"
  | "Store"
  | "Signing"
  | "Closed"

/** @category errors */
export class AuthorizationError extends Data.TaggedError("AuthorizationError")<{
  readonly reason: Reason
  readonly message: string
  /** The error code of OAuth that the authorization server sent, such as "access_denied". */
  readonly error?: string | undefined
  /** The failure of a part of this program, never a value of a server. */
  readonly cause?: unknown
}> {}
