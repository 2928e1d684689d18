/**
 * Errors of Effect's `HttpClient`: what they show about a request, and copies of them for causes of this library's own errors. This module
 * replaces `PlatformError` for version 4. The errors contain the whole request, with the tokens in its headers, and loggers and error
 * reporters write every member of a cause. Therefore the copies have no headers.
 */
import * as HttpClientError from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Confidential from "./Confidential.js"

export type PlatformError = HttpClientError.HttpClientError

/** Whether the server may have received the request. `isUnreached` says that there was no connection to the server. */
export const wasSent = ({ reason }: PlatformError, isUnreached: boolean): boolean =>
  "response" in reason || (reason._tag === "TransportError" && !isUnreached)

/** Whether an error is an error of the platform that says that a connection failed before a response came. */
export const isConnectionLost = (error: unknown): boolean =>
  HttpClientError.isHttpClientError(error) && error.reason._tag === "TransportError"

/** Makes the error for a request that the client did not send. */
export const notSent = (request: HttpClientRequest.HttpClientRequest, cause: Error): PlatformError =>
  new HttpClientError.HttpClientError({
    reason: new HttpClientError.TransportError({ request, cause, description: cause.message })
  })

/** Returns a copy of the error whose request has only a method and a URL. A cause that quotes a secret header is left out. */
export const withoutHeaders = (error: unknown): unknown => {
  if (!HttpClientError.isHttpClientError(error)) return error
  const { reason } = error
  const { headers, method, url } = reason.request
  const request = HttpClientRequest.make(method as "GET")(url)
  const cause = Confidential.isQuotedBy(reason.cause, headers) ? undefined : reason.cause
  const facts = {
    request,
    cause,
    ...(reason.description === undefined ? undefined : { description: reason.description })
  }
  switch (reason._tag) {
    case "TransportError":
    case "EncodeError":
    case "InvalidUrlError":
      return new HttpClientError.HttpClientError({ reason: new HttpClientError[reason._tag](facts as never) })
    default: {
      const { status } = reason.response
      const response = HttpClientResponse.fromWeb(
        request,
        new Response(null, { status: status >= 200 && status < 600 ? status : 599 })
      )
      return new HttpClientError.HttpClientError({
        reason: new HttpClientError[reason._tag]({ ...facts, response } as never)
      })
    }
  }
}
