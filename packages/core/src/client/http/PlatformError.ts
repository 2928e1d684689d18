/**
 * Errors of the platform's `HttpClient`: what they show about a request, and copies of them that `HttpSender`, `ResponseBody` and `Events`
 * use as causes of their own errors. An error of the platform contains the whole request, with the tokens in its headers, and loggers and
 * error reporters write every member of a cause. Therefore the copies have no headers. Only this module reads these errors.
 */
import * as HttpClientError from "@effect/platform/HttpClientError"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Confidential from "./Confidential.js"

export type PlatformError = HttpClientError.HttpClientError

/** Whether the server may have received the request. `isUnreached` says that there was no connection to the server. */
export const wasSent = (error: PlatformError, isUnreached: boolean): boolean =>
  error._tag !== "RequestError" || (error.reason === "Transport" && !isUnreached)

/** Whether an error is an error of the platform that says that a connection failed before a response came. */
export const isConnectionLost = (error: unknown): boolean => {
  const { _tag, reason } = (error ?? {}) as { readonly _tag?: unknown; readonly reason?: unknown }
  return _tag === "RequestError" && reason === "Transport"
}

/** Makes the error for a request that the client did not send. */
export const notSent = (request: HttpClientRequest.HttpClientRequest, cause: Error): PlatformError =>
  new HttpClientError.RequestError({ request, reason: "Transport", cause, description: cause.message })

/** Returns a copy of the error whose request has only a method and a URL. A cause that quotes a secret header is left out. */
export const withoutHeaders = (error: unknown): unknown => {
  if (!HttpClientError.isHttpClientError(error)) return error
  const { description } = error
  const { headers, method, url } = error.request
  const request = HttpClientRequest.make(method)(url)
  const cause = Confidential.isQuotedBy(error.cause, headers) ? undefined : error.cause
  const facts = { request, cause, ...(description === undefined ? undefined : { description }) }
  if (error._tag === "RequestError") return new HttpClientError.RequestError({ ...facts, reason: error.reason })
  const { status } = error.response
  const response = new Response(null, { status: status >= 200 && status < 600 ? status : 599 })
  return new HttpClientError.ResponseError({
    ...facts,
    response: HttpClientResponse.fromWeb(request, response),
    reason: error.reason
  })
}
