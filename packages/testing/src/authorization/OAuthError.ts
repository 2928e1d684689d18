/**
 * The errors and JSON responses of the test authorization server, for `Endpoints`, `TokenEndpoint` and `Clients`. The responses tell caches
 * not to store them.
 *
 * @see https://www.rfc-editor.org/rfc/rfc6749#section-5.2
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"

/** The refusal of a request, with an error code of OAuth. The description says what is wrong with the request. */
export class OAuthError extends Data.TaggedError("OAuthError")<{
  readonly error: string
  readonly description: string
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
}> {}

export const refuse = (
  error: string,
  description: string,
  status = 400,
  headers: Readonly<Record<string, string>> = {}
): Effect.Effect<never, OAuthError> => Effect.fail(new OAuthError({ error, description, status, headers }))

/** Fails when a parameter occurs twice: RFC 6749, sections 3.1 and 3.2. */
export const checkOnce = (parameters: URLSearchParams): Effect.Effect<void, OAuthError> => {
  const names: Array<string> = []
  parameters.forEach((_, name) => names.push(name))
  return new Set(names).size === names.length
    ? Effect.void
    : refuse("invalid_request", "A parameter occurs more than once in the request")
}

export const json = (value: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): Response =>
  new Response(JSON.stringify(value), {
    status,
    headers: { "content-type": "application/json", "cache-control": "no-store", ...headers }
  })

export const respond = ({ description, error, headers, status }: OAuthError): Response =>
  json({ error, error_description: description }, status, headers)
