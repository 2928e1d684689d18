/**
 * Errors of Effect's `HttpClient`: what they tell of a request, and the same errors as causes of our own, for version 4. They hold the
 * whole request, with the tokens in its headers, and loggers and reporters of errors write every member of a cause.
 */
import * as HttpClientError from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Confidential from "./Confidential.js"

export type PlatformError = HttpClientError.HttpClientError

/** Whether the server may have the request. `isUnreached` says that no connection to the server came about. */
export const wasSent = ({ reason }: PlatformError, isUnreached: boolean): boolean =>
  "response" in reason || (reason._tag === "TransportError" && !isUnreached)

/** Whether an error is one of the platform's, and says that a connection failed before a response came. */
export const isConnectionLost = (error: unknown): boolean =>
  HttpClientError.isHttpClientError(error) && error.reason._tag === "TransportError"

/** The error of a request that the client did not send. */
export const notSent = (request: HttpClientRequest.HttpClientRequest, cause: Error): PlatformError =>
  new HttpClientError.HttpClientError({
    reason: new HttpClientError.TransportError({ request, cause, description: cause.message })
  })

/** The same error, whose request has a method and a URL only, without a cause that quotes one of the headers. */
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
