/**
 * Makes an `HttpResponseError` from a response that refuses a request, and from this error the `TransportError` with which a call fails.
 * `HttpSender` and the transports of both protocol eras (`legacy/Post`, `legacy/Sse`, `modern/Http`) use this module. The module also
 * decides whether a response accepts its request, and removes the client's own secrets (`Confidential`) from texts of a server. `Login` and
 * `TokenEndpoint` of package `auth` use it to remove secrets, too.
 */
import type * as Headers from "@effect/platform/Headers"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Effect from "effect/Effect"
import { TransportError } from "../../jsonrpc/LocalError.js"
import type * as Message from "../../jsonrpc/Message.js"
import * as MessageText from "../../jsonrpc/MessageText.js"
import { HttpResponseError } from "../HttpResponseError.js"
import * as Confidential from "./Confidential.js"
import * as ResponseBody from "./ResponseBody.js"

/** How many bytes of the body of a refusal are kept. */
const MAX_BODY_BYTES = 64 * 1024

/** Whether a response accepts its request. */
export const isOk = ({ status }: HttpClientResponse.HttpClientResponse): boolean => status >= 200 && status < 300

/** Replaces the secret values of these headers in a text. `sent` may also be parameters in the form of headers. */
export const redact = (text: string, sent: Headers.Headers): string => {
  let clean = text
  for (const secret of Confidential.valuesOf(sent)) clean = clean.replaceAll(secret, "[redacted]")
  return clean
}

/** The text of the server in a `www-authenticate` header. The message of a refusal quotes this text. */
const DESCRIPTION = /error_description\s*=\s*"(?:[^"\\]|\\[^])*"/gi

/** Reads a response as a refusal. Waits for the body at most one second. */
export const fromResponse = (response: HttpClientResponse.HttpClientResponse): Effect.Effect<HttpResponseError> =>
  Effect.map(ResponseBody.beginning(response, MAX_BODY_BYTES), (body) => {
    const { request, status } = response
    const { "mcp-session-id": _, "set-cookie": __, ...headers } = response.headers
    const challenge = headers["www-authenticate"]
    return new HttpResponseError({
      method: request.method,
      url: request.url,
      status,
      headers: challenge === undefined
        ? headers
        : { ...headers, "www-authenticate": challenge.replace(DESCRIPTION, (text) => redact(text, request.headers)) },
      body: redact(body, request.headers),
      hadCredentials: request.headers["authorization"] !== undefined
    })
  })

/** Makes a response from a refusal, so that the body can be read again. */
export const toResponse = (
  { body, headers, status }: HttpResponseError,
  request: HttpClientRequest.HttpClientRequest
): HttpClientResponse.HttpClientResponse => {
  const { "content-encoding": _, "content-length": __, ...rest } = headers
  return HttpClientResponse.fromWeb(request, new Response(body, { status, headers: rest }))
}

/**
 * Makes the error for a refusal. Status 4xx says that the server did not serve the request; with a status of 500 or more, the server may
 * have served the request.
 */
export const toError = (refused: HttpResponseError): TransportError =>
  new TransportError({
    reason: refused.status < 500 ? "Write" : "Read",
    message: refused.message,
    cause: refused
  })

/** Discards the body of a response that accepts its request. For any other response, fails with the refusal. */
export const accepted = (response: HttpClientResponse.HttpClientResponse): Effect.Effect<void, TransportError> =>
  isOk(response)
    ? ResponseBody.discard(response)
    : Effect.flatMap(fromResponse(response), (refused) => Effect.fail(toError(refused)))

/** Reads the message in the body of a refusal, also when the server declares the body as text. */
export const messageOf = ({ body }: HttpResponseError): Message.Incoming => MessageText.parse(body)
