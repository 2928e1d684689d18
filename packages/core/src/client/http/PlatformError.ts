/**
 * Errors of the platform's `HttpClient` as causes of our own. They hold the whole request, with the tokens in its headers, and
 * loggers and reporters of errors write every member of a cause.
 */
import * as HttpClientError from "@effect/platform/HttpClientError"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Confidential from "./Confidential.js"

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
