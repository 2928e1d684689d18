/**
 * Who adds credentials to the requests of a connection over HTTP, and finds new credentials when the server refuses them. `Remote` takes
 * an authorizer as its option `authorize`, and `http/HttpSender` asks the authorizer. `Authorization` of package `auth` makes authorizers.
 *
 * @since 0.1.0
 */
import type * as Headers from "@effect/platform/Headers"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as Effect from "effect/Effect"
import type { HttpResponseError } from "./HttpResponseError.js"

/**
 * Adds credentials to every request of a connection, and finds new credentials when the server refuses them. `server` is the URL of the
 * connection, without its query. `Authorization` of package `auth` has an authorizer for OAuth.
 *
 * @category models
 */
export interface Authorizer<out R = never> {
  /**
   * The headers for one attempt to send a request. When it fails, the request fails with that failure as its cause. It also runs before the
   * client uses a private result of its cache again: the headers must be the headers that the result was requested with, except `dpop`.
   */
  readonly headers: (
    request: HttpClientRequest.HttpClientRequest,
    server: string
  ) => Effect.Effect<Headers.Input, unknown, R>
  /**
   * Runs when the server answers a request with 401 or 403, for five refusals of one request at most. `true` sends the request once
   * more, with new `headers`; `false` leaves the request refused. Meanwhile the timeouts of all calls of the connection stand still,
   * because it may wait for the user; `maxTotalTimeout` runs on.
   */
  readonly onRefused: (refused: RefusedRequest) => Effect.Effect<boolean, unknown, R>
}

/**
 * A request that the server has refused.
 *
 * @category models
 */
export interface RefusedRequest {
  /** The request as it was sent, with the headers of the authorizer. */
  readonly request: HttpClientRequest.HttpClientRequest
  /** What the server has answered. */
  readonly refusal: HttpResponseError
  /** The URL of the connection, without its query. */
  readonly server: string
  /** Counts the refusals of this request from 1. */
  readonly attempt: number
  /**
   * What the authorizer remembers of this request from one refusal to the next, by keys that the authorizer chooses. It is empty at
   * the first refusal, belongs to this request alone, and ends with it.
   */
  readonly memory: Map<unknown, unknown>
}
