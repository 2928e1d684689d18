/**
 * The error of this package. When the authorization of a call fails, the call fails with a `LocalError.TransportError` whose `cause` is
 * this error. The messages never contain a token, a code, a secret or the query of a URL.
 *
 * @since 0.1.0
 */
import * as Data from "effect/Data"

/**
 * - `UnsafeUrl`: a server named a URL that the client does not use, because it is not https, is a private address, or has another origin.
 * - `Unreachable`: an authorization server or a metadata document could not be reached, or did not answer in time.
 * - `InvalidMetadata`: a metadata document is missing, is malformed, or describes another server.
 * - `UnknownClient`: this client has no identity at the authorization server, and could not get one.
 * - `UnsupportedServer`: the authorization server cannot do what the client requires, PKCE for example.
 * - `UntrustedResponse`: the response to an authorization request was not used, because it does not belong to that request or is malformed.
 * - `Denied`: the user or the authorization server denied access; `error` has the code.
 * - `TokenRefused`: the token endpoint refused the request or its response is malformed; `error` has the code.
 * - `InsufficientScope`: the server still requires scopes that the client has already requested, or its refusals have caused too many
 *   logins.
 * - `Browser`: the browser could not be opened, or no response came in time.
 * - `LoginRequired`: there are no tokens that the server accepts, and the grant asks the user only when the program calls `login`.
 * - `Store`: stored credentials could not be read or written.
 * - `Signing`: a key could not sign.
 * - `Closed`: the scope of `Authorization.layer` has closed, so the client gets no more tokens.
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

/**
 * An error of authorization. `reason` says what has failed, and `message` is a text for people.
 *
 * @category errors
 */
export class AuthorizationError extends Data.TaggedError("AuthorizationError")<{
  readonly reason: Reason
  readonly message: string
  /** The error code of OAuth that the authorization server sent, such as "access_denied". */
  readonly error?: string | undefined
  /** The error that has caused this error. It comes from a part of this program, and is never a value that a server has sent. */
  readonly cause?: unknown
}> {}
