/**
 * Errors of the platform's `HttpClient`: what they tell of a request, and the same errors as causes of our own, with which `HttpSender`,
 * `ResponseBody` and `Events` fail. The errors of the platform hold the whole request, with the tokens in its headers, and loggers and
 * reporters of errors write every member of a cause. This is the module that reads these errors.
 */
import * as HttpClientError from "@effect/platform/HttpClientError"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Confidential from "./Confidential.js"

export type PlatformError = HttpClientError.HttpClientError

/** Whether the server may have the request. `isUnreached` says that no connection to the server came about. */
export const wasSent = (error: PlatformError, isUnreached: boolean): boolean =>
  error._tag !== "RequestError" || (error.reason === "Transport" && !isUnreached)

/** Whether an error is one of the platform's, and says that a connection failed before a response came. */
export const isConnectionLost = (error: unknown): boolean => {
  const { _tag, reason } = (error ?? {}) as { readonly _tag?: unknown; readonly reason?: unknown }
  return _tag === "RequestError" && reason === "Transport"
}

/** The error of a request that the client did not send. */
export const notSent = (request: HttpClientRequest.HttpClientRequest, cause: Error): PlatformError =>
  new HttpClientError.RequestError({ request, reason: "Transport", cause, description: cause.message })

/** The same error, whose request has a method and a URL only, without a cause that quotes one of the headers. */
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
