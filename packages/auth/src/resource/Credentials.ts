/**
 * Finds the access token of an HTTP request: in the Authorization header, and nowhere else. It does not look at what the
 * token says.
 *
 * @see https://www.rfc-editor.org/rfc/rfc6750#section-2
 */
import type { HttpRequest } from "@effect-mcp/server/Authenticator"

export interface Token {
  readonly _tag: "Token"
  readonly scheme: "bearer" | "dpop"
  readonly token: string
}

export type Credentials =
  | Token
  /** No token, or credentials of another kind. */
  | { readonly _tag: "None" }
  /** The client gets 400 with the sentence. */
  | { readonly _tag: "Malformed"; readonly message: string }

export const of = ({ headers: { authorization }, url }: HttpRequest, maxLength: number): Credentials => {
  const query = url.indexOf("?")
  // MUST NOT be included in the URI query string (2026-07-28 basic/authorization#token-requirements)
  if (query !== -1 && new URLSearchParams(url.slice(query + 1)).has("access_token")) return IN_QUERY
  if (authorization === undefined) return NONE
  const scheme = /^(bearer|dpop)(?![^ ])/i.exec(authorization)?.[1]?.toLowerCase() as "bearer" | "dpop" | undefined
  if (scheme === undefined) return NONE
  const token = authorization.slice(scheme.length).trim()
  if (token.length > maxLength) {
    return { _tag: "Malformed", message: `The access token is longer than ${maxLength} characters` }
  }
  return TOKEN.test(token) ? { _tag: "Token", scheme, token } : MALFORMED
}

const TOKEN = /^[A-Za-z0-9\-._~+/]+=*$/

const NONE: Credentials = { _tag: "None" }

const MALFORMED: Credentials = {
  _tag: "Malformed",
  message: "The Authorization header has no access token, or one with characters that a token cannot have"
}

const IN_QUERY: Credentials = {
  _tag: "Malformed",
  message: "The access token must be in the Authorization header, and never in the URL"
}
