/**
 * The errors of OAuth that the endpoints of the test authorization server answer with, and the form of its JSON responses. No
 * cache keeps these.
 *
 * @see https://www.rfc-editor.org/rfc/rfc6749#section-5.2
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"

/** The request is refused with an error code. The description says what is wrong with it. */
export class Refusal extends Data.TaggedError("Refusal")<{
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
): Effect.Effect<never, Refusal> => Effect.fail(new Refusal({ error, description, status, headers }))

/** No parameter may be there twice: RFC 6749, sections 3.1 and 3.2. */
export const checkOnce = (parameters: URLSearchParams): Effect.Effect<void, Refusal> => {
  const names: Array<string> = []
  parameters.forEach((_, name) => names.push(name))
  return new Set(names).size === names.length
    ? Effect.void
    : refuse("invalid_request", "A parameter of the request is there more than once")
}

export const json = (value: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): Response =>
  new Response(JSON.stringify(value), {
    status,
    headers: { "content-type": "application/json", "cache-control": "no-store", ...headers }
  })

export const respond = ({ description, error, headers, status }: Refusal): Response =>
  json({ error, error_description: description }, status, headers)
