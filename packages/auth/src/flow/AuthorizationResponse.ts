/**
 * Decides whether a response is the answer to an authorization request, and only then reads its code or its error: first the
 * state, then the issuer.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9207
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization#authorization-response-validation
 */
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type { AuthorizationError } from "../AuthorizationError.js"
import type { AuthorizationServer } from "../AuthorizationServer.js"
import { failure } from "../discovery/Failure.js"
import * as Text from "../discovery/Text.js"

/** What was recorded before the browser was opened. */
export interface Expected {
  /** The issuer of the validated metadata. */
  readonly server: Pick<AuthorizationServer, "issuer" | "sendsIssuer">
  readonly state: Redacted.Redacted<string>
}

/** The code of a response. */
export const read = (
  parameters: URLSearchParams,
  { server, state }: Expected
): Effect.Effect<Redacted.Redacted<string>, AuthorizationError> => {
  // A parameter that is there twice has no value.
  const one = (name: string): string | undefined => {
    const [value, ...more] = parameters.getAll(name)
    return more.length === 0 ? value : undefined
  }
  // A response to another login is read no further.
  if (one("state") !== Redacted.value(state)) return untrusted("it has another `state`")
  // Compared as text, whether or not the server says that it sends it.
  const issuer = one("iss")
  if (parameters.has("iss") ? issuer !== server.issuer : server.sendsIssuer) {
    // Nothing else of the response is read.
    return untrusted(
      parameters.has("iss")
        ? "its `iss` is not the issuer that the login was begun with"
        : "it has no `iss`, which this authorization server always sends"
    )
  }
  if (parameters.has("error")) {
    const error = Text.errorCode(one("error"))
    const described = one("error_description")
    return failure(
      "Denied",
      `Access was denied by ${Text.shorten(server.issuer)}${error === undefined ? "" : ` with "${error}"`}${
        described === undefined || described === "" ? "" : `: ${Text.shorten(described)}`
      }`,
      { error }
    )
  }
  const code = one("code")
  return code === undefined || code === "" ? untrusted("it has no code") : Effect.succeed(Redacted.make(code))
}

const untrusted = (why: string) =>
  failure("UntrustedResponse", `The response to the authorization request was not used: ${why}`)
