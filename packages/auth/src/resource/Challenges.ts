/**
 * How a resource server refuses a request: the status, and challenges that tell the client where to get which token.
 * `ResourceServer` decides when.
 *
 * @see https://www.rfc-editor.org/rfc/rfc6750#section-3
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization#error-handling
 */
import * as HttpRefusal from "@effect-mcp/server/HttpRefusal"
import type { ProofError } from "./DpopProofs.js"

export interface Challenges {
  /** The request has no token. */
  readonly missing: HttpRefusal.HttpRefusal
  readonly malformed: (message: string) => HttpRefusal.HttpRefusal
  readonly invalidToken: (message: string) => HttpRefusal.HttpRefusal
  readonly proof: (error: ProofError) => HttpRefusal.HttpRefusal
  readonly insufficientScope: (needed: ReadonlyArray<string>) => HttpRefusal.HttpRefusal
}

export interface Options {
  readonly resourceMetadata: string
  /** The scopes that a new client should get. */
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
    // Without an error: a client that has sent no token has made none.
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

/** It is not known whether the token is valid: the client keeps it, and tries again. */
export const unavailable = (message: string): HttpRefusal.HttpRefusal =>
  new HttpRefusal.HttpRefusal({
    status: 503,
    headers: { "retry-after": "5" },
    error: { code: HttpRefusal.CODE, message: `Service Unavailable: ${message}` }
  })
