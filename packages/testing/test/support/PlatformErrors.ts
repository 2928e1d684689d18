/** Errors of the platform's HTTP clients. This is the one module of the tests that makes them. */
import * as HttpClientError from "@effect/platform/HttpClientError"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"

export type PlatformError = HttpClientError.HttpClientError

/** The connection failed before there was a response. */
export const lost = (request: HttpClientRequest.HttpClientRequest, cause: unknown): PlatformError =>
  new HttpClientError.RequestError({ request, reason: "Transport", cause })

/** The connection failed while the body of a response came. */
export const cutOff = (
  request: HttpClientRequest.HttpClientRequest,
  response: HttpClientResponse.HttpClientResponse,
  cause: unknown
): PlatformError => new HttpClientError.ResponseError({ request, response, reason: "Decode", cause })
