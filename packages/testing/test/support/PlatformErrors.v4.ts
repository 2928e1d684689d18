/** Errors of Effect's HTTP clients, for version 4. This is the one module of the tests that makes them. */
import * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"

export type PlatformError = HttpClientError.HttpClientError

/** The connection failed before there was a response. */
export const lost = (request: HttpClientRequest.HttpClientRequest, cause: unknown): PlatformError =>
  new HttpClientError.HttpClientError({ reason: new HttpClientError.TransportError({ request, cause }) })

/** The connection failed while the body of a response came. */
export const cutOff = (
  request: HttpClientRequest.HttpClientRequest,
  response: HttpClientResponse.HttpClientResponse,
  cause: unknown
): PlatformError =>
  new HttpClientError.HttpClientError({ reason: new HttpClientError.DecodeError({ request, response, cause }) })
