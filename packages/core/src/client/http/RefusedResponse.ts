/**
 * Makes `HttpResponseError` from responses, and from it the `TransportError` that a call fails with, for `HttpSender` and the transports
 * of both eras (`legacy/Post`, `legacy/Sse`, `modern/Http`). Also says whether a response accepts its request, and removes from the text
 * of a server what the client had sent in confidence (`Confidential`); `Login` and `TokenEndpoint` of package `auth` remove the same.
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

/** Replaces the values of the client's own headers, or of parameters that are given like headers, in a text. */
export const redact = (text: string, sent: Headers.Headers): string => {
  let clean = text
  for (const secret of Confidential.valuesOf(sent)) clean = clean.replaceAll(secret, "[redacted]")
  return clean
}

/** What a challenge says in the words of the server; the message of a refusal quotes it. */
const DESCRIPTION = /error_description\s*=\s*"(?:[^"\\]|\\[^])*"/gi

/** Reads a response as a refusal, for at most a second. */
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

/** The response of a refusal, to be read again. */
export const toResponse = (
  { body, headers, status }: HttpResponseError,
  request: HttpClientRequest.HttpClientRequest
): HttpClientResponse.HttpClientResponse => {
  const { "content-encoding": _, "content-length": __, ...rest } = headers
  return HttpClientResponse.fromWeb(request, new Response(body, { status, headers: rest }))
}

/** A status of 4xx says that the server did not serve the request; after any other status it may have served it. */
export const toError = (refused: HttpResponseError): TransportError =>
  new TransportError({
    reason: refused.status < 500 ? "Write" : "Read",
    message: refused.message,
    cause: refused
  })

/** Discards the body of a response that accepts its request. Fails with the refusal that any other response is. */
export const accepted = (response: HttpClientResponse.HttpClientResponse): Effect.Effect<void, TransportError> =>
  isOk(response)
    ? ResponseBody.discard(response)
    : Effect.flatMap(fromResponse(response), (refused) => Effect.fail(toError(refused)))

/** The message in the body of a refusal. Some servers write errors as text. */
export const messageOf = ({ body }: HttpResponseError): Message.Incoming => MessageText.parse(body)
