/**
 * Finds the access token of an HTTP request, and makes the refusals. The token must be in the `Authorization` header. The status and the
 * challenges of a refusal tell the client where to get a token, and for which scopes. `ResourceServer` decides when a request is refused.
 *
 * @see https://www.rfc-editor.org/rfc/rfc6750#section-2
 * @see https://www.rfc-editor.org/rfc/rfc6750#section-3
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization#error-handling
 */
import type { HttpRequest } from "@effect-mcp/core/Authenticator"
import * as HttpRefusal from "@effect-mcp/core/HttpRefusal"
import type { ProofError } from "./DpopProofs.js"

export interface Token {
  readonly _tag: "Token"
  readonly scheme: "bearer" | "dpop"
  readonly token: string
}

type Credentials =
  | Token
  /** The request has no token, or credentials of another scheme. */
  | { readonly _tag: "None" }
  /** The credentials are malformed. The client gets status 400 with the message. */
  | { readonly _tag: "Malformed"; readonly message: string }

/** Reads the credentials of a request. Does not read the content of the token. */
export const credentialsOf = ({ headers: { authorization }, url }: HttpRequest, maxLength: number): Credentials => {
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
  message: "The Authorization header has no access token, or a token with characters that a token cannot have"
}

const IN_QUERY: Credentials = {
  _tag: "Malformed",
  message: "The access token must be in the Authorization header, and never in the URL"
}

export interface Challenges {
  /** The refusal of a request that has no token. */
  readonly missing: HttpRefusal.HttpRefusal
  readonly malformed: (message: string) => HttpRefusal.HttpRefusal
  readonly invalidToken: (message: string) => HttpRefusal.HttpRefusal
  readonly proof: (error: ProofError) => HttpRefusal.HttpRefusal
  readonly insufficientScope: (needed: ReadonlyArray<string>) => HttpRefusal.HttpRefusal
}

export interface Options {
  readonly resourceMetadata: string
  /** The scopes that the challenges name for a client without a valid token. */
  readonly scopes: ReadonlyArray<string>
  readonly dpop: { readonly algorithms: ReadonlyArray<string>; readonly required: boolean } | undefined
}

export const make = ({ dpop, resourceMetadata, scopes }: Options): Challenges => {
  const challenges = (parameters: Readonly<Record<string, string | undefined>>): ReadonlyArray<string> => {
    const all = { ...parameters, resource_metadata: resourceMetadata }
    return [
      ...(dpop?.required === true ? [] : [HttpRefusal.challenge("Bearer", all)]),
      ...(dpop === undefined ? [] : [HttpRefusal.challenge("DPoP", { ...all, algs: dpop.algorithms.join(" ") })])
    ]
  }
  const scope = scopes.length === 0 ? undefined : scopes.join(" ")

  const unauthorized = (error: string, message: string, headers?: Readonly<Record<string, string>>) =>
    HttpRefusal.unauthorized(
      challenges({ error, error_description: message, scope }),
      `Unauthorized: ${message}`,
      headers
    )

  return {
    // This challenge has no error code, because a client that has sent no token has not made an error.
    missing: HttpRefusal.unauthorized(
      challenges({ scope }),
      "Unauthorized: this server requires an access token in the Authorization header"
    ),
    malformed: (message) =>
      new HttpRefusal.HttpRefusal({
        status: 400,
        headers: {
          "www-authenticate": challenges({ error: "invalid_request", error_description: message }).join(", ")
        },
        error: { code: HttpRefusal.CODE, message: `Bad Request: ${message}` }
      }),
    invalidToken: (message) => unauthorized("invalid_token", message),
    proof: ({ error, message, nonce }) =>
      error === "busy"
        ? unavailable(message)
        : unauthorized(error, message, nonce === undefined ? undefined : { "dpop-nonce": nonce }),
    // One challenge names all scopes that the operation needs.
    insufficientScope: (needed) => {
      const message = `This requires the ${needed.length === 1 ? "scope" : "scopes"} ${needed.join(" ")}`
      return HttpRefusal.forbidden(
        `Forbidden: ${message}, which the user has not granted to this client`,
        challenges({ error: "insufficient_scope", error_description: message, scope: needed.join(" ") })
      )
    }
  }
}

/**
 * Makes the refusal for the case that the server cannot find out whether the token is valid. The client keeps the token and tries again
 * after 5 seconds.
 */
export const unavailable = (message: string): HttpRefusal.HttpRefusal =>
  new HttpRefusal.HttpRefusal({
    status: 503,
    headers: { "retry-after": "5" },
    error: { code: HttpRefusal.CODE, message: `Service Unavailable: ${message}` }
  })
