/**
 * Adds credentials to the requests of a connection over HTTP, and finds new credentials when the server refuses them. `Remote` takes an
 * authorizer as its option `authorize`. `http/HttpSender` calls the authorizer. `Authorization` of package `auth` makes authorizers.
 *
 * @since 0.1.0
 */
import type * as Headers from "@effect/platform/Headers"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as Effect from "effect/Effect"
import type { HttpResponseError } from "./HttpResponseError.js"

/**
 * Adds credentials to every request of a connection, and finds new credentials when the server refuses them. `Authorization` of package
 * `auth` has an authorizer for OAuth.
 *
 * @category models
 */
export interface Authorizer<out R = never> {
  /**
   * Gives the headers for one attempt to send a request. `server` is the URL of the connection, without its query. When the effect fails,
   * the request fails with a `TransportError` that has this failure as its `cause`.
   *
   * The effect also runs before the client uses a private result of its cache again. The client uses the cached result only if these
   * headers, except `dpop`, are equal to the headers of the request that fetched the result.
   */
  readonly headers: (
    request: HttpClientRequest.HttpClientRequest,
    server: string
  ) => Effect.Effect<Headers.Input, unknown, R>
  /**
   * Runs when the server answers a request with status 401 or 403. It runs at most five times for each request. If the effect returns
   * `true`, the client sends the request once more, with new `headers`. If it returns `false`, the request fails. While the effect runs,
   * the client pauses the `timeout` of all calls of the connection, because the effect may wait for the user. The client does not pause
   * `maxTotalTimeout`.
   */
  readonly onRefused: (refused: RefusedRequest) => Effect.Effect<boolean, unknown, R>
}

/**
 * A request that the server has refused with status 401 or 403.
 *
 * @category models
 */
export interface RefusedRequest {
  /** The request as it was sent, with the headers of the authorizer. */
  readonly request: HttpClientRequest.HttpClientRequest
  /** The response of the server. */
  readonly refusal: HttpResponseError
  /** The URL of the connection, without its query. */
  readonly server: string
  /** The number of this refusal among the refusals of this request. The first is 1. */
  readonly attempt: number
  /**
   * A store in which the authorizer can keep values from one refusal of this request to the next, under keys that the authorizer chooses.
   * Each request has its own store, which is empty at the first refusal.
   */
  readonly memory: Map<unknown, unknown>
}
